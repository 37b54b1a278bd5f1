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

from sigtest.arrays import Array, Counts
from sigtest.significance import Alternative

NOTHING = 1e-12  # a variance below this share of the mean square is rounding
NEAR = 1e90  # its cube is a number
LEAST_UNITS = 4


def heaviness(values: Array, strata: Counts) -> Array:
    """Kurtosis - 1.5 skewness^2 of means of units, which may be stratified; at least 0.

    Times (1 + 2 z^2) z phi(z) / 6 it is by how much a one-sided bootstrap-t test of a mean exceeds
    its level, to second order: Hall (1988), "Theoretical Comparison of Bootstrap Confidence
    Intervals". Of n units of one stratum it is their own kurtosis and skewness over n; of several
    the cumulants of each are summed, since strata that vary unlike each other have no heavy tails
    for that. Its bias is taken off by the jackknife (Jones 1974). Where it is negative the test
    keeps its level, and where one unit holds all the variance nothing is known of it: 0.

    Args:
        values: (N, n) a row of units for each mean.
        strata: (n,) number of each unit's stratum, from 0; none is empty.
    """
    return np.array([_heaviness(row, strata) for row in values])


def _heaviness(row: Array, strata: Counts) -> float:
    """Of one row of n values."""
    most = float(np.abs(row).max(initial=0.0))
    if len(row) < LEAST_UNITS or most == 0:
        return 0.0
    first = row / most
    second = first * first
    powers = np.stack([first, second, second * first, second * second])
    units = np.bincount(strata).astype(np.float64)
    sums = np.stack([np.bincount(strata, power) for power in powers])
    each = _cumulants(sums / units, units)
    total = each.sum(axis=1, keepdims=True)
    left = units[strata] - 1
    less = _cumulants((sums[:, strata] - powers) / np.maximum(left, 1.0), units[strata])
    least = NOTHING * float(total[0, 0])
    whole = float(_excess(total, least)[0])
    without = _excess(total - each[:, strata] + less, least)
    found = whole - float(((without - whole) * left / units[strata]).sum())
    return max(found, 0.0) if math.isfinite(found) else 0.0


def _cumulants(moments: Array, units: Array) -> Array:
    """Second to fourth cumulant of sums of so many units each, (4, m) raw moments to (3, m)."""
    first, second, third, fourth = moments
    two = second - first**2
    three = third - 3 * first * second + 2 * first**3
    four = fourth - 4 * first * third + 6 * first**2 * second - 3 * first**4
    found: Array = units * np.stack([two, three, four - 3 * two**2])
    return np.where(two > NOTHING * second, found, 0.0)


def _excess(cumulants: Array, least: float) -> Array:
    """Kurtosis minus 1.5 skewness^2, (3, m) to (m,); NaN where no variance above `least` is."""
    two, three, four = cumulants
    two = np.where(two > least, two, np.nan)
    found: Array = four / two**2 - 1.5 * three**2 / two**3
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
