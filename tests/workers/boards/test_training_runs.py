"""Leaderboards of systems with several training runs, against the comparison of all at once."""

import json
from typing import Any

import pytest
from board import RECIPE, SYSTEMS, Board, Choice, Lines, board_on, garbled
from service import CALLER

from sigtest.errors import InputError, LengthError, RecipeError
from sigtest.requests.comparisons import TestSetRequest

RUNS: dict[str, tuple[Lines, ...]] = {
    "aspen": (SYSTEMS["aspen"], garbled(SYSTEMS["aspen"], 1), SYSTEMS["birch"]),
    "Birch": (SYSTEMS["birch"], SYSTEMS["aspen"], garbled(SYSTEMS["birch"], 2)),
    "cedar": (SYSTEMS["cedar"], SYSTEMS["elm"], SYSTEMS["elm"]),
    "elm": (SYSTEMS["elm"], garbled(SYSTEMS["elm"], 3), SYSTEMS["cedar"]),
}


@pytest.mark.parametrize(
    ("choice", "recipe"),
    [
        (Choice(), {"unit": "segment"}),
        (Choice(0.2, "benjamini_hochberg"), {"unit": "document"}),
        (Choice(), {"tests": ["bootstrap"], "alternative": "greater", "correction": "max_t"}),
        (Choice(), {"tests": ["approximate_randomization"], "correction": "tukey"}),
        (Choice(), {"exact": "never", "unit": "document", "seed": 3}),
    ],
)
def test_systems_that_come_and_go_leave_the_comparison_of_those_there(working, choice, recipe):
    board = board_on(working, "runs", 3, **recipe)
    for name, runs in RUNS.items():
        board.put(name, runs)
    board.is_right(choice)
    redis = working.questions.redis
    derived = [
        *redis.keys(f"sigtest:totals:{board.id}:*"),
        *redis.keys(f"sigtest:cache:{board.id}:*"),
    ]
    assert len(derived) >= len(RUNS)
    redis.delete(*derived)
    first, second, third = RUNS["aspen"]
    board.put("aspen", (first, third, second), replaces=True)
    board.remove("elm")
    nearly = (*RUNS["cedar"][2][:130], *SYSTEMS["birch"][130:])
    board.put("nearly", (*RUNS["cedar"][:2], nearly))  # exact by counting
    board.is_right()
    board.is_right(choice)


def test_one_system_alone_tells_of_its_replicas(working):
    board = board_on(working, "one of two", 2)
    board.put("aspen", RUNS["aspen"][:2])
    alone = first_score(board)
    board.put("cedar", RUNS["cedar"][:2])
    assert alone == first_score(board)
    assert len(alone["replicas"]) == 2


def test_what_is_told_of_a_system_has_its_replicas(working):
    board = board_on(working, "told", 2)
    assert board.record.settings["replicas"] == 2
    board.put("aspen", RUNS["aspen"][:2])
    shown = first_score(board)
    scores = board.testsets.system(board.id, CALLER, "aspen").scores
    assert scores is not None
    assert list(scores) == RECIPE["metrics"]
    assert list(scores["bleu"].replicas) == shown["replicas"]
    assert scores["bleu"].training_stderr == shown["training_stderr"]


def test_the_number_of_replicas_makes_another_test_set(working):
    assert board_on(working, "same", 2).id != board_on(working, "same", 3).id
    assert board_on(working, "same", 2).id == board_on(working, "same", 2).id


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
def test_replicas_that_do_not_fit_change_nothing(working, replicas, runs, error, message):
    board = board_on(working, "misfits", replicas)
    before = board.record
    with pytest.raises(error, match=message):
        board.put("bad", runs)
    assert board.record == before


@pytest.mark.parametrize("replicas", [0, -1, True, 1.5, "2", None])
def test_a_number_of_replicas_that_cannot_be(replicas):
    with pytest.raises(RecipeError, match="replicas must be a whole number") as caught:
        TestSetRequest.of({"name": "bad", "references": [["a b"]], "replicas": replicas})
    assert caught.value.field == "replicas"


def first_score(board: Board) -> dict[str, Any]:
    """What a leaderboard says of its first system by its first metric."""
    system = json.loads(board.report())["systems"][0]
    score: dict[str, Any] = system["scores"][RECIPE["metrics"][0]]
    return score
