"""What tests do with a browser."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

# what is inside the viewer of the API is RapiDoc's own
AXE_RUN = (
    "axe.run({exclude: ['rapi-doc']}, {resultTypes: ['violations']})"
    ".then(found => found.violations)"
)


class Visit:
    """A page of a browser that writes down what the browser complains of.

    Args:
        browser: Playwright's browser.
        url: Of the service.
        options: Of the browser's context.
    """

    def __init__(self, browser: Any, url: str, **options: Any) -> None:
        self.context = browser.new_context(base_url=url, **options)
        self.page = self.context.new_page()
        self.complaints: list[str] = []
        self.page.on("console", self._heard)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("dialog", lambda dialog: dialog.accept())

    def _heard(self, message: Any) -> None:
        if message.type in {"error", "warning"}:
            self.complaints.append(message.text)

    def violations(self, axe: str) -> list[str]:
        """What axe-core finds, in words."""
        if not self.page.evaluate("typeof window.axe?.run === 'function'"):
            # by the debugger, so that the page's own policy stays as it is
            self.page.evaluate(axe + "; undefined")
        found = self.page.evaluate(AXE_RUN)
        return [
            f"{violation['id']}: {node['html'][:200]}"
            for violation in found
            for node in violation["nodes"]
        ]


@contextmanager
def visit(browser: Any, url: str, **options: Any) -> Iterator[Visit]:
    """Open a browser window of its own; it must not have complained when it is closed."""
    visited = Visit(browser, url, **options)
    try:
        yield visited
        assert visited.complaints == []
    finally:
        visited.context.close()
