"""Percentile intervals and standard errors from bootstrap draws."""

from __future__ import annotations

import math

import numpy as np

from sigtest.arrays import Array, Counts
from sigtest.bounds import FAR
from sigtest.compiled import COMPILED, compiled
from sigtest.significance.tails import moved_out
from sigtest.special import ndtri

BINS = 1024


def percentile_interval(draws: Array, alpha: float) -> tuple[Array, Array]:
    """Ends of the intervals at level 1 - alpha: (P, R) to (P,) and (P,).

    Inverse-CDF quantiles: the smallest draw that at least that share of the draws do not exceed
    (Hyndman & Fan 1996, definition 1).
    """
    size = draws.shape[1]
    low, high = (
        min(max(math.ceil(round(q * size, 9)) - 1, 0), size - 1) for q in (alpha / 2, 1 - alpha / 2)
    )
    if COMPILED:
        return _order_statistics(draws, low, high)
    ordered = np.partition(draws, (low, high), axis=1)
    return ordered[:, low], ordered[:, high]


def bootstrap_t_interval(
    observed: Array, errors: Array, values: Array, tails: Array, alpha: float
) -> tuple[Array, Array]:
    """Ends of the intervals at level 1 - alpha, from studentised draws (Hall 1988).

    Args:
        observed: (N,) what was observed.
        errors: (N,) its standard errors.
        values: (N, R) how far each resample lies from it, in standard errors of the resample.
        tails: (N,) how heavy those of the units are, from `heaviness`.
        alpha: One minus the level.

    Returns:
        Ends, (N,) and (N,); infinite on a side where so many resamples do not vary.
    """
    low, high = percentile_interval(values, alpha)
    return _end(observed, errors, high, tails), _end(observed, errors, low, tails)


def _end(observed: Array, errors: Array, quantile: Array, tails: Array) -> Array:
    far = np.abs(quantile) >= FAR
    end = observed - errors * moved_out(np.where(far, 0.0, quantile), tails)
    return np.where(far, -np.copysign(np.inf, quantile), end)


def skewness(draws: Array) -> Array:
    """Third standardised moment, (P, R) to (P,); 0 where draws hardly vary.

    Of a mean's bootstrap draws it is the skewness of units over the square root of their number.
    """
    return _skewness(np.ascontiguousarray(draws))


def standard_deviation(draws: Array) -> Array:
    """With R - 1, (P, R) to (P,); 0 for a single resample."""
    return np.std(draws, axis=1, ddof=min(1, draws.shape[1] - 1))


@compiled
def _skewness(draws: Array) -> Array:
    found = np.zeros(draws.shape[0])
    for p in range(draws.shape[0]):
        row = draws[p]
        total, most = 0.0, 0.0
        for r in range(len(row)):
            total += row[r]
        middle = total / len(row)
        second, third = 0.0, 0.0
        for r in range(len(row)):
            moved = row[r] - middle
            most = max(most, abs(row[r]))
            second += moved * moved
            third += moved * moved * moved
        variance = second / len(row)
        if variance > (1e-9 * most) ** 2:
            found[p] = third / len(row) / variance**1.5
    return found


@compiled
def _order_statistics(draws: Array, low: int, high: int) -> tuple[Array, Array]:
    """The values at two places of each sorted row, without sorting it.

    A histogram says in which bin each place lies; only the values in that bin are sorted.
    """
    rows = draws.shape[0]
    lows, highs = np.empty(rows), np.empty(rows)
    bins = np.empty(draws.shape[1], dtype=np.int64)
    counts = np.empty(BINS, dtype=np.int64)
    for p in range(rows):
        row = draws[p]
        least, most = row[0], row[0]
        for r in range(len(row)):
            least, most = min(least, row[r]), max(most, row[r])
        scale = (BINS - 1) / (most - least)
        if not math.isfinite(scale):  # all alike, or too near or too far for bins
            ordered = np.sort(row)
            lows[p], highs[p] = ordered[low], ordered[high]
            continue
        for r in range(len(row)):
            bins[r] = np.int64((row[r] - least) * scale)
        counts[:] = 0
        for r in range(len(row)):
            counts[bins[r]] += 1
        lows[p] = _in_bins(row, bins, counts, low)
        highs[p] = _in_bins(row, bins, counts, high)
    return lows, highs


@compiled
def _in_bins(row: Array, bins: Counts, counts: Counts, place: int) -> float:
    below, bin_ = 0, 0
    while below + counts[bin_] <= place:
        below += counts[bin_]
        bin_ += 1
    members = np.empty(counts[bin_])
    found = 0
    for r in range(len(row)):
        if bins[r] == bin_:
            members[found] = row[r]
            found += 1
    return np.sort(members)[place - below]


def wilson_interval(successes: int, trials: int, alpha: float) -> tuple[float, float]:
    """Ends of the interval of a proportion at level 1 - alpha, which is right near 0 and 1, too.

    Wilson (1927), "Probable Inference, the Law of Succession, and Statistical Inference".
    """
    z = float(ndtri(1 - alpha / 2))
    middle = (successes + z * z / 2) / (trials + z * z)
    spread = math.sqrt(successes * (trials - successes) / trials + z * z / 4)
    half = z * spread / (trials + z * z)
    return max(0.0, middle - half), min(1.0, middle + half)
