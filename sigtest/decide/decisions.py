"""From counts to p-values, corrections and decisions, and what follows: ranks, power, wins."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from sigtest.arrays import Array, Counts, Flags
from sigtest.comparison.plan import Part, Telling
from sigtest.draws.sample import oriented_differences
from sigtest.report import (
    MetricReport,
    PairReport,
    RankReport,
    SmallTest,
    SystemReport,
    WinsReport,
    listed,
)
from sigtest.requests.recipe import MAX_RESAMPLES
from sigtest.significance import CORRECTIONS, TESTS, Alternative
from sigtest.significance.base import SignificanceTest, UnitP
from sigtest.significance.corrections import adjust, critical_value, strictest_level, undecided
from sigtest.significance.exact import ExactP
from sigtest.significance.intervals import p_interval, p_value, rank
from sigtest.significance.units import rank_differences, sign_p, signed_rank_p
from sigtest.special import ndtri

POWER = 0.8
NONE: Array = np.empty(0)
EXPECTED = ("equal expected scores", "equal expected accuracies")  # nulls that ranks are about


# One family ------------------------


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
    """What is decided of the pairs of one family.

    Attributes:
        adjusted: (P,) corrected p-values.
        undecided: (P,) whether more resamples could turn a decision round.
        needed: Resamples that would likely settle an undecided row; rows are left out that need
            more than can be asked for.
    """

    adjusted: Array
    undecided: Flags
    needed: dict[int, int]


def p_values(
    test: SignificanceTest,
    alternative: Alternative,
    resamples: int,
    counts: Counts,
    known: Sequence[ExactP | UnitP | None],
) -> tuple[Sequence[ExactP | UnitP | None], Array, Array, Array, Array]:
    """P-values of some pairs, before any correction.

    Args:
        test: The significance test.
        alternative: The claim.
        resamples: R.
        counts: (P,) or (3, P) its counts, from `facts.Facts`.
        known: (P,) p-values that need no draws; of no meaning to tests on bootstrap draws.

    Returns:
        Those that are no estimates from draws; (P,) p-values, their decimal logarithms, and both
        ends of their 95 % intervals.
    """
    sides = test.sides(alternative)
    low, high = p_interval(counts, resamples, sides)
    p = p_value(np.atleast_2d(counts)[0], resamples, sides)
    log10_p = np.log10(p)
    known = [None] * len(p) if test.draws in {"counts", "studentised"} else known
    for i, found in enumerate(known):
        if found is not None:
            p[i] = low[i] = high[i] = found.p_value
            log10_p[i] = found.log10_p
    return known, p, log10_p, low, high


def decide(
    limit: Limit,
    p: Array,
    ends: tuple[Array, Array],
    resamples: int,
    sides: int,
    gone: Array = NONE,
    joint_counts: Counts | None = None,
) -> Decisions:
    """Correct and decide one family.

    Args:
        limit: Correction, level and size of the family.
        p: (P,) p-values.
        ends: (P,) both ends of their 95 % intervals.
        resamples: R.
        sides: How many times a count's p-value was taken.
        gone: (G,) p-values of comparisons of the family that are decided no more, because a system
            of theirs has left.
        joint_counts: (P,) or (3, P) counts of a correction that looks at all pairs' draws together.
    """
    needed: dict[int, int] = {}
    if joint_counts is not None:
        adjusted = p_value(np.atleast_2d(joint_counts)[0], resamples)
        low, high = p_interval(joint_counts, resamples)
        unsure = (low <= limit.alpha) & (limit.alpha < high)
        for i in np.flatnonzero(unsure):
            needed[int(i)] = resamples_to_settle(float(adjusted[i]), limit.alpha, resamples)
    else:
        whole, low, high = (np.concatenate([own, gone]) for own in (p, *ends))
        adjusted = adjust(whole, limit.correction, limit.family)[: len(p)]
        unsure = undecided(whole, low, high, limit.correction, limit.alpha, limit.family)[: len(p)]
        for side in (True, False):
            rows = np.flatnonzero(unsure & ((adjusted <= limit.alpha) == side))
            if not len(rows):
                continue
            # the critical value hardly differs between the rows on one side of it
            first = int(rows[0])
            critical = critical_value(whole, first, limit.correction, limit.alpha, limit.family)
            for i in rows:
                more = resamples_to_settle(float(p[i]) / sides, critical / sides, resamples)
                needed[int(i)] = more
    askable = {i: more for i, more in needed.items() if resamples < more <= MAX_RESAMPLES}
    return Decisions(adjusted, unsure, askable)


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


def interval_agrees(pair: PairReport, higher_is_better: bool, significant: bool) -> bool | None:
    """Whether an interval excludes 0, on the side of the claim, just where a pair is significant.

    Args:
        pair: With its interval; without one that has an end nothing is said.
        higher_is_better: False for error metrics.
        significant: What is decided of it.
    """
    low, high = pair.ci
    if not (math.isfinite(low) or math.isfinite(high)):
        return None
    sides = [low > 0, high < 0]
    if pair.claimed is not None:
        sides = [sides[(pair.claimed == pair.a) != higher_is_better]]
    return any(sides) == significant


# What follows from the decisions of whole families ------------------------


def ranked(
    systems: Sequence[SystemReport],
    metrics: Mapping[str, MetricReport],
    tests: Sequence[str],
    pairs: Sequence[PairReport],
) -> tuple[SystemReport, ...]:
    """The systems with their ranks for every metric and test.

    Args:
        systems: With their scores.
        metrics: By label.
        tests: Names.
        pairs: All of them, by metric, then test.
    """
    names = [system.name for system in systems]
    ranks: list[dict[str, dict[str, RankReport]]] = [{} for _ in names]
    size = len(pairs) // (len(metrics) * len(tests))
    for i, (label, test) in enumerate(product(metrics, tests)):
        sign = 1 if metrics[label].higher_is_better else -1
        scores = sign * np.array([system.scores[label].score for system in systems])
        placed = ranks_of(names, scores, pairs[i * size : (i + 1) * size])
        for own, place in zip(ranks, placed, strict=True):
            own.setdefault(label, {})[test] = place
    return tuple(replace(system, ranks=own) for system, own in zip(systems, ranks, strict=True))


def ranks_of(
    systems: Sequence[str], scores: Array, family: Sequence[PairReport]
) -> list[RankReport]:
    """Ranks from the decisions of a family over all pairs; one-sided, in both orders.

    Args:
        systems: Names.
        scores: (S,) their scores, greater being better.
        family: All pairs of one metric and test.
    """
    places = {name: place for place, name in enumerate(systems)}
    beats = np.zeros((len(systems), len(systems)), bool)
    for pair in family:
        if pair.significant:
            a, b = places[pair.a], places[pair.b]
            better = pair.a if scores[a] > scores[b] else pair.b
            ahead = pair.claimed or pair.ahead or better
            beats[(a, b) if ahead == pair.a else (b, a)] = True
    beats &= ~beats.T  # both claims of a pair hold where alpha is above one half
    return [
        RankReport(own.cluster, (own.lowest, own.highest), own.lowest == 1)
        for own in rank(scores, beats)
    ]


def rank_doubt(tests: Sequence[str], telling: Telling, skewness: float) -> str | None:
    """Why ranges may miss true ranks, which are of expected scores.

    Systems of equal expected scores may fall short of what a test takes for granted, such as
    exchangeable labels; with units enough and hardly skewed differences it rejects them as rarely.

    Args:
        tests: Names.
        telling: How much the units tell.
        skewness: Of the bootstrap distribution of a difference, the largest of all pairs.
    """
    rule = TESTS["bootstrap"]
    of = [TESTS[name] for name in tests if TESTS[name].null not in EXPECTED]
    if not of or rule.keeps_level(telling.units, skewness, telling.hidden):
        return None
    named = listed([f"{test.words} ({test.null})" for test in of])
    return (
        f"true ranks are of expected scores, another hypothesis than that of {named}; the two "
        f"agree from {rule.least_units} units on and where differences are hardly skewed"
    )


def rank_confidence(limit: Limit, pairs: Sequence[PairReport], doubt: str | None) -> float | None:
    """Level of the rank ranges as simultaneous confidence sets for the true ranks.

    A range misses a true rank only where a pair is decided falsely; so ranges hold all true ranks
    together as often as no pair is (Mogstad, Romano, Shaikh & Wilhelm 2024).
    """
    proven = CORRECTIONS[limit.correction].familywise and all(pair.calibrated for pair in pairs)
    return 1 - limit.alpha if proven and doubt is None else None


def power_of(pairs: Sequence[PairReport]) -> dict[str, dict[str, float]]:
    """Which share of the pairs each metric separates under each test.

    Riezler & Maxwell (2005), Table 1: a metric that separates more systems is more sensitive.
    """
    found: dict[str, dict[str, dict[frozenset[str], bool]]] = {}
    for pair in pairs:
        apart = found.setdefault(pair.metric, {}).setdefault(pair.test, {})
        both = frozenset((pair.a, pair.b))  # one-sided, either claim separates them
        apart[both] = apart.get(both, False) or pair.significant
    return {
        metric: {test: sum(apart.values()) / len(apart) for test, apart in tests.items()}
        for metric, tests in found.items()
    }


# Wins over several test sets ------------------------


def count_wins(part: Part, scores: Sequence[Array]) -> Iterator[WinsReport]:
    """Won, lost and tied test sets of every pair and metric, not decided yet.

    Demšar (2006), "Statistical Comparisons of Classifiers over Multiple Data Sets", sections 3.1.3
    and 3.1.4. Ties count for neither side.

    Args:
        part: Of all test sets.
        scores: (M, S) of each test set.
    """
    recipe = part.recipe
    for m, metric in enumerate(recipe.metrics):
        seen = [oriented_differences(part, m, own[m]) for own in scores]
        moved, tolerance = (np.array(rows) for rows in zip(*seen, strict=True))
        for p, (a, b) in enumerate(part.pairs.tolist()):
            ranks = rank_differences(moved[:, p], tolerance[:, p])
            won, lost = int(np.count_nonzero(ranks > 0)), int(np.count_nonzero(ranks < 0))
            yield WinsReport(
                a=part.systems[a],
                b=part.systems[b],
                metric=recipe.labels[m],
                alternative=recipe.alternative,
                differences=tuple((metric.sign * moved[:, p]).tolist()),
                won=won,
                lost=lost,
                tied=len(ranks) - won - lost,
                rank_sum=int(ranks[ranks > 0].sum()) / 2,
                sign_test=SmallTest(sign_p(ranks, recipe.alternative).p_value, 1.0, False),
                signed_rank=SmallTest(signed_rank_p(ranks, recipe.alternative).p_value, 1.0, False),
            )


def decided_wins(rows: Sequence[WinsReport], limit: Limit) -> tuple[WinsReport, ...]:
    """Exact tests over test sets, corrected within all pairs of a metric."""
    made: list[WinsReport] = []
    for metric in dict.fromkeys(row.metric for row in rows):
        family = [row for row in rows if row.metric == metric]
        signs, ranks = (
            adjust(np.array(p), limit.correction, limit.family).tolist()
            for p in zip(
                *((r.sign_test.p_value, r.signed_rank.p_value) for r in family), strict=True
            )
        )
        for row, sign, signed_rank in zip(family, signs, ranks, strict=True):
            sign_test = SmallTest(row.sign_test.p_value, sign, sign <= limit.alpha)
            both = SmallTest(row.signed_rank.p_value, signed_rank, signed_rank <= limit.alpha)
            made.append(replace(row, sign_test=sign_test, signed_rank=both))
    return tuple(made)
