"""From a suite to its report: every test set by itself, and all of them together.

The macro-average is one more comparison whose pseudo-statistics are the means of the test sets'
pseudo-statistics: resample r of the whole is resample r of every test set, drawn independently.
That is a bootstrap, and a randomization, stratified by test set.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sigtest.arrays import Array, Counts
from sigtest.engine import BLOCK, Progress, measure
from sigtest.facts import Facts, facts_of, gather
from sigtest.multiplicity import adjust
from sigtest.plan import Plan
from sigtest.report import Report
from sigtest.resampling.product import fixed_point
from sigtest.sample import Block, Sample, oriented_differences
from sigtest.suite import Suite
from sigtest.suite_report import Overall, SmallTest, SuiteReport, TestSetResult, WinsReport
from sigtest.summary import Part, summarise_together
from sigtest.units import by_replica
from sigtest.version import __version__
from sigtest.wins import Wins, wins


def compare_suite(suite: Suite, progress: Progress | None = None) -> SuiteReport:
    """Compute a suite in this process.

    Args:
        suite: What to compare and how.
        progress: Called with phase (`statistics`, `resampling`, `report`), done and total.

    Returns:
        The report, a function of the suite and the version alone.
    """
    say = progress or (lambda phase, done, total: None)
    tables = _measure_all(suite, say)
    samples = [Sample(plan, own) for plan, own in zip(suite.plans, tables, strict=True)]
    wholes = [Sample(suite.whole, _concatenated(suite, tables))] if suite.pooled else []
    resamples = suite.whole.resamples
    total = (len(samples) + 1) * resamples
    summed = np.zeros((*samples[0].scores.shape, resamples))  # draws of all test sets
    facts: list[list[Facts]] = []
    for t, sample in enumerate([*samples, *wholes]):
        blocks = _blocks(sample, say, t * resamples, total)
        facts.append(gather(sample, blocks))
        summed += np.concatenate([block.scores for block in blocks], axis=2)
    if not suite.pooled:
        say("resampling", len(samples) * resamples, total)
        facts.append(_macro(suite.whole, samples, summed / len(samples)))
    say("report", 0, 1)
    parts = [Part(p, f) for p, f in zip([*suite.plans, suite.whole], facts, strict=True)]
    report = _report(suite, summarise_together(parts), [sample.scores for sample in samples])
    say("report", 1, 1)
    return report


def _measure_all(suite: Suite, say: Progress) -> list[list[Array]]:
    """For each test set, one (S, m n, k) array a metric."""
    metrics = suite.comparisons[0].recipe.metrics
    total = sum(len(comparison.systems) for comparison in suite.comparisons) * len(metrics)
    done = 0
    tables: list[list[Array]] = []
    for comparison in suite.comparisons:
        own = []
        for metric in metrics:
            rows = []
            for system in comparison.systems:
                say("statistics", done, total)
                rows.append(measure(comparison.testset, system, metric))
                done += 1
            own.append(np.stack(rows))
        tables.append(own)
    return tables


def _concatenated(suite: Suite, tables: Sequence[Sequence[Array]]) -> list[Array]:
    """The statistics of all test sets as one, replica by replica, in fixed point again."""
    whole = []
    for m in range(len(suite.whole.recipe.metrics)):
        parts = [by_replica(plan, own[m]) for plan, own in zip(suite.plans, tables, strict=True)]
        joined = np.concatenate(parts, axis=2)
        rows = joined.reshape(len(joined), -1, joined.shape[3])
        whole.append(np.stack([fixed_point(row) for row in rows]))
    return whole


def _blocks(sample: Sample, say: Progress, before: int, total: int) -> list[Block]:
    resamples = sample.plan.resamples
    blocks: list[Block] = []
    for start in range(0, resamples, BLOCK):
        say("resampling", before + start, total)
        blocks.append(sample.block(start, min(start + BLOCK, resamples)))
    return blocks


def _macro(plan: Plan, samples: Sequence[Sample], draws: Array) -> list[Facts]:
    """The facts of the mean over test sets.

    Args:
        plan: Its pairs and recipe are those of every test set.
        samples: One a test set.
        draws: (M, S, R) means of the bootstrap scores.
    """
    scores = _mean([sample.scores for sample in samples])
    replicas = _mean([sample.replica_scores for sample in samples])
    swaps = _swap_counts(plan, samples, scores)
    return [
        facts_of(
            plan,
            m,
            scores=scores[m],
            draws=draws[m],
            swaps=swaps[m],
            exact=(None,) * len(plan.pairs),
            ranges=np.empty(0),
            replica_scores=replicas[m],
        )
        for m in range(len(scores))
    ]


def _swap_counts(plan: Plan, samples: Sequence[Sample], scores: Array) -> Counts:
    """(M, P) how many means of swapped differences reach the mean observed one."""
    counts = np.zeros((len(scores), len(plan.pairs)), dtype=np.int64)
    test = samples[0].swap_test
    if test is None:
        return counts
    seen = [oriented_differences(plan, m, own) for m, own in enumerate(scores)]
    widest = max(samples, key=lambda sample: sample.swap_columns.units)
    for first, last in widest.row_blocks(0, plan.resamples):
        kept = [sample.swapped_sums(first, last) for sample in samples]
        for m, (observed, tolerance) in enumerate(seen):
            runs = (
                sample.swap_differences(m, sums[m])
                for sample, sums in zip(samples, kept, strict=True)
            )
            for parts in zip(*runs, strict=True):  # all cut the pairs alike
                run = parts[0][0]
                draws = _mean([differences for _, differences in parts])
                counts[m, run] += test.count(
                    observed[run], draws, tolerance[run], plan.recipe.alternative
                )
    return counts


def _mean(arrays: Sequence[Array]) -> Array:
    """Element by element, always in this order: `np.mean` may group sums by an array's shape."""
    total = arrays[0]
    for array in arrays[1:]:
        total = total + array
    return total / len(arrays)


def _report(suite: Suite, reports: Sequence[Report], scores: Sequence[Array]) -> SuiteReport:
    *parts, whole = reports
    counted = _wins(suite, scores)
    return SuiteReport(
        signature=suite.signature,
        version=__version__,
        alpha=whole.alpha,
        correction=whole.correction,
        comparisons=suite.size,
        testsets=tuple(map(TestSetResult, suite.names, parts)),
        overall=Overall(suite.average, whole.systems, whole.pairs),
        wins=counted,
        warnings=_cautions(suite),
    )


def _wins(suite: Suite, scores: Sequence[Array]) -> tuple[WinsReport, ...]:
    """Won, lost and tied test sets of every pair and metric; scores are (M, S), one a test set."""
    plan, recipe = suite.whole, suite.whole.recipe
    reports: list[WinsReport] = []
    for m, metric in enumerate(recipe.metrics):
        seen = [oriented_differences(plan, m, own[m]) for own in scores]
        moved = np.array([observed for observed, _ in seen])
        tolerance = np.array([slack for _, slack in seen])
        family = [
            wins(moved[:, p], tolerance[:, p], recipe.alternative) for p in range(len(plan.pairs))
        ]
        signs = _decided(suite, [pair.sign_p for pair in family])
        ranks = _decided(suite, [pair.signed_rank_p for pair in family])
        for p, pair in enumerate(family):
            differences = tuple((metric.sign * moved[:, p]).tolist())
            reports.append(_wins_report(plan, m, p, pair, differences, signs[p], ranks[p]))
    return tuple(reports)


def _decided(suite: Suite, p: Sequence[float]) -> list[SmallTest]:
    recipe = suite.whole.recipe
    adjusted = adjust(np.array(p), recipe.correction).tolist()
    return [
        SmallTest(own, corrected, corrected <= recipe.alpha)
        for own, corrected in zip(p, adjusted, strict=True)
    ]


def _wins_report(
    plan: Plan,
    m: int,
    p: int,
    pair: Wins,
    differences: tuple[float, ...],
    sign_test: SmallTest,
    signed_rank: SmallTest,
) -> WinsReport:
    a, b = plan.pairs[p].tolist()
    return WinsReport(
        a=plan.systems[a],
        b=plan.systems[b],
        metric=plan.recipe.labels[m],
        alternative=plan.recipe.alternative,
        differences=differences,
        won=pair.won,
        lost=pair.lost,
        tied=pair.tied,
        rank_sum=pair.rank_sum,
        sign_test=sign_test,
        signed_rank=signed_rank,
    )


def _cautions(suite: Suite) -> tuple[str, ...]:
    """What a reader of counts over few test sets should know."""
    recipe, testsets = suite.whole.recipe, len(suite.names)
    sides = 2 if recipe.alternative == "two-sided" else 1
    least = sides * 0.5**testsets
    if least <= recipe.alpha:
        return ()
    return (
        f"The smallest p-value that {testsets} test sets can give in the sign test and the "
        f"signed-rank test is {least:g}, above alpha: neither can find a difference here.",
    )
