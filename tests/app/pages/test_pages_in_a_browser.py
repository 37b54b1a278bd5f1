"""Pages in a real browser: with and without scripts, by keyboard, wide and narrow."""

import base64
import contextlib
import gzip
import itertools
import random
import re
from pathlib import Path
from typing import Any

import httpx
import pytest
from browsing import Visit, visit

from app.settings import Settings
from sigtest.kinds import KINDS
from workers.access import Access
from workers.settings import Settings as QueueSettings
from workers.store.server import EmbeddedServer, connect

WIDTHS = (360, 1600)


def finished(visited: Visit) -> None:
    """Wait until a report is there."""
    visited.page.wait_for_selector("#say", timeout=60_000)


def test_from_files_to_a_report_and_a_download(service, chromium, example):
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


@pytest.mark.slow
def test_real_files_from_a_drop_to_a_report(service, chromium, data):
    """Twelve systems of WMT 2012, 3,003 segments, as they lie in their folders."""
    folder = data / "wmt12.es-en"
    files = [folder / name for name in ("reference.en", "source.es", "docids.txt")]
    with visit(chromium, str(service.base_url), accept_downloads=True) as visited:
        page = visited.page
        page.goto("/")
        drop(page, [*files, *sorted((folder / "systems").iterdir())])
        page.wait_for_selector("#recognised", timeout=60_000)
        recognised = page.inner_text("#recognised")
        assert "12 systems, 3,003 segments, 1 reference, 99 documents" in recognised
        page.click("button:text-is('Compare')")
        page.wait_for_selector("#say", timeout=240_000)
        assert "onlineB is the best by bleu (37.53)" in page.inner_text(".answer")  # see oracles
        assert page.locator("#matrix td a").count() == 66
        with page.expect_download() as downloading:
            page.click(".downloads >> text=csv")
        rows = Path(downloading.value.path()).read_text(encoding="utf-8").splitlines()
        assert len(rows) == 1 + 2 * 66


def drop(page: Any, files: list[Path]) -> None:
    """Let files fall onto the drop zone, as a browser tells of it."""
    page.evaluate("document.body.append(Object.assign(document.createElement('input'), {"
                  "type: 'file', multiple: true, id: 'hand'}))")  # fmt: skip
    page.set_input_files("#hand", files)
    page.evaluate(
        "() => { const held = new DataTransfer();"
        "for (const file of document.getElementById('hand').files) held.items.add(file);"
        "document.getElementById('hand').remove();"
        "document.getElementById('drop').dispatchEvent("
        "new DragEvent('drop', { dataTransfer: held, bubbles: true, cancelable: true })); }"
    )


def test_without_scripts(service, chromium):
    with visit(chromium, str(service.base_url), java_script_enabled=False) as visited:
        visited.page.goto("/")
        visited.page.click("text=Try the example")
        finished(visited)  # the page of a question that is computed refreshes itself
        assert visited.page.locator("#matrix tbody tr").count() == 5


def test_by_keyboard_alone(service, chromium):
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
        for _ in range(110):
            page.keyboard.press("Tab")
            seen.add(page.evaluate("document.activeElement.textContent.trim()"))
        wanted = {"chrf", "side by side", "Hide systems", "csv", "Delete it with its texts"}
        assert wanted | {"score", "Decide with another alpha or correction"} <= seen
        page.locator("#systems thead >> text=score").focus()
        for order in ("descending", "ascending"):
            page.keyboard.press("Enter")
            page.wait_for_selector(f"#systems th[aria-sort={order}]:has-text('score')")
        assert page.evaluate("document.activeElement.textContent") == "score"
        first = page.locator("#matrix td a >> nth=0")
        assert str(first.get_attribute("aria-label")).startswith("aspen and birch: 0.59")
        first.focus()
        page.keyboard.press("Enter")
        page.wait_for_selector("#pair .segments")
        place = "document.activeElement.closest('#matrix, #pair') !== null"
        assert page.evaluate("document.activeElement.textContent") == "aspen and birch by bleu"
        assert page.evaluate(place)  # the reader goes on where the pair is
        page.locator("#pair .pages a").focus()
        page.keyboard.press("Enter")
        page.wait_for_selector("#pair ol[start='21']")
        assert page.evaluate(place)


@pytest.mark.parametrize("schemes", [
    ("dark", "light"), pytest.param(("light", "dark"), marks=pytest.mark.slow),
])  # fmt: skip
def test_nobody_is_shut_out(service, chromium, axe, schemes):
    with visit(chromium, str(service.base_url)) as visited:
        page = visited.page
        page.goto("/")
        page.click("text=Try the example")
        finished(visited)
        pair = f"{page.url}?a=aspen&b=birch"
        addresses = ["/", "/comparisons", "/human-evaluations", f"{page.url}?beside=1", pair]
        for address in addresses:
            page.goto(address)
            page.evaluate("document.querySelectorAll('details').forEach(d => { d.open = true })")
            for width, scheme in zip(WIDTHS, schemes, strict=True):
                page.set_viewport_size({"width": width, "height": 900})
                page.emulate_media(color_scheme=scheme)
                assert visited.violations(axe) == []
                assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("all_looks", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_reports_of_every_kind_and_problems_shut_nobody_out(service, chromium, axe, all_looks):
    looks = itertools.cycle([((360, "dark"),), ((1600, "light"),)])  # the form, then the report
    if all_looks:
        looks = itertools.repeat(((360, "dark"), (1600, "light")))
    with visit(chromium, str(service.base_url)) as visited:
        page = visited.page

        def shuts_nobody_out(report: bool) -> None:
            for width, scheme in next(looks):
                page.set_viewport_size({"width": width, "height": 900})
                page.emulate_media(color_scheme=scheme)
                assert visited.violations(axe) == []
                assert page.evaluate("document.documentElement.scrollWidth") <= width
                if report:
                    paper = page.locator(".sigtest figure rect >> nth=0")  # of the whole picture
                    white = "getComputedStyle(own).fill === 'rgb(255, 255, 255)'"
                    assert paper.evaluate(f"own => {white}") == (scheme == "light")

        for path in [path for path in KINDS if path != "comparisons"]:
            if not all_looks and path == "plans":
                next(looks)  # and the other way round
            page.goto(f"/{path}")
            page.evaluate("document.querySelectorAll('details').forEach(d => { d.open = true })")
            shuts_nobody_out(report=False)
            page.click("text=Try the example")
            page.wait_for_selector("#say", timeout=120_000)
            shuts_nobody_out(report=True)
        page.goto(f"/comparisons/{'0' * 32}")
        assert visited.violations(axe) == []
        assert visited.complaints.pop().startswith("Failed to load resource")  # 404


def test_tables_are_sorted_and_decided_in_place(service, chromium):
    with visit(chromium, str(service.base_url)) as visited:
        page = visited.page
        page.goto("/")
        page.click("text=Try the example")
        finished(visited)
        names = "[...document.querySelectorAll('#systems tbody th')].map(own => own.textContent)"
        page.evaluate("window.unloaded = false")
        page.click("#systems thead >> text=score")
        page.wait_for_selector("#systems th[aria-sort=descending]:has-text('score')")
        falling = page.evaluate(names)
        page.click("#systems thead >> text=score")
        page.wait_for_selector("#systems th[aria-sort=ascending]:has-text('score')")
        assert page.evaluate(names) == ["elm", "cedar", "dogwood", "birch", "aspen"]
        assert falling[-1] == "elm"
        page.click("text=Decide with another")
        page.fill(".decide input[name=alpha]", "0.5")
        page.select_option(".decide select", "none")
        page.click(".decide button")
        page.wait_for_function("() => location.search.includes('alpha=0.5')")
        assert page.evaluate(names)[0] == "elm"  # the order stays
        assert "aspen is the best by bleu" in page.inner_text(".answer")
        assert "|decided:alpha=0.5,correction=none" in page.inner_text("#signature")
        assert page.evaluate("window.unloaded") is False
        here = page.url
        page.go_back()
        page.wait_for_function(
            "() => !document.querySelector('.answer').textContent.includes('best by bleu (')"
        )
        page.goto(here)
        assert page.evaluate(names)[0] == "elm"
        assert page.evaluate("window.unloaded") is None


def test_counts_of_thousands_are_sorted_as_numbers(service, chromium):
    counts = {"A": 950, "B": 2050, "C": 1020}
    judged = [
        {"system": system, "segment": str(i), "annotator": "ann", "score": (i * 7 + n) % 100}
        for n, (system, count) in enumerate(counts.items())
        for i in range(count)
    ]
    made = service.post(
        "/v1/human-evaluations", json={"judgements": judged}, headers={"Prefer": "wait=60"}
    ).json()
    with visit(chromium, str(service.base_url)) as visited:
        page = visited.page
        page.goto(f"/human-evaluations/{made['id']}")
        heading = page.locator("thead th", has_text="judgements").first
        for order, wanted in (("descending", "BCA"), ("ascending", "ACB")):
            heading.locator("a").click()
            page.wait_for_selector(f"th[aria-sort={order}]:has-text('judgements')")
            assert "".join(page.locator("tbody >> nth=0 >> th").all_inner_texts()) == wanted
            assert page.evaluate("document.activeElement.textContent") == "judgements"


def test_who_sorts_by_keyboard_stays_in_the_table(service, chromium):
    """Tables side by side have headings of the same words."""
    with visit(chromium, str(service.base_url)) as visited:
        page = visited.page
        page.goto("/")
        page.click("text=Try the example")
        finished(visited)
        page.click(".choose >> text=side by side")
        page.wait_for_selector("#systems table >> nth=2")
        page.locator("#systems table >> nth=2 >> thead >> text=score").focus()
        page.keyboard.press("Enter")
        page.wait_for_selector("#systems th[aria-sort]")
        table = "[...document.querySelectorAll('#systems table')].indexOf"
        assert page.evaluate(f"{table}(document.activeElement.closest('table'))") == 2


# whether some of an element is seen where the keyboard reaches it
SEEN = """own => {
  own.focus();
  const { left, right, top, bottom } = own.getBoundingClientRect();
  return [left + 2, (left + right) / 2, right - 2]
    .some((x) => own.contains(document.elementFromPoint(x, (top + bottom) / 2)));
}"""


def test_what_the_keyboard_reaches_is_not_below_a_name(service, chromium):
    wait = {"Prefer": "wait=60"}
    made = service.post("/v1/comparisons", json=wide(9), headers=wait).json()
    view = {"viewport": {"width": 360, "height": 800}, "reduced_motion": "reduce"}
    with visit(chromium, str(service.base_url), **view) as visited:
        visited.page.goto(f"/comparisons/{made['id']}")
        links = visited.page.locator("#matrix td a").all()
        for link in [*links, *reversed(links)]:
            assert link.evaluate(SEEN)


def test_a_command_is_copied(service, chromium):
    allowed = ["clipboard-read", "clipboard-write"]
    with visit(chromium, str(service.base_url), permissions=allowed) as visited:
        page = visited.page
        page.goto("/")
        page.click("text=Try the example")
        finished(visited)
        page.click("text=Copy the command")
        page.wait_for_selector("text=Copied")
        copied = page.evaluate("navigator.clipboard.readText()")
        assert copied.startswith("sigtest verify ")
        assert "--documents DOCUMENTS aspen birch" in copied


def test_a_call_is_tried_in_the_reference(service, chromium):
    with visit(chromium, str(service.base_url)) as visited:
        page = visited.page
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        page.goto("/api")
        # which changes the address; a busy machine may never tell that this has finished
        page.click("text='/healthz'", no_wait_after=True)
        with page.expect_response(lambda answer: answer.url.endswith("/healthz")) as answered:
            page.click("button:has-text('TRY')")
        assert answered.value.json() == {"status": "ok"}
        assert all(url.startswith(str(service.base_url)) for url in asked)


def test_a_pair_that_is_opened_stays_open_in_all_that_is_chosen_next(service, chromium):
    with visit(chromium, str(service.base_url)) as visited:
        page = visited.page
        page.goto("/")
        page.click("text=Try the example")
        finished(visited)
        page.click("#matrix td a >> nth=0")
        page.wait_for_selector("#pair h2:has-text('aspen and birch by bleu')")
        page.click("#systems thead >> text=score")
        page.wait_for_selector("#systems th[aria-sort]")
        assert "a=aspen&b=birch" in page.url
        page.click("#pair .pages a")
        page.wait_for_selector("#pair ol[start='21']")
        assert "sort=-score" in page.url
        page.click("#matrix td a >> nth=1")
        page.wait_for_selector("#pair h2:has-text('aspen and cedar by bleu')")
        page.click(".choose >> text=chrf")
        page.wait_for_selector("#pair h2:has-text('aspen and cedar by chrf')")
        page.click("#matrix td a >> nth=0")
        page.wait_for_selector("#pair h2:has-text('aspen and birch by chrf')")
        page.click("text=Decide with another")
        page.fill(".decide input[name=alpha]", "0.5")
        page.click(".decide button")
        page.wait_for_function("() => location.search.includes('alpha=0.5')")
        assert page.inner_text("#pair h2") == "aspen and birch by chrf"
        assert "sort=-score" in page.url


def test_another_place_on_the_page_leaves_it_as_it_is(service, chromium):
    with visit(chromium, str(service.base_url)) as visited:
        page = visited.page
        page.goto("/")
        page.click("text=Try the example")
        finished(visited)
        page.fill("#title", "half written")
        page.focus(".skip")
        page.keyboard.press("Enter")
        page.wait_for_function("() => location.hash === '#main'")
        page.wait_for_load_state("networkidle")
        assert page.input_value("#title") == "half written"


def test_pairs_on_several_test_sets_are_opened(service, chromium):
    systems = [("A", "a b c d"), ("B", "a x y d"), ("C", "z b c q")]
    testsets = [
        {
            "name": name,
            "references": [["a b c d e", "f g h i j"] * size],
            "systems": [
                {"name": own, "hypotheses": [line, "f g h i j"] * size} for own, line in systems
            ],
        }
        for name, size in (("news", 3), ("talks", 2))
    ]
    body = {"testsets": testsets, "resamples": 99, "metrics": ["ter"]}
    made = service.post("/v1/comparisons", json=body, headers={"Prefer": "wait=60"}).json()
    with visit(chromium, str(service.base_url)) as visited:
        page = visited.page
        page.goto(f"/comparisons/{made['id']}")
        page.click("td a >> nth=0")
        page.wait_for_selector("#pair .segments")
        assert "A and B by ter on news" in page.inner_text("#pair h2")
        assert page.locator("#pair .segments > li").count() == 6
        page.click("#pair .choose >> text=talks")
        page.wait_for_selector("#pair h2:has-text('on talks')")
        assert page.locator("#pair .segments > li").count() == 4


def test_a_pair_is_opened_beside_the_matrix(service, chromium):
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
        assert "aspen and birch" in page.inner_text("#pair h2")
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


@pytest.mark.parametrize(("systems", "long", "beside"), [(3, False, True), (8, True, False)])
def test_a_pair_stands_where_its_table_fits_and_nothing_covers_it(
    service, chromium, systems, long, beside
):
    body = wide(systems)
    names = [f"university-of-own-town-{i}" if long else f"own{i}" for i in range(systems)]
    body["systems"] = [
        {**own, "name": name} for own, name in zip(body["systems"], names, strict=True)
    ]
    made = service.post("/v1/comparisons", json=body, headers={"Prefer": "wait=60"})
    with visit(chromium, str(service.base_url)) as visited:
        page = visited.page
        page.goto(f"/comparisons/{made.json()['id']}?a={names[0]}&b={names[1]}")
        page.wait_for_selector("#pair .segments")
        table = page.locator("#pair .scroll").first
        assert table.evaluate("own => own.scrollWidth <= own.clientWidth")
        page.evaluate("document.querySelector('#pair h3').scrollIntoView({ behavior: 'instant' })")
        boxes = """ids => ids.map((id) => {
            const { left, right, top, bottom } = document.querySelector(id).getBoundingClientRect();
            return { left, right, top, bottom };
        })"""
        matrix, pair = page.evaluate(boxes, ["#matrix", "#pair"])
        assert (matrix["right"] <= pair["left"]) == beside
        assert beside or matrix["bottom"] <= pair["top"]
        assert (matrix["top"] >= 0) == beside  # it stays in sight


@pytest.mark.parametrize("width", [500, 640, 768])
def test_the_words_in_the_place_of_a_pair_have_room(service, chromium, width):
    systems = [{"name": f"system{i}", "hypotheses": [f"a b c {i}", "e f"]} for i in range(7)]
    body = {"references": [["a b c d", "e f g"]], "systems": systems, "resamples": 99}
    made = service.post("/v1/comparisons", json=body, headers={"Prefer": "wait=60"}).json()
    options = {"viewport": {"width": width, "height": 900}}
    with visit(chromium, str(service.base_url), **options) as visited:
        visited.page.goto(f"/comparisons/{made['id']}")
        assert visited.page.locator("#pair").bounding_box()["width"] >= 256


def test_the_pair_that_was_asked_for_last_stays(service, chromium):
    """Also where the network is slow, and what was asked for before is answered after it."""
    made = service.post("/v1/comparisons", json=wide(3), headers={"Prefer": "wait=60"})
    with visit(chromium, str(service.base_url)) as visited:
        page, held = visited.page, []
        page.route("**/pairs?*a=own0&b=own1", lambda route: held.append(route))
        page.goto(f"/comparisons/{made.json()['id']}")
        page.click("#matrix td a >> nth=0")
        page.wait_for_selector("#pair[aria-busy=true]")
        page.click("#matrix td a >> nth=1")
        page.wait_for_selector("#pair h2:text-is('own0 and own2 by bleu')")
        with page.expect_response("**/pairs?*a=own0&b=own1") as late:
            held[0].continue_()
        late.value.finished()
        page.evaluate("new Promise(done => setTimeout(done))")  # what waits for the answer has run
        assert page.inner_text("#pair h2") == "own0 and own2 by bleu"
        assert "b=own2" in page.url
        assert page.locator("[aria-busy=true]").count() == 0


def test_the_numbers_of_a_pair_need_no_scrolling(service, chromium):
    made = service.post("/v1/comparisons", json=wide(2), headers={"Prefer": "wait=60"})
    with visit(chromium, str(service.base_url), viewport={"width": 1600, "height": 900}) as visited:
        visited.page.goto(f"/comparisons/{made.json()['id']}")
        table = visited.page.locator("#pair .scroll")
        assert table.evaluate("own => own.scrollWidth <= own.clientWidth")
        assert "verdict" not in table.inner_text()


def test_a_pair_that_is_opened_is_in_view(service, chromium):
    """Whether it stands below what was clicked, or above."""
    made = service.post("/v1/comparisons", json=wide(12), headers={"Prefer": "wait=60"})
    with visit(chromium, str(service.base_url)) as visited:
        page = visited.page
        page.goto(f"/comparisons/{made.json()['id']}")
        page.click("#pairs summary")
        for link in ("#matrix td a >> nth=60", "#pairs td a >> nth=65", "#pairs td a >> nth=3"):
            words = str(page.locator(link).get_attribute("href")).replace("+", " ")
            page.click(link)
            a, b = re.findall(r"[ab]=([^&#]+)", words)[:2]
            page.wait_for_selector(f"#pair h2:text-is('{a} and {b} by bleu')")
            page.wait_for_function(
                "() => { const heading = document.querySelector('#pair h2');"
                "const { top } = heading.getBoundingClientRect();"
                "return 0 <= top && top <= innerHeight / 2; }"
            )


def test_a_pair_without_scripts(service, chromium):
    with visit(chromium, str(service.base_url), java_script_enabled=False) as visited:
        page = visited.page
        page.goto("/")
        page.click("text=Try the example")
        finished(visited)
        for link in ("#matrix td a >> nth=0", "#pair form button"):  # with all left as it is
            with page.expect_navigation():  # a click alone does not wait for the page it leads to
                page.click(link)
            assert page.locator("#pair .segments > li").count() == 20


MARKUP = "<img src=x onerror=alert(1)><script>alert(2)</script>"
ODD = ["{{7*7}} ${7*7}", "javascript:alert(1)", "a&b;c=%00", "Ω نص 漢字 é", "x" * 200]


def judged_by(annotator: str) -> list[dict[str, Any]]:
    return [
        {"annotator": annotator, "system": name, "segment": f"{MARKUP}{segment}",
         "criterion": MARKUP, "score": 10 * place + segment}
        for place, name in enumerate(ODD[:3])
        for segment in range(4)
    ]  # fmt: skip


def test_hostile_names_and_texts_do_nothing(service, chromium, axe):
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
        asked = {"judgements": judged_by(MARKUP), "criteria": [MARKUP]}
        judged = service.post("/v1/human-evaluations", json=asked, headers={"Prefer": "wait=60"})
        people = f"/human-evaluations/{judged.json()['id']}"
        sort = httpx.QueryParams(sort=f"-{MARKUP}")
        for address in (own, f"{own}?{pair}", f"{own}?beside=1&{sort}", "/comparisons", people):
            page.goto(address)
            foreign = (
                "main script, main img:not([src^='/comparisons/'])"  # others stand in the page
            )
            assert page.locator(foreign).count() == 0
            assert visited.violations(axe) == []
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        page.goto(f"{own}?{pair}")
        assert MARKUP in page.inner_text("#pair .segments")
        assert "\u202e" not in page.content()
        assert "49" not in page.inner_text("#systems")
        assert said == []


def test_sixty_systems_stay_light_and_usable(service, chromium):
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
        assert page.inner_text("#pairs summary") == "All 1,770 pairs: bleu"
        page.click("#matrix td a >> nth=5")
        page.wait_for_selector("#pair .segments")
        page.click("#pair .pages a")
        page.wait_for_selector("#pair ol[start='21']")


def pages_of(service: httpx.Client, address: str) -> str:
    return service.get(address, headers={"Accept": "text/html"}).text


def test_every_state_is_a_page_for_everybody(service, chromium, axe, example):
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
        for metric in ("chrf++", "ter", "nist"):
            page.check(f"input[value='{metric}']")
        page.fill("#choice-resamples", "900000")
        page.click("button:text-is('Compare')")
        page.wait_for_selector("progress")
        assert visited.violations(axe) == []
        page.wait_for_selector("text=/Drawing resamples: [1-9]/")
        page.wait_for_selector("h1:text-is('Being computed')")
        assert page.title().startswith("Being computed")
        page.click("text=Cancel")
        page.wait_for_selector("text=It was cancelled")
        assert visited.violations(axe) == []


# what screen readers say of themselves: what comes into a status after it is there
HEARD = """() => {
  window.heard = [];
  for (const status of document.querySelectorAll("[role=status]")) {
    const told = () => { if (status.textContent.trim()) heard.push(status.textContent); };
    const all = { childList: true, characterData: true, subtree: true };
    new MutationObserver(told).observe(status, all);
  }
}"""


def test_what_changes_is_said_once(service, chromium, example):
    with visit(chromium, str(service.base_url)) as visited:
        page = visited.page
        page.goto("/")
        page.evaluate(HEARD)
        page.set_input_files(
            "#files", [example / "reference.en", *sorted((example / "systems").iterdir())]
        )
        page.wait_for_selector("#recognised")
        read = "5 systems, 138 segments, 1 reference, no documents."
        assert page.evaluate("heard") == ["Reading the files…", read]
        assert page.get_by_text(read).count() == 2
        assert page.locator("#recognition").bounding_box()["width"] <= 1  # seen once
        page.evaluate("document.querySelectorAll('details').forEach(d => { d.open = true })")
        page.check("input[value=ter]")
        for more in ("nist", "bootstrap", "paired_bootstrap"):  # long enough for any machine
            page.check(f"input[value={more}]")
        page.fill("#choice-resamples", "900000")
        page.fill("#choice-seed", "7")  # nothing of it is there from another test
        page.click("button:text-is('Compare')")
        page.wait_for_selector("text=/Drawing resamples: [1-9]/")
        page.evaluate(HEARD)
        counted = page.inner_text("#counted")
        page.wait_for_selector(f"#counted:not(:text-is('{counted}'))")
        assert page.evaluate("heard") == []
        page.click("text=Cancel")
        page.wait_for_selector("text=It was cancelled")


def test_a_public_link_is_followed_and_taken_back(service, chromium):
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


# the colour of the pixel at the left of what a picture in base64 shows, in its middle
LEFT = """async data => {
  const bytes = Uint8Array.from(atob(data), (letter) => letter.codePointAt(0));
  const picture = await createImageBitmap(new Blob([bytes], { type: "image/png" }));
  const drawn = new OffscreenCanvas(picture.width, picture.height).getContext("2d");
  drawn.drawImage(picture, 0, 0);
  return [...drawn.getImageData(5, picture.height / 2, 1, 1).data];
}"""


BLACK, WHITE = "rgb(22, 22, 22)", "rgb(255, 255, 255)"


def test_a_report_from_the_disk_fits_a_phone_and_paper(service, chromium, tmp_path):
    """Long signatures wrap; in print all of a table is there, dark on light whatever the screen."""
    made = service.post("/v1/comparisons", json=wide(12), headers={"Prefer": "wait=60"})
    told = service.get(made.json()["links"]["report"], params={"format": "html"})
    file = tmp_path / "report.html"
    file.write_bytes(told.content)
    phone = {"width": 360, "height": 740}
    with visit(chromium, "", viewport=phone, color_scheme="dark") as visited:
        page = visited.page
        page.goto(file.as_uri())
        assert page.evaluate("document.documentElement.scrollWidth") <= 360
        report = page.locator("main")
        assert report.evaluate("own => getComputedStyle(own).color") != BLACK
        page.set_viewport_size({"width": 720, "height": 1000})
        page.emulate_media(media="print", color_scheme="dark")
        style = "own => [getComputedStyle(own).color, getComputedStyle(own).backgroundColor]"
        assert report.evaluate(style) == [BLACK, WHITE]
        cut = "all => all.filter(own => getComputedStyle(own).overflowX !== 'visible').length"
        assert page.locator(".scroll").evaluate_all(cut) == 0
        assert page.evaluate("document.documentElement.scrollWidth") <= 720


def test_what_is_chosen_is_seen_in_forced_colours(service, chromium):
    body = {**wide(2), "metrics": ["bleu", "chrf"]}
    made = service.post("/v1/comparisons", json=body, headers={"Prefer": "wait=60"})
    with visit(chromium, str(service.base_url), forced_colors="active") as visited:
        visited.page.goto(f"/comparisons/{made.json()['id']}")
        own = (visited.page.locator(f".choose a:text-is('{name}')") for name in body["metrics"])
        shots = [base64.b64encode(link.screenshot()).decode() for link in own]
        chosen, other = (visited.page.evaluate(LEFT, shot) for shot in shots)
        assert chosen != other


def test_text_is_as_large_as_readers_want_it(service, chromium):
    """All of it, and twice as large fits the narrowest phone, too."""
    body = {**wide(3), "metrics": ["bleu", "chrf"]}
    made = service.post("/v1/comparisons", json=body, headers={"Prefer": "wait=60"})
    phone = {"width": 320, "height": 640}
    with visit(chromium, str(service.base_url), viewport=phone) as visited:
        page = visited.page
        page.goto(f"/comparisons/{made.json()['id']}?a=own0&b=own1&alpha=0.1")
        size = "own => parseFloat(getComputedStyle(own).fontSize)"
        before = [page.locator(own).first.evaluate(size) for own in ("h1", "td", "dd", "button")]
        page.evaluate("document.documentElement.style.fontSize = '200%'")
        after = [page.locator(own).first.evaluate(size) for own in ("h1", "td", "dd", "button")]
        assert all(larger > 1.5 * own for own, larger in zip(before, after, strict=True))
        assert page.evaluate("document.documentElement.scrollWidth") <= 320


def test_wide_pictures_stay_legible_on_a_phone(service, chromium):
    """Correlations of many metrics are wider than a column."""
    systems = [f"s{i}" for i in range(8)]
    body = {
        "human": {"scores": {name: i for i, name in enumerate(systems)}},
        "metrics": {
            f"metric-{m}": {"system": {name: (i * (m + 3)) % 11 for i, name in enumerate(systems)}}
            for m in range(20)
        },
        "statistics": ["pearson"],
        "tests": ["williams"],
    }
    made = service.post("/v1/metric-evaluations", json=body, headers={"Prefer": "wait=60"})
    phone = {"width": 360, "height": 740}
    with visit(chromium, str(service.base_url), viewport=phone) as visited:
        page = visited.page
        page.goto(f"/metric-evaluations/{made.json()['id']}")
        picture = page.locator(".sigtest .wide svg")
        drawn = float(picture.get_attribute("width").removesuffix("pt"))
        assert picture.bounding_box()["width"] == pytest.approx(drawn * 4 / 3, abs=1)
        page.focus(".wide")
        page.keyboard.press("ArrowRight")
        page.wait_for_function("() => document.querySelector('.wide').scrollLeft > 0")
        assert page.evaluate("document.documentElement.scrollWidth") <= 360


def test_short_names_take_one_line_on_a_phone(service, chromium):
    """Also where a table is too wide, and names could break at their hyphens."""
    body = wide(12)
    for system in body["systems"]:
        system["name"] = f"system-{system['name']}"
    made = service.post("/v1/comparisons", json=body, headers={"Prefer": "wait=60"})
    phone = {"width": 360, "height": 740}
    with visit(chromium, str(service.base_url), viewport=phone) as visited:
        page = visited.page
        page.goto(f"/comparisons/{made.json()['id']}")
        for table in ("#systems", "#matrix"):
            assert tallest(page, table) < 40
        judgements = [
            {"annotator": "w", "system": f"system-{i}", "segment": segment, "score": 9 * i}
            for i in range(9)
            for segment in range(3)
        ]
        asked = {"judgements": judgements}
        judged = service.post("/v1/human-evaluations", json=asked, headers={"Prefer": "wait=60"})
        page.goto(f"/human-evaluations/{judged.json()['id']}")
        assert tallest(page, "#report .scroll >> nth=0 >>") < 40


def tallest(page: Any, table: str) -> int:
    """Height of the tallest row of a table, in pixels."""
    rows = page.locator(f"{table} tbody tr")
    return max(rows.evaluate_all("all => all.map(own => own.offsetHeight)"))


def test_lists_fit_a_tablet_also_where_something_is_deleted(service, chromium):
    service.post("/v1/comparisons", json=wide(12), headers={"Prefer": "wait=60"})
    tablet = {"width": 768, "height": 1024}
    with visit(chromium, str(service.base_url), viewport=tablet) as visited:
        page = visited.page
        page.goto("/comparisons")
        page.click("summary:text-is('delete') >> nth=0")
        table = page.locator(".scroll:has(.sure)")
        assert table.evaluate("own => own.scrollWidth <= own.clientWidth")
        assert page.locator("button:text-is('Delete it with its texts')").first.is_visible()


@pytest.mark.parametrize("third", [10, pytest.param(20, marks=pytest.mark.slow)])
def test_wide_tables_are_whole_on_paper(service, chromium, third):
    """Long names take lines; of several test sets, intervals are numbers and no pictures."""
    many = wide(third)
    longest = "a name that is longer than those of all others, and goes on"
    many["systems"] = [
        {**own, "name": f"{own['name']} {place}" if place else f"{longest} {own['name']}"}
        for place in range(3)
        for own in many["systems"]
    ]
    one = wide(3)
    testsets = [
        {"name": name, "references": one["references"], "systems": one["systems"]}
        for name in ("news", "talks", "law", "web")
    ]
    several = {"testsets": testsets, "resamples": 99}
    # browsers shrink what is somewhat too wide for a sheet, but not what is laid out apart
    for body, table, room in ((many, "#matrix", 680), (several, "#report", 900)):
        made = service.post("/v1/comparisons", json=body, headers={"Prefer": "wait=60"})
        with visit(chromium, str(service.base_url)) as visited:
            page = visited.page
            page.set_viewport_size({"width": 680, "height": 960})  # 18 cm
            page.goto(f"/comparisons/{made.json()['id']}")
            page.emulate_media(media="print")
            found = page.locator(f"{table} table").first
            assert found.evaluate("own => own.getBoundingClientRect().right") <= room


def test_a_report_on_paper(service, chromium):
    """Nothing for screens alone, no heading above nothing, headings no larger than rows."""
    with visit(chromium, str(service.base_url)) as visited:
        page = visited.page
        made = service.post("/v1/comparisons", json=wide(12), headers={"Prefer": "wait=60"})
        page.goto(f"/comparisons/{made.json()['id']}")
        page.emulate_media(media="print")
        size = "own => getComputedStyle(own).fontSize"
        heading, row = (page.locator(f"#systems {own} >> nth=0") for own in ("thead th", "td"))
        assert heading.evaluate(size) == row.evaluate(size)
        assert page.locator("#pairs:visible").count() == 0
        for said in ("LaTeX, one table", "Interface", "Take it home", "Hide systems"):
            assert page.locator(f"main, footer >> text={said} >> visible=true").count() == 0
        assert page.locator("text='How to say it' >> visible=true").count() == 1
        page.emulate_media(media="screen")
        page.click("#pairs summary")
        page.emulate_media(media="print")
        assert page.locator("#pairs tbody tr:visible").count() == 66


def test_a_list_on_paper(service, chromium):
    """An entry takes its two lines, and what leads elsewhere is left out."""
    request = wide(2) | {"seed": 853}  # the newest entry
    made = service.post("/v1/comparisons", json=request, headers={"Prefer": "wait=60"})
    with visit(chromium, str(service.base_url), viewport={"width": 680, "height": 900}) as visited:
        visited.page.goto("/comparisons")
        visited.page.emulate_media(media="print")
        size = "own => own.offsetHeight / parseFloat(getComputedStyle(own).lineHeight)"
        entry = visited.page.locator(
            "tbody tr", has=visited.page.locator(f"[href*='{made.json()['id']}']")
        )
        assert entry.locator("td:nth-of-type(2)").evaluate(size) < 4
        assert visited.page.locator("main .act:visible").count() == 0


def test_a_report_that_is_there_has_its_pictures(service, chromium):
    """Also those far below: what prints a page when it is loaded waits for nothing else."""
    made = service.post("/v1/comparisons", json=wide(12), headers={"Prefer": "wait=60"})
    address = f"/comparisons/{made.json()['id']}?a=own0&b=own1"
    service.get(f"{address.partition('?')[0]}/pictures/distribution.svg?a=own0&b=own1")
    with visit(chromium, str(service.base_url), viewport={"width": 900, "height": 300}) as visited:
        visited.page.goto(address)
        pictures = visited.page.locator("main img")
        assert pictures.evaluate_all("all => all.map(own => own.naturalWidth > 0)") == [True] * 3
        far = pictures.evaluate_all("all => Math.max(...all.map(own => own.offsetTop))")
        assert far > 3000  # where browsers do not load what may come into view later


def wide(systems: int) -> dict[str, Any]:
    """A small comparison of so many systems."""
    reference = [f"word{i} and some more words." for i in range(20)]
    outputs = [
        {"name": f"own{i}", "hypotheses": [*reference[i:], *["other words"] * i]}
        for i in range(systems)
    ]
    return {"references": [reference], "systems": outputs, "resamples": 99}


STATE = """address => new Promise((done) => {
  const source = new EventSource(address);
  source.addEventListener("progress", () => setTimeout(() => {
    source.close();
    done(["state", "phase"].map((name) => document.getElementById(name).textContent));
  }, 300));
})"""


def test_who_may_only_read_is_offered_nothing_else(serve_on, tmp_path, chromium):
    queue = QueueSettings(state=tmp_path)
    server = EmbeddedServer(queue)
    server.ensure()
    asked = {"references": ["a b"], "systems": {"x": ["a"], "y": ["b"]}}
    with contextlib.ExitStack() as ending:
        ending.callback(server.stop)
        redis = ending.enter_context(contextlib.closing(connect(queue)))
        keys = {scopes: Access(redis).add("ann", list(scopes))[1]
                for scopes in (("read",), ("read", "submit"))}  # fmt: skip
        client = serve_on(Settings(), queue)
        whole = {"X-API-Key": keys["read", "submit"]}
        client.post("/v1/comparisons", json=asked, headers=whole).raise_for_status()
        board = client.post("/v1/testsets", json={"name": "b", "references": ["a"]}, headers=whole)
        pages = ("/", "/comparisons", "/plans", "/boards", board.headers["location"][3:])
        pages = tuple(page.replace("/testsets/", "/boards/") for page in pages)
        for scopes, key in keys.items():
            with visit(chromium, str(client.base_url)) as visited:
                page = visited.page
                page.goto("/sign-in")
                page.fill("#key", key)
                page.click("main button")
                for address in pages:
                    page.goto(address)
                    offered = page.locator(":is(.sure, form[method=post]:not(.who)):visible")
                    told = page.get_by_text("Your key only reads")
                    assert (offered.count() > 0, told.count()) == (
                        (True, 0) if "submit" in scopes else (False, 1)
                    ), address
                    assert page.locator("h1:visible").count() == 1


def test_what_waits_says_so(serve_on, tmp_path, chromium):
    """Also after events have told how much there is to do: nobody is there to work."""
    queue = QueueSettings(state=tmp_path)
    server = EmbeddedServer(queue)
    server.ensure()
    try:
        client = serve_on(Settings(), queue)
        made = client.post("/v1/comparisons", json=wide(2)).json()
        with visit(chromium, str(client.base_url)) as visited:
            address = f"/comparisons/{made['id']}"
            visited.page.goto(address)
            told = visited.page.evaluate(STATE, f"{address}/events")
            warned = visited.page.inner_text(".warning")
            visited.page.route(f"**{address}/events", lambda route: route.fulfill(status=503))
            visited.page.goto(address)
            with visited.page.expect_navigation():  # where it is turned away, it looks again
                pass
            visited.complaints.clear()
        client.delete(made["links"]["self"])  # ends the streams of events
    finally:
        server.stop()
    assert told == ["Waiting for a worker", "It waits for its turn."]
    assert warned == "No worker process is running; this waits until one is."


# an element's words as they stand from left to right, in one line
WORDS = """own => {
  own.style.whiteSpace = "nowrap";
  const walk = document.createTreeWalker(own, NodeFilter.SHOW_TEXT), found = [];
  while (walk.nextNode()) for (const word of walk.currentNode.data.matchAll(/\\S+/g)) {
    const range = document.createRange();
    range.setStart(walk.currentNode, word.index);
    range.setEnd(walk.currentNode, word.index + word[0].length);
    found.push([range.getBoundingClientRect().left, word[0]]);
  }
  return found.sort((a, b) => a[0] - b[0]).map((word) => word[1]).join("");
}"""


def test_sentences_go_from_left_to_right_whatever_names_do(service, chromium):
    names = ["\u05de\u05e2\u05e8\u05db\u05ea", "\u0646\u0638\u0627\u0645", "\u05d1"]
    lines = [f"word{i} and some more words." for i in range(30)]
    given = {name: lines[: 30 - 9 * i] + ["other words"] * 9 * i for i, name in enumerate(names)}
    systems = [{"name": name, "hypotheses": given[name]} for name in names]
    body = {"systems": systems, "resamples": 999, "metrics": ["bleu"]}
    one = {**body, "references": [lines]}
    two = {
        "resamples": 99,
        "testsets": [
            {"name": name, "references": [lines], "systems": systems} for name in names[:2]
        ],
    }
    pair = httpx.QueryParams(a=names[0], b=names[1])
    with visit(chromium, str(service.base_url)) as visited:
        page = visited.page
        for asked, places in (
            (one, (".answer", ".warnings li:visible", "#pair > p")),
            (two, ("h1 + .facts", ".answer")),
        ):
            made = service.post("/v1/comparisons", json=asked, headers={"Prefer": "wait=60"}).json()
            page.goto(f"/comparisons/{made['id']}?{pair}")
            for place in places:
                for own in page.locator(place).all():
                    assert own.evaluate(WORDS) == "".join(own.inner_text().split())
        page.goto("/comparisons")
        listed = page.locator("tbody th a").first
        assert listed.evaluate(WORDS) == f"{','.join(names)};bleu;2testsets"


def test_columns_of_a_narrow_listing_stand_apart(service, chromium):
    made = service.post("/v1/comparisons", json=wide(2), headers={"Prefer": "wait=60"})
    with visit(chromium, str(service.base_url), viewport={"width": 360, "height": 900}) as visited:
        visited.page.goto("/comparisons")
        row = visited.page.locator(f"tr:has(a[href$='{made.json()['id']}'])")
        asked, state = row.locator("th a").bounding_box(), row.locator("td >> nth=0").bounding_box()
        assert asked["x"] + asked["width"] <= state["x"]


LONG = "a-system-whose-name-goes-on-" + "and-on-" * 10
BOXES = """scroll => {
  scroll.scrollIntoView();
  scroll.scrollLeft = 150;
  return [scroll, ...scroll.querySelector("tbody tr").cells].slice(0, 3)
    .map(cell => cell.getBoundingClientRect()).map(({ left, right }) => [left, right]);
}"""


def test_both_names_of_a_pair_stay_beside_its_numbers(service, chromium, body):
    made = service.post(
        "/v1/comparisons", json={**body, "resamples": 177}, headers={"Prefer": "wait=60"}
    )
    with visit(chromium, str(service.base_url), viewport={"width": 360, "height": 900}) as visited:
        visited.page.goto(f"/comparisons/{made.json()['id']}?beside=1")
        visited.page.evaluate(
            "document.querySelectorAll('details').forEach(d => { d.open = true })"
        )
        frame, first, second = visited.page.locator("#pairs .scroll").first.evaluate(BOXES)
        assert frame[0] <= first[0] < first[1] <= second[0] + 1
        assert second[1] < frame[1] - 100


def test_a_long_name_leaves_room_for_numbers(service, chromium, body):
    first, *others = body["systems"]
    renamed = {**body, "systems": [{**first, "name": LONG}, *others]}
    made = service.post("/v1/comparisons", json=renamed, headers={"Prefer": "wait=60"})
    with visit(chromium, str(service.base_url), viewport={"width": 1280, "height": 900}) as visited:
        visited.page.goto(f"/comparisons/{made.json()['id']}")
        for part in ("systems", "matrix", "pairs"):
            cell = visited.page.locator(f"#{part} tbody th", has_text=LONG).first
            assert 200 < cell.bounding_box()["width"] < 400, part
