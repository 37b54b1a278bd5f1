"""From resampled scores and counts to the report: intervals, p-values, corrections, ranks."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from sigtest.arrays import Array, Counts
from sigtest.cautions import cautions
from sigtest.intervals import percentile_interval, standard_deviation
from sigtest.multiplicity import adjust, critical_value, undecided
from sigtest.plan import Plan
from sigtest.ranking import Rank, rank
from sigtest.report import (
    MetricReport,
    PairReport,
    Report,
    ScoreReport,
    SystemReport,
    TestSetReport,
)
from sigtest.sample import Sample
from sigtest.significance import TESTS, SignificanceTest
from sigtest.significance.convolution import convolve_swaps
from sigtest.significance.exact import ExactP, enumerate_swaps
from sigtest.significance.montecarlo import p_interval, p_value
from sigtest.version import __version__

CHUNK = 1 << 21  # pseudo-statistics held at a time


@dataclass(frozen=True)
class Spread:
    """How differences of one metric vary over bootstrap resamples.

    Attributes:
        low: (P,) lower ends of the percentile intervals.
        high: (P,) upper ends.
        stderr: (P,) standard deviations.
        counts: (P,) counts of each bootstrap test, by name.
    """

    low: Array
    high: Array
    stderr: Array
    counts: dict[str, Counts]


def summarise(sample: Sample, scores: Array, swaps: Counts) -> Report:
    """Build the report.

    Args:
        sample: Statistics and observed scores.
        scores: (M, S, R) bootstrap scores.
        swaps: (M, P) counts of extreme swapped differences, M = P = 0 where none were drawn.
    """
    plan = sample.plan
    recipe = plan.recipe
    pairs: list[PairReport] = []
    ranks: list[dict[str, dict[str, Rank]]] = [{} for _ in plan.systems]
    for m, label in enumerate(recipe.labels):
        spread = _spread(sample, m, scores[m])
        for name in recipe.tests:
            test = TESTS[name]
            counts = spread.counts[name] if test.draws == "counts" else swaps[m]
            family = _corrected(_family(sample, m, test, counts, spread), plan)
            pairs += family
            for system, placed in zip(ranks, _ranks(sample, m, family), strict=False):
                system.setdefault(label, {})[name] = placed
    return Report(
        signature=plan.signature,
        version=__version__,
        testset=TestSetReport(
            segments=plan.segments,
            references=plan.references,
            documents=plan.document_count or None,
            sha256=plan.testset,
        ),
        alpha=recipe.alpha,
        correction=recipe.correction,
        metrics={
            label: MetricReport(metric.higher_is_better, metric.signature(plan.references))
            for label, metric in zip(recipe.labels, recipe.metrics, strict=True)
        },
        systems=tuple(
            SystemReport(name, _score_reports(sample, scores, s), ranks[s])
            for s, name in enumerate(plan.systems)
        ),
        pairs=tuple(pairs),
        warnings=cautions(plan, sample.units),
    )


def _spread(sample: Sample, m: int, scores: Array) -> Spread:
    """Intervals and bootstrap counts of all differences, a chunk of pairs at a time."""
    plan = sample.plan
    recipe = plan.recipe
    pairs = plan.pairs
    observed, tolerance = sample.observed(m)
    tests = [TESTS[name] for name in recipe.tests if TESTS[name].draws == "counts"]
    counts = {test.name: np.empty(len(pairs), dtype=np.int64) for test in tests}
    low, high, stderr = (np.empty(len(pairs)) for _ in range(3))
    for run in _chunks(len(pairs), scores.shape[1]):
        a, b = pairs[run].T
        differences = scores[a] - scores[b]
        low[run], high[run] = percentile_interval(differences, recipe.alpha)
        stderr[run] = standard_deviation(differences)
        oriented = sample.signs[m] * differences
        for test in tests:
            counts[test.name][run] = test.count(
                observed[run], oriented, tolerance[run], recipe.alternative
            )
    return Spread(low, high, stderr, counts)


def _family(
    sample: Sample, m: int, test: SignificanceTest, counts: Counts, spread: Spread
) -> list[PairReport]:
    """All pairs of one metric and test, not yet corrected."""
    plan = sample.plan
    recipe = plan.recipe
    names = plan.systems
    sides = test.sides(recipe.alternative)
    p = p_value(counts, plan.resamples, sides)
    low, high = p_interval(counts, plan.resamples, sides)
    family = []
    for i, (a, b) in enumerate(plan.pairs):
        score_a, score_b = float(sample.scores[m, a]), float(sample.scores[m, b])
        pair = PairReport(
            a=names[a],
            b=names[b],
            metric=recipe.labels[m],
            test=test.name,
            alternative=test.shown_alternative(recipe.alternative),
            score_a=score_a,
            score_b=score_b,
            difference=score_a - score_b,
            ci=(float(spread.low[i]), float(spread.high[i])),
            stderr=float(spread.stderr[i]),
            count=int(counts[i]),
            resamples=plan.resamples,
            p_value=float(p[i]),
            log10_p=math.log10(p[i]),
            p_interval=(float(low[i]), float(high[i])),
            p_adjusted=float(p[i]),
            significant=False,
            undecided=False,
            resamples_needed=None,
            exact=False,
            calibrated=test.calibrated,
        )
        exact = _exact(sample, m, test, int(a), int(b))
        family.append(_with_exact(pair, exact) if exact else pair)
    return family


def _exact(sample: Sample, m: int, test: SignificanceTest, a: int, b: int) -> ExactP | None:
    """The exact p-value of a pair, where the test has one and the recipe allows it."""
    recipe = sample.plan.recipe
    if test.draws != "swaps" or recipe.exact == "never":
        return None
    metric, table = sample.metrics[m], sample.tables[m]
    found = enumerate_swaps(metric, table[a], table[b], recipe.alternative)
    if found is None and sample.linear[m]:
        found = convolve_swaps(metric, table[a], table[b], recipe.alternative)
    return found


def _with_exact(pair: PairReport, exact: ExactP) -> PairReport:
    p = exact.p_value
    return replace(
        pair,
        count=exact.count,
        resamples=exact.patterns,
        p_value=p,
        log10_p=exact.log10_p,
        p_interval=(p, p),
        exact=True,
    )


def _corrected(family: list[PairReport], plan: Plan) -> list[PairReport]:
    """The family with adjusted p-values and decisions."""
    recipe = plan.recipe
    p = np.array([pair.p_value for pair in family])
    low, high = np.array([pair.p_interval for pair in family]).T
    adjusted = adjust(p, recipe.correction)
    unsure = undecided(p, low, high, recipe.correction, recipe.alpha)
    # the limit hardly differs between the pairs on one side of it
    limits = {
        side: critical_value(p, int(ours[0]), recipe.correction, recipe.alpha)
        for side in (True, False)
        if len(ours := np.flatnonzero(unsure & ((adjusted <= recipe.alpha) == side)))
    }
    corrected = []
    for i, pair in enumerate(family):
        needed = None
        if unsure[i]:
            sides = TESTS[pair.test].sides(recipe.alternative)
            limit = limits[bool(adjusted[i] <= recipe.alpha)]
            needed = resamples_to_settle(pair.p_value / sides, limit / sides, plan.resamples)
        corrected.append(
            replace(
                pair,
                p_adjusted=float(adjusted[i]),
                significant=bool(adjusted[i] <= recipe.alpha),
                undecided=bool(unsure[i]),
                resamples_needed=needed,
            )
        )
    return corrected


def resamples_to_settle(p: float, limit: float, resamples: int) -> int:
    """How many resamples put the 95 % interval of p on one side of `limit`, if p stays put.

    From the normal interval p +- 1.96 sqrt(p (1 - p) / R); at least twice as many as there were.
    """
    gap = max(abs(p - limit), 1.0 / (resamples + 1))
    return max(2 * resamples, math.ceil(1.96**2 * p * (1 - p) / gap**2))


def _ranks(sample: Sample, m: int, family: list[PairReport]) -> list[Rank]:
    """Ranks from the decisions of a family; none unless two-sided over all pairs."""
    plan = sample.plan
    if plan.recipe.baseline is not None or plan.recipe.alternative != "two-sided":
        return []
    size = len(plan.systems)
    beats = np.zeros((size, size), dtype=np.bool_)
    observed, _ = sample.observed(m)
    for (a, b), difference, pair in zip(plan.pairs, observed, family, strict=True):
        if pair.significant:
            winner, loser = (a, b) if difference > 0 else (b, a)
            beats[winner, loser] = True
    return rank(sample.signs[m] * sample.scores[m], beats)


def _score_reports(sample: Sample, scores: Array, s: int) -> dict[str, ScoreReport]:
    reports = {}
    for m, label in enumerate(sample.plan.recipe.labels):
        draws = scores[m, s, None]
        (low,), (high,) = percentile_interval(draws, sample.plan.recipe.alpha)
        reports[label] = ScoreReport(
            score=float(sample.scores[m, s]),
            ci=(float(low), float(high)),
            stderr=float(standard_deviation(draws)[0]),
        )
    return reports


def _chunks(pairs: int, resamples: int) -> Iterator[slice]:
    rows = max(1, CHUNK // resamples)
    for first in range(0, pairs, rows):
        yield slice(first, min(first + rows, pairs))
