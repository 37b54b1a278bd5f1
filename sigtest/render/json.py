"""The report as canonical JSON: the bytes that the service stores and the command line prints."""

from __future__ import annotations

import json
from typing import Any, Protocol


class Finished(Protocol):
    """A report of any kind."""

    def as_json(self) -> dict[str, Any]:
        """All of it."""


def render(report: Finished) -> str:
    """Every number unrounded; the text is a function of the report alone.

    Raises:
        ValueError: A number is not finite, which JSON cannot say.
    """
    return json.dumps(report.as_json(), ensure_ascii=False, allow_nan=False, indent=1) + "\n"
