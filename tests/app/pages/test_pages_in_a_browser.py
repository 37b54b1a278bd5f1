"""Pages in a real browser: with and without scripts, by keyboard, wide and narrow."""

import gzip
import random
import re
import time
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


MARKUP = "<img src=x onerror=alert(1)><script>alert(2)</script>"
ODD = ["{{7*7}} ${7*7}", "javascript:alert(1)", "a&b;c=%00", "Ω نص 漢字 é", "x" * 200]


def test_hostile_names_and_texts_do_nothing(service: httpx.Client, chromium: Any, axe: str) -> None:
    lines = [f"{MARKUP} one two three", "\u202eright to left", "plain words stand here"]
    systems = [
        {"name": name, "hypotheses": [line.replace("one", f"{i}") for line in lines]}
        for i, name in enumerate(ODD)
    ]
    documents = [MARKUP, MARKUP, "\u202e"]
    body = {"references": [lines], "documents": documents, "systems": systems, "resamples": 99}
    made = service.post("/v1/comparisons", json=body, headers={"Prefer": "wait=60"}).json()
    own = f"/comparisons/{made['id']}"
    pair = httpx.QueryParams(a=ODD[0], b=ODD[1])
    with visit(chromium, str(service.base_url)) as visited:
        page = visited.page
        said: list[str] = []
        page.on("dialog", lambda dialog: said.append(dialog.message))
        for address in (own, f"{own}?{pair}", f"{own}?beside=1", "/comparisons"):
            page.goto(address)
            page.wait_for_load_state("networkidle")
            assert page.locator("main script, main img:not([src^='/comparisons/'])").count() == 0
            assert visited.violations(axe) == []
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        page.goto(f"{own}?{pair}")
        assert MARKUP in page.inner_text("#pair .segments")
        assert "\u202e" not in page.content()
        assert "49" not in page.inner_text("#systems")
        assert said == []


def test_sixty_systems_stay_light_and_usable(service: httpx.Client, chromium: Any) -> None:
    rng = random.Random(1)
    words = [f"w{i}" for i in range(99)]
    reference = [rng.choices(words, k=9) for _ in range(40)]
    systems = [
        {
            "name": f"system {i}",
            "hypotheses": [
                " ".join(w if rng.random() > i / 99 else rng.choice(words) for w in line)
                for line in reference
            ],
        }
        for i in range(60)
    ]
    body = {
        "references": [[" ".join(line) for line in reference]],
        "systems": systems,
        "metrics": ["bleu", "chrf", "ter"],
        "resamples": 99,
    }
    made = service.post("/v1/comparisons", json=body, headers={"Prefer": "wait=60"}).json()
    own = f"/comparisons/{made['id']}"
    sent = service.build_request("GET", own, headers={"Accept": "text/html"})
    answer = service.send(sent, stream=True)
    weight = sum(map(len, answer.iter_raw()))
    parts = [
        service.get(path).content
        for path in re.findall(r'"(/static/[^"]+)"', pages_of(service, own))
    ]
    assert weight + sum(len(gzip.compress(part)) for part in parts) < 120_000
    with visit(chromium, str(service.base_url), viewport={"width": 1600, "height": 900}) as visited:
        page = visited.page
        page.goto(own)
        assert page.locator("#matrix td a").count() == 60 * 59 / 2
        page.click("#matrix td a >> nth=5")
        page.wait_for_selector("#pair .segments")
        started = time.monotonic()
        page.click("#pair .pages a")
        page.wait_for_selector("#pair ol[start='21']")
        assert time.monotonic() - started < 5  # an order of magnitude of room for loaded machines


def pages_of(service: httpx.Client, address: str) -> str:
    return service.get(address, headers={"Accept": "text/html"}).text


def test_every_state_is_a_page_for_everybody(
    service: httpx.Client, chromium: Any, axe: str, example: Path
) -> None:
    with visit(chromium, str(service.base_url)) as visited:
        page = visited.page
        page.goto("/")
        files = [example / "reference.en", *sorted((example / "systems").iterdir())]
        page.set_input_files("#files", files)
        page.wait_for_selector("#recognised")
        assert visited.violations(axe) == []
        page.click("text=Look at the files first")
        page.wait_for_selector("text=To be computed")
        assert visited.violations(axe) == []
        # long enough to be seen while it runs, and to be cancelled
        page.goto("/")
        page.set_input_files("#files", files)
        page.wait_for_selector("#recognised")
        page.evaluate("document.querySelectorAll('details').forEach(d => { d.open = true })")
        page.check("input[value=ter]")
        page.fill("#resamples", "900000")
        page.click("button:text-is('Compare')")
        page.wait_for_selector("progress")
        assert visited.violations(axe) == []
        page.wait_for_selector("text=/Drawing resamples: [1-9]/")
        page.click("text=Cancel")
        page.wait_for_selector("text=It was cancelled")
        assert visited.violations(axe) == []


def test_a_public_link_is_followed_and_taken_back(service: httpx.Client, chromium: Any) -> None:
    with visit(chromium, str(service.base_url)) as visited:
        page = visited.page
        page.goto("/")
        page.click("text=Try the example")
        finished(visited)
        page.click("text=Make a public link")
        link = page.get_attribute("#keep a", "href")
        page.goto(str(link))
        assert "aspen and birch" in page.inner_text(".answer")
        assert page.locator("#keep, #pair").count() == 0
        page.go_back()
        page.click("text=Take the link back")
        page.wait_for_selector("text=Make a public link")
    assert service.get(str(link)).status_code == 404
