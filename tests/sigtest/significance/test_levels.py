"""What corrections ask of single p-values: definitions, closed forms and printed numbers."""

import json
import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from statsmodels.stats.multitest import multipletests

from sigtest.arrays import Array, Flags
from sigtest.significance import CORRECTIONS
from sigtest.significance.corrections import (
    Correction,
    adjust,
    critical_value,
    experimentwise_error,
    rejected_alone,
    smallest_attainable,
    strictest_level,
    undecided,
)


def test_experimentwise_error_equals_the_printed_values(oracles):
    for row in json.loads((oracles / "intervals.json").read_text())["experimentwise_error"]:
        assert experimentwise_error(row["p_c"], row["k"]) == pytest.approx(row["p_e"], abs=1e-12)


def test_experimentwise_error_of_no_comparison_is_nothing():
    assert experimentwise_error(0.05, 0) == 0
    assert experimentwise_error(0.05, 1) == pytest.approx(0.05)
    assert math.isclose(experimentwise_error(0.05, 3), 1 - 0.95**3)


def one_by_one(p: Array, low: Array, high: Array, adjusted: Callable[[Array], Array]) -> list[bool]:
    """Whether decisions at .05 differ between both ends, each adjusted anew."""
    flags = []
    for i in range(len(p)):
        decisions = []
        for end in (low[i], high[i]):
            moved = p.copy()
            moved[i] = end
            decisions.append(adjusted(moved)[i] <= 0.05)
        flags.append(decisions[0] != decisions[1])
    return flags


@pytest.mark.parametrize("correction", list(CORRECTIONS))
def test_undecided_equals_trying_both_ends(correction):
    rng = np.random.default_rng(3)
    for _ in range(50):
        p = rng.random(12) ** 4
        low, high = p * rng.random(12), np.minimum(1, p * (1 + rng.random(12)))
        expected = one_by_one(p, low, high, CORRECTIONS[correction].adjust)
        assert undecided(p, low, high, correction, 0.05).tolist() == expected


def hommel(p: Array) -> Array:
    """Hommel (1988), by its definition: Simes' test of every subset size."""
    m = len(p)
    order = np.argsort(p)
    adjusted = p.copy()
    for size in range(m, 1, -1):
        largest = order[m - size :]
        simes = (size * np.sort(p[largest]) / np.arange(1, size + 1)).min()
        adjusted[largest] = np.maximum(adjusted[largest], simes)
        smaller = order[: m - size]
        adjusted[smaller] = np.maximum(adjusted[smaller], np.minimum(simes, size * p[smaller]))
    return adjusted


@pytest.mark.parametrize("family", [None, 20])
def test_a_plugged_in_correction_has_the_right_undecided_flags(monkeypatch, family):
    monkeypatch.setitem(CORRECTIONS, "hommel", Correction("hommel", "Hommel", hommel))
    rng = np.random.default_rng(13)
    for trial in range(20):
        p = rng.random(7) ** 3
        if trial < 5:  # statsmodels takes a while
            expected = multipletests(p, method="hommel")[1]
            assert adjust(p, "hommel") == pytest.approx(expected, abs=1e-12)
        low, high = p * rng.random(7), np.minimum(1, p * (1 + rng.random(7)))
        rest = np.ones((family or 7) - 7)

        def adjusted(moved: Array, rest: Array = rest) -> Array:
            return hommel(np.append(moved, rest))

        expected_flags = one_by_one(p, low, high, adjusted)
        assert undecided(p, low, high, "hommel", 0.05, family).tolist() == expected_flags
        assert strictest_level("hommel", 7, 0.05) == pytest.approx(0.05 / 7)


def test_undecided_sees_decisions_that_turn_either_way(monkeypatch):
    """Not every function that can be plugged in rises with p."""
    falling = Correction("falling", "falling", lambda p: 1 - p)
    monkeypatch.setitem(CORRECTIONS, "falling", falling)
    p, low, high = np.array([0.9, 0.5]), np.array([0.8, 0.4]), np.array([0.99, 0.6])
    assert undecided(p, low, high, "falling", 0.05).tolist() == [True, False]


@pytest.mark.parametrize("correction", list(CORRECTIONS))
def test_levels_in_a_larger_family_are_those_of_one_padded_with_ones(correction):
    rng = np.random.default_rng(10)
    for size, family in ((1, 2), (3, 3), (6, 28)):
        unseen = np.ones(family - size)
        p = rng.random(size) ** 6
        low, high = p * rng.random(size), np.minimum(1, 3 * p)
        whole = (np.append(p, unseen), np.append(low, unseen), np.append(high, unseen))
        expected = undecided(*whole, correction, 0.05)[:size]
        assert undecided(p, low, high, correction, 0.05, family).tolist() == expected.tolist()
        limit = critical_value(whole[0], 0, correction, 0.05)
        assert critical_value(p, 0, correction, 0.05, family) == limit
        if not CORRECTIONS[correction].joint:
            least = CORRECTIONS[correction].adjust(np.append(np.full(size, 1e-4), unseen))[0]
            assert smallest_attainable(correction, size, 1e-4, family) == least


@pytest.mark.parametrize("correction", list(CORRECTIONS))
def test_critical_value_is_where_the_decision_turns(correction):
    p = np.array([0.001, 0.004, 0.02, 0.3])
    for alpha in (0.05, 1e-40):
        limit = critical_value(p, 2, correction, alpha)
        for factor, significant in ((0.999999999, True), (1.000000001, False)):
            moved = p.copy()
            moved[2] = limit * factor
            assert (adjust(moved, correction)[2] <= alpha) == significant


def test_critical_value_leaves_the_family_as_it_is():
    p = np.array([0.001, 0.3])
    critical_value(p, 0, "holm", 0.05)
    assert p.tolist() == [0.001, 0.3]


def test_critical_value_is_zero_where_nothing_is_significant():
    assert critical_value(np.ones(2), 0, "bonferroni", 1e-320) == 0.0


def test_a_decision_at_alpha_itself_is_significant(monkeypatch):
    """By ranks, and by adjusting anew: the lower end has just alpha, the upper one more."""
    monkeypatch.setitem(CORRECTIONS, "own", Correction("own", "own", lambda p: 2 * p))
    p, low, high = np.array([0.03, 0.5]), np.array([0.025, 0.4]), np.array([0.04, 0.6])
    for correction in ("bonferroni", "holm", "hochberg", "own"):
        assert undecided(p, low, high, correction, 0.05).tolist() == [True, False]


@pytest.mark.parametrize("correction", ["holm", "none", "sidak", "max_t"])
def test_strictest_level_of_one_comparison_is_alpha(correction):
    assert strictest_level(correction, 1, 0.05) == pytest.approx(0.05, rel=1e-12)


def test_strictest_level_of_bonferroni_and_sidak(oracles):
    for row in json.loads((oracles / "intervals.json").read_text())["per_comparison_level"]:
        level = strictest_level("bonferroni", row["k"], row["p_e"])
        assert level == pytest.approx(row["bonferroni_p_c"], rel=1e-9)
        level = strictest_level("sidak", row["k"], row["p_e"])
        assert level == pytest.approx(row["sidak_p_c"], rel=1e-9)


@pytest.mark.parametrize(
    ("correction", "level"),
    [
        ("holm", 0.05 / 12),
        ("hochberg", 0.05 / 12),
        ("benjamini_hochberg", 0.05 / 12),
        ("benjamini_yekutieli", 0.05 / 12 / sum(1 / k for k in range(1, 13))),
        ("none", 0.05),
        ("max_t", 0.05 / 12),
        ("tukey", 0.05 / 12),
    ],
)
def test_strictest_level_of_a_lone_small_p_value(correction, level):
    assert strictest_level(correction, 12, 0.05) == pytest.approx(level, rel=1e-12)


def test_strictest_level_follows_a_correction_that_is_replaced(monkeypatch):
    assert strictest_level("holm", 4, 0.05) == pytest.approx(0.0125)
    lenient = replace(CORRECTIONS["holm"], adjust=lambda p: p)
    monkeypatch.setitem(CORRECTIONS, "holm", lenient)
    assert strictest_level("holm", 4, 0.05) == pytest.approx(0.05)


@pytest.mark.parametrize(
    ("correction", "factor"),
    [
        ("holm", 12.0),
        ("bonferroni", 12.0),
        ("hochberg", 1.0),
        ("benjamini_hochberg", 1.0),
        ("none", 1.0),
        ("max_t", 1.0),
        ("tukey", 1.0),
    ],
)
def test_smallest_attainable_p_value_of_a_family_of_equal_ones(correction, factor):
    assert smallest_attainable(correction, 12, 1e-4) == pytest.approx(factor * 1e-4)


BY_RANK = [c for c in CORRECTIONS.values() if c.scale is not None]


def adjusted_one_by_one(p: Array, moved: Array, correction: str, alpha: float) -> Flags:
    decisions = np.empty(len(p), dtype=np.bool_)
    for i in range(len(p)):
        family = p.copy()
        family[i] = moved[i]
        decisions[i] = adjust(family, correction)[i] <= alpha
    return decisions


@pytest.mark.parametrize("correction", BY_RANK, ids=lambda correction: correction.name)
def test_moving_one_equals_adjusting_again(correction):
    rng = np.random.default_rng(0)
    for _ in range(200):
        size, resamples = int(rng.integers(1, 14)), int(rng.choice([9, 19, 99, 9999]))
        counts = rng.integers(0, resamples + 1, (2, size)) * rng.random((2, 1)) ** 3
        p, moved = (counts.astype(int) + 1) / (resamples + 1)  # few values, and so many ties
        moved = np.where(rng.random(size) < 0.3, rng.permutation(p), moved)
        reached = float(rng.choice(adjust(p, correction.name)))
        for alpha in (0.05, 0.3, *([reached] if reached < 1 else [])):  # also one just reached
            expected = adjusted_one_by_one(p, moved, correction.name, alpha)
            found = rejected_alone(p, moved, correction.scale, correction.direction, alpha)
            assert found.tolist() == expected.tolist()
