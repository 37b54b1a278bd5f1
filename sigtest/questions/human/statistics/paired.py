"""Pairs of scores: paired t, Wilcoxon's signed rank, approximate randomization."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sigtest.arrays import Array, Counts
from sigtest.draws.product import fixed_point
from sigtest.draws.weights import swap_masks
from sigtest.questions.human.statistics.tails import Tails, logarithm, normal, student
from sigtest.significance.signs import doubled_ranks

EXACT_RANKS = 50  # differences up to which the signed-rank distribution is counted
EXACT_FLIPS = 20  # differences up to which all sign patterns are counted
TIED = 1e-12  # of the largest difference: sizes no further apart are tied
MEMORY = 32 << 20  # bytes of a block of differences, or of masks
ROWS = 256  # resamples at a time, where they fit
ROUNDING = 2.0**-48  # of the sum of all sizes: sums nearer than this are equal


def paired_t(differences: Array) -> Tails:
    """Student's t of paired differences: is their mean greater than 0?

    Differences that are all alike have an infinite t, or no claim at all where they are 0.
    """
    mean = float(differences.mean())
    spread = float(differences.std(ddof=1))
    if spread == 0:
        return student(math.copysign(math.inf, mean) if mean else math.nan, 1.0)
    return student(mean / (spread / math.sqrt(len(differences))), len(differences) - 1.0)


def signed_rank(differences: Array) -> Tails:
    """Wilcoxon's signed-rank test: do differences lie above 0? The statistic is the positive sum.

    Differences of 0 are left out. Up to 50 others the distribution is counted, tied sizes sharing
    the middle rank; above, the normal approximation has corrections for ties and continuity.
    """
    slack = TIED * float(np.abs(differences).max(initial=0.0))
    moved = differences[np.abs(differences) > slack]
    if not len(moved):
        return Tails(0.0, 1.0, 1.0, 0.0)
    doubled = doubled_ranks(np.abs(moved), slack)
    reached = int(doubled[moved > 0].sum())
    if len(moved) <= EXACT_RANKS:
        ways = _sums(doubled)
        greater, less = float(ways[reached:].sum()), float(ways[: reached + 1].sum())
        return Tails(reached / 2, min(1.0, greater), min(1.0, less), logarithm(min(greater, less)))
    ranks = doubled / 2.0
    spread = math.sqrt(float((ranks**2).sum()) / 4.0)
    return normal(reached / 2, float(ranks.sum()) / 2.0, spread)


def _sums(doubled: Counts) -> Array:
    """How likely fair coins add up each total of doubled ranks."""
    ways = np.zeros(int(doubled.sum()) + 1)
    ways[0] = 1.0
    top = 0
    for rank in doubled.tolist():
        ways[rank : top + rank + 1] += ways[: top + 1].copy()
        top += rank
        ways[: top + 1] *= 0.5
    return ways


@dataclass(frozen=True)
class Flips:
    """What approximate randomization counted for one pair of systems.

    Attributes:
        tails: P-values; the statistic is the mean difference.
        exact: Whether all sign patterns were counted.
    """

    tails: Tails
    exact: bool


def approximate_randomization(
    differences: Sequence[tuple[Counts, Array]], units: int, resamples: int, seed: int
) -> list[Flips]:
    """Would exchanging scores between two systems at random move the mean so far?

    One mask a resample serves all pairs. Where at most 20 units differ all patterns are counted.

    Args:
        differences: For each pair, the (m,) units both systems have, and a - b there.
        units: How many there are.
        resamples: R.
        seed: Of the recipe.

    Riezler & Maxwell (2005), Figure 1; p = (c + 1) / (R + 1).
    """
    found: dict[int, Flips] = {}
    sampled = []
    for p, (_, given) in enumerate(differences):
        if np.count_nonzero(given) <= EXACT_FLIPS:
            found[p] = _all_patterns(given)
        else:
            sampled.append(p)
    width = max(1, MEMORY // (8 * max(units, 1)))
    for first in range(0, len(sampled), width):
        chosen = sampled[first : first + width]
        some = [differences[p] for p in chosen]
        found.update(zip(chosen, _sampled(some, units, resamples, seed), strict=True))
    return [found[p] for p in range(len(differences))]


def _sampled(
    differences: Sequence[tuple[Counts, Array]], units: int, resamples: int, seed: int
) -> list[Flips]:
    table = np.zeros((units, len(differences)))
    for p, (places, given) in enumerate(differences):
        table[places, p] = given
    table = fixed_point(table)
    observed, slack = table.sum(axis=0), ROUNDING * np.abs(table).sum(axis=0)
    at_least = np.zeros(len(differences), dtype=np.int64)
    at_most = at_least.copy()
    rows = max(1, min(ROWS, MEMORY // (8 * units)))
    for start in range(0, resamples, rows):
        kept = swap_masks(seed, start, min(start + rows, resamples), units)
        sums = 2.0 * (kept.astype(np.float64) @ table) - observed
        at_least += np.count_nonzero(sums >= observed - slack, axis=0)
        at_most += np.count_nonzero(sums <= observed + slack, axis=0)
    return [
        _flips(given, int(up), int(down), resamples, exact=False)
        for (_, given), up, down in zip(differences, at_least, at_most, strict=True)
    ]


def _all_patterns(given: Array) -> Flips:
    """Every sign pattern, listed by doubling."""
    moved = given[given != 0]
    sums = np.zeros(1)
    for difference in moved:
        sums = np.concatenate([sums + difference, sums - difference])
    observed, slack = float(moved.sum()), ROUNDING * float(np.abs(moved).sum())
    up, down = (
        np.count_nonzero(sums >= observed - slack),
        np.count_nonzero(sums <= observed + slack),
    )
    return _flips(given, int(up), int(down), len(sums), exact=True)


def _flips(given: Array, up: int, down: int, patterns: int, *, exact: bool) -> Flips:
    greater, less = (
        count / patterns if exact else (count + 1) / (patterns + 1) for count in (up, down)
    )
    tails = Tails(float(given.mean()), greater, less, logarithm(min(greater, less)))
    return Flips(tails, exact)
