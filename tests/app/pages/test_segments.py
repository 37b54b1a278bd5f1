"""Segments behind a difference over HTTP: shares, filters, time."""

import random
import time
from typing import Any

import httpx
import pytest
from browsing import visit
from exchange import problem, submit

from app.settings import Settings
from workers.queue import Context
from workers.settings import Settings as QueueSettings
from workers.store.server import EmbeddedServer, connect
from workers.tasks.run import run


@pytest.fixture
def made(service: httpx.Client, body: dict[str, Any]) -> dict[str, Any]:
    asked = {**body, "documents": ["x", "x", "y"], "metrics": ["bleu", "ter"]}
    answer: dict[str, Any] = submit(service, asked).json()
    return answer


def segments(service: httpx.Client, made: dict[str, Any], **asked: Any) -> httpx.Response:
    return service.get(f"{made['links']['self']}/segments", params={"a": "A", "b": "B", **asked})


@pytest.mark.parametrize("metric", ["bleu", "ter"])
def test_shares_sum_to_the_difference_of_the_report(service, made, metric):
    report = service.get(made["links"]["report"]).json()
    pair = next(pair for pair in report["pairs"] if pair["metric"] == metric)
    told = segments(service, made, metric=metric).json()
    assert told["difference"] == pair["difference"]
    assert sum(row["share"] for row in told["segments"]) == pytest.approx(pair["difference"])
    assert told["method"] == "Aumann-Shapley"
    assert [told["total"], told["wanted"], told["next"]] == [3, 3, None]


def test_turned_round_shares_have_the_other_sign(service, made):
    told = segments(service, made).json()["segments"]
    turned = segments(service, made, a="B", b="A").json()["segments"]
    assert [row["share"] for row in told] == pytest.approx([-row["share"] for row in turned])
    assert [row["a"] for row in told] == [row["b"] for row in turned]


def test_texts_come_with_their_shares(service, made):
    row = segments(service, made, document="y").json()["segments"][0]
    assert (row["segment"], row["document"], row["reference"]) == (3, "y", "k l m n o")
    assert (row["a"], row["b"]) == ("k l m n", "x y z n o")


def test_some_at_a_time(service, made):
    whole = segments(service, made).json()
    first = segments(service, made, limit=2).json()
    rest = segments(service, made, limit=2, start=first["next"]).json()
    assert first["segments"] + rest["segments"] == whole["segments"]
    assert rest["next"] is None
    assert rest["carried"] == pytest.approx(whole["difference"])


@pytest.mark.parametrize(
    "asked",
    [{"document": "z"}, {"order": "worst"}, {"better": "c"}, {"a": "C"}, {"b": "A"},
     {"metric": "chrf"}],
)  # fmt: skip
def test_what_is_not_there_is_a_problem(service, made, asked):
    problem(segments(service, made, **asked), 422, "invalid-recipe")


def test_three_thousand_segments_take_less_than_a_second(service):
    rng = random.Random(5)
    words = [f"w{i}" for i in range(500)]

    def text() -> list[str]:
        return [" ".join(rng.choices(words, k=20)) for _ in range(3000)]

    systems = [{"name": name, "hypotheses": text()} for name in "AB"]
    made = submit(
        service, {"references": [text()], "systems": systems, "resamples": 99, "metrics": ["chrf"]}
    ).json()
    started = time.monotonic()
    told = segments(service, made).json()
    taken = time.monotonic() - started
    assert told["wanted"] == 3000
    assert taken < 1


def test_other_callers_get_nothing(service, made):
    unknown = {"links": {"self": f"/v1/comparisons/{'0' * 32}"}}
    problem(segments(service, unknown), 404, "not-found")


def test_a_report_does_not_wait_for_its_only_pair(serve_on, tmp_path, chromium, body):
    """Two systems, whose pair is opened with the report; nobody works but this test."""
    queue = QueueSettings(state=tmp_path)
    server = EmbeddedServer(queue)
    server.ensure()
    context = Context.on(connect(queue), queue)
    try:
        client = serve_on(Settings(), queue)
        made = client.post("/v1/comparisons", json=body).json()
        while context.questions.unfinished(made["id"]):
            for entry in context.questions.pieces(made["id"]).tasks(made["id"]):
                run(context, entry.name, [entry.owner, *entry.arguments])
        with visit(chromium, str(client.base_url)) as visited:
            page = visited.page
            asked = time.monotonic()
            page.goto(f"/comparisons/{made['id']}")
            assert time.monotonic() - asked < 5
            assert "being computed" in page.inner_text("#pair [data-lacks]")
            page.evaluate("window.unloaded = false")
            run(context, "attribute", [made["id"], 0, 0, 1, 0])
            page.wait_for_selector("#pair .segments")
            assert page.evaluate("window.unloaded") is False
    finally:
        context.questions.redis.close()
        server.stop()
