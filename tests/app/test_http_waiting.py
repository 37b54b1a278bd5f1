"""A request that waits for a worker does not delay others, and what a worker owes is 409."""

import asyncio
import re
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest
from exchange import COMPARISONS, ServeOn, problem
from service import until

from app.http import waiting
from app.routes import testsets as pages
from app.settings import Settings
from sigtest.kinds import KINDS
from workers.queue import Context
from workers.settings import Settings as QueueSettings
from workers.store import codec
from workers.store.server import EmbeddedServer, connect
from workers.tasks.run import run

PAIR = {"a": "A", "b": "B", "metric": "bleu", "test": "approximate_randomization"}

LINES = ["a b c d e", "f g h i j", "k l m n o"]


@pytest.fixture
def queue(tmp_path: Path) -> Iterator[QueueSettings]:
    """A server without workers."""
    settings = QueueSettings(state=tmp_path)
    server = EmbeddedServer(settings)
    server.ensure()
    yield settings
    server.stop()


@pytest.fixture
def context(queue: QueueSettings) -> Iterator[Context]:
    redis = connect(queue)
    yield Context.on(redis, queue)
    redis.close()


@pytest.fixture
def client(queue: QueueSettings, serve_on: ServeOn) -> httpx.Client:
    return serve_on(Settings(), queue)


@pytest.fixture
def url(client: httpx.Client, context: Context, body: dict[str, Any]) -> str:
    """A comparison that has succeeded, and a distribution that no worker makes."""
    location = client.post(COMPARISONS, json=body).headers["location"]
    name = id_of(location)
    for entry in context.questions.pieces(name).tasks(name):
        run(context, entry.name, [name, *entry.arguments])
    context.feed.drop(name)
    return f"{location}/distribution"


def id_of(url: str) -> str:
    return url.removeprefix(f"{COMPARISONS}/").partition("/")[0]


def test_fifty_who_wait_for_a_distribution_leave_room_for_others(client, context, url):
    async def ask() -> tuple[list[httpx.Response], httpx.Response, int]:
        async with httpx.AsyncClient(base_url=client.base_url, timeout=60) as many:
            asking = [asyncio.create_task(many.get(url, params=PAIR)) for _ in range(50)]
            await asyncio.sleep(1)  # all of them are waiting by then
            answer = await many.get(url.removesuffix("/distribution"))
            served = sum(task.done() for task in asking)
            run(context, "distribute", [id_of(url), 0, 0, 1, 0, 0])
            return await asyncio.gather(*asking), answer, served

    waited, answer, served = asyncio.run(ask())
    assert answer.json()["status"] == "succeeded"
    assert served == 0
    assert {response.status_code for response in waited} == {200}
    assert len({response.text for response in waited}) == 1


def test_who_has_waited_long_enough_is_told_to_ask_again(client, context, url, monkeypatch):
    monkeypatch.setattr(waiting, "MAKING_SECONDS", 0.1)
    told = client.get(url, params=PAIR)
    assert "ask again" in problem(told, 409, "not-ready")["detail"]
    assert int(told.headers["retry-after"]) >= 1
    assert context.feed.jobs.alive() == {f"{id_of(url)}-distribute-0-0-1-0-0"}


def test_what_needs_a_pending_system_of_a_board_is_asked_for_again(client, context, monkeypatch):
    monkeypatch.setattr(pages, "WAIT_SECONDS", 0.1)
    lines = ["a b c d e", "f g h i j", "k l m n o"]
    made = client.post("/v1/testsets", json={"name": "t", "references": lines, "resamples": 99})
    testset = made.headers["location"]
    assert made.json()["links"]["plots"] == {}
    asked = {
        "/plots/matrix.svg": {},
        "/plots/distribution.svg": {"a": "A", "b": "B"},
        "/distribution": {"a": "A", "b": "B"},
    }
    for name in "AB":
        client.put(f"{testset}/systems/{name}", json={"hypotheses": [*lines[:2], f"k {name}"]})
        for path, params in asked.items():
            told = client.get(f"{testset}/leaderboard{path}", params=params)
            assert name in problem(told, 409, "not-ready")["detail"]
            assert int(told.headers["retry-after"]) >= 1
    work(context, testset.rpartition("/")[2])
    links = client.get(testset).json()["links"]["plots"]
    assert sorted(links) == ["intervals", "matrix"]
    assert {client.get(link).status_code for link in links.values()} == {200}
    late = [*lines[:2], "k late"]
    client.put(f"{testset}/systems/late", json={"hypotheses": late})
    assert client.get(links["matrix"]).status_code == 200  # what is measured is shown meanwhile
    told = client.get(f"{testset}/leaderboard/distribution", params={"a": "A", "b": "late"})
    assert "late" in problem(told, 409, "not-ready")["detail"]
    told = client.get(f"{testset}/leaderboard/distribution", params={"a": "A", "b": "never"})
    problem(told, 422, "invalid-recipe")


def board_of_two(client: httpx.Client, context: Context, name: str) -> tuple[str, str]:
    """Address and id of a board with two measured systems."""
    asked = {"name": name, "references": LINES, "resamples": 99}
    url = client.post("/v1/testsets", json=asked).headers["location"]
    for system in "AB":
        hypotheses = [*LINES[:2], f"k {system}"]
        client.put(f"{url}/systems/{system}", json={"hypotheses": hypotheses})
    testset = url.rpartition("/")[2]
    work(context, testset)
    return url, testset


def test_a_board_is_waited_for_as_long_as_is_preferred(client, context, monkeypatch):
    monkeypatch.setattr(pages, "WAIT_SECONDS", 0.1)
    url, testset = board_of_two(client, context, "levels")
    client.delete(f"{url}/systems/A")

    def look(wait: int) -> httpx.Response:
        params = {"alpha": "0.2"}
        return client.get(
            f"{url}/leaderboard", params=params, headers={"Prefer": f"wait={wait}"}
        ).raise_for_status()

    soon = look(0)
    assert [system["name"] for system in soon.json()["systems"]] == ["A", "B"]
    assert int(soon.headers["retry-after"]) >= 1
    with ThreadPoolExecutor(1) as pool:
        later = pool.submit(look, 60)
        time.sleep(0.5)  # longer than where nothing is preferred
        assert not later.done()
        run(context, "refresh", [testset, "by hand"])
        whole = later.result()
    assert [system["name"] for system in whole.json()["systems"]] == ["B"]
    assert whole.headers["preference-applied"] == "wait=60"


def work(context: Context, testset: str) -> None:
    """Measure the systems of a test set and write its leaderboard."""
    state = context.testsets.stored(testset)
    assert state is not None
    for entry in state.joins:
        run(context, entry.name, [testset, *entry.arguments])
    context.feed.drop(testset)


def test_a_page_of_a_waiting_question_tells_its_place_and_its_cost(client, body):
    metrics, tests = ["bleu", "nist", "chrf", "chrf:word_order=2", "ter"], ["bootstrap"]
    bodies = [{**body, "resamples": 999_999, "metrics": metrics, "tests": tests}]
    bodies += [{**body, "resamples": resamples} for resamples in (999, 998)]
    asked = [client.post(COMPARISONS, json=own).headers["location"] for own in bodies]
    large, small, _ = (
        client.get(url.removeprefix("/v1"), headers={"Accept": "text/html"}).text for url in asked
    )
    seconds = KINDS["comparisons"].parse(bodies[0]).seconds
    assert seconds > 1
    assert f"Predicted to take {seconds:.0f} s of one core." in large
    assert "2 smaller questions of yours (less than a second) come first" in large
    assert "1 smaller question of yours (less than a second) comes first" in small
    assert "Predicted to take less than a second of one core." in small


def test_a_board_that_is_measured_anew_says_so_and_leads_nowhere_wrong(
    client, context, monkeypatch
):
    monkeypatch.setattr(pages, "WAIT_SECONDS", 0.1)
    url, testset = board_of_two(client, context, "anew")
    client.patch(url, json={"resamples": 999}).raise_for_status()
    client.put(f"{url}/systems/C", json={"hypotheses": LINES})

    def seen() -> tuple[dict[str, Any], str, str]:
        told = client.get(f"{url}/leaderboard").raise_for_status().json()
        text = client.get(f"{url}/leaderboard", params={"format": "text"}).text
        page = client.get(f"/boards/{testset}", headers={"Accept": "text/html"}).text
        return told, text, page

    told, text, page = seen()
    assert ([s["name"] for s in told["systems"]], told["pending"]) == (["A", "B"], ["A", "B", "C"])
    for words in ("Not in it yet: C.", "Shown as before until they are measured: A, B."):
        assert words in text
        assert words in re.sub(r"<[^>]*>", "", page)
    (stored,) = context.questions.redis.keys("sigtest:report:*")
    other = re.sub(rb'"alternative":', b'"tails":', unpacked(context, stored))
    context.questions.redis.set(stored, codec.pack_bytes(other))  # as a version wrote it
    told, text, page = seen()
    assert (told["systems"], told["comparison"], told["pending"]) == ([], None, ["A", "B", "C"])
    assert "Not in it yet: A, B, C." in text
    assert "Not in it yet: A, B, C." in re.sub(r"<[^>]*>", "", page)
    for path in set(re.findall(r'(?:href|src)="(/[^"#]*)', page)):
        assert client.get(path, headers={"Accept": "text/html"}).status_code == 200, path


def unpacked(context: Context, name: bytes) -> bytes:
    """What is stored under a key, as it was before it was packed."""
    return codec.unpack_bytes(context.questions.redis.get(name))  # type: ignore[arg-type]  # bytes


def test_streams_of_one_caller_are_bounded_and_those_of_others_are_theirs(queue, serve_on, body):
    keys = {"SIGTEST_API_KEYS": "ann:of-ann,bob:of-bob", "SIGTEST_MAX_STREAMS": "2"}
    client = serve_on(Settings.model_validate(keys), queue)
    ann, bob = ({"X-API-Key": f"of-{name}"} for name in ("ann", "bob"))
    path, other = (client.post(COMPARISONS, json=body, headers=own).headers["location"] + "/events"
                   for own in (ann, bob))  # fmt: skip
    page = path.removeprefix("/v1")
    with client.stream("GET", path, headers=ann) as first:
        assert first.status_code == 200
        with client.stream("GET", page, headers=ann) as second:
            assert second.status_code == 200
            for asked in (path, page):
                refused = client.get(asked, headers=ann)
                assert problem(refused, 429, "busy")["limit"] == "max_streams"
                assert int(refused.headers["retry-after"]) > 0
            with client.stream("GET", other, headers=bob) as anothers:
                assert anothers.status_code == 200
        until(lambda: streamed(client, path, ann) == 200)


def streamed(client: httpx.Client, path: str, headers: dict[str, str]) -> int:
    with client.stream("GET", path, headers=headers) as answer:
        return answer.status_code
