"""Exact approximate randomization: every swap counted, where that is possible."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from sigtest.arrays import Array
from sigtest.compiled import compiled
from sigtest.significance import Alternative
from sigtest.significance.base import SMALLEST_P, row_differences
from sigtest.significance.randomization import ApproximateRandomization

if TYPE_CHECKING:
    from sigtest.metrics import Metric

MOST_UNITS = 20
PATTERNS = 65_536  # swaps that are scored at a time


@dataclass(frozen=True)
class ExactP:
    """An exact p-value.

    Attributes:
        count: Swap patterns at least as extreme as the observed difference, where m is at most 40.
        patterns: All swap patterns, 2**m, where m is at most 40.
        log10_p: Decimal logarithm of count / patterns.
    """

    count: int | None
    patterns: int | None
    log10_p: float
    exact: ClassVar[bool] = True

    @property
    def p_value(self) -> float:
        """Count / patterns, but never below 1e-300."""
        if self.count is not None and self.patterns is not None:
            return self.count / self.patterns
        return max(SMALLEST_P, 10.0**self.log10_p)


def enumerate_swaps(metric: Metric, a: Array, b: Array, alternative: Alternative) -> ExactP | None:
    """The exact p-value from all 2**m swaps of the m units that differ, for any metric.

    Args:
        metric: Scores the swapped sums.
        a: (n, k) statistics of the first system, in fixed point.
        b: (n, k) statistics of the second.
        alternative: The claim.

    Returns:
        The p-value, or nothing where more than 20 units differ.

    Riezler & Maxwell (2005), section 3.2: with few units all 2**n permutations can be listed.
    """
    if not _few_differ(a, b):
        return None
    differing = (a != b).any(axis=1)
    units = int(np.count_nonzero(differing))
    moved = (a - b)[differing]
    whole_a, kept = a.sum(axis=0), b.sum(axis=0)  # kept of X when every differing unit is exchanged
    total = whole_a + kept
    low, high = moved[: units // 2], moved[units // 2 :]
    low_sums, high_sums = subset_sums(low), subset_sums(high)
    sign = metric.sign
    observed, tolerance = row_differences(metric, whole_a[None], kept[None])
    test = ApproximateRandomization()
    count = 0
    rows = PATTERNS // low_sums.shape[1]
    for first in range(0, high_sums.shape[1], rows):
        block = high_sums[:, first : first + rows, None] + low_sums[:, None, :]
        x = (kept[:, None, None] + block).reshape(metric.width, -1)
        y = total[:, None] - x
        draws = sign * (metric.score_columns(x) - metric.score_columns(y))
        count += int(test.count(observed, draws[None], tolerance, alternative)[0])
    count = max(count, 1)  # the observed pattern itself, whatever rounding did to it
    return ExactP(count, 2**units, math.log10(count) - units * math.log10(2))


def subset_sums(rows: Array) -> Array:
    """(k, 2**m) sums of all subsets of (m, k) rows."""
    sums = np.zeros((rows.shape[1], 1))
    for row in rows:
        sums = np.concatenate([sums, sums + row[:, None]], axis=1)
    return sums


@compiled
def _few_differ(a: Array, b: Array) -> bool:
    """Whether at most 20 rows differ; looks no further than it must."""
    differing = 0
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            if a[i, j] != b[i, j]:
                differing += 1
                break
        if differing > MOST_UNITS:
            return False
    return True
