"""Corrections for many comparisons: p-values of one family in, adjusted p-values out.

A family is all pairs of one metric and one significance test. Every method here looks at the
p-values alone, but for the two in JOINT, which count in the draws of all pairs together.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache

import numpy as np

from sigtest.arrays import Array, Counts, Flags
from sigtest.significance.stepwise import STEP_DOWN, STEP_UP, rejected_alone


def none(p: Array) -> Array:
    """No correction."""
    return p.copy()


def bonferroni(p: Array) -> Array:
    """M p (Dunn 1961); valid under any dependence."""
    return np.minimum(1.0, p.shape[-1] * p)


def sidak(p: Array) -> Array:
    """1 - (1 - p)**m (Šidák 1967); for independent or positively dependent tests."""
    return -np.expm1(p.shape[-1] * np.log1p(-np.minimum(p, 1 - 1e-16)))


def holm(p: Array) -> Array:
    """Step-down Bonferroni (Holm 1979); valid under any dependence, never weaker than it."""
    m = p.shape[-1]
    factors = m - np.arange(m, dtype=np.float64)
    return _stepwise(p, lambda s: np.maximum.accumulate(s * factors, axis=-1))


def hochberg(p: Array) -> Array:
    """Step-up Bonferroni (Hochberg 1988); for independent or positively dependent tests."""
    m = p.shape[-1]
    factors = m - np.arange(m, dtype=np.float64)
    return _stepwise(p, lambda s: _smallest_from_right(s * factors))


def benjamini_hochberg(p: Array) -> Array:
    """False discovery rate (Benjamini & Hochberg 1995)."""
    m = p.shape[-1]
    ranks = np.arange(1, m + 1, dtype=np.float64)
    return _stepwise(p, lambda s: _smallest_from_right(s * m / ranks))


def benjamini_yekutieli(p: Array) -> Array:
    """False discovery rate under any dependence (Benjamini & Yekutieli 2001)."""
    m = p.shape[-1]
    ranks = np.arange(1, m + 1, dtype=np.float64)
    harmonic = float((1.0 / ranks).sum())
    return _stepwise(p, lambda s: _smallest_from_right(s * (m * harmonic) / ranks))


CORRECTIONS: dict[str, Callable[[Array], Array]] = {
    method.__name__: method
    for method in (
        holm,
        bonferroni,
        sidak,
        hochberg,
        benjamini_hochberg,
        benjamini_yekutieli,
        none,
    )
}


# Corrections that look at the draws of all pairs together, and the test whose draws those are.
JOINT: dict[str, str] = {"max_t": "bootstrap", "tukey": "approximate_randomization"}


def step_down_counts(least: Array, draws: Callable[[int], Array], resamples: int) -> Counts:
    """Counts of the step-down maximum test, from the least extreme hypothesis to the most.

    Args:
        least: (m,) how extreme a draw must be to reach each observed statistic.
        draws: Gives the (R,) extremity of one hypothesis' null draws.
        resamples: R.

    Returns:
        (m,) counts; a hypothesis' count is at least that of every more extreme one.

    Romano & Wolf (2005), "Exact and Approximate Stepdown Methods for Multiple Hypothesis Testing",
    algorithm 1, on unstudentised statistics.
    """
    order = np.argsort(least, kind="stable")
    highest = np.full(resamples, -np.inf)
    counts = np.empty(len(least), dtype=np.int64)
    for i in order:
        highest = np.maximum(highest, draws(int(i)))
        counts[i] = np.count_nonzero(highest >= least[i])
    counts[order] = np.maximum.accumulate(counts[order][::-1])[::-1]
    return counts


def adjust(p: Array, correction: str) -> Array:
    """Adjusted p-values of families along the last axis: (..., m) to (..., m)."""
    return CORRECTIONS[correction](p)


@lru_cache(maxsize=256)
def smallest_attainable(correction: str, comparisons: int, smallest: float) -> float:
    """Adjusted p-value of a family in which every p is the smallest that resampling can give."""
    if correction in JOINT:
        return smallest
    return float(adjust(np.full(comparisons, smallest), correction)[0])


def undecided(p: Array, low: Array, high: Array, correction: str, alpha: float) -> Flags:
    """Which corrected decisions differ between the ends of their p-values' intervals.

    Each p is moved to its ends alone, the others staying where they are.

    Args:
        p: (m,) p-values of one family.
        low: (m,) lower ends.
        high: (m,) upper ends.
        correction: Name of the correction.
        alpha: Level.

    Returns:
        (m,) flags.
    """
    if len(p) > 1 and (correction in STEP_DOWN or correction in STEP_UP):
        at_low, at_high = (rejected_alone(p, end, correction, alpha) for end in (low, high))
    else:  # no p-value looks at others
        at_low, at_high = (adjust(end, correction) <= alpha for end in (low, high))
    return at_low & ~at_high


def critical_value(p: Array, i: int, correction: str, alpha: float) -> float:
    """Largest value of p[i] at which comparison i is significant, the others staying put."""
    low, high = 0.0, 1.0
    moved = p.copy()
    for _ in range(60):
        # halves the exponent first, so that tiny values are found as precisely as large ones
        moved[i] = math.sqrt(max(low, 1e-300) * high)
        if adjust(moved, correction)[i] <= alpha:
            low = moved[i]
        else:
            high = moved[i]
    return low


@lru_cache(maxsize=256)
def strictest_level(correction: str, comparisons: int, alpha: float) -> float:
    """Level at which a lone small p-value is significant after correction."""
    shown = "bonferroni" if correction in JOINT else correction
    return critical_value(np.ones(comparisons), 0, shown, alpha)


def experimentwise_error(alpha: float, comparisons: int) -> float:
    """1 - (1 - alpha)**m: Riezler & Maxwell (2005), section 4.4."""
    return 1.0 - (1.0 - alpha) ** comparisons


def _stepwise(p: Array, step: Callable[[Array], Array]) -> Array:
    """Apply `step` to sorted p-values and put the results back in order."""
    order = np.argsort(p, axis=-1, kind="stable")
    stepped = step(np.take_along_axis(p, order, axis=-1))
    adjusted = np.empty_like(p)
    np.put_along_axis(adjusted, order, np.minimum(1.0, stepped), axis=-1)
    return adjusted


def _smallest_from_right(values: Array) -> Array:
    return np.minimum.accumulate(values[..., ::-1], axis=-1)[..., ::-1]
