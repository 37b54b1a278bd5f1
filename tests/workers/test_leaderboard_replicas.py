"""Leaderboards of systems with several training runs, against the comparison of all at once."""

import json
from typing import Any

import pytest
from boards import RECIPE, REFERENCE, SYSTEMS, Lines, Output, board_on, garbled
from service import CALLER, Service

from sigtest.comparison.recipe import Recipe
from sigtest.data.testset import TestSet
from sigtest.errors import InputError, LengthError, RecipeError
from workers.drafts import Draft
from workers.store.boards import Leaderboard
from workers.store.server import connect
from workers.testsets import Leaderboards

RUNS: dict[str, tuple[Lines, ...]] = {
    "aspen": (SYSTEMS["aspen"], garbled(SYSTEMS["aspen"], 1), SYSTEMS["birch"]),
    "Birch": (SYSTEMS["birch"], SYSTEMS["aspen"], garbled(SYSTEMS["birch"], 2)),
    "cedar": (SYSTEMS["cedar"], SYSTEMS["elm"], SYSTEMS["elm"]),
    "elm": (SYSTEMS["elm"], garbled(SYSTEMS["elm"], 3), SYSTEMS["cedar"]),
}


@pytest.mark.parametrize(
    ("choice", "recipe"),
    [
        ({}, {}),
        ({"alpha": 0.2, "correction": "benjamini_hochberg"}, {"unit": "document"}),
        ({"test": "bootstrap", "correction": "max_t"}, {"alternative": "greater"}),
        ({}, {"exact": "never", "unit": "document", "seed": 3}),
    ],
)
def test_systems_that_come_and_go_leave_the_comparison_of_those_there(
    boards: Leaderboards, service: Service, choice: dict[str, Any], recipe: dict[str, Any]
) -> None:
    board = board_on(boards, "runs", 3, **recipe)
    for name, runs in RUNS.items():
        board.put(name, runs)
    board.is_right(**choice)
    redis = connect(service.settings)
    redis.delete(*redis.keys(f"sigtest:totals:{board.id}:*"), *redis.keys("sigtest:statistics:*"))
    redis.close()
    first, second, third = RUNS["aspen"]
    board.put("aspen", (first, third, second), replaces=True)
    board.remove("elm")
    nearly = (*RUNS["cedar"][2][:130], *SYSTEMS["birch"][130:])
    board.put("nearly", (*RUNS["cedar"][:2], nearly))  # exact by counting
    for metric in RECIPE["metrics"]:
        board.is_right(metric=metric)
        board.is_right(metric=metric, **choice)


def test_one_system_alone_tells_of_its_replicas(boards: Leaderboards) -> None:
    board = board_on(boards, "one of two", 2)
    board.put("aspen", RUNS["aspen"][:2])
    alone, wider = first_score(board.shown()), first_score(board.shown(alpha=0.01))
    board.put("cedar", RUNS["cedar"][:2])
    assert alone == first_score(board.shown())
    assert len(alone["replicas"]) == 2
    assert wider["ci"] != alone["ci"]
    assert {**wider, "ci": alone["ci"]} == alone


def test_what_is_told_of_a_system_has_its_replicas(boards: Leaderboards) -> None:
    board = board_on(boards, "told", 2)
    assert board.record.settings["replicas"] == 2
    board.put("aspen", RUNS["aspen"][:2])
    shown = first_score(board.shown())
    scores = boards.system(board.id, CALLER, "aspen").scores
    assert scores is not None
    assert list(scores) == RECIPE["metrics"]
    assert list(scores["bleu"].replicas) == shown["replicas"]
    assert scores["bleu"].training_stderr == shown["training_stderr"]


def test_the_number_of_replicas_makes_another_test_set(boards: Leaderboards) -> None:
    assert board_on(boards, "same", 2).id != board_on(boards, "same", 3).id
    assert board_on(boards, "same", 2).id == board_on(boards, "same", 2).id


@pytest.mark.parametrize(
    ("replicas", "runs", "error", "message"),
    [
        (3, RUNS["aspen"][:2], InputError, "brings 2 replicas; every .* brings 3 replicas"),
        (3, SYSTEMS["aspen"], InputError, "brings no replicas; every .* brings 3 replicas"),
        (3, RUNS["aspen"][:1], InputError, "brings no replicas; every .* brings 3 replicas"),
        (1, RUNS["aspen"], InputError, "brings 3 replicas; every .* brings no replicas"),
        (2, (SYSTEMS["elm"], SYSTEMS["elm"][1:]), LengthError, "137 lines of replica 2"),
    ],
)
def test_replicas_that_do_not_fit_change_nothing(
    boards: Leaderboards, replicas: int, runs: Output, error: type[Exception], message: str
) -> None:
    board = board_on(boards, "misfits", replicas)
    before = board.record
    with pytest.raises(error, match=message):
        board.put("bad", runs)
    assert board.record == before


@pytest.mark.parametrize("replicas", [0, -1, True, 1.5, "2", None])
def test_a_number_of_replicas_that_cannot_be(replicas: Any) -> None:
    with pytest.raises(RecipeError, match="replicas must be a whole number") as caught:
        Draft.of("bad", TestSet.of([REFERENCE]), Recipe.of({}), replicas)
    assert caught.value.field == "replicas"


def first_score(shown: Leaderboard) -> dict[str, Any]:
    """What a leaderboard says of its first system."""
    system = json.loads(shown.report)["systems"][0]
    score: dict[str, Any] = system["scores"][shown.choice.metric]
    return score
