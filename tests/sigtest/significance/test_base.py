"""What tests say of themselves: where they keep their level, their sides, and ties at the limit."""

import math
from dataclasses import FrozenInstanceError
from typing import ClassVar, cast

import numpy as np
import pytest
from computed import report_of
from scipy import stats

from sigtest.arrays import Array, Flags
from sigtest.significance import ALTERNATIVES, TESTS, Alternative
from sigtest.significance.base import (
    Draws,
    ResamplingTest,
    SignificanceTest,
    UnitP,
    UnitsTest,
    claim,
    extremity,
    reaching,
)

# docs/VALIDITY.md, parts 3, 10 and 11: from how many units, and up to which skewness
KEPT = {
    "approximate_randomization": (1, np.inf),
    "bootstrap": (300, 0.1),
    "paired_bootstrap": (300, 0.1),
    "bootstrap_t": (50, 0.4),
}


@pytest.mark.parametrize("name", KEPT)
def test_the_level_is_kept_from_so_many_units_and_up_to_so_much_skewness(name):
    units, skewness = KEPT[name]
    keeps = TESTS[name].keeps_level
    assert keeps(units, 0.0)
    assert keeps(10 * units, -min(skewness, 9.0))
    assert keeps(units, min(skewness, 9.0))
    if units > 1:
        assert not keeps(units - 1, 0.0)
    if skewness < np.inf:
        assert not keeps(10 * units, 1.001 * skewness)
        assert not keeps(10 * units, -1.001 * skewness)


@pytest.mark.parametrize("name", ["bootstrap", "paired_bootstrap"])
def test_resamples_may_lack_a_twentieth_of_the_variance(name):
    """Then 1.96 standard errors are 1.96 sqrt(.95) of the true ones, and .056 lies beyond."""
    keeps = TESTS[name].keeps_level
    assert stats.norm.sf(1.96 * math.sqrt(0.95)) * 2 == pytest.approx(0.056, abs=5e-4)
    assert keeps(300, 0.0, 0.05)
    assert not keeps(10**6, 0.0, 0.051)
    assert TESTS["bootstrap_t"].keeps_level(50, 0.0, 0.5)


def test_the_test_of_2005_keeps_it_nowhere():
    assert not TESTS["riezler_maxwell_bootstrap"].keeps_level(10**6, 0.0)


class Silent(SignificanceTest):
    """A test that says nothing of itself but what it must."""

    name: ClassVar[str] = "silent"
    draws: ClassVar[Draws] = "none"
    null: ClassVar[str] = "equal expected scores"


@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_what_a_test_does_not_say(alternative):
    silent = Silent()
    assert silent.keeps_level(0, 1e9)
    assert silent.sides(alternative) == 1
    assert silent.stated_alternative(alternative) == alternative
    assert silent.caution is None
    assert silent.papers == ()


def test_what_a_test_must_say():
    for kind, method in ((ResamplingTest, "extreme"), (UnitsTest, "p")):
        with pytest.raises(TypeError, match=rf"\b{method}\b"):
            cast(type, kind)()


def test_one_unit_is_enough_but_where_a_variance_is_needed():
    own = {name: test.fewest_units for name, test in TESTS.items() if isinstance(test, UnitsTest)}
    assert {name for name, units in own.items() if units == 2} == {"paired_t", "corrected_t"}
    assert set(own.values()) == {1, 2}


def test_only_the_paired_bootstrap_adds_two_sides_up():
    """Koehn (2004) counts losses: two-sided, twice the rarer kind."""
    for name, test in TESTS.items():
        doubled = name == "paired_bootstrap"
        assert [test.sides(side) for side in ALTERNATIVES] == [1 + doubled, 1, 1], name


def test_only_lengths_have_no_direction():
    tests = (test for test in TESTS.values() if isinstance(test, ResamplingTest))
    assert [test.name for test in tests if not test.directed] == ["riezler_maxwell_bootstrap"]


def test_claims_and_extremities():
    values = np.array([-2.0, 0.5])
    assert claim(values, "less").tolist() == [2.0, -0.5]
    for side in ("greater", "two-sided"):
        assert claim(values, side).tolist() == [-2.0, 0.5]
    assert extremity(values, "two-sided").tolist() == [2.0, 0.5]
    assert extremity(values, "greater").tolist() == [-2.0, 0.5]
    assert extremity(values, "less").tolist() == [2.0, -0.5]


def at(draws: list[float], tolerance: float) -> dict[Alternative, list[bool]]:
    """Which draws reach an observed difference of 1."""
    observed, null = np.ones(1), np.array([draws])
    return {
        side: reaching(observed, null, np.array([tolerance]), side)[0].tolist()
        for side in ALTERNATIVES
    }


def test_a_draw_exactly_at_the_limit_counts():
    draws = [-1.0, -0.5, 0.5, 0.75, 1.0]
    assert at(draws, 0.0)["two-sided"] == [True, False, False, False, True]
    assert at(draws, 0.25)["greater"] == [False, False, False, True, True]
    assert at(draws, 0.0)["less"] == [True, True, True, True, True]


def lost(draws: list[float], tolerance: float, alternative: Alternative) -> Flags:
    """Which draws speak against a pair's claim, by the paired bootstrap."""
    test = cast(ResamplingTest, TESTS["paired_bootstrap"])
    rows: Array = np.array([draws])
    return test.extreme(np.ones(1), rows, np.array([tolerance]), alternative)[0]


def test_a_tie_exactly_at_the_slack_counts_against_either_claim():
    draws = [-0.25, 0.25, 0.5, -0.5]
    assert lost(draws, 0.25, "greater").tolist() == [True, True, False, True]
    assert lost(draws, 0.25, "less").tolist() == [True, True, True, False]


def test_where_both_kinds_of_losses_are_as_many_those_of_the_first_system_are_shown():
    assert lost([-1.0, -2.0, 3.0, 4.0], 0.0, "two-sided").tolist() == [True, True, False, False]
    assert lost([-1.0, 2.0, 3.0, 4.0], 0.0, "two-sided").tolist() == [True, False, False, False]
    assert lost([-1.0, -2.0, -3.0, 4.0], 0.0, "two-sided").tolist() == [False, False, False, True]


def test_a_p_value_of_its_own_is_kept_as_it_was_found():
    found = UnitP.of_log10(-400.0, exact=True, statistic=2.0)
    assert (found.p_value, found.log10_p, found.df) == (1e-300, -400.0, None)
    assert found.ahead == UnitP(1.0, 0.0, exact=False).ahead == 0.0  # nobody, where none is named
    with pytest.raises(FrozenInstanceError):
        found.p_value = 1.0  # type: ignore[misc]


@pytest.mark.parametrize("outlier", [0.0, 1e6, 3e11])
@pytest.mark.parametrize("test", ["approximate_randomization", "bootstrap", "bootstrap_t"])
def test_an_outlier_that_both_systems_share_hides_no_difference(test, outlier):
    rng = np.random.default_rng(4)
    d = np.round(rng.normal(0.3, 1.0, 300), 1)
    shared = np.zeros(300)
    shared[7] = outlier
    systems = [
        {"name": name, "scores": {"x": row.tolist()}}
        for name, row in (("a", shared + d), ("b", shared))
    ]
    body = {"systems": systems, "metrics": ["scores"], "tests": [test], "resamples": 1_999}
    (pair,) = report_of({**body, "exact": "never"})["pairs"]
    assert stats.ttest_1samp(d, 0.0).pvalue < 1e-4
    assert pair["p_value"] < 0.01


def test_sums_that_are_equal_but_for_rounding_are_tied():
    """0.1 + 0.2 is not 0.3 to a computer: all four labellings reach the observed difference."""
    a, b = [0.1, 0.2, 0.0], [0.0, 0.0, 0.3]
    systems = [{"name": n, "scores": {"x": row}} for n, row in (("a", a), ("b", b))]
    for exact in ("auto", "never"):
        body = {"systems": systems, "metrics": ["scores"], "resamples": 99, "exact": exact}
        (pair,) = report_of(body)["pairs"]
        assert pair["p_value"] == 1.0
