"""Quantiles of draws against sorting, whatever the draws look like."""

import math
from collections.abc import Iterator

import numpy as np
import pytest

from sigtest.significance import intervals
from sigtest.significance.intervals import percentile_interval, standard_deviation


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
def test_interval_is_the_inverse_cdf(size: int, alpha: float) -> None:
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
def test_interval_ends_at_these_places_of_a_thousand(alpha: float, places: tuple[int, int]) -> None:
    """Counted from 0; .025 of 1,000 draws are 25, not 26 for rounding."""
    draws = np.random.default_rng(2).permutation(1000).astype(float)[None]
    low, high = percentile_interval(draws, alpha)
    assert (low[0], high[0]) == places


def test_intervals_leave_the_draws_in_their_order() -> None:
    draws = np.random.default_rng(3).normal(size=(3, 500))
    given = draws.copy()
    percentile_interval(draws, 0.05)
    assert (draws == given).all()


def test_compiled_and_plain_intervals_are_equal(monkeypatch: pytest.MonkeyPatch) -> None:
    draws = np.random.default_rng(0).normal(size=(7, 9999))
    monkeypatch.setattr(intervals, "COMPILED", True)
    compiled = percentile_interval(draws, 0.05)
    monkeypatch.setattr(intervals, "COMPILED", False)
    plain = percentile_interval(draws, 0.05)
    assert (compiled[0] == plain[0]).all()
    assert (compiled[1] == plain[1]).all()


def test_deviation_divides_by_one_less_than_the_draws() -> None:
    assert standard_deviation(np.array([[1.0, 3.0]]))[0] == math.sqrt(2)
    assert standard_deviation(np.array([[5.0]]))[0] == 0


@pytest.mark.usefixtures("_either_way")
@pytest.mark.parametrize("scale", [1e-320, 1e-307, 1e307])
def test_intervals_at_the_ends_of_the_number_range(scale: float) -> None:
    draws = np.array([[0.0, scale, scale / 2, 0.0, scale]])
    low, high = percentile_interval(draws, 0.05)
    assert (low[0], high[0]) == (0.0, scale)
