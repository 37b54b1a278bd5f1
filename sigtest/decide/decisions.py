"""From the counts of one family of pairs to p-values, corrections and decisions."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sigtest.arrays import Array, Counts, Flags
from sigtest.requests.recipe import MAX_RESAMPLES, Recipe
from sigtest.significance import OwnP, SignificanceTest
from sigtest.significance.corrections import adjust
from sigtest.significance.exact import ExactP
from sigtest.significance.levels import critical_value, strictest_level, undecided
from sigtest.significance.montecarlo import p_interval, p_value
from sigtest.special import ndtri

POWER = 0.8
NONE: Array = np.empty(0)


@dataclass(frozen=True)
class Limit:
    """What p-values of one family are held against.

    Attributes:
        correction: Name of the correction.
        alpha: Level.
        family: Size of the family; comparisons that are not at hand have p = 1.
    """

    correction: str
    alpha: float
    family: int


@dataclass(frozen=True)
class Decisions:
    """All pairs that are corrected together, one a row; P of them.

    Attributes:
        counts: (P,) pseudo-statistics at least as extreme as the difference.
        known: p-values that are no estimates from draws, where there are any.
        p: (P,) p-values.
        log10_p: (P,) their decimal logarithms.
        low: (P,) lower ends of the p-values' 95 % intervals.
        high: (P,) upper ends.
        adjusted: (P,) corrected p-values.
        significant: (P,) whether these are at most alpha.
        undecided: (P,) whether more resamples could turn a decision round.
        needed: Resamples that would likely settle an undecided row; rows are left out that need
            more than can be asked for.
        detectable: Smallest differences found with 80 % power, in standard errors of the
            difference: at the plain alpha, and at the strictest corrected one.
    """

    counts: Counts
    known: Sequence[ExactP | OwnP | None]
    p: Array
    log10_p: Array
    low: Array
    high: Array
    adjusted: Array
    significant: Flags
    undecided: Flags
    needed: dict[int, int]
    detectable: tuple[float, float]


def decide(
    recipe: Recipe,
    resamples: int,
    test: SignificanceTest,
    *,
    counts: Counts,
    known: Sequence[ExactP | OwnP | None],
    joint_counts: Counts | None,
    family: int | None = None,
    gone: Array = NONE,
) -> Decisions:
    """Correct and decide one family.

    Args:
        recipe: Alternative, alpha and correction.
        resamples: R.
        test: The significance test.
        counts: (P,) or (3, P) its counts, from `facts.Facts`.
        known: (P,) p-values that need no draws; of no meaning to tests on bootstrap draws.
        joint_counts: The same of a correction that looks at all pairs' draws together.
        family: How many comparisons are corrected together, where that is more than P; those
            neither here nor gone have p = 1.
        gone: (G,) p-values of comparisons of the family that are decided no more, because a system
            of theirs has left.
    """
    sides = test.sides(recipe.alternative)
    low, high = p_interval(counts, resamples, sides)
    counts = np.atleast_2d(counts)[0]
    p = p_value(counts, resamples, sides)
    log10_p = np.log10(p)
    known = [None] * len(counts) if test.draws in {"counts", "studentised"} else known
    for i, found in enumerate(known):
        if found is not None:
            p[i] = low[i] = high[i] = found.p_value
            log10_p[i] = found.log10_p
    if joint_counts is None:
        limit = Limit(recipe.correction, recipe.alpha, family or len(p) + len(gone))
        adjusted, unsure, needed = correct(limit, p, (low, high), resamples, sides, gone)
    else:
        adjusted = p_value(np.atleast_2d(joint_counts)[0], resamples)
        joint_low, joint_high = p_interval(joint_counts, resamples)
        unsure = (joint_low <= recipe.alpha) & (recipe.alpha < joint_high)
        needed = _askable(resamples, {
            int(i): resamples_to_settle(float(adjusted[i]), recipe.alpha, resamples)
            for i in np.flatnonzero(unsure)
        })  # fmt: skip
    return Decisions(
        counts=counts,
        known=known,
        p=p,
        log10_p=log10_p,
        low=low,
        high=high,
        adjusted=adjusted,
        significant=adjusted <= recipe.alpha,
        undecided=unsure,
        needed=needed,
        detectable=detectable_in_errors(
            Limit(recipe.correction, recipe.alpha, family or len(counts)), recipe.alternative
        ),
    )


def correct(
    limit: Limit,
    p: Array,
    ends: tuple[Array, Array],
    resamples: int,
    sides: int,
    gone: Array = NONE,
) -> tuple[Array, Flags, dict[int, int]]:
    """Correct the p-values of one family.

    Args:
        limit: Correction, level and size of the family.
        p: (P,) p-values.
        ends: (P,) both ends of their 95 % intervals.
        resamples: R.
        sides: How many times a count's p-value was taken.
        gone: (G,) p-values of the family that are decided no more.

    Returns:
        (P,) adjusted p-values; (P,) whether more resamples could turn a decision round; and by row
        how many would likely settle it, where that many can be asked for.
    """
    rows = len(p)
    whole, low, high = (np.concatenate([own, gone]) for own in (p, *ends))
    adjusted = adjust(whole, limit.correction, limit.family)[:rows]
    unsure = undecided(whole, low, high, limit.correction, limit.alpha, limit.family)[:rows]
    return adjusted, unsure, _needed(limit, resamples, sides, whole, adjusted, unsure)


def _needed(
    limit: Limit, resamples: int, sides: int, p: Array, adjusted: Array, unsure: Flags
) -> dict[int, int]:
    """Resamples that would likely settle each undecided row; `p` goes on with those gone."""
    needed: dict[int, int] = {}
    for side in (True, False):
        rows = np.flatnonzero(unsure & ((adjusted <= limit.alpha) == side))
        if not len(rows):
            continue
        # the critical value hardly differs between the rows on one side of it
        critical = critical_value(p, int(rows[0]), limit.correction, limit.alpha, limit.family)
        for i in rows:
            needed[int(i)] = resamples_to_settle(float(p[i]) / sides, critical / sides, resamples)
    return _askable(resamples, needed)


def _askable(resamples: int, needed: Mapping[int, int]) -> dict[int, int]:
    """What is more than there was, and not more than can be asked for."""
    return {i: more for i, more in needed.items() if resamples < more <= MAX_RESAMPLES}


def resamples_to_settle(p: float, limit: float, resamples: int) -> int:
    """How many resamples put the 95 % interval of p on one side of `limit`, if p stays put.

    From the normal interval p +- 1.96 sqrt(p (1 - p) / R); at least twice as many as there were,
    or else as many as can be asked for.
    """
    gap = max(abs(p - limit), 1.0 / (resamples + 1))
    least = min(2 * resamples, MAX_RESAMPLES)
    return max(least, math.ceil(1.96**2 * p * (1 - p) / gap**2))


def detectable_in_errors(limit: Limit, alternative: str) -> tuple[float, float]:
    """Smallest differences found with 80 % power, in standard errors of the difference.

    (z_(1 - level / sides) + z_.80), at alpha and at the strictest corrected level.
    """
    sides = 2 if alternative == "two-sided" else 1
    strictest = strictest_level(limit.correction, limit.family, limit.alpha)
    plain, corrected = (
        float(ndtri(POWER) - ndtri(level / sides)) for level in (limit.alpha, strictest)
    )
    return plain, corrected
