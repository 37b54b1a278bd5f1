"""Corrections against statsmodels, the expected values, and textbook loops."""

import json
import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from statsmodels.stats.multitest import multipletests

from sigtest.arrays import Array
from sigtest.comparison.recipe import Recipe
from sigtest.errors import RecipeError
from sigtest.significance.corrections import CORRECTIONS, Correction, adjust
from sigtest.significance.joint import range_counts, step_down_counts
from sigtest.significance.levels import (
    critical_value,
    experimentwise_error,
    smallest_attainable,
    strictest_level,
    undecided,
)
from sigtest.significance.stepwise import stepped

STATSMODELS = {
    "bonferroni": "bonferroni",
    "sidak": "sidak",
    "holm": "holm",
    "hochberg": "simes-hochberg",
    "benjamini_hochberg": "fdr_bh",
    "benjamini_yekutieli": "fdr_by",
}
ALONE = [name for name, correction in CORRECTIONS.items() if correction.joint is None]


@pytest.mark.parametrize("correction", list(STATSMODELS))
@pytest.mark.parametrize("size", [1, 2, 10, 66, 1770])
def test_adjusted_p_values_equal_statsmodels(correction: str, size: int) -> None:
    rng = np.random.default_rng(size)
    for p in (
        rng.random(size),
        rng.random(size) ** 6,
        rng.integers(1, 5, size) / 1000,
        np.full(size, 1e-4),
        np.ones(size),
    ):
        with np.errstate(divide="ignore"):  # statsmodels takes log(0) for sidak and p = 1
            expected = multipletests(p, method=STATSMODELS[correction])[1]
        assert adjust(p, correction) == pytest.approx(expected, abs=1e-12)


def test_adjusted_p_values_equal_the_expected_ones(oracles: Path) -> None:
    rows = json.loads((oracles / "intervals.json").read_text())["adjusted_p_values"]
    for row in rows:
        for correction in CORRECTIONS:
            if correction in row:
                found = adjust(np.array(row["p"]), correction)
                assert found == pytest.approx(row[correction], abs=1e-9)


def test_experimentwise_error_of_fifteen_systems_as_printed() -> None:
    """Riezler & Maxwell (2005), section 4.4: 105 pairs at .05; five at .015."""
    assert round(experimentwise_error(0.05, 105), 4) == 0.9954
    assert round(experimentwise_error(0.015, 5), 2) == 0.07


def test_experimentwise_error_equals_the_printed_values(oracles: Path) -> None:
    for row in json.loads((oracles / "intervals.json").read_text())["experimentwise_error"]:
        assert experimentwise_error(row["p_c"], row["k"]) == pytest.approx(row["p_e"], abs=1e-12)


def test_no_correction_changes_nothing() -> None:
    p = np.array([0.2, 0.01])
    assert adjust(p, "none").tolist() == [0.2, 0.01]


def test_adjusting_leaves_the_given_p_values_as_they_are() -> None:
    for correction in CORRECTIONS:
        p = np.array([0.2, 0.01, 1.0])
        adjusted = adjust(p, correction)
        adjusted[:] = 7
        assert p.tolist() == [0.2, 0.01, 1.0]


def test_families_are_corrected_along_the_last_axis() -> None:
    p = np.random.default_rng(0).random((3, 7)) ** 3
    for correction in CORRECTIONS:
        for family in (None, 7, 11):
            rows = [adjust(row, correction, family) for row in p]
            assert (adjust(p, correction, family) == np.stack(rows)).all()


def test_sidak_of_the_largest_p_values() -> None:
    assert adjust(np.array([1.0, 0.5]), "sidak").tolist() == [1.0, 0.75]
    assert adjust(np.array([1.0]), "sidak") == pytest.approx(1.0, abs=1e-15)


@pytest.mark.parametrize("correction", list(CORRECTIONS))
def test_adjusted_p_values_keep_the_order_and_never_fall(correction: str) -> None:
    rng = np.random.default_rng(8)
    for size in (1, 2, 9, 40):
        p = np.sort(rng.random(size) ** 5)
        adjusted = adjust(p, correction)
        assert (np.diff(adjusted) >= 0).all()
        assert (adjusted >= p * (1 - 1e-12)).all()
        assert (adjusted <= 1).all()


@pytest.mark.parametrize("correction", list(CORRECTIONS))
def test_adjusted_p_values_rise_with_any_p_value(correction: str) -> None:
    rng = np.random.default_rng(9)
    for _ in range(30):
        p = rng.random(8) ** 4
        larger = p.copy()
        larger[3] = min(1.0, 1.5 * p[3])
        assert (adjust(larger, correction) >= adjust(p, correction)).all()


@pytest.mark.parametrize("correction", list(CORRECTIONS))
def test_a_larger_family_is_one_padded_with_ones(correction: str) -> None:
    rng = np.random.default_rng(10)
    for size, family in ((1, 2), (3, 3), (6, 28), (28, 2016)):
        p = rng.random(size) ** 6
        padded = np.append(p, np.ones(family - size))
        expected = CORRECTIONS[correction].adjust(padded)[:size]
        assert adjust(p, correction, family).tolist() == expected.tolist()
        low, high = p * rng.random(size), np.minimum(1, 3 * p)
        ends = [np.append(end, np.ones(family - size)) for end in (low, high)]
        whole = undecided(padded, *ends, correction, 0.05)
        found = undecided(p, low, high, correction, 0.05, family)
        assert found.tolist() == whole[:size].tolist()
        limits = critical_value(padded, 0, correction, 0.05)
        assert critical_value(p, 0, correction, 0.05, family) == limits
        if not CORRECTIONS[correction].joint:
            least = np.append(np.full(size, 1e-4), np.ones(family - size))
            expected = CORRECTIONS[correction].adjust(least)[0]
            assert smallest_attainable(correction, size, 1e-4, family) == expected


def test_holm_over_a_declared_family_counts_pairs_not_seen_yet() -> None:
    p = np.array([0.001, 0.02, 0.004])
    # 10 pairs: factors 10, 9, 8 from the smallest p-value on
    assert adjust(p, "holm", family=10) == pytest.approx([0.01, 0.16, 0.036])


def test_a_family_holds_at_least_the_pairs_at_hand() -> None:
    with pytest.raises(RecipeError, match="A family of 2 pairs cannot hold 3"):
        adjust(np.array([0.1, 0.2, 0.3]), "holm", family=2)


@pytest.mark.parametrize("correction", ALONE)
def test_claims_in_a_declared_family_only_grow(correction: str) -> None:
    p = np.random.default_rng(12).random(20) ** 8
    adjusted = np.ones(0)
    for seen in range(1, 21):
        later = adjust(p[:seen], correction, family=20)
        assert (later[:-1] <= adjusted).all()
        adjusted = later


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
def test_undecided_equals_trying_both_ends(correction: str) -> None:
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
def test_a_plugged_in_correction_has_the_right_undecided_flags(
    monkeypatch: pytest.MonkeyPatch, family: int | None
) -> None:
    monkeypatch.setitem(CORRECTIONS, "hommel", Correction("hommel", "Hommel", hommel))
    rng = np.random.default_rng(13)
    for trial in range(60):
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


def test_undecided_sees_decisions_that_turn_either_way(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not every function that can be plugged in rises with p."""
    falling = Correction("falling", "falling", lambda p: 1 - p)
    monkeypatch.setitem(CORRECTIONS, "falling", falling)
    p, low, high = np.array([0.9, 0.5]), np.array([0.8, 0.4]), np.array([0.99, 0.6])
    assert undecided(p, low, high, "falling", 0.05).tolist() == [True, False]


@pytest.mark.parametrize("correction", ALONE)
def test_ranks_and_adjusting_are_the_same_correction(correction: str) -> None:
    chosen = CORRECTIONS[correction]
    p = np.random.default_rng(14).random(15) ** 3
    assert stepped(p, chosen.scale, chosen.direction).tolist() == chosen.adjust(p).tolist()


@pytest.mark.parametrize("correction", list(CORRECTIONS))
def test_critical_value_is_where_the_decision_turns(correction: str) -> None:
    p = np.array([0.001, 0.004, 0.02, 0.3])
    for alpha in (0.05, 1e-40):
        limit = critical_value(p, 2, correction, alpha)
        for factor, significant in ((0.999999999, True), (1.000000001, False)):
            moved = p.copy()
            moved[2] = limit * factor
            assert (adjust(moved, correction)[2] <= alpha) == significant


def test_critical_value_leaves_the_family_as_it_is() -> None:
    p = np.array([0.001, 0.3])
    critical_value(p, 0, "holm", 0.05)
    assert p.tolist() == [0.001, 0.3]


def test_critical_value_is_zero_where_nothing_is_significant() -> None:
    assert critical_value(np.ones(2), 0, "bonferroni", 1e-320) == 0.0


def test_strictest_level_of_bonferroni_and_sidak(oracles: Path) -> None:
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
def test_strictest_level_of_a_lone_small_p_value(correction: str, level: float) -> None:
    assert strictest_level(correction, 12, 0.05) == pytest.approx(level, rel=1e-12)


def test_strictest_level_follows_a_correction_that_is_replaced(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
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
def test_smallest_attainable_p_value_of_a_family_of_equal_ones(
    correction: str, factor: float
) -> None:
    assert smallest_attainable(correction, 12, 1e-4) == pytest.approx(factor * 1e-4)


def test_step_down_equals_the_textbook_loop() -> None:
    """Romano & Wolf 2005, algorithm 1, one hypothesis after the other."""
    rng = np.random.default_rng(4)
    draws = np.abs(rng.normal(size=(8, 300)))
    observed = np.abs(rng.normal(size=8)) * 2
    order = sorted(range(8), key=lambda i: -observed[i])
    expected = [0] * 8
    at_least = 0
    for place, i in enumerate(order):
        remaining = order[place:]
        count = 0
        for r in range(300):
            count += max(draws[j, r] for j in remaining) >= observed[i]
        at_least = max(at_least, count)
        expected[i] = at_least
    assert step_down_counts(observed, lambda i: draws[i], 300).tolist() == expected


def test_step_down_counts_rise_towards_less_extreme_pairs() -> None:
    """The more extreme pair is reached more often by chance; the other must not overtake it."""
    draws = np.array([[0.0, 0.0, 0.0, 0.0], [3.0, 3.0, 3.0, 0.0]])
    assert step_down_counts(np.array([1.0, 2.0]), lambda i: draws[i], 4).tolist() == [3, 3]
    draws = np.array([[1.5, 1.5, 0.0, 0.0], [3.0, 0.0, 0.0, 0.0]])
    assert step_down_counts(np.array([1.0, 2.0]), lambda i: draws[i], 4).tolist() == [2, 1]


def test_step_down_counts_ties_with_the_limit_and_negative_draws() -> None:
    """One-sided statistics may lie below zero."""
    draws = np.array([[-2.0, -1.0, -3.0]])
    assert step_down_counts(np.array([-2.0]), lambda i: draws[i], 3).tolist() == [2]


def test_ranges_that_reach_a_difference_are_counted() -> None:
    ranges = np.array([3.0, 1.0, 2.0, 2.0])
    found = range_counts(np.array([0.5, 1.0, 2.0, 2.5, 3.0, 3.1]), ranges)
    assert found.tolist() == [4, 4, 3, 1, 1, 0]


@pytest.mark.parametrize(
    ("correction", "test"),
    [("max_t", "approximate_randomization"), ("tukey", "bootstrap")],
)
def test_joint_corrections_go_with_one_test(correction: str, test: str) -> None:
    with pytest.raises(RecipeError, match=f"{correction} goes with"):
        Recipe.of({"correction": correction, "tests": [test]})


def test_tukey_needs_all_pairs_two_sided() -> None:
    for choice in ({"alternative": "greater"}, {"pairs": {"baseline": "A"}}):
        with pytest.raises(RecipeError, match="all pairs, two-sided"):
            Recipe.of({"correction": "tukey", **choice})


def test_titles_are_spelled_as_the_field_spells_them() -> None:
    assert {name: correction.title for name, correction in CORRECTIONS.items()} == {
        "holm": "Holm",
        "bonferroni": "Bonferroni",
        "sidak": "Šidák",
        "hochberg": "Hochberg",
        "benjamini_hochberg": "Benjamini-Hochberg",
        "benjamini_yekutieli": "Benjamini-Yekutieli",
        "none": "no correction",
        "max_t": "max-T",
        "tukey": "Tukey",
    }


def test_experimentwise_error_of_no_comparison_is_nothing() -> None:
    assert experimentwise_error(0.05, 0) == 0
    assert experimentwise_error(0.05, 1) == pytest.approx(0.05)
    assert math.isclose(experimentwise_error(0.05, 3), 1 - 0.95**3)
