"""Sums that are added up while units are drawn: held against weights times columns, bit for bit."""

from typing import Any

import numpy as np
import pytest

from sigtest.comparison.comparison import parse_comparison
from sigtest.compiled import COMPILED
from sigtest.draws import product
from sigtest.draws.product import TWO_UNITS, DistinctColumns, fixed_point
from sigtest.draws.weights import bootstrap_counts, swap_masks
from sigtest.engine import compare

pytestmark = pytest.mark.skipif(not COMPILED, reason="there are only products here")

SEED = 2**40 + 7
ROWS = (5, 42)


KINDS = {
    "off any grid": ("normal", "uniform", "ones", "below zero"),
    "whole": ("binary", "whole"),
    "large": ("ones", "large"),
    "alone": ("uniform",),
    "all the same": ("ones", "below zero", "zeros"),
}


def columns_of(units: int, kinds: tuple[str, ...]) -> np.ndarray:
    """(n, K) columns in fixed point."""
    rng = np.random.default_rng(units)
    kind = {
        "normal": rng.normal(size=units),
        "uniform": rng.uniform(0.8, 0.9, units),
        "large": rng.normal(size=units) * 1e9,
        "binary": rng.integers(0, 2, units).astype(float),
        "whole": rng.integers(-(2**30), 2**30, units).astype(float),
        "ones": np.ones(units),
        "below zero": np.full(units, -0.3),
        "zeros": np.zeros(units) * -1,
    }
    return fixed_point(np.stack([kind[name] for name in kinds], axis=1))


@pytest.mark.parametrize("kinds", KINDS.values(), ids=KINDS)
@pytest.mark.parametrize("units", [1, 3, 31, 32, 33, 64, 127, 128, 129, 1000])
@pytest.mark.parametrize("stream", [0, 3])
def test_two_columns_have_the_sums_of_the_product(units, kinds, stream):
    columns = DistinctColumns([columns_of(units, kinds)[None]])
    assert columns.two is not None
    (drawn,) = columns.placed(columns.two.bootstrap_sums(SEED, *ROWS, stream))
    (kept,) = columns.placed(columns.two.swap_sums(SEED, *ROWS, stream))
    (by_counts,) = columns.sums(bootstrap_counts(SEED, *ROWS, units, stream))
    (by_masks,) = columns.sums(swap_masks(SEED, *ROWS, units, stream))
    assert drawn.tobytes() == by_counts.tobytes()
    assert kept.tobytes() == by_masks.tobytes()


def test_products_are_left_to_more_columns_and_units():
    rng = np.random.default_rng(0)
    assert DistinctColumns([rng.random((2, 9, 1)), np.ones((2, 9, 1))]).two is not None
    assert DistinctColumns([rng.random((3, 9, 1))]).two is None
    assert DistinctColumns([rng.random((1, TWO_UNITS, 1))]).two is not None
    assert DistinctColumns([rng.random((1, TWO_UNITS + 1, 1))]).two is None


def scores_of(names: str, units: int, **choices: Any) -> dict[str, Any]:
    rng = np.random.default_rng(len(names))
    common = rng.normal(0.8, 0.1, units)
    systems = [
        {"name": name, "scores": {"x": (common + rng.normal(0, 0.05, units)).tolist()}}
        for name in names
    ]
    return {
        "systems": systems,
        "metrics": [{"name": "scores", "of": "x"}],
        "tests": ["bootstrap", "approximate_randomization", "paired_bootstrap", "bootstrap_t"],
        "resamples": 600,
        **choices,
    }


REQUESTS = {
    "two systems": scores_of("ab", 130),
    "three systems": scores_of("abc", 75, alternative="greater"),
    "documents": scores_of("ab", 90, documents=[str(i // 4) for i in range(90)], unit="document"),
    "strata": scores_of("ab", 90, labels=[str(i % 3) for i in range(90)], stratified=True),
    "all pairs' ranges": scores_of("abc", 60, tests=["bootstrap"], correction="max_t"),
    "whole numbers, drawn": {
        "systems": [
            {"name": n, "scores": {"x": np.random.default_rng(i).integers(0, 2, 80).tolist()}}
            for i, n in enumerate("ab")
        ],
        "metrics": [{"name": "scores", "of": "x"}],
        "exact": "never",
        "resamples": 600,
    },
}


@pytest.mark.parametrize("name", REQUESTS)
def test_reports_do_not_depend_on_how_sums_are_made(name, monkeypatch):
    report = compare(parse_comparison(REQUESTS[name])).as_json()
    monkeypatch.setattr(product, "TWO_UNITS", 0)
    assert compare(parse_comparison(REQUESTS[name])).as_json() == report
