"""Two independent samples: Wilcoxon's rank sum and Welch's t."""

from __future__ import annotations

import math

import numpy as np

from sigtest.arrays import Array
from sigtest.people.statistics.tails import Tails, normal, student


def rank_sum(x: Array, y: Array) -> Tails:
    """Wilcoxon's rank-sum test: does x lie higher than y? The statistic is U of x.

    Normal approximation with corrections for ties and continuity, as R's `wilcox.test` and the WMT
    organisers' scripts compute it (Graham, Mathur & Baldwin 2014, section 4).

    Args:
        x: (n,) scores, sorted, ties equal.
        y: (m,) scores, sorted, ties equal.
    """
    n, m = len(x), len(y)
    size = n + m
    below = np.searchsorted(y, x, side="left")
    upto = np.searchsorted(y, x, side="right")
    u = 0.5 * float((below + upto).sum())
    merged = np.sort(np.concatenate([x, y]), kind="stable")
    edges = np.flatnonzero(np.diff(merged, prepend=-math.inf, append=math.inf))
    tied = np.diff(edges).astype(np.float64)
    ties = float((tied**3 - tied).sum()) / (size * (size - 1.0))
    variance = n * m / 12.0 * (size + 1.0 - ties)
    return normal(u, n * m / 2.0, math.sqrt(max(variance, 0.0)))


def welch(x: Array, y: Array) -> Tails:
    """Welch's t: is the mean of x greater than that of y? Satterthwaite's degrees of freedom."""
    own, other = x.var(ddof=1) / len(x), y.var(ddof=1) / len(y)
    spread = math.sqrt(own + other)
    difference = float(x.mean() - y.mean())
    if spread == 0:
        return student(math.copysign(math.inf, difference) if difference else math.nan, 1.0)
    df = (own + other) ** 2 / (own**2 / (len(x) - 1) + other**2 / (len(y) - 1))
    return student(difference / spread, float(df))
