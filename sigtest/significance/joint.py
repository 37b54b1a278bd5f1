"""Corrections that count in the draws of all pairs together: max-T and randomised Tukey."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sigtest.arrays import Array, Counts


def step_down_counts(least: Array, draws: Callable[[int], Array], resamples: int) -> Counts:
    """Counts of the step-down maximum test, from the least extreme hypothesis to the most.

    Args:
        least: (m,) how extreme a draw must be to reach each observed statistic.
        draws: Gives the (R,) extremity of one hypothesis' null draws.
        resamples: R.

    Returns:
        (m,) counts; a hypothesis' count is at least that of every more extreme one.

    Romano & Wolf (2005), "Exact and Approximate Stepdown Methods for Multiple Hypothesis Testing",
    algorithm 1, on unstudentised statistics.
    """
    order = np.argsort(least, kind="stable")
    highest = np.full(resamples, -np.inf)
    counts = np.empty(len(least), dtype=np.int64)
    for i in order:
        highest = np.maximum(highest, draws(int(i)))
        counts[i] = np.count_nonzero(highest >= least[i])
    counts[order] = np.maximum.accumulate(counts[order][::-1])[::-1]
    return counts


def range_counts(least: Array, ranges: Array) -> Counts:
    """How many ranges of permuted systems reach each observed difference.

    Args:
        least: (m,) how far is far enough.
        ranges: (R,) best minus worst score of each permutation.

    Returns:
        (m,) counts.
    """
    return len(ranges) - np.searchsorted(np.sort(ranges), least)
