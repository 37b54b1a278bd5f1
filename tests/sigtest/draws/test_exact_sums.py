"""Sums under resamples are exact integers whatever their size: held against Python's integers."""

import math
from itertools import product

import numpy as np
import pytest

from sigtest.comparison.comparison import parse_comparison
from sigtest.draws.product import RUN, DistinctColumns, fixed_point
from sigtest.engine import compare

LIMIT = 2**24
SIGNS = list(product([1, -1], repeat=10))


def by_hand(weights: np.ndarray, column: np.ndarray) -> list[int]:
    """Sums of whole numbers, without floating point."""
    whole = [int(value) for value in column]
    return [
        sum(int(w) * x for w, x in zip(row, whole, strict=True) if w) for row in weights.tolist()
    ]


def sums(weights: np.ndarray, columns: list[np.ndarray]) -> np.ndarray:
    """(k, R) sums that are resampled of one system with these columns."""
    table = fixed_point(np.stack(columns, axis=1).astype(np.float64))[None]
    return DistinctColumns([table]).sums(weights.astype(np.float32))[0][:, 0]


@pytest.mark.parametrize("total", [LIMIT - 1, LIMIT, LIMIT + 1, 2 * LIMIT + 1, 2**26 + 1])
def test_totals_around_the_limit(total):
    """Odd numbers above 2**24 are none of float32's; the sum of the column itself is small."""
    column = np.array([total // 3, 1, total // 5, 1, total // 7, 0, 3])
    left = total - int(column[[0, 2, 4]].sum())
    half = left // 2
    weights = np.array([[1, half, 1, left - half, 1, 0, 0], [1, 0, 0, 0, 0, 0, 0]])
    assert sums(weights, [column])[0].tolist() == by_hand(weights, column)
    assert sums(weights, [column])[0, 0] == total


@pytest.mark.parametrize("units", [257, 4097, RUN + 1, 2 * RUN + 77])
@pytest.mark.parametrize("largest", [1, 40, 900, 20_000])
def test_sums_of_many_units(units, largest):
    rng = np.random.default_rng(units)
    columns = [rng.integers(0, largest + 1, units) for _ in range(3)]
    columns.append(columns[0] - largest // 2)  # below zero, too
    weights = np.stack([np.bincount(rng.integers(0, units, units), minlength=units) for _ in "ab"])
    weights = np.vstack([weights, rng.integers(0, 2, (2, units))])
    found = sums(weights, columns)
    for row, column in zip(found, columns, strict=True):
        assert row.tolist() == by_hand(weights, column)


def test_columns_that_only_some_resamples_make_large():
    """The drawn sum of a column just below the limit is above it about every second time."""
    rng = np.random.default_rng(5)
    column = np.zeros(900, dtype=np.int64)
    column[:60] = rng.integers(LIMIT // 80, LIMIT // 60, 60)
    weights = np.stack([np.bincount(rng.integers(0, 900, 900), minlength=900) for _ in range(200)])
    expected = by_hand(weights, column)
    assert min(expected) < LIMIT < max(expected)
    assert sums(weights, [column, column // 2])[0].tolist() == expected


def test_columns_that_differ_by_a_constant_are_kept_once():
    rng = np.random.default_rng(3)
    words = rng.integers(1, 60, 700)
    same = np.full(700, -3)
    columns = [words, words - 1, words - 80, words, same, same + 3, same * 7, words % 7, 2 * words]
    columns += [words + 2**24, words * 2**15, (words + 5) * 2**15]
    weights = np.stack([np.bincount(rng.integers(0, 700, 700), minlength=700) for _ in range(9)])
    weights = np.vstack([weights, rng.integers(0, 2, (9, 700)), np.zeros((1, 700), dtype=int)])
    for row, column in zip(sums(weights, columns), columns, strict=True):
        assert row.tolist() == by_hand(weights, column)
    lengths = [np.stack([words - i for i in range(40)], axis=1).astype(float)]
    assert DistinctColumns([np.array(lengths)]).width <= 4


@pytest.mark.parametrize("unit", ["segment", "document"])
def test_equal_segments_stay_equal_whatever_the_largest_numbers_are(unit):
    """Ten of 500 differ, one of them by far more than all else: all 2**10 exchanges are counted."""
    rng = np.random.default_rng(5)
    a = rng.random(500)
    b = a.copy()
    differing = rng.choice(500, 10, replace=False)
    b[differing] -= rng.random(10) - 0.3
    b[differing[0]] = 97.3
    systems = [{"name": n, "scores": {"x": x.tolist()}} for n, x in (("a", a), ("b", b))]
    asked = {
        "systems": systems,
        "metrics": ["scores:of=x"],
        "documents": [f"d{i}" for i in range(500)],  # of one segment each
        "unit": unit,
        "alternative": "less",
        "resamples": 99,
    }
    pair = compare(parse_comparison(asked)).pairs[0]
    moved = (a - b)[differing]
    sums = [math.fsum(s * d for s, d in zip(signs, moved, strict=True)) for signs in SIGNS]
    assert pair.exact
    assert pair.resamples == 2**10
    assert pair.count == sum(found <= math.fsum(moved) + 1e-9 for found in sums)
