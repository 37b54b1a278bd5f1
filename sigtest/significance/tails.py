"""How far one-sided bootstrap-t tests err under heavy tails, and what is done about it.

The bootstrap-t takes the skewness of a sample for that of what the sample comes from. Where tails
are heavy, one far unit makes a sample look skewed away from the side to which it moves the mean,
so that each side rejects too often: by a term of Hall's (1988), which the units themselves tell.
What was observed is drawn in by it, or ends of intervals moved out. Counted over both sides the
errors cancel, and two-sided claims need nothing.
"""

from __future__ import annotations

import math

import numpy as np

from sigtest.arrays import Array
from sigtest.significance.base import Alternative

NOTHING = 1e-12  # a variance below this share of the mean square is rounding
NEAR = 1e90  # its cube is a number
LEAST_UNITS = 4


def heaviness(values: Array) -> Array:
    """(kurtosis - 1.5 skewness^2) / n of each row of (N, n) values, by the jackknife; at least 0.

    Times (1 + 2 z^2) z phi(z) / 6 it is by how much a one-sided bootstrap-t test of a mean exceeds
    its level, to second order: Hall (1988), "Theoretical Comparison of Bootstrap Confidence
    Intervals". Where it is negative the test keeps its level, and where one unit holds all the
    variance nothing is known of it: 0.
    """
    return np.array([_heaviness(row) for row in values])


def _heaviness(row: Array) -> float:
    """Of one row of n values."""
    units, most = len(row), float(np.abs(row).max(initial=0.0))
    if units < LEAST_UNITS or most == 0:
        return 0.0
    first = row / most
    second = first * first
    powers = np.stack([first, second, second * first, second * second])
    sums = powers.sum(axis=1, keepdims=True)
    whole = float(_excess(sums / units)[0])
    without = float(_excess((sums - powers) / (units - 1)).mean())
    found = units * whole - (units - 1) * without
    return max(found, 0.0) / units if math.isfinite(found) else 0.0


def _excess(moments: Array) -> Array:
    """Kurtosis minus 1.5 skewness^2, (4, m) raw moments to (m,); NaN where nothing varies."""
    first, second, third, fourth = moments
    two = second - first**2
    three = third - 3 * first * second + 2 * first**3
    four = fourth - 4 * first * third + 6 * first**2 * second - 3 * first**4
    two = np.where(two > NOTHING * second, two, np.nan)
    found: Array = four / two**2 - 3 - 1.5 * three**2 / two**3
    return found


def drawn_in(t: Array, tails: Array, alternative: Alternative) -> Array:
    """What one-sided claims hold against the resamples: the inverse of `moved_out`.

    Two-sided ones need nothing: over both sides the errors cancel.

    Args:
        t: (N,) what was observed, in standard errors.
        tails: (N,) from `heaviness`.
        alternative: The claim.
    """
    if alternative == "two-sided":
        return t
    heavy = (tails > 0) & np.isfinite(t)
    # the only root of the cubic tails / 3 x^3 + (1 + tails / 6) x = t
    cubic, linear = np.where(heavy, tails / 3, 1.0), 1 + tails / 6
    scale = 2 * np.sqrt(linear / (3 * cubic))
    known = np.where(heavy, t, 0.0)
    root = scale * np.sinh(np.arcsinh(3 * known / (scale * linear)) / 3)
    return np.where(heavy, root, t)


def moved_out(ends: Array, tails: Array) -> Array:
    """Quantiles of studentised draws, as far out as heavy tails ask for; `ends` and `tails` (N,).

    A test holds x against draws t where t + tails (t + 2 t^3) / 6 is held against x.
    """
    near = np.clip(ends, -NEAR, NEAR)
    return ends + tails * (near + 2 * near**3) / 6
