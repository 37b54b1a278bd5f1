"""What one-sided bootstrap-t tests do about heavy tails, unit by unit (Hall 1988)."""

from typing import Any

import numpy as np
from scipy import stats

from sigtest.arrays import Array


def heavy(*strata: Array) -> float:
    """Hall's (1988) term of one-sided tests, its bias taken off by leaving units out one by one.

    Cumulants of independent sums add up (McCullagh 1987, "Tensor Methods in Statistics", 2.2); so
    do the biases of independent samples (Jones 1974, "Jackknife Estimation of Functions of
    Stratum Means").
    """

    def excess(values: list[Array]) -> float:
        two, three, four = (
            sum(len(own) * cumulant(x) for own, x in zip(strata, values, strict=True))
            for cumulant in (
                np.var,
                lambda x: stats.moment(x, order=3),
                lambda x: stats.moment(x, order=4) - 3 * np.var(x) ** 2,
            )
        )
        return float(four / two**2 - 1.5 * three**2 / two**3) if two else np.nan

    whole, bias = excess([*strata]), 0.0
    for h, own in enumerate(strata):
        for i in range(len(own) if len(own) > 1 else 0):
            without = excess([*strata[:h], np.delete(own, i), *strata[h + 1 :]])
            bias += (len(own) - 1) / len(own) * (without - whole)
    return max(0.0, whole - bias)


def moved(t: Any, tails: float) -> Any:
    """How far out a draw, or a quantile of draws, counts on one side."""
    return t + tails * (t + 2 * t**3) / 6
