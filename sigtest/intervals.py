"""Percentile intervals and standard errors from bootstrap draws."""

from __future__ import annotations

import math

import numpy as np

from sigtest.arrays import Array
from sigtest.compiled import COMPILED, compiled


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
        return _tail_values(draws, low), -_tail_values(-draws, size - 1 - high)
    ordered = np.partition(draws, (low, high), axis=1)
    return ordered[:, low], ordered[:, high]


def standard_deviation(draws: Array) -> Array:
    """With R - 1, (P, R) to (P,); 0 for a single resample."""
    return np.std(draws, axis=1, ddof=min(1, draws.shape[1] - 1))


@compiled
def _tail_values(draws: Array, place: int) -> Array:
    """The value at a place near the low end of each sorted row.

    Only the few values below a threshold are sorted; the threshold is guessed from a sample of the
    row and moved until enough values lie below it.
    """
    rows, size = draws.shape
    values = np.empty(rows)
    tail = np.empty(size)
    every = max(1, size // 256)
    for p in range(rows):
        row = draws[p]
        guess = np.sort(row[::every])
        below = min(len(guess) - 1, (place + 1) * len(guess) // size + 12)
        found = 0
        while found <= place:
            found = 0
            threshold = guess[below]
            last = below == len(guess) - 1
            for r in range(size):
                tail[found] = row[r]
                found += (row[r] <= threshold) | last
                if found == size:
                    break
            below = min(len(guess) - 1, below + 32)
        values[p] = np.sort(tail[:found])[place]
    return values
