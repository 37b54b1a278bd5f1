"""From counts to p-values and their intervals: SciPy, printed numbers, closed forms."""

import json
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from sigtest.significance.montecarlo import clopper_pearson, p_interval, p_value


def test_p_counts_the_observed_labelling_too() -> None:
    """Phipson & Smyth (2010): (c + 1) / (R + 1), never 0."""
    counts = np.array([0, 1, 499, 998, 999])
    assert p_value(counts, 999).tolist() == [0.001, 0.002, 0.5, 0.999, 1.0]


def test_two_sides_are_added_up_to_one() -> None:
    counts = np.array([0, 499, 500, 999])
    assert p_value(counts, 999, sides=2).tolist() == [0.002, 1.0, 1.0, 1.0]


@pytest.mark.parametrize("level", [0.4, 0.9, 0.95, 0.999])
@pytest.mark.parametrize("trials", [1, 2, 10, 9_999, 999_999])
def test_ends_of_an_interval_reach_the_count_with_half_of_what_is_left(
    trials: int, level: float
) -> None:
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


@pytest.mark.parametrize("count", [0, 3, 50, 100])
def test_clopper_pearson_equals_scipy(count: int) -> None:
    low, high = clopper_pearson(np.array([count]), 100, 0.95)
    expected = stats.binomtest(count, 100).proportion_ci(0.95, method="exact")
    assert (low[0], high[0]) == pytest.approx((expected.low, expected.high), rel=1e-9)


# Graham, Mathur & Baldwin (2014), "Randomized Significance Tests in Machine Translation", Table 1:
# correct pairs of 66, per cent and interval as printed.
@pytest.mark.parametrize(("correct", "printed"), [(48, (72.7, 60.4, 83.0))])
def test_clopper_pearson_equals_printed_intervals(
    correct: int, printed: tuple[float, float, float]
) -> None:
    low, high = clopper_pearson(np.array([correct]), 66, 0.95)
    shown = (100 * correct / 66, 100 * low[0], 100 * high[0])
    assert tuple(round(float(x), 1) for x in shown) == printed


def test_clopper_pearson_equals_the_expected_ones(oracles: Path) -> None:
    expected = json.loads((oracles / "intervals.json").read_text())
    for row in expected["clopper_pearson_95"] + expected["clopper_pearson_95_extra"]:
        low, high = clopper_pearson(np.array([row["successes"]]), row["n"], 0.95)
        assert low[0] == pytest.approx(row["lower"], abs=1e-9)
        assert high[0] == pytest.approx(row["upper"], abs=1e-9)


def test_interval_of_p_covers_the_p_value_of_infinitely_many_resamples(oracles: Path) -> None:
    for row in json.loads((oracles / "intervals.json").read_text())["monte_carlo_interval"]:
        counts = np.array([row["c"]])
        low, high = p_interval(counts, row["B"])
        assert low[0] == pytest.approx(row["mc_95_lower"], abs=1e-9)
        assert high[0] == pytest.approx(row["mc_95_upper"], abs=1e-9)
        assert p_value(counts, row["B"])[0] == pytest.approx(row["p_plus_one"], abs=1e-12)


def test_interval_of_a_doubled_p_is_doubled_up_to_one() -> None:
    counts = np.array([0, 20, 300, 700])
    low, high = clopper_pearson(counts, 999, 0.95)
    doubled = p_interval(counts, 999, sides=2)
    assert doubled[0].tolist() == np.minimum(1, 2 * low).tolist()
    assert doubled[1].tolist() == np.minimum(1, 2 * high).tolist()
    assert doubled[1][3] == 1.0
    plain = p_interval(counts, 999)
    assert (plain[0].tolist(), plain[1].tolist()) == (low.tolist(), high.tolist())


def test_intervals_at_the_ends_are_closed_without_warnings() -> None:
    low, high = clopper_pearson(np.array([0, 5]), 5, 0.95)
    assert (low[0], high[1]) == (0.0, 1.0)
    assert high[0] == pytest.approx(1 - 0.025 ** (1 / 5))
    assert low[1] == pytest.approx(0.025 ** (1 / 5))
