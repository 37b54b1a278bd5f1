"""Boards whose family is their capacity: what is claimed stays, whoever comes or goes."""

import json
import random
import time
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from board import REFERENCE, SYSTEMS, Board, Choice, board_on, garbled
from sentences import sentences
from service import CALLER
from statsmodels.stats.multitest import multipletests

from sigtest.errors import RecipeError
from sigtest.report import Report
from sigtest.requests.comparisons import TestSetRequest
from workers.errors import CapacityError

ADJUSTED = dict[tuple[str, ...], float]
RESAMPLES = 1_999


def nearly(name: str, lines: int) -> tuple[str, ...]:
    """A system with the first lines of the reference: a little better than it was."""
    return (*REFERENCE[:lines], *SYSTEMS[name][lines:])


def report(board: Board) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(board.report())
    return found


def by_pair(board: Board, field: str) -> dict[tuple[str, ...], Any]:
    """A field of every pair, by its systems and their contents, metric and test."""
    digests = board.state.digests
    return {
        (p["a"], digests[p["a"]], p["b"], digests[p["b"]], p["metric"], p["test"]): p[field]
        for p in report(board)["pairs"]
    }


def test_claims_and_adjusted_p_values_survive_whatever_happens(working):
    board = board_on(
        working, "growing", metrics=["chrf", "ter"], resamples=RESAMPLES, exact="never", capacity=8
    )
    draw = random.Random(4)
    seen: list[ADJUSTED] = []
    p: dict[tuple[str, ...], float] = {}

    def look() -> None:
        seen.append(by_pair(board, "p_adjusted"))
        p.update(by_pair(board, "p_value"))

    for name in draw.sample(sorted(SYSTEMS), 4):
        board.put(name, SYSTEMS[name])
        look()
    board.put("birch", nearly("birch", 12), replaces=True)
    look()
    board.remove("aspen")
    look()
    board.put("late", garbled(SYSTEMS["elm"]))
    look()
    for before, after in pairwise(seen):
        both = before.keys() & after.keys()
        assert all(after[pair] <= before[pair] for pair in both)
    # all that was ever seen, and ones for what was not: 28 pairs of 8 systems
    for metric in ("chrf", "ter"):
        for test in ("approximate_randomization", "bootstrap"):
            family = {pair: value for pair, value in p.items() if pair[4:] == (metric, test)}
            assert len(family) > len(seen[-1]) / 4
            padded = [*family.values(), *[1.0] * (28 - len(family))]
            adjusted = dict(zip(family, multipletests(padded, method="holm")[1], strict=False))
            for pair, value in seen[-1].items():
                if pair[4:] == (metric, test):
                    assert value == pytest.approx(adjusted[pair], rel=1e-12)
    board.is_right()
    board.is_right(Choice(0.2, "benjamini_hochberg"))


def test_a_departed_system_is_spoken_of_and_its_return_forgotten(working):
    board = board_on(working, "returning", capacity=6)
    for name in ("aspen", "birch", "elm"):
        board.put(name, SYSTEMS[name])
    before = board.report()
    board.remove("elm")
    assert any(
        "2 comparisons with systems that were deleted" in w for w in sentences(report(board))
    )
    board.put("elm", SYSTEMS["elm"])
    assert board.report() == before
    assert board.record.submissions == 3


@pytest.mark.parametrize("resamples", [600, 900])
def test_p_values_stay_of_what_came_back_and_left_again(working, resamples):
    board = board_on(working, f"again {resamples}", capacity=6)
    for name in ("aspen", "elm"):
        board.put(name, SYSTEMS[name])
    board.is_right()
    board.remove("elm")
    board.put("birch", SYSTEMS["birch"])
    if resamples > 600:
        board.testsets.raise_resamples(board.id, CALLER, resamples)
        board = replace(board, recipe={**board.recipe, "resamples": resamples})
    board.is_right()
    before = board.shown().comparison
    board.put("elm", SYSTEMS["elm"])
    board.is_right()
    board.remove("elm")
    board.is_right()  # with the pair of birch and elm, which was not there before
    assert board.shown().comparison != before


def test_what_comes_back_has_its_place_still_and_what_is_new_has_none(working):
    board = board_on(working, "back", capacity=3)
    for name in ("aspen", "birch", "elm"):
        board.put(name, SYSTEMS[name])
    before = board.report()
    board.remove("elm")
    for name, lines in (("oak", SYSTEMS["elm"]), ("elm", SYSTEMS["cedar"])):
        with pytest.raises(CapacityError):
            board.put(name, lines)
    board.put("elm", SYSTEMS["elm"])
    assert board.report() == before
    board.remove("elm")
    board.remove("aspen")
    board.put("aspen", SYSTEMS["aspen"])
    assert board.record.submissions == 3


def test_every_new_content_takes_a_place_and_then_there_is_none(working):
    board = board_on(working, "full", capacity=3)
    board.put("aspen", SYSTEMS["aspen"])
    board.put("aspen", SYSTEMS["aspen"])  # nothing new
    board.put("aspen", SYSTEMS["birch"], replaces=True)
    assert board.record.submissions == 2
    board.remove("aspen")
    board.put("cedar", SYSTEMS["cedar"])
    assert (board.record.submissions, len(board.record.digests)) == (3, 1)
    with pytest.raises(CapacityError, match=r"has taken 3 systems.*capacity is 3") as caught:
        board.put("elm", SYSTEMS["elm"])
    assert caught.value.system == "elm"
    board.put("cedar", SYSTEMS["cedar"])
    assert board.record.submissions == 3


def test_claims_have_the_time_of_their_first_report(working):
    start = time.time()
    board = board_on(working, "claims", metrics=["chrf"], resamples=RESAMPLES, capacity=5)
    for name in ("aspen", "elm"):
        board.put(name, SYSTEMS[name])

    def claims() -> dict[tuple[str, str], float]:
        pairs = Report.from_json(report(board)).pairs
        shown = [(p.a, p.b) for p in pairs if p.test == "bootstrap" and p.significant]
        found = board.testsets.claims(board.record, ("chrf", "bootstrap"), shown)
        return {(claim.a, claim.b): claim.claimed_at for claim in found}

    first = claims()
    assert set(first) == {("aspen", "elm")}
    assert start < first["aspen", "elm"] < time.time()
    board.put("cedar", SYSTEMS["cedar"])
    later = claims()
    assert later["aspen", "elm"] == first["aspen", "elm"]
    assert later["aspen", "cedar"] > first["aspen", "elm"]
    board.put("aspen", nearly("aspen", 3), replaces=True)
    assert claims()["aspen", "elm"] > later["aspen", "cedar"]


def test_resamples_are_fixed_by_the_capacity(working):
    for capacity, correction, resamples in (
        (64, "holm", 79_999),
        (63, "holm", 39_999),
        (5, "holm", 9_999),
        (64, "none", 9_999),
    ):
        board = board_on(
            working, "auto", capacity=capacity, correction=correction, resamples="auto"
        )
        assert board.record.settings["resamples"] == resamples
        assert board.record.capacity == capacity


def test_a_joint_correction_is_of_the_systems_present(working):
    board = board_on(working, "joint", tests=["bootstrap"], correction="max_t", capacity=9)
    for name in ("aspen", "birch", "elm"):
        board.put(name, SYSTEMS[name])
    assert "family" not in report(board)
    board.remove("elm")
    board.is_right()


@pytest.mark.parametrize("capacity", [1, 1001, 2.5, True, "many"])
def test_impossible_capacities_are_refused(capacity):
    asked = {"name": "refused", "references": [["a b"]], "capacity": capacity}
    with pytest.raises(RecipeError, match="capacity must be a whole number from 2 to 1000"):
        TestSetRequest.of(asked)
