"""Both one-sided p-values of one statistic, and the interval of one that was drawn."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from sigtest.arrays import Array
from sigtest.special import betainc, log_ndtr, ndtr


class Tails(NamedTuple):
    """P-values of both one-sided claims.

    Attributes:
        statistic: What was computed: U, t, W, or a mean difference.
        greater: P-value of the claim that the first sample lies higher.
        less: P-value of the claim that it lies lower.
        log10: Decimal logarithm of the smaller one, exact where it is too small for a double.
    """

    statistic: float
    greater: float
    less: float
    log10: float


CONTINUITY = 0.5  # by how much a statistic of whole steps is moved towards its middle


def normal(statistic: float, middle: float, spread: float) -> Tails:
    """From a normal approximation, with continuity correction.

    Args:
        statistic: Observed.
        middle: Its mean under the null hypothesis.
        spread: Its standard deviation there; 0 where nothing can differ.
    """
    if spread == 0:
        return Tails(statistic, 1.0, 1.0, 0.0)
    above = (statistic - middle - CONTINUITY) / spread
    below = (statistic - middle + CONTINUITY) / spread
    log = min(float(log_ndtr(-above)), float(log_ndtr(below))) / math.log(10)
    return Tails(statistic, float(ndtr(-above)), float(ndtr(below)), log)


def student(t: float, df: float) -> Tails:
    """From Student's t; both tails come from the incomplete beta function, so neither is rounded.

    An infinite t (differences that are all alike) has p-values 0 and 1.
    """
    if math.isnan(t):
        return Tails(0.0, 1.0, 1.0, 0.0)
    half = 0.0 if math.isinf(t) else 0.5 * float(betainc(df / 2, 0.5, df / (df + t * t)))
    greater, less = (half, 1.0 - half) if t > 0 else (1.0 - half, half)
    return Tails(t, greater, less, logarithm(half))


def logarithm(p: float) -> float:
    """Decimal logarithm of a p-value; of the smallest double where it is 0."""
    return math.log10(max(p, float(np.finfo(float).smallest_subnormal)))


def interval(draws: Array, alpha: float) -> tuple[float, float]:
    """Ends of the percentile interval at level 1 - alpha, by inverse-CDF quantiles."""
    ends = np.quantile(draws, [alpha / 2, 1 - alpha / 2], method="inverted_cdf")
    return float(ends[0]), float(ends[1])
