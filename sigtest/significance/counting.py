"""Counting pseudo-statistics, the innermost loops of every significance test."""

from __future__ import annotations

import numpy as np

from sigtest.arrays import Array, Counts
from sigtest.compiled import compiled
from sigtest.significance.base import Alternative


def count_reaching(draws: Array, centre: Array, least: Array, alternative: Alternative) -> Counts:
    """Count the draws that lie at least so far from their centre, on the side that is claimed.

    Args:
        draws: (P, R) differences.
        centre: (P,) what is subtracted from them first.
        least: (P,) how far is far enough.
        alternative: `greater` counts draws above the centre, `less` below, `two-sided` both.

    Returns:
        (P,) counts.
    """
    if alternative == "two-sided":
        return _count_beyond(draws, centre, least)
    return _count_above(draws, centre, least, -1.0 if alternative == "less" else 1.0)


@compiled
def _count_beyond(draws: Array, centre: Array, least: Array) -> Counts:
    counts = np.zeros(len(draws), dtype=np.int64)
    for p in range(len(draws)):
        row, middle, limit = draws[p], centre[p], least[p]
        reached = 0
        for r in range(len(row)):
            reached += abs(row[r] - middle) >= limit
        counts[p] = reached
    return counts


@compiled
def _count_above(draws: Array, centre: Array, least: Array, sign: float) -> Counts:
    counts = np.zeros(len(draws), dtype=np.int64)
    for p in range(len(draws)):
        row, middle, limit = draws[p], centre[p], least[p]
        reached = 0
        for r in range(len(row)):
            reached += sign * (row[r] - middle) >= limit
        counts[p] = reached
    return counts
