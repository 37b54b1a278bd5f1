"""Quantiles of draws against sorting, whatever the draws look like."""

import json
import math
from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

from sigtest.bounds import FAR
from sigtest.significance import intervals
from sigtest.significance.intervals import (
    as_printed,
    bootstrap_t_interval,
    clopper_pearson,
    p_interval,
    p_value,
    percentile_interval,
    skewness,
    standard_deviation,
    wilson_interval,
    with_ties,
)


def inverse_cdf(row: np.ndarray, share: float) -> float:
    """The smallest value that at least this share of the values do not exceed."""
    for value in sorted(row.tolist()):
        if np.count_nonzero(row <= value) >= share * len(row) - 1e-9:
            return value
    raise AssertionError


@pytest.fixture(params=[True, False], ids=["by bins", "by partition"])
def _either_way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Bins are what is compiled; they are as right, only slow, where nothing is."""
    monkeypatch.setattr(intervals, "COMPILED", request.param)
    with np.errstate(all="ignore"):  # compiled code divides by zero without a word
        yield


@pytest.mark.usefixtures("_either_way")
@pytest.mark.parametrize("alpha", [0.001, 0.05, 0.2, 0.9, 0.999])
@pytest.mark.parametrize("size", [1, 2, 19, 999, 2500])
def test_interval_is_the_inverse_cdf(size, alpha):
    rng = np.random.default_rng(size)
    draws = np.stack(
        [
            rng.normal(size=size),
            np.sort(rng.normal(size=size)),
            -np.sort(rng.normal(size=size)),
            rng.integers(0, 3, size).astype(float),
            np.full(size, 7.0),
        ]
    )
    low, high = percentile_interval(draws, alpha)
    for i, row in enumerate(draws):
        assert low[i] == inverse_cdf(row, alpha / 2)
        assert high[i] == inverse_cdf(row, 1 - alpha / 2)


@pytest.mark.usefixtures("_either_way")
@pytest.mark.parametrize(
    ("alpha", "places"),
    [(0.05, (24, 974)), (0.1, (49, 949)), (0.0501, (25, 974)), (0.0499, (24, 975))],
)
def test_interval_ends_at_these_places_of_a_thousand(alpha, places):
    """Counted from 0; .025 of 1,000 draws are 25, not 26 for rounding."""
    draws = np.random.default_rng(2).permutation(1000).astype(float)[None]
    low, high = percentile_interval(draws, alpha)
    assert (low[0], high[0]) == places


def test_intervals_leave_the_draws_in_their_order():
    draws = np.random.default_rng(3).normal(size=(3, 500))
    given = draws.copy()
    percentile_interval(draws, 0.05)
    assert (draws == given).all()


def test_deviation_divides_by_one_less_than_the_draws():
    assert standard_deviation(np.array([[1.0, 3.0]]))[0] == math.sqrt(2)
    assert standard_deviation(np.array([[5.0]]))[0] == 0
    draws = np.random.default_rng(4).normal(size=(2, 30))
    assert standard_deviation(draws) == pytest.approx(draws.std(axis=1, ddof=1), rel=1e-14)


@pytest.mark.usefixtures("_either_way")
@pytest.mark.parametrize("scale", [1e-320, 1e-307, 1e307])
def test_intervals_at_the_ends_of_the_number_range(scale):
    draws = np.array([[0.0, scale, scale / 2, 0.0, scale]])
    low, high = percentile_interval(draws, 0.05)
    assert (low[0], high[0]) == (0.0, scale)


def test_a_studentised_interval_turns_the_quantiles_round():
    """Hall (1988), by hand: the quantiles of 1, ..., 40 at .05 and .95 are 2 and 38."""
    values = np.random.default_rng(5).permutation(np.arange(1.0, 41.0))[None].repeat(3, axis=0)
    observed, errors = np.array([10.0, -3.0, 0.0]), np.array([0.5, 2.0, 1.0])
    low, high = bootstrap_t_interval(observed, errors, values, np.array([0.0, 0.0, 0.06]), 0.1)
    assert low[:2].tolist() == [10 - 0.5 * 38, -3 - 2 * 38]
    assert high[:2].tolist() == [10 - 0.5 * 2, -3 - 2 * 2]
    # heavy tails move an end e out by tails (e + 2 e^3) / 6
    assert low[2] == pytest.approx(-38 - 0.01 * (38 + 2 * 38**3), rel=1e-14)
    assert high[2] == pytest.approx(-2 - 0.01 * (2 + 2 * 2**3), rel=1e-14)


def test_a_side_has_no_bound_where_resamples_that_do_not_vary_are_the_quantile():
    spread = np.linspace(-1.0, 1.0, 36)
    values = np.stack([np.append(spread, [end] * 4) for end in (FAR, -FAR)])
    observed, errors, tails = np.array([10.0, 10.0]), np.array([0.5, 0.5]), np.array([0.0, 0.06])
    low, high = bootstrap_t_interval(observed, errors, values, tails, 0.1)
    assert low.tolist() == [
        -np.inf,
        10 - 0.5 * (spread[33] + 0.01 * (spread[33] + 2 * spread[33] ** 3)),
    ]
    assert high.tolist() == [10 - 0.5 * spread[1], np.inf]


def test_skewness_equals_scipy():
    rng = np.random.default_rng(6)
    draws = np.stack(
        [
            rng.exponential(size=200) - 0.4,
            -rng.lognormal(size=200) + 7,
            *rng.normal(5, 1e-7, (3, 200)),
        ]
    )
    assert skewness(draws) == pytest.approx(stats.skew(draws, axis=1), rel=1e-6)
    assert skewness(draws[:2]) == pytest.approx(stats.skew(draws[:2], axis=1), rel=1e-12)
    assert skewness(draws[:, ::2]) == pytest.approx(stats.skew(draws[:, ::2], axis=1), rel=1e-6)


@pytest.mark.parametrize(("spread", "seen"), [(0.9e-9, False), (1.1e-9, True)])
@pytest.mark.parametrize("largest", [40.0, 1.0, -1e-3])
def test_draws_that_hardly_vary_have_no_skewness(spread, seen, largest):
    """Hardly: by less than a billionth of the largest, in standard deviations."""
    pattern = np.array([-1.0, -1.0, 2.0] * 3 + [0.0]) / math.sqrt(1.8)
    draws = largest * (1 + spread * pattern) - np.sign(largest) * 0.0
    found = skewness(draws[None])[0]
    assert (found != 0) == seen
    assert skewness(np.zeros((2, 9))).tolist() == [0.0, 0.0]


@pytest.mark.parametrize("alpha", [0.05, 0.2])
@pytest.mark.parametrize(("successes", "trials"), [(0, 12), (12, 12), (1, 30), (45, 60), (1, 2)])
def test_wilsons_interval_equals_statsmodels(successes, trials, alpha):
    expected = proportion_confint(successes, trials, alpha, method="wilson")
    found = wilson_interval(successes, trials, alpha)
    assert found == pytest.approx(expected, abs=1e-12)
    assert 0 <= found[0] < found[1] <= 1


def test_p_counts_the_observed_labelling_too():
    """Phipson & Smyth (2010): (c + 1) / (R + 1), never 0."""
    counts = np.array([0, 1, 499, 998, 999])
    assert p_value(counts, 999).tolist() == [0.001, 0.002, 0.5, 0.999, 1.0]


def test_two_sides_are_added_up_to_one():
    counts = np.array([0, 499, 500, 999])
    assert p_value(counts, 999, sides=2).tolist() == [0.002, 1.0, 1.0, 1.0]


@pytest.mark.parametrize("level", [0.4, 0.9, 0.95, 0.999])
@pytest.mark.parametrize("trials", [1, 2, 10, 9_999, 999_999])
def test_ends_of_an_interval_reach_the_count_with_half_of_what_is_left(trials, level):
    """Clopper & Pearson's definition, in SciPy's binomial distribution."""
    counts = np.unique([0, 1, trials // 3, trials // 2, trials - 1, trials])
    tail = (1 - level) / 2
    for count, low, high in zip(counts, *clopper_pearson(counts, trials, level), strict=True):
        assert low == 0 if count == 0 else low < count / trials
        assert high == 1 if count == trials else high > count / trials
        if count > 0:
            assert stats.binom.sf(count - 1, trials, low) == pytest.approx(tail, rel=1e-6)
        if count < trials:
            assert stats.binom.cdf(count, trials, high) == pytest.approx(tail, rel=1e-6)


def test_clopper_pearson_equals_the_expected_ones(oracles):
    expected = json.loads((oracles / "intervals.json").read_text())
    for row in expected["clopper_pearson_95"] + expected["clopper_pearson_95_extra"]:
        low, high = clopper_pearson(np.array([row["successes"]]), row["n"], 0.95)
        assert low[0] == pytest.approx(row["lower"], abs=1e-9)
        assert high[0] == pytest.approx(row["upper"], abs=1e-9)


def test_interval_of_p_covers_the_p_value_of_infinitely_many_resamples(oracles):
    for row in json.loads((oracles / "intervals.json").read_text())["monte_carlo_interval"]:
        counts = np.array([row["c"]])
        low, high = p_interval(counts, row["B"])
        assert low[0] == pytest.approx(row["mc_95_lower"], abs=1e-9)
        assert high[0] == pytest.approx(row["mc_95_upper"], abs=1e-9)
        assert p_value(counts, row["B"])[0] == pytest.approx(row["p_plus_one"], abs=1e-12)


def test_interval_of_a_doubled_p_is_doubled_up_to_one():
    counts = np.array([0, 20, 300, 700])
    low, high = clopper_pearson(counts, 999, 0.95)
    doubled = p_interval(counts, 999, sides=2)
    assert doubled[0].tolist() == np.minimum(1, 2 * low).tolist()
    assert doubled[1].tolist() == np.minimum(1, 2 * high).tolist()
    assert doubled[1][3] == 1.0
    plain = p_interval(counts, 999)
    assert (plain[0].tolist(), plain[1].tolist()) == (low.tolist(), high.tolist())


SCORES = [0.1, 0.2, 0.3, 0.7, 1.1, 2.2]


def summed(order: list[int], scores: list[float]) -> float:
    """A sum in an order of its own, with the rounding that the order has."""
    total = 0.0
    for place in order:
        total += scores[place]
    return total


@pytest.mark.parametrize("size", [1e-6, 1.0, 100.0, 1e9 / 3])
def test_sums_tie_where_their_fractions_do(size):
    rng = np.random.default_rng(7)
    scores = [size * score for score in SCORES]
    decimals = [Fraction(str(score)) for score in SCORES]
    chosen = [list(rng.permutation(6)[: rng.integers(1, 7)]) for _ in range(300)]
    found = np.array([summed(order, scores) for order in chosen])
    exact = [sum((decimals[place] for place in order), Fraction(0)) for order in chosen]
    assert len(set(found.tolist())) > len(set(exact))  # rounding tells some apart
    tied = with_ties(found, max(map(abs, found)))
    for i in range(len(chosen)):
        equal = [value == exact[i] for value in exact]
        assert (tied == tied[i]).tolist() == equal
        assert tied[i] == found[equal].max()


def test_ties_go_by_the_largest_number_behind_them():
    x = np.array([3e-13, 0.0, 5.0])
    assert with_ties(x, 5.0).tolist() == [3e-13, 3e-13, 5.0]
    assert with_ties(x, 1.0).tolist() == x.tolist()
    assert with_ties(np.array([0.0, 1e-13]), 1.0).tolist() == [1e-13, 1e-13]  # as far as may be
    assert with_ties(np.array([]), 1.0).tolist() == []


def test_what_is_nearly_tied_in_a_chain_is_all_tied():
    x = np.array([2e-13, 0.0, 1e-13, 4e-13])
    assert with_ties(x, 1.2).tolist() == [2e-13, 2e-13, 2e-13, 4e-13]


def test_fifteen_digits_are_printed_as_r_prints_them():
    assert as_printed(np.array([2 / 3, 0.1 + 0.2, 1e16 + 2])).tolist() == [
        0.666666666666667,
        0.3,
        1e16,
    ]
