"""From counts of one family to decisions, against the definitions of each number."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.stats import norm

from sigtest.decide.decisions import (
    NONE,
    Limit,
    decide,
    detectable_in_errors,
    p_values,
    resamples_to_settle,
)
from sigtest.requests.recipe import MAX_RESAMPLES, Recipe
from sigtest.significance import TESTS
from sigtest.significance.base import UnitP
from sigtest.significance.corrections import adjust, strictest_level, undecided
from sigtest.significance.exact import ExactP
from sigtest.significance.intervals import p_interval, p_value

COUNTS = np.array([0, 3, 150, 480, 17, 700, 166, 490])
RESAMPLES = 9_999


def decided(
    test: str = "bootstrap",
    counts: np.ndarray = COUNTS,
    known: list[ExactP | UnitP | None] | None = None,
    joint_counts: np.ndarray | None = None,
    resamples: int = RESAMPLES,
    family: int | None = None,
    gone: np.ndarray = NONE,
    **choices: object,
) -> SimpleNamespace:
    """P-values and decisions of one family."""
    recipe = Recipe.of({"tests": [test], **choices})
    limit = Limit(recipe.correction, recipe.alpha, family or len(counts) + len(gone))
    known = [None] * len(counts) if known is None else known
    found = p_values(TESTS[test], recipe.alternative, resamples, counts, known)
    _, p, _, *ends = found
    sides = TESTS[test].sides(recipe.alternative)
    decisions = decide(limit, p, ends, resamples, sides, gone, joint_counts)
    return SimpleNamespace(
        **dict(zip(("known", "p", "log10_p", "low", "high"), found, strict=True)),
        **vars(decisions),
        significant=decisions.adjusted <= recipe.alpha,
        detectable=detectable_in_errors(limit, recipe.alternative),
    )


@pytest.mark.parametrize("correction", ["holm", "benjamini_hochberg", "sidak", "none"])
@pytest.mark.parametrize("test", ["bootstrap", "paired_bootstrap"])
def test_p_values_are_corrected_and_held_against_alpha(test, correction):
    sides = 2 if test == "paired_bootstrap" else 1
    found = decided(test, correction=correction, alpha=0.07)
    assert found.p.tolist() == p_value(COUNTS, RESAMPLES, sides).tolist()
    assert found.log10_p.tolist() == np.log10(found.p).tolist()
    low, high = p_interval(COUNTS, RESAMPLES, sides)
    assert (found.low.tolist(), found.high.tolist()) == (low.tolist(), high.tolist())
    adjusted = adjust(found.p, correction)
    assert found.adjusted.tolist() == adjusted.tolist()
    assert found.significant.tolist() == (adjusted <= 0.07).tolist()
    assert {True, False} == set(found.significant.tolist())
    unsure = undecided(found.p, low, high, correction, 0.07)
    assert found.undecided.tolist() == unsure.tolist()


def test_one_sided_paired_bootstrap_is_not_doubled():
    found = decided("paired_bootstrap", alternative="greater")
    assert found.p.tolist() == p_value(COUNTS, RESAMPLES).tolist()


def test_a_p_value_at_alpha_is_significant():
    found = decided(counts=np.array([499, 500]), correction="none")
    assert found.p[0] == 0.05
    assert found.significant.tolist() == [True, False]


def test_known_p_values_take_the_place_of_estimates():
    exact, own = ExactP(3, 64, math.log10(3 / 64)), UnitP(1e-300, -400.0, exact=False)
    counts = np.array([5, 5, 5])
    found = decided("approximate_randomization", counts, [exact, None, own])
    assert found.p.tolist() == [3 / 64, 6 / 10_000, 1e-300]
    assert found.log10_p.tolist() == [math.log10(3 / 64), np.log10(6 / 10_000), -400.0]
    low, high = p_interval(np.array([5]), RESAMPLES)
    assert found.low.tolist() == [3 / 64, low[0], 1e-300]
    assert found.high.tolist() == [3 / 64, high[0], 1e-300]
    assert found.known == [exact, None, own]


def test_tests_on_bootstrap_draws_know_no_other_p_value():
    exact = ExactP(3, 64, math.log10(3 / 64))
    found = decided("bootstrap", np.array([5, 6]), [exact, exact])
    assert found.p.tolist() == [6 / 10_000, 7 / 10_000]
    assert found.known == [None, None]


def test_joint_counts_are_the_corrected_p_values():
    joint = np.array([400, 470, 499, 500, 530, 600])
    found = decided("bootstrap", np.full(6, 9), joint_counts=joint, correction="max_t")
    assert found.adjusted.tolist() == p_value(joint, RESAMPLES).tolist()
    assert found.significant.tolist() == [True, True, True, False, False, False]
    assert found.p.tolist() == [0.001] * 6
    # at 9,999 resamples .05 is uncertain by .0043
    assert found.undecided.tolist() == [False, True, True, True, True, False]
    settled = {
        i: resamples_to_settle((joint[i] + 1) / 10_000, 0.05, RESAMPLES) for i in (1, 2, 3, 4)
    }
    assert found.needed == {i: n for i, n in settled.items() if n <= MAX_RESAMPLES}
    assert set(found.needed) == {1, 4}


def test_joint_decisions_at_the_ends_of_the_interval():
    """The lower end at alpha leaves room to be significant; the upper end at alpha does not."""
    low, high = p_interval(np.array([20]), 99)
    for alpha, open_ in ((low[0], True), (high[0], False)):
        found = decided(
            counts=np.array([20]),
            joint_counts=np.array([20]),
            resamples=99,
            correction="max_t",
            alpha=float(alpha),
        )
        assert found.undecided.tolist() == [open_]


@pytest.mark.parametrize(
    ("p", "limit", "resamples"),
    [(0.04, 0.05, 9_999), (0.051, 0.05, 9_999), (0.3, 0.05, 99), (0.049, 0.05, 39_999)],
)
def test_resamples_to_settle_part_the_interval_from_the_limit(p, limit, resamples):
    found = resamples_to_settle(p, limit, resamples)

    def reach(size: int) -> float:
        return 1.96 * math.sqrt(p * (1 - p) / size)

    assert reach(found) <= abs(p - limit) * (1 + 1e-12)
    assert found == 2 * resamples or reach(found - 1) > abs(p - limit) * (1 - 1e-12)
    assert found >= 2 * resamples


def test_resamples_to_settle_are_bounded():
    # half of what can be asked for was drawn already
    assert resamples_to_settle(0.5, 0.05, 700_000) == MAX_RESAMPLES
    # p at the limit: as if it were one resample away from it
    at_limit = math.ceil(1.96**2 * 0.05 * 0.95 * 1_000**2)
    assert resamples_to_settle(0.05, 0.05, 999) == at_limit


@pytest.mark.parametrize(("test", "sides"), [("bootstrap", 1), ("paired_bootstrap", 2)])
def test_undecided_rows_say_how_many_resamples_they_need(test, sides):
    """Both sides of the limit, which is where the decision of the whole family turns."""
    counts = np.array([470, 530]) // sides
    found = decided(test, counts, correction="none")
    assert found.undecided.tolist() == [True, True]
    p = (counts + 1) / 10_000
    assert found.needed == {i: resamples_to_settle(p[i], 0.05 / sides, RESAMPLES) for i in range(2)}


def test_needed_resamples_go_by_the_corrected_limit():
    """Two pairs by Holm: the smaller p is held against .025, the larger one then against .05."""
    found = decided(counts=np.array([235, 470]))
    assert found.undecided.tolist() == [True, True]
    assert found.needed == {
        0: resamples_to_settle(0.0236, 0.025, RESAMPLES),
        1: resamples_to_settle(0.0471, 0.025, RESAMPLES),
    }


def test_more_resamples_than_can_be_asked_for_are_not_named():
    found = decided(counts=np.array([499, 500]), correction="none")
    assert found.undecided.tolist() == [True, True]
    assert found.needed == {}
    most = decided(counts=np.array([50_200]), resamples=MAX_RESAMPLES, correction="none")
    assert most.undecided.tolist() == [True]
    assert most.needed == {}


@pytest.mark.parametrize("correction", ["none", "holm", "max_t"])
@pytest.mark.parametrize(("alternative", "sides"), [("two-sided", 2), ("less", 1)])
def test_detectable_differences_have_four_fifths_power(correction, alternative, sides):
    """A normal statistic with this mean passes the quantile of the level with chance .8."""
    found = decided(correction=correction, alternative=alternative, alpha=0.03)
    strictest = strictest_level(correction, len(COUNTS), 0.03)
    for difference, level in zip(found.detectable, (0.03, strictest), strict=True):
        assert norm.sf(norm.isf(level / sides) - difference) == pytest.approx(0.8, abs=1e-9)
    assert (found.detectable[0] == found.detectable[1]) == (correction == "none")


def test_the_most_resamples_are_named_but_not_to_who_had_them():
    some = decided(counts=np.array([34_645]), resamples=700_000, correction="none")
    assert some.undecided.tolist() == [True]
    assert some.needed == {0: MAX_RESAMPLES}
    all_ = decided(counts=np.array([49_573]), resamples=MAX_RESAMPLES, correction="none")
    assert resamples_to_settle(49_574 / 1_000_000, 0.05, MAX_RESAMPLES) == MAX_RESAMPLES
    assert all_.undecided.tolist() == [True]
    assert all_.needed == {}


@pytest.mark.parametrize("middle", [8, 9])
def test_each_side_of_alpha_goes_by_its_own_limit(middle):
    """Holm's three limits, .05 / 3, .05 / 2 and .05; the middle p-value below its own, or at it."""
    found = decided(counts=np.array([21, middle, 0]), resamples=399)
    p = (middle + 1) / 400
    assert found.adjusted.tolist() == pytest.approx([0.055, 2 * p, 0.0075])
    assert found.significant.tolist() == [False, True, True]
    assert found.undecided.tolist() == [True, True, False]
    assert found.needed == {
        0: resamples_to_settle(0.055, 0.05, 399),
        1: resamples_to_settle(p, 0.025, 399),
    }


def test_pairs_that_are_all_above_alpha_say_what_they_need():
    found = decided(counts=np.array([530]), correction="none")
    assert found.needed == {0: resamples_to_settle(0.0531, 0.05, RESAMPLES)}


@pytest.mark.parametrize(("family", "size"), [(None, 4), (4, 4), (11, 11)])
def test_comparisons_that_are_gone_stay_in_the_family(family, size):
    found = decided(
        counts=np.array([3, 150]),
        family=family,
        gone=np.array([0.5, 0.001]),
        correction="bonferroni",
    )
    assert found.adjusted == pytest.approx([size * 0.0004, size * 0.0151])
