"""A store that is silent, or full: everything is answered soon, and what is full can be emptied."""

import os
import signal
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx
import pytest
from exchange import COMPARISONS, ServeOn, problem
from service import started, until

from app.settings import Settings
from workers.settings import Settings as QueueSettings
from workers.store.server import EmbeddedServer, connect

MEGABYTE = 2**20


@pytest.fixture
def queue(tmp_path: Path) -> QueueSettings:
    return QueueSettings(state=tmp_path, memory=24 * MEGABYTE)


@pytest.fixture
def store(queue: QueueSettings) -> Iterator[int]:
    """A store without workers; its process."""
    server = EmbeddedServer(queue)
    server.ensure()
    redis = connect(queue)
    yield int(redis.info()["process_id"])
    redis.close()
    server.stop()


@pytest.fixture
def client(store: int, queue: QueueSettings, serve_on: ServeOn) -> httpx.Client:
    return serve_on(Settings(), queue)


def test_a_silent_store_is_told_within_three_seconds(client, store, body):
    made = client.post(COMPARISONS, json=body).headers["location"]
    board = {"name": "board", "references": body["references"]}
    ways = [
        ("GET", "/readyz", None),
        ("POST", COMPARISONS, body | {"seed": 9}),
        ("GET", COMPARISONS, None),
        ("GET", made, None),
        ("GET", f"{made}/report", None),
        ("GET", f"{made}/events", None),
        ("DELETE", made, None),
        ("POST", "/v1/testsets", board),
        ("GET", "/v1/testsets", None),
        ("GET", f"/v1/testsets/{'0' * 32}/leaderboard", None),
    ] * 6  # more than there are threads
    os.kill(store, signal.SIGSTOP)
    try:

        def ask(way: tuple[str, str, Any]) -> tuple[str, float, httpx.Response]:
            start = time.monotonic()
            answer = client.request(way[0], way[1], json=way[2])
            return way[1], time.monotonic() - start, answer

        with ThreadPoolExecutor(len(ways)) as pool:
            answers = list(pool.map(ask, ways))
    finally:
        os.kill(store, signal.SIGCONT)
    for path, _, answer in answers:
        assert answer.status_code == 503, path
        assert int(answer.headers["retry-after"]) >= 1
        assert str(Path(client.base_url.host)) not in answer.text
    assert max(took for _, took, _ in answers) < 3.5  # on a machine with other things to do
    until(lambda: client.get(made).status_code == 200)


def test_refusals_do_not_say_where_the_store_is(serve_on, tmp_path):
    lost = QueueSettings(redis_url="redis://user:secret@127.0.0.1:1/0", state=tmp_path)
    client = serve_on(Settings(), lost)
    for path in ("/readyz", COMPARISONS):
        text = client.get(path).text
        assert "127.0.0.1" not in text
        assert "secret" not in text
        problem(client.get(path), 503, "storage-unavailable")


def filled(client: httpx.Client, body: dict[str, Any], pause: float = 0.0) -> list[str]:
    """Submit until the store is full; where the questions are."""
    made = []
    for seed in range(200):
        # text that cannot be compressed
        words = [os.urandom(15).hex() for _ in range(20_000)]
        large = {**body, "seed": seed, "references": [words], "systems": [
            {"name": name, "hypotheses": words} for name in "ab"]}  # fmt: skip
        answer = client.post(COMPARISONS, json=large)
        if answer.status_code != 202:
            problem(answer, 503, "storage-full")
            return made
        made.append(answer.headers["location"])
        time.sleep(pause)
    raise AssertionError("the store is not full")


def test_a_full_store_is_noticed_and_can_be_emptied(client, queue, body):
    made = filled(client, body)  # as much as one caller may hold
    assert len(made) > 3
    with closing(connect(queue)) as redis:
        room = queue.memory + MEGABYTE - int(redis.info()["used_memory"])
        redis.eval("return redis.call('set', KEYS[1], string.rep('x', ARGV[1]))", 1, "others", room)
    problem(client.get("/readyz"), 503, "storage-full")
    assert client.get(made[0]).status_code == 200
    for url in made:
        assert client.delete(url).status_code == 200  # cancelled, which drops its texts
    for url in made:
        assert client.delete(url).status_code == 204
        problem(client.get(url), 410, "gone")
    assert client.post(COMPARISONS, json=body).status_code == 202


def test_test_sets_systems_and_webhooks_can_be_deleted_from_a_full_store(client, body):
    board = {"name": "board", "references": body["references"]}
    made = client.post("/v1/testsets", json=board).headers["location"]
    (texts,) = body["references"]
    system = client.put(f"{made}/systems/a", json={"hypotheses": texts}).headers["location"]
    hook = {"url": "https://receiver.example/", "events": ["question.succeeded"]}
    hooked = client.post("/v1/webhooks", json=hook).headers["location"]
    filled(client, body)
    for url in (system, hooked, made):
        assert client.delete(url).status_code == 204, url
        assert client.get(url).status_code in {404, 410}


def test_one_caller_leaves_room_for_others(tmp_path, serve_on, body):
    queue = QueueSettings(state=tmp_path, memory=32 * MEGABYTE, workers=1)
    with started(queue):
        front = serve_on(
            Settings.model_validate({"SIGTEST_API_KEYS": "ann:of-ann,bob:of-bob"}), queue
        )
        ann, bob = (
            httpx.Client(base_url=front.base_url, headers={"X-API-Key": f"of-{name}"}, timeout=120)
            for name in ("ann", "bob")
        )
        with ann, bob:
            made = filled(ann, body, 0.3)
            told = problem(ann.post(COMPARISONS, json=body), 503, "storage-full")
            assert "You hold" in told["detail"]
            board = {"name": "board", "references": body["references"]}
            problem(ann.post("/v1/testsets", json=board), 503, "storage-full")
            assert bob.post(COMPARISONS, json=body).status_code == 202
            assert bob.post("/v1/testsets", json=board).status_code == 201
            for url in made * 2:  # cancelled or not, then deleted
                ann.delete(url)
            until(lambda: ann.post(COMPARISONS, json=body).status_code == 202, 20)


def test_a_disk_that_is_nearly_full_takes_nothing_new(client, queue, serve_on, body):
    made = client.post(COMPARISONS, json=body).headers["location"]
    narrow = serve_on(Settings(), QueueSettings(state=queue.state, free=2**60))
    told = problem(narrow.post(COMPARISONS, json=body | {"seed": 7}), 503, "storage-full")
    assert "SIGTEST_FREE" in told["detail"]
    problem(narrow.get("/readyz"), 503, "storage-full")
    assert narrow.get(made).status_code == 200
    assert narrow.delete(made).status_code == 200
