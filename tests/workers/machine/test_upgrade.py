"""An upgrade loses nothing: what an older version accepted is computed under this one."""

from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx
import older
import pytest
import studied
from board import RECIPE, REFERENCE, SYSTEMS
from service import Comparisons, Service, in_process, started, synthetic, until

from sigtest.comparison.comparison import Comparison
from sigtest.kinds import KINDS
from sigtest.render.records import render_json
from sigtest.version import __version__
from workers.questions import Questions, Status
from workers.queue import Context
from workers.settings import Settings
from workers.testsets import TestSets

pytestmark = pytest.mark.slow

CALLER = "anonymous"
WAIT = {"Prefer": "wait=60"}
OFTEN = 0.05  # enough for what stays as it is once it has come


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(state=tmp_path / "state", workers=1, block=100)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Where the older version is."""
    (tmp_path / "older").mkdir()
    return older.tree(tmp_path / "older")


def accepted(client: httpx.Client, kind: str, body: Any) -> str:
    answer = client.post(f"/v1/{kind}", json=body)
    assert answer.status_code == 202, answer.text
    name: str = answer.json()["id"]
    return name


def filled_board(client: httpx.Client) -> str:
    """A leaderboard that the older version has computed."""
    body = {"name": "news", "references": [REFERENCE], **RECIPE}
    url = client.post("/v1/testsets", json=body).raise_for_status().headers["location"]
    for name in ("aspen", "birch", "cedar"):
        content = {"hypotheses": SYSTEMS[name]}
        client.put(f"{url}/systems/{name}", json=content, headers=WAIT).raise_for_status()

    def shown() -> bool:
        told = client.get(f"{url}/leaderboard").raise_for_status().json()
        return len(told["systems"]) == 3 and not told["pending"]

    until(shown, 60, OFTEN)
    return str(url.rpartition("/")[2])


def test_what_an_older_version_accepted_is_computed(settings, tree):
    questions = [synthetic(seed, segments=30, resamples=500) for seed in range(10)]
    begun = synthetic(77, segments=300, systems=4, resamples=5000)
    plan = {"comparison": studied.comparison(), "difference": 1.5}
    with older.served(tree, settings) as url, httpx.Client(base_url=url, timeout=60) as client:
        assert client.get("/v1/comparisons").status_code == 200
        board = filled_board(client)
        begun_id = accepted(client, "comparisons", begun.as_json())
        until(lambda: "resampling" in client.get(f"/v1/comparisons/{begun_id}").text, 60)
        older.hold_workers(settings)  # what is accepted from here on is left to the newer version
        ids = [accepted(client, "comparisons", q.as_json()) for q in questions]
        planned = accepted(client, "plans", plan)
        content = {"hypotheses": SYSTEMS["dogwood"]}
        client.put(f"/v1/testsets/{board}/systems/dogwood", json=content).raise_for_status()
    with started(settings) as service:
        context = service.jobs.questions.context
        testsets = TestSets(context)
        before = testsets.leaderboard(board, CALLER, set())
        assert before.systems[:3] == ("aspen", "birch", "cedar")  # never empty
        kept_by(service, begun_id, begun)
        for name, question in zip(ids, questions, strict=True):
            kept_by(service, name, question)
        kind = KINDS["plans"]
        expected = render_json(kind.present(kind.compute(kind.parse(plan)))).encode()
        assert service.jobs.questions.report(planned, CALLER) == expected
        board_is_made_anew(context, board)


def kept_by(service: Service, name: str, question: Comparison) -> None:
    """A question of the older version has ended, under its id, as this version computes it."""
    until(lambda: service.jobs.find(name, CALLER).status.finished, 120, OFTEN)
    record = service.jobs.find(name, CALLER)
    assert (record.status, record.error) == (Status.SUCCEEDED, None)
    assert record.computed_with == __version__ != older.VERSION
    assert service.jobs.report(name, CALLER) == in_process(question)


def board_is_made_anew(context: Context, board: str) -> None:
    """What the leaderboard shows never has fewer systems than it had, and ends complete."""
    testsets, asked = TestSets(context), set[str]()

    def fresh() -> bool:
        shown = testsets.leaderboard(board, CALLER, asked)
        assert set(shown.systems) >= {"aspen", "birch", "cedar"}
        return shown.fresh and len(shown.systems) == 4

    until(fresh, 60, OFTEN)
    shown = testsets.leaderboard(board, CALLER, asked)
    assert shown.comparison is not None
    questions = Questions(context)
    assert questions.find(shown.comparison, CALLER).computed_with == __version__
    assert f'"version": "{__version__}"'.encode() in questions.report(shown.comparison, CALLER)


def test_a_rolling_upgrade_under_load_loses_nothing(settings, tree):
    """Two versions serve one store; the older one goes while both have work."""
    asked: dict[str, Comparison] = {}
    questions = [synthetic(seed, segments=60, resamples=600) for seed in range(24)]
    with ExitStack() as newer:
        with older.served(tree, settings) as url, httpx.Client(base_url=url, timeout=60) as client:

            def ask_the_older(some: list[Comparison]) -> None:
                for question in some:
                    asked[accepted(client, "comparisons", question.as_json())] = question

            ask_the_older(questions[:8])
            service = newer.enter_context(started(settings))
            for question in questions[8:16]:
                asked[service.jobs.submit(question, CALLER)[0].id] = question
            ask_the_older(questions[16:])
        made = {has_ended(service.jobs, name, question) for name, question in asked.items()}
        assert __version__ in made


def has_ended(jobs: Comparisons, name: str, question: Comparison) -> str | None:
    """Which version computed a question, whose report must be that version's."""
    until(lambda: jobs.find(name, CALLER).status.finished, 120, OFTEN)
    record = jobs.find(name, CALLER)
    assert (record.status, record.error) == (Status.SUCCEEDED, None)
    assert record.computed_with is not None
    report = jobs.report(name, CALLER).replace(record.computed_with.encode(), b"VERSION")
    assert report == in_process(question).replace(__version__.encode(), b"VERSION")
    return record.computed_with
