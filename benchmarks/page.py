"""Pages in a real browser: weight, first paint, and how long interactions take.

    python -m benchmarks.page

Needs Playwright and Chromium, as the tests of pages do. Interactions are timed inside the page,
from the click to the frame that shows what it asked for.
"""

from __future__ import annotations

import gzip
import os
import random
import re
import shutil
import statistics
from typing import Any

import httpx

from benchmarks.service import service

ROUNDS = 9
SYSTEMS, SEGMENTS = 60, 300
# The debugger runs this, so that the page's own policy stays as it is. What is waited for is there
# when `%s` is true, which it was not at the click.
TIMED = """([selector]) => new Promise((done) => {
  const there = () => %s;
  const begun = performance.now();
  const look = () => {
    if (!there()) return false;
    requestAnimationFrame(() => setTimeout(() => done(performance.now() - begun)));
    return true;
  };
  const watch = new MutationObserver(() => { if (look()) watch.disconnect(); });
  setTimeout(() => { watch.disconnect(); done(null); }, 20000);
  watch.observe(document, { attributes: true, childList: true, subtree: true });
  document.querySelector(selector).click();
})"""
SORTED = "document.querySelector('#systems th').ariaSort === '{}'"
FIRST_PAINT = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? null"


def many(systems: int, segments: int) -> dict[str, Any]:
    """A request for so many systems and three metrics, each system a little worse than the last."""
    draw = random.Random(1)
    words = [f"w{i}" for i in range(300)]
    reference = [draw.choices(words, k=14) for _ in range(segments)]
    outputs = [
        {
            "name": f"system {i}",
            "hypotheses": [
                " ".join(
                    word if draw.random() > 0.05 + i / 150 else draw.choice(words) for word in line
                )
                for line in reference
            ],
        }
        for i in range(systems)
    ]
    return {
        "references": [[" ".join(line) for line in reference]],
        "systems": outputs,
        "metrics": ["bleu", "chrf", "ter"],
        "resamples": 999,
    }


def made(client: httpx.Client, body: dict[str, Any]) -> str:
    """The address of a finished report's page."""
    state = client.post("/v1/comparisons", json=body, headers={"Prefer": "wait=60"}).json()
    while state["status"] in ("queued", "running"):
        state = client.get(state["links"]["self"], headers={"Prefer": "wait=60"}).json()
    return f"/comparisons/{state['id']}"


def weight(client: httpx.Client, address: str) -> tuple[int, int]:
    """Compressed bytes of a page, and of it with its style and script."""
    page = client.get(address, headers={"Accept": "text/html"})
    parts = set(re.findall(r'"(/static/[^"]+\.(?:css|js))"', page.text))
    own = len(gzip.compress(page.content))
    return own, own + sum(len(gzip.compress(client.get(part).content)) for part in parts)


def painted(browser: Any, url: str, address: str) -> float:
    """Milliseconds to the first paint of a page in a window of its own."""
    context = browser.new_context(base_url=url, viewport={"width": 1600, "height": 900})
    page = context.new_page()
    page.goto(address)
    while (found := page.evaluate(FIRST_PAINT)) is None:
        page.wait_for_timeout(10)
    context.close()
    return float(found)


def interactions(page: Any) -> dict[str, list[float]]:
    """Milliseconds of each, every one several times."""
    taken: dict[str, list[float]] = {}

    def click(name: str, selector: str, wanted: str) -> None:
        found = page.evaluate(TIMED % wanted, [selector])
        if found is None:
            raise TimeoutError(f"{name}: nothing came")
        taken.setdefault(name, []).append(found)

    for i in range(ROUNDS):
        order = "descending" if i % 2 else "ascending"
        click("sort the systems", "#systems th a", SORTED.format(order))
    for i in range(ROUNDS):
        metric = ("chrf", "ter", "bleu")[i % 3]
        address = (
            f"location.search.includes('metric={metric}') && !document.querySelector('[aria-busy]')"
        )
        click("another metric", f".choose li:nth-child({(i + 1) % 3 + 1}) a", address)
    for i in range(ROUNDS):
        page.evaluate("window.heading = document.querySelector('#pair h2')?.textContent")
        click(
            "open a pair for the first time",
            f"#matrix tbody tr:nth-child({i + 1}) td.sign:nth-of-type({i + 3}) a",
            "document.querySelector('#pair .segments') && "
            "document.querySelector('#pair h2').textContent !== window.heading",
        )
        click(
            "the next segments",
            "#pair .pages a:last-of-type",
            "document.querySelector('#pair .segments')?.start === 21",
        )
    return taken


def main() -> None:
    """Print figures."""
    from playwright.sync_api import sync_playwright  # late: it is no part of what is measured

    program = os.environ.get("CHROMIUM") or shutil.which("chromium")
    with service(2) as (client, _), sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        url = str(client.base_url)
        pages = {f"{n} systems": made(client, many(n, SEGMENTS)) for n in (2, 12, SYSTEMS)}
        for name, address in {"/": "/", **pages}.items():
            own, whole = weight(client, address)
            paints = [painted(browser, url, address) for _ in range(ROUNDS)]
            print(
                f"{name}: {own / 1000:.0f} kB, {whole / 1000:.0f} kB with style and script; "
                f"first paint {statistics.median(paints):.0f} ms"
            )
        page = browser.new_page(base_url=url, viewport={"width": 1600, "height": 900})
        page.goto(pages[f"{SYSTEMS} systems"])
        for name, found in interactions(page).items():
            print(
                f"{SYSTEMS} systems, {name}: median {statistics.median(found):.0f} ms, "
                f"longest {max(found):.0f} ms"
            )
        browser.close()


if __name__ == "__main__":
    main()
