"""Correlations against scipy, with ties and in groups."""

from functools import partial

import numpy as np
import pytest
from scipy import stats

from sigtest.meta_evaluation.bootstrap import Draws, draw, interval
from sigtest.meta_evaluation.statistics import Cells, by_group, correlate, evaluate, is_constant

REFERENCES = {
    "pearson": lambda x, y: stats.pearsonr(x, y)[0],
    "spearman": lambda x, y: stats.spearmanr(x, y)[0],
    "kendall": lambda x, y: stats.kendalltau(x, y, variant="b")[0],
}
OWN = {name: partial(correlate, name) for name in REFERENCES}


def vectors(seed: int, size: int, levels: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    shared = rng.integers(0, levels, size)
    return shared + rng.integers(0, 3, size) * 1.0, shared - rng.integers(0, 3, size) * 1.0


@pytest.mark.parametrize("name", OWN)
@pytest.mark.parametrize(("size", "levels"), [(5, 3), (20, 4), (200, 1000), (1001, 7)])
def test_correlations_equal_scipy(name, size, levels):
    x, y = vectors(size, size, levels)
    assert OWN[name](x, y) == pytest.approx(REFERENCES[name](x, y), rel=1e-12)


@pytest.mark.parametrize("name", OWN)
def test_correlations_in_groups_equal_scipy_group_by_group(name):
    x, y = vectors(3, 60, 5)
    starts = np.array([0, 7, 20, 21, 60])
    found = by_group(name, x, y, starts)
    for g, (first, last) in enumerate([(0, 7), (7, 20), (21, 60)]):
        expected = REFERENCES[name](x[first:last], y[first:last])
        assert found[g if g < 2 else 3] == pytest.approx(expected, rel=1e-12)
    assert np.isnan(found[2])  # a single number


@pytest.mark.parametrize("name", OWN)
def test_constant_vectors_have_no_correlation(name):
    x, flat = np.arange(6.0), np.full(6, 0.1 + 0.2)
    assert np.isnan(OWN[name](x, flat))
    assert np.isnan(OWN[name](flat, x))
    assert np.isnan(by_group(name, flat, x, np.array([0, 6])))[0]


@pytest.mark.parametrize("name", OWN)
@pytest.mark.parametrize("size", range(2, 60))
def test_equal_orders_correlate_with_exactly_one(size, name):
    x, _ = vectors(size, size, 9)
    if not is_constant(x):
        for y, expected in ((x, 1.0), (2 * x, 1.0), (-x, -1.0)):
            assert OWN[name](x, y) == expected
            assert by_group(name, x, y, np.array([0, size])) == [expected]


@pytest.mark.parametrize("name", OWN)
def test_intervals_hold_their_own_value_where_all_points_lie_on_a_line(name):
    """By rounding a Pearson's r of 1 lay above an interval that ended at 1 - 7e-15."""
    rng = np.random.default_rng(0)
    for seed in range(60):
        size = int(rng.integers(4, 30))
        human = rng.normal(size=size)
        metric = rng.normal() * human + rng.normal()
        cells = Cells(human[:, None], metric[None, :, None], np.full((size, 1), True))
        values = evaluate(name, cells, "none")
        drawn = draw(name, cells, values, Draws(seed, 0, 99, 99), "system")
        low, high = interval(drawn[0], 0.05, size)
        assert low <= values.values[0] <= high
        assert abs(values.values[0]) == pytest.approx(1, abs=1e-15)


@pytest.mark.parametrize("scale", [1e-140, 1e-90, 1e60])
def test_scores_may_be_of_any_size(scale):
    x, y = vectors(1, 30, 9)
    assert OWN["pearson"](scale * x, y) == pytest.approx(OWN["pearson"](x, y), rel=1e-12)
    assert OWN["pearson"](scale * x, scale * y) == pytest.approx(OWN["pearson"](x, y), rel=1e-12)


def test_rounding_does_not_make_a_vector_vary():
    assert is_constant(np.array([0.3, 0.1 + 0.2, 0.3]))
    assert not is_constant(np.array([0.3, 0.3001]))
