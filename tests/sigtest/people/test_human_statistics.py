"""Two samples and pairs: fixtures of the oracles, SciPy, enumeration."""

import json
import math
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from sigtest.metrics.scores import Scores
from sigtest.people.statistics import (
    approximate_randomization,
    interval,
    paired_t,
    rank_sum,
    signed_rank,
    student,
    welch,
)
from sigtest.significance import TESTS


@pytest.fixture
def fixtures(oracles: Path):
    return json.loads((oracles / "human.json").read_text())["quality_control_fixtures"]


def ranked(x, y):
    return rank_sum(np.sort(np.array(x, float)), np.sort(np.array(y, float)))


def test_quality_control_fixtures(fixtures):
    first, second = (np.array(fixtures["welch"][k]) for k in
                     ("d1_ask_again_abs_diff", "d2_bad_reference_diff"))  # fmt: skip
    found = welch(first, second)
    assert found.statistic == pytest.approx(fixtures["welch"]["t"], rel=1e-12)
    assert found.less == pytest.approx(fixtures["welch"]["p_less"], rel=1e-9)
    ranks = ranked(first, second)
    assert ranks.statistic == fixtures["mann_whitney"]["U_d1"]
    expected = fixtures["mann_whitney"]["p_less_asymptotic_continuity"]
    assert ranks.less == pytest.approx(expected, rel=1e-9)
    good, bad = (np.array(fixtures["paired_t"][k]) for k in ("good", "bad"))
    t = paired_t(bad - good)
    assert t.statistic == pytest.approx(fixtures["paired_t"]["t"], rel=1e-12)
    assert t.less == pytest.approx(fixtures["paired_t"]["p_less"], rel=1e-9)
    signs = signed_rank(bad - good)
    assert signs.statistic == fixtures["signed_rank"]["W"]
    assert signs.less == pytest.approx(fixtures["signed_rank"]["p_less_exact"], rel=1e-12)


def test_rank_sum_fixtures_of_r(fixtures):
    plain, tied = fixtures["rank_sum"], fixtures["rank_sum_with_ties"]
    found = ranked(plain["g"], plain["h"])
    assert found.statistic == plain["U_g"]
    assert found.greater == pytest.approx(plain["p_greater_normal_continuity"], rel=1e-9)
    assert ranked(tied["a"], tied["b"]).greater == pytest.approx(tied["p_greater"], rel=1e-9)


@pytest.mark.parametrize("seed", range(6))
def test_rank_sum_equals_scipy_with_ties(seed):
    rng = np.random.default_rng(seed)
    x, y = rng.integers(0, 8, 40 + seed), rng.integers(1, 9, 25)
    found = ranked(x, y)
    for claim, p in (("greater", found.greater), ("less", found.less)):
        expected = stats.mannwhitneyu(x, y, alternative=claim, method="asymptotic")
        assert found.statistic == expected.statistic
        assert p == pytest.approx(expected.pvalue, rel=1e-10)


def test_rank_sum_far_in_the_tail_keeps_its_logarithm():
    x, y = np.arange(3000.0) + 10_000, np.arange(3000.0)
    found = rank_sum(x, y)
    spread = math.sqrt(3000 * 3000 / 12 * 6001)
    z = (3000 * 3000 / 2 - 0.5) / spread
    assert found.greater == 0.0
    assert found.log10 == pytest.approx(stats.norm.logsf(z) / math.log(10), rel=1e-12)
    assert found.log10 < -900


def test_samples_that_are_all_alike_are_not_separated():
    assert ranked([3, 3, 3], [3, 3])[1:4] == (1.0, 1.0, 0.0)
    assert paired_t(np.zeros(5))[1:4] == (1.0, 1.0, 0.0)
    assert signed_rank(np.zeros(5))[1:4] == (1.0, 1.0, 0.0)
    assert welch(np.ones(4), np.ones(3))[1:4] == (1.0, 1.0, 0.0)


@pytest.mark.parametrize("test", ["paired_t", "signed_rank"])
@pytest.mark.parametrize("given", [
    np.full(4, -50.0), np.array([1.0, -2.0, 4.0]),
    np.arange(-90.0, 310.0), np.arange(-300.0, 401.0),
], ids=["alike", "few", "counted", "many"])  # fmt: skip
def test_a_name_is_one_test_here_and_in_comparisons(test, given):
    rows = [np.stack([own, np.ones_like(own)], axis=1) for own in (given, np.zeros_like(given))]
    here = {"paired_t": paired_t, "signed_rank": signed_rank}[test](given)
    for claim in ("greater", "less"):
        there = TESTS[test].p(Scores(), *rows, claim)
        assert getattr(here, claim) == pytest.approx(there.p_value, rel=1e-12)
    if test == "paired_t" and len(given) == 4:
        assert here[1:4] == (1.0, 1.0, 0.0)


@pytest.mark.parametrize("seed", range(4))
def test_t_tests_equal_scipy(seed):
    rng = np.random.default_rng(seed)
    x, y = rng.normal(0.4, 2, 30), rng.normal(0, 1, 12)
    for claim in ("greater", "less"):
        expected = stats.ttest_ind(x, y, equal_var=False, alternative=claim)
        assert getattr(welch(x, y), claim) == pytest.approx(expected.pvalue, rel=1e-10)
        single = stats.ttest_1samp(x, 0, alternative=claim)
        assert getattr(paired_t(x), claim) == pytest.approx(single.pvalue, rel=1e-10)


def test_student_is_exact_far_in_the_tail():
    """df = 1 is Cauchy's distribution: P(T > t) = 1/2 - atan(t) / pi."""
    assert student(1e8, 1.0).greater == pytest.approx(1e-8 / math.pi, rel=1e-9)


def everything(given):
    moved = given[given != 0]
    sums = np.array([np.array(signs) @ moved for signs in product([1, -1], repeat=len(moved))])
    return (sums >= moved.sum() - 1e-9).mean(), (sums <= moved.sum() + 1e-9).mean()


def test_randomization_of_few_counts_every_pattern():
    given = np.array([0.5, -0.2, 0.9, 0.0, 0.4, 0.4, -0.1, 0.3])
    (found,) = approximate_randomization([(np.arange(8), given)], 8, 99, 1)
    assert found.exact
    greater, less = everything(given)
    assert (found.greater, found.less) == (greater, less)
    assert found.statistic == pytest.approx(given.mean())


def test_randomization_of_many_agrees_with_the_exact_share():
    """Whole differences of +-1: the distribution is binomial."""
    given = np.array([1.0] * 40 + [-1.0] * 24)
    (found,) = approximate_randomization([(np.arange(64), given)], 64, 9_999, 7)
    assert not found.exact
    exact = stats.binom.sf(39, 64, 0.5)
    low, high = stats.binom.interval(1 - 1e-6, 9_999, exact)
    at_least, at_most = (round(10_000 * p) - 1 for p in (found.greater, found.less))
    assert low <= at_least <= high
    assert found.greater == (at_least + 1) / 10_000
    assert found.less == (at_most + 1) / 10_000
    assert at_least + at_most > 9_999  # patterns as extreme count on both sides


def test_randomization_of_one_pair_does_not_depend_on_the_others():
    rng = np.random.default_rng(5)
    pairs = [(np.sort(rng.permutation(300)[:200]), rng.normal(0.05, 1, 200)) for _ in range(3)]
    together = approximate_randomization(pairs, 300, 700, 11)
    assert together == [approximate_randomization([p], 300, 700, 11)[0] for p in pairs]
    assert together != approximate_randomization(pairs, 300, 700, 12)


def test_randomization_of_identical_systems_has_p_one():
    (found,) = approximate_randomization([(np.arange(30), np.zeros(30))], 30, 99, 1)
    assert (found.greater, found.less) == (1.0, 1.0)


def test_interval_takes_order_statistics():
    draws = np.random.default_rng(1).permutation(999).astype(float) + 1
    assert interval(draws, 0.05) == (25.0, 975.0)
