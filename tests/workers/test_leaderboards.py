"""Leaderboards from systems that come and go, against the comparison of all of them at once."""

import json
import random
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from boards import DOCUMENTS, RECIPE, REFERENCE, SYSTEMS, Board, board_on, garbled, lines
from service import CALLER, Service, kill, started, until

from sigtest.comparison.parse import parse_comparison
from sigtest.comparison.recipe import Recipe
from sigtest.data.testset import System, TestSet
from sigtest.engine import compare
from sigtest.errors import LengthError, LimitError, RecipeError
from sigtest.render import RENDERERS
from workers.drafts import Draft
from workers.errors import GoneError, NotFoundError, TakenError
from workers.leaderboard_tasks import joins
from workers.settings import Settings
from workers.store.boards import Standing
from workers.store.server import connect
from workers.testsets import Leaderboards


@pytest.fixture
def board(boards: Leaderboards, request: pytest.FixtureRequest) -> Board:
    """With all systems of the example."""
    board = board_on(boards, request.node.name[:50])
    for name, output in SYSTEMS.items():
        board.put(name, output)
    return board


def test_systems_that_come_and_go_leave_the_comparison_of_those_there(board: Board) -> None:
    board.is_right()
    board.put("cedar", garbled(SYSTEMS["cedar"]), replaces=True)
    board.remove("elm")
    board.put("Zelkova", garbled(SYSTEMS["elm"]))
    for metric in RECIPE["metrics"]:
        for test in RECIPE["tests"]:
            board.is_right(metric=metric, test=test)


@pytest.mark.parametrize(
    ("choice", "recipe"),
    [
        ({"alpha": 0.2, "correction": "benjamini_hochberg"}, {}),
        ({"test": "bootstrap", "correction": "max_t"}, {}),
        ({"test": "bootstrap", "correction": "max_t", "alpha": 0.01}, {"alternative": "greater"}),
        ({}, {"unit": "document", "metrics": ["ter", "bleu"], "seed": 3}),
        ({}, {"exact": "never", "metrics": ["ter"]}),
        ({}, {"metrics": ["nist", {"name": "chrf", "word_order": 2}], "alternative": "less"}),
        ({}, {"tests": ["bootstrap"], "correction": "max_t"}),
    ],
)
def test_what_is_shown_is_what_a_comparison_of_it_gives(
    boards: Leaderboards, choice: dict[str, Any], recipe: dict[str, Any]
) -> None:
    board = board_on(boards, "shown", **recipe)
    for name in ("aspen", "birch", "cedar"):
        board.put(name, SYSTEMS[name])
    board.put("almost", (*SYSTEMS["aspen"][:130], *SYSTEMS["birch"][130:]))  # exact by counting
    board.is_right(**choice)


def test_one_system_or_none_has_no_pairs(boards: Leaderboards) -> None:
    board = board_on(boards, "alone")
    none = json.loads(board.shown().report)
    assert (none["systems"], none["pairs"]) == ([], [])
    board.put("aspen", SYSTEMS["aspen"])
    one = json.loads(board.shown().report)
    assert [system["name"] for system in one["systems"]] == ["aspen"]
    assert one["pairs"] == []
    score = one["systems"][0]["scores"]["bleu"]
    board.put("birch", SYSTEMS["birch"])
    assert json.loads(board.shown().report)["systems"][0]["scores"]["bleu"] == score
    wider = json.loads(board.shown(alpha=0.01).report)["systems"][0]["scores"]["bleu"]["ci"]
    assert wider[0] < score["ci"][0]


def test_scores_computed_elsewhere(boards: Leaderboards) -> None:
    recipe = Recipe.of({"metrics": ["scores"], "resamples": 300})
    draft = Draft.of("scores", TestSet.of([], segments=100), recipe)
    board = Board(boards, boards.create(draft, CALLER)[0].id, {}, {})
    rng = random.Random(0)
    first = [rng.gauss(0, 1) for _ in range(100)]
    rows = {
        "a": first,
        "b": [*[x + rng.gauss(0.2, 1) for x in first[:12]], *first[12:]],  # exact by counting
        "c": [round(10 * x) for x in first],
        "d": [round(10 * x) + rng.choice([-1, 0, 2]) for x in first],  # exact by convolution
        "e": [x + rng.gauss(0.1, 1) for x in first],
    }
    for name, scores in rows.items():
        boards.put(board.id, CALLER, System.of(name, scores={"scores": scores}), False, 9, "x")
    systems = [{"name": name, "scores": {"scores": scores}} for name, scores in rows.items()]
    whole = parse_comparison({"systems": systems, "metrics": ["scores"], "resamples": 300})
    assert board.shown().report.decode() == RENDERERS["json"](compare(whole))


def test_equal_outputs_under_two_names(board: Board) -> None:
    board.put("twin", SYSTEMS["cedar"])
    board.is_right()
    board.remove("cedar")
    board.is_right()


def test_systems_that_join_at_the_same_time_find_each_other(boards: Leaderboards) -> None:
    board = board_on(boards, "crowd")
    many = {f"{name}-{i}": garbled(SYSTEMS[name], i) for name in SYSTEMS for i in range(3)}
    threads = [threading.Thread(target=board.put, args=entry) for entry in many.items()]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    board.is_right()


def test_a_late_or_doubled_task_changes_nothing(board: Board, service: Service) -> None:
    before = board.shown()
    state = board.boards._store.state(board.id)
    assert state is not None
    board.boards._queue.add(joins(replace(state, measured=frozenset())))
    time.sleep(0.3)
    assert board.shown() == before


def test_more_resamples_keep_the_first_draws(board: Board) -> None:
    board.settled()
    record = board.boards.raise_resamples(board.id, CALLER, 900)
    assert record.settings["resamples"] == 900
    replace(board, recipe={**board.recipe, "resamples": 900}).is_right()
    with pytest.raises(RecipeError, match="900 resamples already"):
        board.boards.raise_resamples(board.id, CALLER, 899)


def test_evicted_totals_are_made_again(board: Board, service: Service) -> None:
    board.settled()
    redis = connect(service.settings)
    redis.delete(*redis.keys(f"sigtest:totals:{board.id}:*"))
    redis.delete(*redis.keys("sigtest:statistics:*"))
    board.put("late", garbled(SYSTEMS["aspen"]))
    board.is_right(metric="chrf")
    kept = redis.keys(f"sigtest:totals:{board.id}:*")
    assert len(kept) == len(set(board.systems.values()))
    redis.delete(*kept)
    redis.close()
    board.is_right(alpha=0.3)


def test_a_bound_on_totals_is_kept(tmp_path: Path) -> None:
    settings = Settings(state=tmp_path, workers=2, totals=120_000)
    with started(settings) as service:
        boards = Leaderboards.connect(settings)
        board = board_on(boards, "small")
        for name, output in SYSTEMS.items():
            board.put(name, output)
        board.is_right()
        redis = connect(service.settings)
        assert len(redis.keys("sigtest:totals:*")) == 2
        assert 0 < int(redis.get("sigtest:totals-bytes") or 0) <= 120_000
        redis.close()
        boards.close()


def test_nothing_stays_of_what_was_replaced_or_deleted(board: Board, service: Service) -> None:
    redis = connect(service.settings)

    def left() -> dict[str, int]:
        rows = f"sigtest:testset-rows:{board.id}"
        outputs = f"sigtest:testset-outputs:{board.id}"
        return {
            "totals": len(redis.keys(f"sigtest:totals:{board.id}:*")),
            "rows": redis.hlen(rows),
            "outputs": redis.hlen(outputs),
        }

    board.settled()  # with a row for the pair that has the same content
    board.put("dogwood", garbled(SYSTEMS["dogwood"], 9), replaces=True)
    board.settled()
    before = left()
    assert before == {"totals": 5, "rows": 15, "outputs": 5}
    for seed in range(3):
        board.put("cedar", garbled(SYSTEMS["cedar"], seed), replaces=True)
        board.settled()
    assert left() == before
    board.remove("cedar")
    assert left() == {"totals": 4, "rows": 10, "outputs": 4}
    board.boards.delete(board.id, CALLER)
    assert [key for key in redis.keys(f"sigtest:*{board.id}*") if b"gone" not in key] == []
    redis.close()


def test_killed_workers_lose_nothing(boards: Leaderboards, service: Service) -> None:
    board = board_on(boards, "killed", resamples=40_000, metrics=["bleu"])
    for name, output in SYSTEMS.items():
        board.put(name, output)
    until(service.horses)
    time.sleep(0.1)
    kill(*service.horses())
    until(service.horses)
    kill(service.workers()[0])
    board.settled()
    board.is_right()


def test_a_name_is_taken_until_it_is_replaced(board: Board) -> None:
    before = board.shown()
    assert board.put("aspen", SYSTEMS["aspen"]) == "known"
    with pytest.raises(TakenError, match="'aspen'"):
        board.put("aspen", SYSTEMS["birch"])
    assert board.shown() == before
    assert board.put("aspen", SYSTEMS["birch"], replaces=True) == "replaced"
    assert board.boards.system(board.id, CALLER, "aspen").standing is Standing.PENDING


def test_what_does_not_fit_changes_nothing(board: Board) -> None:
    before = board.shown()
    with pytest.raises(LengthError, match="137 lines"):
        board.put("short", SYSTEMS["aspen"][1:])
    with pytest.raises(LimitError, match="5 systems already, the most that max_scores"):
        board.boards.put(board.id, CALLER, System.of("six", REFERENCE), False, 5, "max_scores")
    with pytest.raises(NotFoundError):
        board.boards.remove(board.id, CALLER, "nobody")
    with pytest.raises(RecipeError, match="tukey"):
        board.boards.choice(board.id, CALLER, correction="tukey")
    with pytest.raises(RecipeError, match="metric of this test set"):
        board.boards.choice(board.id, CALLER, metric="nist")
    assert board.shown() == before


def test_test_sets_of_others_and_deleted_ones(board: Board) -> None:
    with pytest.raises(NotFoundError) as unknown:
        board.boards.find(board.id, "somebody else")
    assert not isinstance(unknown.value, GoneError)
    board.boards.delete(board.id, CALLER)
    with pytest.raises(GoneError):
        board.boards.find(board.id, CALLER)
    with pytest.raises(GoneError):
        board.boards.put(board.id, CALLER, System.of("aspen", REFERENCE), False, 9, "x")


@pytest.mark.parametrize(
    ("documents", "recipe", "error"),
    [
        (DOCUMENTS[1:], {}, LengthError),
        (None, {"unit": "document"}, RecipeError),
        (DOCUMENTS, {"correction": "tukey"}, RecipeError),
        (DOCUMENTS, {"pairs": {"baseline": "aspen"}}, RecipeError),
    ],
)
def test_settings_that_a_leaderboard_cannot_have(
    documents: tuple[str, ...] | None, recipe: dict[str, Any], error: type[Exception]
) -> None:
    with pytest.raises(error):
        Draft.of("bad", TestSet.of([REFERENCE], documents), Recipe.of(recipe))


def test_what_cannot_be_measured_says_why(boards: Leaderboards) -> None:
    board = board_on(boards, "failing")
    board.put("aspen", SYSTEMS["aspen"])
    board.settled()
    store = boards._store
    state = store.state(board.id)
    assert state is not None
    store.raise_resamples(board.id, 700)
    store.results.fail(board.id, state.digests["aspen"], "No reason.")
    record = boards.system(board.id, CALLER, "aspen")
    assert (record.standing, record.error) == (Standing.FAILED, "No reason.")
    assert board.shown().failed == {"aspen": "No reason."}
    assert board.put("aspen", SYSTEMS["aspen"]) == "again"
    board.settled()
    assert boards.system(board.id, CALLER, "aspen").standing is Standing.MEASURED


@pytest.mark.slow
def test_a_shared_task_one_by_one(boards: Leaderboards, data: Path) -> None:
    """12 systems in random order, two replaced, one deleted: the bytes of one comparison."""
    folder = data / "wmt12.es-en"
    reference = lines(folder / "reference.en")
    outputs = {f.stem: lines(f) for f in sorted((folder / "systems").iterdir())}
    recipe = {"metrics": ["bleu", "chrf", "ter"], "tests": RECIPE["tests"], "resamples": 9999}
    draft = Draft.of("wmt12", TestSet.of([reference]), Recipe.of(recipe))
    board = Board(boards, boards.create(draft, CALLER)[0].id, recipe, {}, reference, None)
    names = random.Random(1).sample(sorted(outputs), len(outputs))
    for name in names:
        board.put(name, outputs[name])
        board.settled()
    board.put(names[0], garbled(outputs[names[0]]), replaces=True)
    board.put(names[5], outputs[names[6]], replaces=True)
    board.remove(names[3])
    for metric in recipe["metrics"]:
        for test in recipe["tests"]:
            board.is_right(metric=metric, test=test)
