"""From a suite to its report: every test set by itself, and all of them together.

The macro-average is one more comparison whose pseudo-statistics are the means of the test sets'
pseudo-statistics: resample r of the whole is resample r of every test set, drawn independently.
That is a bootstrap, and a randomization, stratified by test set.

The steps are those of `engine`: `SuiteSample.block` draws some resamples for every test set and for
the whole, `reduce_suite` turns all blocks into the report, `compare_suite` is everything in a row.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from sigtest.arrays import Array, Counts
from sigtest.comparison.suite import Suite
from sigtest.comparison.suite_plan import SuitePlan
from sigtest.decide.facts import Facts, facts_of, gather
from sigtest.decide.suite_summary import summarise_suite
from sigtest.draws.product import fixed_point
from sigtest.draws.sample import Block, Sample, oriented_differences
from sigtest.draws.units import by_replica
from sigtest.engine import Progress, draw_all, measure_all
from sigtest.report.suite_report import SuiteReport


@dataclass(frozen=True)
class SuiteBlock:
    """What some resamples of a suite say; blocks of one suite can be joined.

    Attributes:
        start: First resample.
        stop: First resample of the next block.
        parts: One block a test set.
        whole: Of all test sets together. Where these are averaged, its scores are means of those
            in `parts` and not kept (R is 0), and its swaps count means of swapped differences.
    """

    start: int
    stop: int
    parts: tuple[Block, ...]
    whole: Block


class SuiteSample:
    """The statistics of all systems on all test sets, ready to be resampled.

    Args:
        plan: What is compared.
        tables: For each test set, one (S, m n, k) array a metric, from `measure`.
    """

    def __init__(self, plan: SuitePlan, tables: Sequence[Sequence[Array]]) -> None:
        self.plan = plan
        self.parts = [Sample(part, own) for part, own in zip(plan.plans, tables, strict=True)]
        self.pooled = Sample(plan.whole, _concatenated(plan, tables)) if plan.pooled else None
        self.scores = _mean([part.scores for part in self.parts])  # (M, S)

    def block(self, start: int, stop: int) -> SuiteBlock:
        """Draw resamples `start` to `stop` for every test set and for all together."""
        parts = tuple(part.block(start, stop) for part in self.parts)
        if self.pooled is not None:
            whole = self.pooled.block(start, stop)
        else:
            scores = np.empty((*self.scores.shape, 0))
            whole = replace(parts[0], scores=scores, swaps=self._swap_counts(start, stop))
        return SuiteBlock(start, stop, parts, whole)

    def _swap_counts(self, start: int, stop: int) -> Counts:
        """(M, P) how many means of swapped differences reach the mean observed one."""
        plan = self.plan.whole
        counts = np.zeros((len(self.scores), len(plan.pairs)), dtype=np.int64)
        test = self.parts[0].swap_test
        if test is None:
            return counts
        seen = [oriented_differences(plan, m, own) for m, own in enumerate(self.scores)]
        widest = max(self.parts, key=lambda part: part.swap_columns.units)
        for first, last in widest.row_blocks(start, stop):
            kept = [part.swapped_sums(first, last) for part in self.parts]
            for m, (observed, tolerance) in enumerate(seen):
                runs = (
                    part.swap_differences(m, sums[m])
                    for part, sums in zip(self.parts, kept, strict=True)
                )
                for drawn in zip(*runs, strict=True):  # all cut the pairs alike
                    run = drawn[0][0]
                    draws = _mean([differences for _, differences in drawn])
                    counts[m, run] += test.count(
                        observed[run], draws, tolerance[run], plan.recipe.alternative
                    )
        return counts


def reduce_suite(sample: SuiteSample, blocks: Sequence[SuiteBlock]) -> SuiteReport:
    """The report, from blocks that together hold every resample once."""
    ordered = sorted(blocks, key=lambda block: block.start)
    facts = [
        gather(part, [block.parts[t] for block in ordered]) for t, part in enumerate(sample.parts)
    ]
    if sample.pooled is not None:
        facts.append(gather(sample.pooled, [block.whole for block in ordered]))
    else:
        facts.append(_macro(sample, ordered))
    return summarise_suite(sample.plan, facts)


def compare_suite(suite: Suite, progress: Progress | None = None) -> SuiteReport:
    """Compute a suite in this process.

    Args:
        suite: What to compare and how.
        progress: Called with phase (`statistics`, `resampling`, `report`), done and total.

    Returns:
        The report, a function of the suite and the version alone: bit for bit the one that the
        service gives.
    """
    say = progress or (lambda phase, done, total: None)
    sample = SuiteSample(suite.plan, measure_all(suite.comparisons, say))
    blocks = draw_all(sample.block, suite.plan.resamples, say)
    say("report", 0, 1)
    report = reduce_suite(sample, blocks)
    say("report", 1, 1)
    return report


def _concatenated(plan: SuitePlan, tables: Sequence[Sequence[Array]]) -> list[Array]:
    """The statistics of all test sets as one, replica by replica, in fixed point again."""
    whole = []
    for m in range(len(plan.whole.recipe.metrics)):
        parts = [by_replica(part, own[m]) for part, own in zip(plan.plans, tables, strict=True)]
        joined = np.concatenate(parts, axis=2)
        rows = joined.reshape(len(joined), -1, joined.shape[3])
        whole.append(np.stack([fixed_point(row) for row in rows]))
    return whole


def _macro(sample: SuiteSample, blocks: Sequence[SuiteBlock]) -> list[Facts]:
    """The facts of the mean over test sets, from blocks in order."""
    plan = sample.plan.whole
    means = [_mean([part.scores for part in block.parts]) for block in blocks]
    draws = np.concatenate(means, axis=2)
    swaps = np.sum([block.whole.swaps for block in blocks], axis=0)
    replicas = _mean([part.replica_scores for part in sample.parts])
    return [
        facts_of(
            plan,
            m,
            scores=sample.scores[m],
            draws=draws[m],
            swaps=swaps[m],
            exact=(None,) * len(plan.pairs),
            ranges=np.empty(0),
            replica_scores=replicas[m],
        )
        for m in range(len(plan.recipe.metrics))
    ]


def _mean(arrays: Sequence[Array]) -> Array:
    """Element by element, always in this order: `np.mean` may group sums by an array's shape."""
    total = arrays[0]
    for array in arrays[1:]:
        total = total + array
    return total / len(arrays)
