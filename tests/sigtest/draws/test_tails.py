"""Heavy tails of bootstrap-t tests, against SciPy's moments and the roots of the cubic."""

import numpy as np
import pytest
from heavytails import heavy, moved

from sigtest.significance.tails import drawn_in, heaviness, moved_out


@pytest.mark.parametrize("units", [3, 4, 5, 9, 40])
def test_heaviness_is_the_term_without_its_bias(units: int) -> None:
    rows = np.random.default_rng(units).standard_t(2, size=(160 // units, units)) + 0.5
    expected = [heavy(row) if units > 3 else 0.0 for row in rows]
    assert heaviness(rows) == pytest.approx(np.array(expected), rel=1e-9, abs=1e-12)
    assert units == 3 or 0.0 in expected
    assert units == 3 or max(expected) > 0.1


@pytest.mark.parametrize("unit", [1e-200, 1e-3, 1e200])
def test_heaviness_has_no_unit(unit: float) -> None:
    row = np.random.default_rng(2).standard_t(2, size=(1, 20))
    assert heaviness(unit * row) == pytest.approx(heavy(row[0]), rel=1e-9)


@pytest.mark.parametrize(
    "row",
    [[0.0] * 6, [0.3] * 6, [1.0, 1.0, 1.0, 5.0], [1e9] * 5 + [1e9 + 1], [-2.0, 0.0, 0.0, 0.0]],
)
def test_nothing_is_known_where_nothing_varies_without_one_unit(row: list[float]) -> None:
    assert heaviness(np.array([row])).tolist() == [0.0]


def test_small_variance_next_to_the_mean_counts() -> None:
    """A ten-thousandth of the mean square is no rounding."""
    row = np.random.default_rng(3).standard_t(2, size=20)
    far = row + 100 * row.std()
    assert heaviness(far[None]) == pytest.approx(heavy(row), rel=1e-5)


@pytest.mark.parametrize("alternative", ["greater", "less"])
def test_what_was_observed_is_drawn_in_to_the_root_of_the_cubic(alternative: str) -> None:
    t, tails = (
        part.ravel() for part in np.meshgrid([-9.0, -1.3, 0.0, 0.4, 2.0, 300.0], [1e-3, 0.2, 2.0])
    )
    found = drawn_in(t, tails, alternative)
    for own, observed, tail in zip(found, t, tails, strict=True):
        roots = np.roots([tail / 3, 0.0, 1 + tail / 6, -observed])
        (real,) = roots[np.abs(roots.imag) < 1e-9].real
        assert own == pytest.approx(real, rel=1e-9, abs=1e-12)


def test_nothing_is_drawn_in_without_tails_or_end() -> None:
    t = np.array([1.5, -0.5, np.inf, -np.inf])
    tails = np.array([0.0, 0.0, 0.3, 0.3])
    assert drawn_in(t, tails, "greater").tolist() == t.tolist()
    assert drawn_in(t, np.full(4, 0.3), "two-sided").tolist() == t.tolist()


def test_ends_are_moved_out_by_the_cubic() -> None:
    ends, tails = np.meshgrid([-40.0, -1.96, 0.0, 0.3, 1.645], [0.0, 0.01, 3.0])
    assert moved_out(ends, tails) == pytest.approx(moved(ends, tails), rel=1e-12)


def test_ends_beyond_all_numbers_stay_numbers() -> None:
    """Draws without variance stand at 1e300."""
    found = moved_out(np.array([1e300, -1e300, np.inf]), np.array([0.3, 0.3, 0.3]))
    assert found.tolist() == [1e300, -1e300, np.inf]
