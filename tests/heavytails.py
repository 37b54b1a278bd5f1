"""What one-sided bootstrap-t tests do about heavy tails, unit by unit (Hall 1988)."""

from typing import Any

import numpy as np
from scipy import stats

from sigtest.arrays import Array


def heavy(d: Array) -> float:
    """Hall's (1988) term of one-sided tests, its bias taken off by leaving units out one by one."""

    def excess(x: Array) -> float:
        return float(stats.kurtosis(x) - 1.5 * stats.skew(x) ** 2)

    n = len(d)
    left_out = np.mean([excess(np.delete(d, i)) for i in range(n)])
    return max(0.0, n * excess(d) - (n - 1) * float(left_out)) / n


def moved(t: Any, tails: float) -> Any:
    """How far out a draw, or a quantile of draws, counts on one side."""
    return t + tails * (t + 2 * t**3) / 6
