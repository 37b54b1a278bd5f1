"""From a count of extreme resamples to a p-value, and how sure that p-value is."""

from __future__ import annotations

import numpy as np

from sigtest.arrays import Array, Counts
from sigtest.special import betaincinv

LEVEL = 0.95


def p_value(count: Counts, resamples: int, sides: int = 1) -> Array:
    """(c + 1) / (R + 1), never 0: Phipson & Smyth (2010), equation 2."""
    return np.minimum(1.0, sides * (count + 1) / (resamples + 1))


def p_interval(count: Counts, resamples: int, sides: int = 1) -> tuple[Array, Array]:
    """Clopper-Pearson interval, at 95 %, of the p-value that infinitely many resamples would give.

    Args:
        count: (P,) or (3, P) counts: where the centre of the draws is an estimate, also those at
            both ends of its interval.
        resamples: R.
        sides: How many times a count's p-value is taken.

    Returns:
        (P,) lower and upper ends, at most 1.
    """
    counts = np.atleast_2d(count)
    low, _ = clopper_pearson(counts.min(axis=0), resamples, LEVEL)
    _, high = clopper_pearson(counts.max(axis=0), resamples, LEVEL)
    return np.minimum(1.0, sides * low), np.minimum(1.0, sides * high)


def clopper_pearson(count: Counts, trials: int, level: float) -> tuple[Array, Array]:
    """Exact binomial confidence interval (Clopper & Pearson 1934), from beta quantiles."""
    tail = (1.0 - level) / 2.0
    c = np.asarray(count, dtype=np.float64)
    with np.errstate(invalid="ignore"):
        low = np.where(c > 0, betaincinv(c, trials - c + 1, tail), 0.0)
        high = np.where(c < trials, betaincinv(c + 1, trials - c, 1.0 - tail), 1.0)
    return low, high
