"""Pages in a real browser: with and without scripts, by keyboard, wide and narrow."""

from pathlib import Path
from typing import Any

import httpx
import pytest
from browsing import Visit, visit

WIDTHS = (360, 1600)


def finished(visited: Visit) -> None:
    """Wait until a report is there."""
    visited.page.wait_for_selector("#say", timeout=60_000)


def test_from_files_to_a_report_and_a_download(
    service: httpx.Client, chromium: Any, example: Path
) -> None:
    with visit(chromium, str(service.base_url), accept_downloads=True) as visited:
        page = visited.page
        page.goto("/")
        files = [example / "reference.en", example / "documents.txt"]
        page.set_input_files("#files", [*files, *sorted((example / "systems").iterdir())])
        page.wait_for_selector("#recognised")
        assert "5 systems, 138 segments, 1 reference, 32 documents" in page.inner_text(
            "#recognised"
        )
        page.click("button:text-is('Compare')")
        finished(visited)
        assert "aspen and birch" in page.inner_text(".answer")
        with page.expect_download() as downloading:
            page.click(".downloads >> text=csv")
        assert downloading.value.suggested_filename.endswith(".csv")


def test_without_scripts(service: httpx.Client, chromium: Any) -> None:
    with visit(chromium, str(service.base_url), java_script_enabled=False) as visited:
        visited.page.goto("/")
        visited.page.click("text=Try the example")
        finished(visited)  # the page of a question that is computed refreshes itself
        assert visited.page.locator("#matrix tbody tr").count() == 5


def test_by_keyboard_alone(service: httpx.Client, chromium: Any) -> None:
    with visit(chromium, str(service.base_url)) as visited:
        page = visited.page
        page.goto("/")
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.textContent") == "Skip to content"
        for _ in range(60):
            page.keyboard.press("Tab")
            if "example" in page.evaluate("document.activeElement.textContent"):
                break
        page.keyboard.press("Enter")
        finished(visited)
        seen = set()
        for _ in range(80):
            page.keyboard.press("Tab")
            seen.add(page.evaluate("document.activeElement.textContent.trim()"))
        assert {"chrf", "side by side", "Hide systems", "csv", "Delete it with its texts"} <= seen


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nobody_is_shut_out(
    service: httpx.Client, chromium: Any, axe: str, width: int, scheme: str
) -> None:
    size = {"width": width, "height": 900}
    with visit(chromium, str(service.base_url), viewport=size, color_scheme=scheme) as visited:
        page = visited.page
        page.goto("/")
        page.click("text=Try the example")
        finished(visited)
        pair = f"{page.url}?a=aspen&b=birch"
        addresses = ["/", "/comparisons", "/human-evaluations", f"{page.url}?beside=1", pair]
        for address in addresses:
            page.goto(address)
            page.evaluate("document.querySelectorAll('details').forEach(d => { d.open = true })")
            assert visited.violations(axe) == []
            assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_a_pair_is_opened_beside_the_matrix(service: httpx.Client, chromium: Any) -> None:
    with visit(chromium, str(service.base_url)) as visited:
        page = visited.page
        page.goto("/")
        page.click("text=Try the example")
        finished(visited)
        page.evaluate("window.unloaded = false")
        page.click("#matrix td a >> nth=0")
        page.wait_for_selector("#pair .segments")
        assert page.evaluate("window.unloaded") is False  # the page has not been loaded again
        assert page.locator("#matrix [aria-current]").count() == 1
        assert "aspen and birch" in page.inner_text("#pair h3")
        assert page.locator("#pair .segments > li").count() == 20
        assert page.locator("#pair mark").count() > 20
        page.click("#pair .pages a")
        page.wait_for_selector("#pair ol[start='21']")
        page.select_option("#pair select[name=better]", "b")
        page.click("#pair form button")
        page.wait_for_selector("#pair ol[start='1']")
        assert "for aspen" not in page.inner_text("#pair .segments")
        address = page.url
        page.go_back()
        page.wait_for_selector("#pair ol[start='21']")
        page.goto(address)
        assert "for aspen" not in page.inner_text("#pair .segments")
        picture = page.locator("#pair img")
        picture.scroll_into_view_if_needed()
        page.wait_for_function("document.querySelector('#pair img').naturalWidth > 0")


def test_a_pair_without_scripts(service: httpx.Client, chromium: Any) -> None:
    with visit(chromium, str(service.base_url), java_script_enabled=False) as visited:
        page = visited.page
        page.goto("/")
        page.click("text=Try the example")
        finished(visited)
        page.click("#matrix td a >> nth=0")
        assert page.locator("#pair .segments > li").count() == 20
        page.click("#pair form button")  # with everything left as it is
        assert page.locator("#pair .segments > li").count() == 20
