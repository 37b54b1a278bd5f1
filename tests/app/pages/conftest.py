"""A real browser for tests of pages; they are skipped where there is none."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from browser import BROWSER

AXE = Path(__file__).parents[2] / "web" / "node_modules" / "axe-core" / "axe.min.js"


@pytest.fixture(scope="module")
def chromium() -> Iterator[object]:
    """Debian's Chromium, driven by Playwright, whose event loop must end before other tests."""
    driver = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
    if not BROWSER:
        pytest.skip("no Chromium on the PATH; CHROMIUM may name one")
    with driver.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def axe() -> str:
    """The source of axe-core."""
    if not AXE.is_file():
        pytest.skip("axe-core is not installed; npm install --no-package-lock in tests/web does it")
    return AXE.read_text(encoding="utf-8")
