"""How sure a standard error is, and what follows from it for other numbers of units."""

from __future__ import annotations

import math

import numpy as np

from sigtest.arrays import Array
from sigtest.special import ndtri

Z = float(ndtri(0.975))  # of 95 % intervals


def stderr_factors(values: Array, resamples: int) -> tuple[float, float]:
    """Ends of the 95 % interval of a standard error, as multiples of the bootstrap's estimate.

    Bonett (2006), "Approximate confidence interval for standard deviation of nonnormal
    distributions", Computational Statistics & Data Analysis 50(3): the logarithm of the variance
    has a standard error that follows from the kurtosis about a trimmed mean. It is that of
    the sample variance, over n - 1, where the bootstrap's is over n. The bootstrap's own noise, a
    variance of 2 / R of that logarithm, is added.

    Args:
        values: (n,) influence of each unit on the difference; they vary, and n is at least 10.
        resamples: R.
    """
    n = len(values)
    cut = int(n / (2 * math.sqrt(n - 4)))
    ordered = np.sort(values)
    middle = ordered[cut : n - cut].mean() if n > 2 * cut else np.median(ordered)
    squares = ((values - values.mean()) ** 2).sum()
    kurtosis = n * float(((values - middle) ** 4).sum() / squares**2)
    variance = max(0.0, kurtosis - (n - 3) / n) / (n - 1) + 2 / resamples
    centre, reach = math.sqrt(n / (n - Z) * n / (n - 1)), Z * n / (n - Z) * math.sqrt(variance) / 2
    return centre * math.exp(-reach), centre * math.exp(reach)


def detectable(stderr: float, times: float, pilot: int, units: int) -> float:
    """Smallest true difference that so many units show.

    Args:
        stderr: Standard error of the difference in the pilot.
        times: z of the level plus z of the power.
        pilot: Units of the pilot.
        units: Units of the plan.
    """
    return stderr * times * math.sqrt(pilot / units)


def needed(stderr: float, times: float, pilot: int, difference: float) -> int:
    """Fewest units whose detectable difference is at most `difference`; two at least."""
    return max(2, math.ceil(pilot * (stderr * times / difference) ** 2))
