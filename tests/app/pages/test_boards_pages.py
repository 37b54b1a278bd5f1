"""Boards in a browser's eyes: made, submitted to, read, deleted."""

import html
import re
from collections import Counter

import httpx
import pytest
from browsing import visit
from sentences import sentences
from test_pages import HOSTILE

from app.routes.testsets import victories
from app.settings import Settings
from workers.queue import Context
from workers.settings import Settings as QueueSettings
from workers.store.server import EmbeddedServer, connect
from workers.tasks.run import run

BROWSER = {"Sec-Fetch-Site": "same-origin"}
REFERENCE = b"a b c d e\nf g h i j\nk l m n o\n"


@pytest.fixture
def board(pages: httpx.Client, request: pytest.FixtureRequest) -> str:
    made = pages.post(
        "/boards",
        data={"name": f"news {request.node.name[:60].replace('[', ' ').replace(']', ' ')}".strip(),
              "metrics": "bleu", "resamples": "99", "capacity": "5"},
        files={"references": ("reference.txt", REFERENCE)},
        headers=BROWSER,
    )  # fmt: skip
    assert made.status_code == 303, made.text
    return str(made.headers["location"])


def put(pages: httpx.Client, board: str, file: str, text: bytes, **data: str) -> httpx.Response:
    brought = {"hypotheses": (f"{file}.txt", text)}
    return pages.post(f"{board}/systems", files=brought, data=data, headers=BROWSER)


def test_a_board_without_systems_says_so(pages, board):
    page = pages.get(board)
    assert page.status_code == 200
    assert "No system is measured yet" in page.text
    assert "<table" not in page.text  # nor a state of it to go to
    assert "/comparisons/" not in page.text


def test_a_board_that_is_full_says_so_in_the_place_of_its_form(pages, board):
    for place in range(5):
        assert 'name="hypotheses"' in pages.get(board).text
        assert put(pages, board, f"own{place}", REFERENCE).status_code == 303
    page = pages.get(board).text
    assert "takes no more submissions: its claims are corrected for 5" in page
    assert 'name="hypotheses"' not in page


def test_systems_are_submitted_and_compared(pages, board):
    assert put(pages, board, "one", REFERENCE).status_code == 303
    assert put(pages, board, "two", b"a b c\nf g h\nx y z\n", name="second").status_code == 303
    told = pages.get(board, headers={"Accept": "application/json"})
    while told.json()["pending"]:
        told = pages.get(board, headers={"Accept": "application/json"})
    page = pages.get(board).text
    rows = re.findall(r'<th scope="row">(\w+)</th>', page)
    assert rows[:2] == ["one", "second"]
    warned = sentences(told.json())
    assert warned
    assert all(f"<li>{warning}</li>" in html.unescape(page) for warning in warned)
    assert re.search(r'href="/comparisons/[0-9a-f]{32}"', page)
    assert "/boards/" in pages.get("/boards").text


def test_what_does_not_fit_is_explained(pages, board):
    short = put(pages, board, "short", b"a b\n")
    assert short.status_code == 422
    assert "short" in short.text
    assert put(pages, board, HOSTILE, REFERENCE).status_code == 422
    assert put(pages, board, "one", REFERENCE).status_code == 303
    taken = put(pages, board, "one", b"a\nb\nc\n")
    assert taken.status_code == 409
    assert "the box of the form" in taken.text
    assert put(pages, board, "one", b"a\nb\nc\n", replace="1").status_code == 303


def test_a_board_is_deleted(pages, board):
    foreign = {"Sec-Fetch-Site": "cross-site"}
    assert pages.post(f"{board}/delete", headers=foreign).status_code == 403
    assert pages.post(f"{board}/delete", headers=BROWSER).headers["location"] == "/boards"
    assert pages.get(board).status_code == 410
    assert (
        pages.post(f"{board}/delete", headers={"Sec-Fetch-Site": "cross-site"}).status_code == 403
    )


# wide ones: see test_every_page.py
@pytest.mark.parametrize("width", [360, pytest.param(1600, marks=pytest.mark.slow)])
def test_boards_shut_nobody_out(service, pages, board, chromium, axe, width):
    put(pages, board, "one", REFERENCE)
    put(pages, board, "two", b"a b c\nf g h\nx y z\n")
    size = {"width": width, "height": 900}
    with visit(chromium, str(service.base_url), viewport=size) as visited:
        for address in ("/boards", board, "/sign-in", "/api"):
            visited.page.goto(address)
            assert visited.violations(axe) == []
            assert visited.page.evaluate("document.documentElement.scrollWidth") <= width


def test_fields_of_the_form_stand_in_lines(pages, chromium):
    size = {"width": 1600, "height": 900}
    with visit(chromium, str(pages.base_url), viewport=size) as visited:
        visited.page.goto("/boards")
        fields = [visited.page.locator(f"#{name}") for name in ("name", "capacity", "new-tags")]
        tops = {field.bounding_box()["y"] for field in fields}
        assert len(tops) == 1


def test_on_a_phone_a_long_name_leaves_room_for_what_is_scrolled(pages, chromium):
    files = {"references": ("reference.txt", REFERENCE)}
    for name in ("newstest " * 12, "n" * 120):
        data = {"name": name.strip(), "metrics": "bleu"}
        assert pages.post("/boards", data=data, files=files, headers=BROWSER).status_code == 303
    size = {"width": 360, "height": 800}
    with visit(chromium, str(pages.base_url), viewport=size) as visited:
        visited.page.goto("/boards")
        names = visited.page.locator(".scroll tbody th").all()
        assert len(names) >= 2
        assert max(own.bounding_box()["width"] for own in names) <= 180


def test_a_board_on_paper(pages, board, chromium):
    """No heading of what can be done on a screen alone; names of pairs leave room for numbers."""
    long = "a-name-that-is-longer-than-most-of-them"
    put(pages, board, "one", REFERENCE, name=long)
    put(pages, board, "two", b"a b c\nf g h\nx y z\n", name=f"{long}-2")
    told = pages.get(board, headers={"Accept": "application/json"})
    while told.json()["pending"]:
        told = pages.get(board, headers={"Accept": "application/json"})
    sheet = {"width": 720, "height": 1000}  # A4 without its margins
    with visit(chromium, str(pages.base_url), viewport=sheet) as visited:
        visited.page.goto(board)
        visited.page.evaluate(
            "document.querySelectorAll('details').forEach(d => { d.open = true })"
        )
        visited.page.emulate_media(media="print")
        assert visited.page.locator("h2 >> text=Submit a system >> visible=true").count() == 0
        names = visited.page.locator("#pairs tbody th").all()
        assert {own.bounding_box()["width"] > 200 for own in names} == {False}
        assert visited.page.evaluate("document.documentElement.scrollWidth") <= 720


def test_a_board_is_loaded_again_when_what_it_lacked_has_come(serve_on, tmp_path, chromium):
    """Nobody works on it but this test; and not while somebody fills in a form."""
    queue = QueueSettings(state=tmp_path)
    server = EmbeddedServer(queue)
    server.ensure()
    context = Context.on(connect(queue), queue)
    try:
        client = serve_on(Settings(), queue)
        with visit(chromium, str(client.base_url)) as visited:
            page = visited.page
            body = {"name": "slow", "references": ["a b c", "d e f"], "metrics": ["bleu"]}
            made = client.post("/v1/testsets", json=body | {"resamples": 99}).json()
            shown = f"/boards/{made['id']}"

            def submit(name: str) -> None:
                client.put(
                    f"/v1/testsets/{made['id']}/systems/{name}",
                    json={"hypotheses": ["a b c", f"d e {name}"]},
                )

            submit("one")
            page.goto(shown)
            assert "Not in it yet: one." in page.inner_text("[data-lacks]")
            plain = client.get(shown, headers={"Accept": "text/html"}).text
            assert "Look again" in plain  # a page that scripts do not watch stays, with its form
            assert "http-equiv" not in plain
            submit("two")
            page.wait_for_selector("[data-lacks]:text('one, two')")
            page.fill("#name", "three")
            measure(context, made["id"])
            with page.expect_response(f"**{shown}"):  # it looks, and leaves what was typed
                pass
            assert page.input_value("#name") == "three"
            page.reload()
            submit("four")
            page.goto(shown)
            measure(context, made["id"])
            page.wait_for_selector("th:text('four')")
            assert not page.locator("[data-lacks]").count()
    finally:
        context.questions.redis.close()
        server.stop()


def measure(context: Context, testset_id: str) -> None:
    """Do what a worker does."""
    state = context.testsets.stored(testset_id)
    assert state is not None
    for entry in state.joins:
        run(context, entry.name, [entry.owner, *entry.arguments])


def test_systems_that_are_better_than_the_same_ones_share_a_sentence():
    told = victories({"a": ["d", "c"], "b": ["c", "d"], "c": ["d"]})
    assert told == "a and b are better than c and d; c is better than d."


def test_what_became_clear_of_many_pairs_leaves_room_for_the_form(pages):
    lines = [f"{place} b c d e f" for place in range(30)]
    made = pages.post(
        "/boards",
        data={"name": "many", "metrics": "bleu", "resamples": "1999", "capacity": "11"},
        files={"references": ("reference.txt", "\n".join(lines).encode())},
        headers=BROWSER,
    )
    board = str(made.headers["location"])
    for place in range(11):
        kept = 6 if place < 6 else 3
        text = "\n".join(" ".join(line.split()[:kept] + ["x"] * (6 - kept)) for line in lines)
        assert put(pages, board, f"own{place}", text.encode()).status_code == 303
    settled = {"Accept": "application/json"}
    while (told := pages.get(board, headers=settled).json())["pending"]:
        pass
    assert len(told["claims"]) == 30
    history = re.search(r'<dl class="history">(.*?)</dl>', pages.get(board).text, re.DOTALL)
    assert history is not None
    moments = Counter(own["claimed_at"][:16].replace("T", " ") for own in told["claims"])
    folded = re.findall(r"<dt>(.*?) UTC</dt><dd><details><summary>(\d+) pairs<", history[1])
    assert {when: int(count) for when, count in folded} == {
        when: count for when, count in moments.items() if count > 12
    }  # all 30 of one minute, or those of each, where one ended meanwhile
    assert folded
    assert "own0" in history[1]
