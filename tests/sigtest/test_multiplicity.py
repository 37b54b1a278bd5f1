"""Corrections against statsmodels, the expected values, and textbook loops."""

import json
from pathlib import Path

import numpy as np
import pytest
from statsmodels.stats.multitest import multipletests

from sigtest.comparison.recipe import Recipe
from sigtest.errors import RecipeError
from sigtest.significance.corrections import (
    CORRECTIONS,
    adjust,
    critical_value,
    experimentwise_error,
    step_down_counts,
    strictest_level,
    undecided,
)

STATSMODELS = {
    "bonferroni": "bonferroni",
    "sidak": "sidak",
    "holm": "holm",
    "hochberg": "simes-hochberg",
    "benjamini_hochberg": "fdr_bh",
    "benjamini_yekutieli": "fdr_by",
}


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


def test_experimentwise_error_equals_the_printed_values(oracles: Path) -> None:
    for row in json.loads((oracles / "intervals.json").read_text())["experimentwise_error"]:
        assert experimentwise_error(row["p_c"], row["k"]) == pytest.approx(row["p_e"], abs=1e-12)


def test_no_correction_changes_nothing() -> None:
    p = np.array([0.2, 0.01])
    assert adjust(p, "none").tolist() == [0.2, 0.01]


def test_families_are_corrected_along_the_last_axis() -> None:
    p = np.random.default_rng(0).random((3, 7)) ** 3
    for correction in CORRECTIONS:
        rows = [adjust(row, correction) for row in p]
        assert (adjust(p, correction) == np.stack(rows)).all()


@pytest.mark.parametrize("correction", list(CORRECTIONS))
def test_undecided_equals_trying_both_ends(correction: str) -> None:
    rng = np.random.default_rng(3)
    for _ in range(50):
        p = rng.random(12) ** 4
        low, high = p * rng.random(12), np.minimum(1, p * (1 + rng.random(12)))
        expected = []
        for i in range(12):
            decisions = []
            for end in (low[i], high[i]):
                moved = p.copy()
                moved[i] = end
                decisions.append(adjust(moved, correction)[i] <= 0.05)
            expected.append(decisions[0] != decisions[1])
        assert undecided(p, low, high, correction, 0.05).tolist() == expected


@pytest.mark.parametrize("correction", list(CORRECTIONS))
def test_critical_value_is_where_the_decision_turns(correction: str) -> None:
    p = np.array([0.001, 0.004, 0.02, 0.3])
    limit = critical_value(p, 2, correction, 0.05)
    for factor, significant in ((0.999999, True), (1.000001, False)):
        moved = p.copy()
        moved[2] = limit * factor
        assert (adjust(moved, correction)[2] <= 0.05) == significant


def test_strictest_level_of_bonferroni_and_sidak(oracles: Path) -> None:
    for row in json.loads((oracles / "intervals.json").read_text())["per_comparison_level"]:
        level = strictest_level("bonferroni", row["k"], row["p_e"])
        assert level == pytest.approx(row["bonferroni_p_c"], rel=1e-9)
        level = strictest_level("sidak", row["k"], row["p_e"])
        assert level == pytest.approx(row["sidak_p_c"], rel=1e-9)


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
