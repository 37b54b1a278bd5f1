"""Heavy tails of bootstrap-t tests, against SciPy's moments and the roots of the cubic."""

import numpy as np
import pytest
from heavytails import heavy, moved

from sigtest.arrays import Counts
from sigtest.significance.intervals import drawn_in, heaviness, moved_out


def alone(units: int) -> Counts:
    """All of one stratum."""
    return np.zeros(units, dtype=np.int64)


@pytest.mark.parametrize("units", [3, 4, 5, 9, 40])
def test_heaviness_is_the_term_without_its_bias(units):
    rows = np.random.default_rng(units).standard_t(2, size=(160 // units, units)) + 0.5
    expected = [heavy(row) if units > 3 else 0.0 for row in rows]
    assert heaviness(rows, alone(units)) == pytest.approx(np.array(expected), rel=1e-9, abs=1e-12)
    assert units == 3 or 0.0 in expected
    assert units == 3 or max(expected) > 0.1


@pytest.mark.parametrize("unit", [1e-200, 1e-3, 1e200])
def test_heaviness_has_no_unit(unit):
    row = np.random.default_rng(2).standard_t(2, size=(1, 20))
    assert heaviness(unit * row, alone(20)) == pytest.approx(heavy(row[0]), rel=1e-9)


@pytest.mark.parametrize(
    "row",
    [[0.0] * 6, [0.3] * 6, [1.0, 1.0, 1.0, 5.0], [1e9] * 5 + [1e9 + 1], [-2.0, 0.0, 0.0, 0.0]],
)
def test_nothing_is_known_where_nothing_varies_without_one_unit(row):
    assert heaviness(np.array([row]), alone(len(row))).tolist() == [0.0]


def test_small_variance_next_to_the_mean_counts():
    """A ten-thousandth of the mean square is no rounding."""
    row = np.random.default_rng(3).standard_t(2, size=20)
    far = row + 100 * row.std()
    assert heaviness(far[None], alone(20)) == pytest.approx(heavy(row), rel=1e-5)


@pytest.mark.parametrize("sizes", [(1, 9, 20), (2, 2, 30), (15, 15), (5, 4, 3, 3, 2)])
def test_cumulants_of_strata_are_summed(sizes):
    rng = np.random.default_rng(sum(sizes))
    strata = np.repeat(np.arange(len(sizes)), sizes)
    found = []
    for _ in range(6):
        row = rng.standard_t(2, size=len(strata)) * 3.0**strata + 40.0 * strata
        shuffled = rng.permutation(len(row))
        own = heaviness(row[None, shuffled], strata[shuffled])
        assert own == pytest.approx(heavy(*np.split(row, np.cumsum(sizes)[:-1])), rel=1e-7)
        found.append(own[0])
    assert max(found) > 0.05


def test_strata_within_which_nothing_varies_say_nothing():
    """Sums of a number that is no power of two leave a variance of rounding."""
    strata = np.repeat([0, 1], [7, 6])
    constants = np.random.default_rng(4).normal(size=(200, 2))
    assert heaviness(constants[:, strata], strata).tolist() == [0.0] * 200


def test_normal_strata_of_unlike_variance_have_no_heavy_tails():
    strata = np.repeat([0, 1], 4_000)
    row = np.random.default_rng(1).normal(size=(1, 8_000)) * 10.0**strata
    assert 8_000 * heaviness(row, strata)[0] < 0.3  # in theory 0
    # kurtosis of the mixture: 6 (1 + 10^4) / (1 + 10^2)^2 - 3
    assert 8_000 * heaviness(row, alone(8_000))[0] == pytest.approx(2.88, rel=0.1)


@pytest.mark.parametrize("alternative", ["greater", "less"])
def test_what_was_observed_is_drawn_in_to_the_root_of_the_cubic(alternative):
    t, tails = (
        part.ravel() for part in np.meshgrid([-9.0, -1.3, 0.0, 0.4, 2.0, 300.0], [1e-3, 0.2, 2.0])
    )
    found = drawn_in(t, tails, alternative)
    for own, observed, tail in zip(found, t, tails, strict=True):
        roots = np.roots([tail / 3, 0.0, 1 + tail / 6, -observed])
        (real,) = roots[np.abs(roots.imag) < 1e-9].real
        assert own == pytest.approx(real, rel=1e-9, abs=1e-12)


def test_nothing_is_drawn_in_without_tails_or_end():
    t = np.array([1.5, -0.5, np.inf, -np.inf])
    tails = np.array([0.0, 0.0, 0.3, 0.3])
    assert drawn_in(t, tails, "greater").tolist() == t.tolist()
    assert drawn_in(t, np.full(4, 0.3), "two-sided").tolist() == t.tolist()


def test_ends_are_moved_out_by_the_cubic():
    ends, tails = np.meshgrid([-40.0, -1.96, 0.0, 0.3, 1.645], [0.0, 0.01, 3.0])
    assert moved_out(ends, tails) == pytest.approx(moved(ends, tails), rel=1e-12)


def test_ends_beyond_all_numbers_stay_numbers():
    """Draws without variance stand at 1e300."""
    found = moved_out(np.array([1e300, -1e300, np.inf]), np.array([0.3, 0.3, 0.3]))
    assert found.tolist() == [1e300, -1e300, np.inf]
