"""PERM-BOTH by enumeration: every exchange of units between two metrics, counted in both tails.

An exchange pattern and its complement give opposite differences, so half of the patterns are
visited. Statistics are in fixed point: no sum depends on the way it was reached.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from sigtest.arrays import Array, Counts, Flags
from sigtest.compiled import compiled
from sigtest.meta_evaluation.significance.pearson import Pearson
from sigtest.metrics import Metric
from sigtest.significance import Alternative
from sigtest.significance.base import slack
from sigtest.significance.convolution import applies, convolve_swaps
from sigtest.significance.exact import MOST_UNITS, ExactP, enumerate_swaps, subset_sums


@dataclass(frozen=True)
class Tails:
    """The exact p-values of a pair for both one-sided claims.

    Attributes:
        greater: That the first metric is better.
        less: That it is worse.
    """

    greater: ExactP
    less: ExactP

    def of(self, alternative: Alternative) -> ExactP:
        """For one claim; a null distribution of exchanges is symmetric."""
        if alternative == "greater":
            return self.greater
        if alternative == "less":
            return self.less
        nearer = min(self.greater, self.less, key=lambda tail: tail.log10_p)
        doubled = min(0.0, nearer.log10_p + math.log10(2.0))
        if nearer.count is None or nearer.patterns is None:
            return ExactP(None, None, doubled)
        count = min(2 * nearer.count, nearer.patterns)
        return ExactP(count, nearer.patterns, doubled)


def tails(metric: Metric, a: Array, b: Array) -> Tails | None:
    """Both exact p-values of a pair of metrics, where there are any.

    Args:
        metric: Scores sums of statistics.
        a: (U, k) statistics of the first metric's units, in fixed point.
        b: (U, k) of the second.

    Returns:
        The p-values; nothing where more than 20 units differ and no convolution applies.
    """
    if metric.fraction is not None and applies(metric, np.stack([a, b])):
        greater = convolve_swaps(metric, a, b, "greater")
        less = convolve_swaps(metric, a, b, "less")
        if greater is not None and less is not None:
            return Tails(greater, less)
    differing = (a != b).any(axis=1)
    if np.count_nonzero(differing) > MOST_UNITS:
        return None
    if isinstance(metric, Pearson):
        return _pearson_tails(metric, a, b, differing.nonzero()[0])
    greater = enumerate_swaps(metric, a, b, "greater")
    less = enumerate_swaps(metric, a, b, "less")
    return Tails(greater, less) if greater is not None and less is not None else None


def _pearson_tails(metric: Pearson, a: Array, b: Array, differing: Counts) -> Tails:
    """All patterns of the units that differ; the last of them stays, as complements count too."""
    if not len(differing):
        return from_counts(1, 1, 0)
    sums_a, sums_b = a.sum(axis=0), b.sum(axis=0)
    observed_a, observed_b = metric.score(np.stack([sums_a, sums_b]))
    moved = (a - b)[differing[:-1], 1:4]
    half = len(moved) // 2
    greater, less = _count_correlations(
        sums_a,
        sums_b,
        subset_sums(moved[half:]),
        subset_sums(moved[:half]),
        float(observed_a - observed_b),
        float(slack(observed_a, observed_b)),
    )
    return from_counts(greater, less, len(differing))


def from_counts(greater: int, less: int, units: int) -> Tails:
    """P-values from counts among 2**units patterns, the observed one among them."""
    patterns = 2**units
    both = [
        ExactP(count, patterns, math.log10(count) - units * math.log10(2))
        for count in (max(greater, 1), max(less, 1))
    ]
    return Tails(*both)


@lru_cache(maxsize=4)
def patterns(units: int) -> Flags:
    """(2**units, units) which units stay, each pattern once, neighbours differing in one unit."""
    numbers = np.arange(2**units, dtype=np.int64)
    gray = numbers ^ (numbers >> 1)
    return (gray[:, None] >> np.arange(units)) & 1 == 0


@compiled
def _count_correlations(
    a: Array, b: Array, low: Array, high: Array, observed: float, tolerance: float
) -> tuple[int, int]:
    """How many differences of all patterns are at least, and at most, the observed one.

    Args:
        a: (6,) sums of the first metric.
        b: (6,) sums of the second.
        low: (3, L) what exchanging some of the units takes from the sums of m, m^2 and m h of a
            and gives to b, for every choice of them.
        high: (3, H) the same for other units; one unit is in neither, as complements count too.
        observed: The difference.
        tolerance: Slack within which two differences are tied.
    """
    n, h = a[0], a[4]
    spread = n * a[5] - h * h
    least, most = observed - tolerance, observed + tolerance
    greater, less = 0, 0
    for i in range(high.shape[1]):
        am, amm, amh = a[1] - high[0, i], a[2] - high[1, i], a[3] - high[2, i]
        bm, bmm, bmh = b[1] + high[0, i], b[2] + high[1, i], b[3] + high[2, i]
        for j in range(low.shape[1]):
            xm, ym = am - low[0, j], bm + low[0, j]
            x = (n * (amm - low[1, j]) - xm * xm) * spread
            y = (n * (bmm + low[1, j]) - ym * ym) * spread
            rx = (n * (amh - low[2, j]) - xm * h) / np.sqrt(x)
            ry = (n * (bmh + low[2, j]) - ym * h) / np.sqrt(y)
            difference = (rx if x > 0.0 else 0.0) - (ry if y > 0.0 else 0.0)
            greater += int(difference >= least) + int(-difference >= least)
            less += int(difference <= most) + int(-difference <= most)
    return greater, less
