"""Counting pseudo-statistics, the innermost loops of every significance test."""

from __future__ import annotations

import math

import numpy as np

from sigtest.arrays import Array, Counts, Flags
from sigtest.compiled import compiled
from sigtest.significance import Alternative
from sigtest.significance.base import ResamplingTest, extremity, reaching
from sigtest.special import ndtri

Z_95 = float(ndtri(0.975))


class NullTest(ResamplingTest):
    """Holds the observed difference against draws of the null hypothesis, around their centre."""

    def null_draws(self, draws: Array, alternative: Alternative) -> Array:
        return draws - self.centre(draws)[:, None]

    def extreme(
        self, observed: Array, null: Array, tolerance: Array, alternative: Alternative
    ) -> Flags:
        return reaching(observed, null, tolerance, alternative)

    def count(
        self, observed: Array, draws: Array, tolerance: Array, alternative: Alternative
    ) -> Counts:
        least = extremity(observed, alternative) - tolerance
        return count_reaching(draws, self.centre(draws), least, alternative)

    def centre(self, draws: Array) -> Array:
        """What is subtracted from (P, R) draws so that the null hypothesis holds: (P,)."""
        return np.zeros(len(draws))


def centres(test: ResamplingTest, draws: Array, means: Array, stderr: Array) -> Array:
    """(1, P) centres; where any is an estimate (3, P), both ends of their 95 % intervals below.

    Args:
        test: Centres directed draws, or their lengths, of which no mean is known.
        draws: (P, R) oriented differences.
        means: (P,) of what these are drawn from, NaN where they are not known.
        stderr: (P,) how much draws vary.
    """
    estimated = np.isnan(means) | (not test.directed)
    drawn = draws if test.directed else np.abs(draws)
    error = np.where(estimated, Z_95 * stderr / math.sqrt(draws.shape[1]), 0.0)
    ends = (0.0, -1.0, 1.0) if test.centred and error.any() else (0.0,)
    return np.where(estimated, drawn.mean(axis=1), means) + np.outer(ends, error)


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
