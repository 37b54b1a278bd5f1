"""Faults that tests once missed: limits of exactness, centres, ranks, power, blocks, seeds."""

from typing import Any

import numpy as np
import pytest
from computed import report_of
from scipy import stats

from sigtest.arrays import Array
from sigtest.comparison.comparison import parse_comparison
from sigtest.draws.weights import bootstrap_counts, swap_masks
from sigtest.engine import distribute


def request_of(rows: Array, **fields: Any) -> dict[str, Any]:
    systems = [{"name": f"s{i}", "scores": {"x": row.tolist()}} for i, row in enumerate(rows)]
    return {"systems": systems, "metrics": ["scores"], **fields}


def test_the_centre_of_the_shifted_bootstrap_is_the_mean_of_all_draws():
    """Weighted means; that of the first 4,096 draws lies elsewhere, and counts differ."""
    rng = np.random.default_rng(2)
    resamples, differed = 9_999, 0
    for _ in range(6):
        scores = np.stack([rng.lognormal(size=40) * 1.3, rng.lognormal(size=40)])
        weights = rng.integers(1, 5, size=40).astype(float)
        rows = np.stack([scores, np.stack([weights, weights])], axis=2)
        (pair,) = report_of(request_of(rows, tests=["bootstrap"], resamples=resamples))["pairs"]
        d = scores[0] - scores[1]
        drawn = bootstrap_counts(12345, 0, resamples, 40).astype(float)
        draws = drawn @ (weights * d) / (drawn @ weights)
        counts = [
            int((np.abs(draws - draws[:first].mean()) >= abs(d @ weights / weights.sum())).sum())
            for first in (resamples, 4_096)
        ]
        assert pair["count"] == counts[0]
        differed += counts[0] != counts[1]
    assert differed


def discordant(metric: str, **fields: Any) -> dict[str, Any]:
    """300 segments, of which one system alone has 16 right and the other alone 8.

    F of a match in one word of one is a mean, too, which only its definition as a ratio hides.
    """
    right = np.zeros((2, 300))
    right[0, :16] = right[1, 16:24] = right[:, 24:150] = 1
    if metric == "fscore":
        right = np.stack([right, np.ones_like(right), np.ones_like(right)], axis=2)
    choices: dict[str, Any] = {"tests": ["bootstrap"], "alternative": "greater", "resamples": 999}
    choices["pairs"] = {"baseline": "s1"}  # one claim of one-sided ones
    return request_of(right, **{**choices, **fields, "metrics": [metric]})


def multinomial_tail(least: int) -> float:
    """P(sum of 300 draws from 16 ones, 8 minus ones and 276 zeros >= least), by convolution."""
    one = np.array([8, 276, 16]) / 300
    whole = np.array([1.0])
    for _ in range(300):
        whole = np.convolve(whole, one)
    return float(whole[300 + least :].sum())


@pytest.mark.parametrize("correction", ["none", "max_t"])
def test_the_shifted_bootstrap_of_means_counts_the_atom(correction):
    """Centred on 8, a sum of 16 is as extreme as what was observed, whatever the seed."""
    exact = multinomial_tail(16)
    held = 0
    for seed in range(20):
        (pair,) = report_of(discordant("scores", seed=seed, correction=correction))["pairs"]
        p = pair["p_adjusted" if correction == "max_t" else "p_value"]
        held += pair["p_interval"][0] <= exact <= pair["p_interval"][1]
        assert p == pytest.approx(exact, abs=5 * (exact * (1 - exact) / 999) ** 0.5)
    assert held >= 17
    shown = distribute(parse_comparison(discordant("scores")), "s0", "s1", "scores", "bootstrap")
    assert np.rint(300 * shown.values) == pytest.approx(300 * shown.values, abs=1e-9)


@pytest.mark.parametrize("alternative", ["greater", "two-sided"])
@pytest.mark.parametrize("metric", ["scores", "fscore"])
@pytest.mark.parametrize("correction", ["none", "max_t"])
def test_the_p_value_of_another_seed_lies_in_the_interval(metric, alternative, correction):
    """Also where the centre is an estimate, whose error decides whether an atom counts."""
    pairs = []
    for seed in range(30):
        body = discordant(metric, seed=seed, alternative=alternative, correction=correction)
        pairs += report_of(body)["pairs"]
    held = [
        low <= other["p_value"] <= high
        for low, high in (p["p_interval"] for p in pairs)
        for other in pairs
    ]
    assert np.mean(held) >= 0.80
    if metric == "fscore":
        undecided = [pair["undecided"] for pair in pairs]
        assert alternative == "two-sided" or np.mean(undecided) > 0.8


@pytest.mark.parametrize("units", [257, 4_097])
def test_draws_are_fair_also_with_many_units(units):
    """Every unit is drawn once on average; a mean of R draws has an error of (1 / R) ** .5."""
    resamples = 4_000
    counts = bootstrap_counts(3, 0, resamples, units)
    assert (counts.sum(axis=1) == units).all()
    means = counts.mean(axis=0, dtype=float)
    assert np.abs(means - 1).max() < 5.5 / resamples**0.5
    assert stats.kstest((means - 1) * resamples**0.5, "norm").pvalue > 1e-6
    assert counts.var(dtype=float) == pytest.approx(1 - 1 / units, rel=0.01)
    swaps = swap_masks(3, 0, resamples, units).mean(axis=0, dtype=float)
    assert np.abs(swaps - 0.5).max() < 5.5 * 0.5 / resamples**0.5
    # units far apart go their own ways
    halves = counts[:, : units // 2].sum(axis=1, dtype=float)
    expected = units * 0.25
    assert halves.var() == pytest.approx(expected, rel=0.15)
