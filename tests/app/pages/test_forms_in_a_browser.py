"""Forms that are refused, in a browser: what was typed stays, the reason stands at its field."""

from pathlib import Path
from typing import Any

import pytest
from browsing import Visit, visit

from app.settings import Settings
from workers.access import digest_of

FOCUSED = "document.activeElement.id"


def refused(visited: Visit, control: str, words: str) -> None:
    """Wait until the reason stands at a control, which has the focus and says it to everybody."""
    page = visited.page
    page.wait_for_selector("#wrong")
    assert words in page.inner_text("#wrong")
    assert page.evaluate(FOCUSED) == control
    assert "wrong" in page.get_attribute(f"#{control}", "aria-describedby").split()
    field = page.locator(".field, fieldset", has=page.locator(f"#{control}")).last
    assert field.locator("#wrong").is_visible()


def chosen(page: Any, example: Path) -> None:
    """Choose the files of the example in the form of comparisons."""
    files = [example / "reference.en", *sorted((example / "systems").iterdir())]
    page.set_input_files("#files", files)
    page.wait_for_selector("#recognised")


def test_a_wrong_number_is_told_at_its_field_and_everything_stays(service, chromium, axe, example):
    with visit(chromium, str(service.base_url)) as visited:
        page = visited.page
        page.goto("/")
        chosen(page, example)
        page.fill("#title", "Mine")
        page.locator("summary", has_text="Options").click()
        page.fill("#choice-alpha", "3")
        page.locator("summary", has_text="Options").click()
        page.click("button:text-is('Compare')")
        refused(visited, "choice-alpha", "alpha must lie between 0 and 1")
        assert visited.complaints.pop().count("422") == 1  # the browser's own note
        assert (page.input_value("#title"), page.input_value("#choice-alpha")) == ("Mine", "3")
        assert page.evaluate("document.getElementById('files').files.length") == 6
        for width, scheme in ((360, "dark"), (1280, "light")):
            page.set_viewport_size({"width": width, "height": 900})
            page.emulate_media(color_scheme=scheme)
            assert visited.violations(axe) == []
            assert page.evaluate("document.documentElement.scrollWidth") <= width
        page.fill("#choice-alpha", "0.01")
        page.click("button:text-is('Compare')")
        page.wait_for_selector("#say", timeout=60_000)
        assert page.inner_text("h1") == "Mine"


@pytest.mark.parametrize(
    ("filled", "control", "words"),
    [
        ({}, "files", "No files yet"),
        (
            {"#reference-text": "a\nb", "#first-text": "a\nb", "#second-text": "b\nb",
             "#choice-baseline": "Z"},
            "choice-baseline",
            "Unknown baseline 'Z'; choose one of ",
        ),
    ],
)  # fmt: skip
def test_the_reason_stands_where_something_was_given(service, chromium, filled, control, words):
    with visit(chromium, str(service.base_url)) as visited:
        page = visited.page
        page.goto("/")
        for own in filled:
            page.evaluate("own => document.querySelector(own).closest('details').open = true", own)
            page.fill(own, filled[own])
        page.click("button:text-is('Compare')")
        refused(visited, control, words)
        assert {own: page.input_value(own) for own in filled} == filled
        visited.complaints.clear()


def test_the_reason_stands_at_the_file_that_it_is_about(service, chromium, tmp_path):
    scores = tmp_path / "my scores.txt"
    scores.write_text("these are no judgements\n")
    with visit(chromium, str(service.base_url)) as visited:
        visited.page.goto("/human-evaluations")
        visited.page.set_input_files("#part-judgements", scores)
        visited.page.click("button:text-is('Compute')")
        refused(visited, "part-judgements", "my scores.txt is in no format of judgements")
        visited.complaints.clear()


def test_what_was_wrong_with_files_goes_when_others_are_chosen(
    service, chromium, example, tmp_path
):
    picture = tmp_path / "reference.txt"
    picture.write_bytes(b"\x89PNG\r\n\x1a\n")
    with visit(chromium, str(service.base_url)) as visited:
        visited.page.goto("/")
        visited.page.set_input_files("#files", picture)
        visited.page.click("button:text-is('Compare')")
        refused(visited, "files", "reference.txt is not read")
        told = visited.page.locator("#recognition")  # what was read when the file was chosen
        told.filter(has_text="reference.txt is not read").wait_for(state="attached")
        assert not told.is_visible()
        chosen(visited.page, example)
        assert visited.page.locator("#wrong").count() == 0
        assert visited.page.get_attribute("#files", "aria-invalid") is None
        visited.complaints.clear()


def test_what_is_recognised_is_shown_in_the_form(service, chromium, example):
    with visit(chromium, str(service.base_url)) as visited:
        page = visited.page
        page.goto("/plans")
        page.set_input_files(
            "#files", [example / "reference.en", *sorted((example / "systems").iterdir())]
        )
        page.fill("#title", "Mine")
        page.click("button:text-is('Look at what is read first')")
        page.wait_for_selector("#recognised")
        assert page.evaluate(FOCUSED) == "recognised"
        assert "5 systems, 138 segments" in page.inner_text("#recognised")
        assert (page.url, page.input_value("#title")) == (f"{service.base_url}/plans", "Mine")


def drop(visited: Visit, files: list[Path]) -> None:
    """Let files or folders fall onto the form by hand, and wait until they are recognised."""
    place = visited.page.locator("#drop").bounding_box()
    data = {"items": [], "files": [str(file) for file in files], "dragOperationsMask": 1}
    debugger = visited.context.new_cdp_session(visited.page)
    for kind in ("dragEnter", "dragOver", "drop"):
        where = {"x": place["x"] + 40, "y": place["y"] + place["height"] - 10}
        debugger.send("Input.dispatchDragEvent", {"type": kind, "data": data, **where})
    visited.page.wait_for_selector("#recognised")


def test_a_folder_that_fell_onto_the_form_is_read_as_the_shell_reads_it(service, chromium, example):
    with visit(chromium, str(service.base_url)) as visited:
        visited.page.goto("/")
        drop(visited, [example])
        assert "shared-task/README.md" in visited.page.inner_text("#given")
        recognised = visited.page.inner_text("#recognised")
        assert "5 systems, 138 segments, 1 reference, 32 documents" in recognised


def test_files_that_fell_onto_the_form_are_there_again_for_who_comes_back(
    service, chromium, example
):
    files = [example / "reference.en", *sorted((example / "systems").iterdir())]
    with visit(chromium, str(service.base_url)) as visited:
        page = visited.page
        page.goto("/")
        drop(visited, files)
        page.click("button:text-is('Compare')")
        page.wait_for_selector("#say", timeout=60_000)
        page.go_back()
        page.wait_for_selector("#recognised", timeout=10_000)
        assert page.locator("#given li").all_inner_texts() == [file.name for file in files]
        page.click("button:text-is('Compare')")
        page.wait_for_selector("#say", timeout=60_000)


def test_a_form_whose_session_is_over_keeps_what_was_typed(
    serve_on, queue, service, chromium, example
):
    served = serve_on(Settings(api_keys=(("ada", digest_of("secret-of-ada")),)), queue)
    with visit(chromium, str(served.base_url)) as visited:
        page = visited.page
        page.goto("/sign-in")
        page.fill("#key", "secret-of-ada")
        page.click("main button")
        page.wait_for_selector("#files")
        chosen(page, example)
        page.fill("#title", "Mine")
        visited.context.clear_cookies()
        page.click("button:text-is('Compare')")
        page.wait_for_selector("#wrong a")
        assert "sign in, then send it again" in page.inner_text("#wrong")
        assert page.get_attribute("#wrong a", "target") == "_blank"
        assert page.input_value("#title") == "Mine"
        visited.complaints.clear()


def test_who_must_sign_in_to_decide_comes_back_to_what_was_decided(
    serve_on, queue, service, chromium
):
    served = serve_on(Settings(api_keys=(("ada", digest_of("secret-of-ada")),)), queue)
    with visit(chromium, str(served.base_url)) as visited:
        page = visited.page

        def sign_in() -> None:
            page.fill("#key", "secret-of-ada")
            page.click("main button")

        page.goto("/sign-in")
        sign_in()
        page.click("text=Try the example")
        page.wait_for_selector("#say", timeout=60_000)
        visited.context.clear_cookies()
        page.click("text=Decide with another")
        page.fill(".decide input[name=alpha]", "0.5")
        page.click(".decide button")
        page.click("text=Sign in with a key")
        sign_in()
        page.wait_for_selector("#say")
        assert "|decided:alpha=0.5" in page.inner_text("#signature")
        visited.complaints.clear()


def test_what_cannot_be_shown_leaves_the_report_in_its_place(service, chromium, body):
    systems = [{**body["systems"][0], "name": name} for name in "ABC"]
    asked = {**body, "systems": systems}
    made = service.post("/v1/comparisons", json=asked, headers={"Prefer": "wait=60"}).json()
    with visit(chromium, str(service.base_url)) as visited:
        page = visited.page
        page.goto(f"/comparisons/{made['id']}")
        page.click(".decide summary")
        page.fill(".decide input[name=alpha]", "much")
        page.click(".decide button")
        page.wait_for_selector(".decide #wrong")
        assert page.evaluate("document.activeElement.name") == "alpha"
        assert page.input_value(".decide input[name=alpha]") == "much"
        page.click(".hide summary")
        for name in "AB":
            page.check(f".hide input[value={name}]")
        page.click(".hide button")
        page.wait_for_selector(".hide #wrong")
        assert "at least two systems" in page.inner_text("#wrong")
        assert page.locator("#wrong").count() == 1
        assert page.locator("#say").is_visible()
        visited.complaints.clear()


def test_a_filter_of_segments_that_is_refused_leaves_the_pair_in_its_place(service, chromium, body):
    made = service.post("/v1/comparisons", json=body, headers={"Prefer": "wait=60"}).json()
    with visit(chromium, str(service.base_url)) as visited:
        page = visited.page
        page.goto(f"/comparisons/{made['id']}?a=A&b=B")
        address = page.url
        page.fill("#pair input[name=shortest]", "few")
        page.click("#pair form button")
        page.wait_for_selector("#pair #wrong")
        assert "a whole number, not 'few'" in page.inner_text("#wrong")
        assert page.evaluate("document.activeElement.name") == "shortest"
        assert page.url == address
        visited.complaints.clear()
        page.fill("#pair input[name=shortest]", "1")
        page.click("#pair form button")
        page.wait_for_url("**shortest=1*")
        assert page.locator("#wrong").count() == 0
        assert page.locator("#pair .segments li").count() > 0
