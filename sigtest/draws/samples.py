"""The statistics of a whole comparison, on one test set or on several, in blocks of resamples.

The macro-average of several test sets is one more comparison whose pseudo-statistics are the means
of the test sets' pseudo-statistics: resample r of the whole is resample r of every test set, drawn
independently. That is a bootstrap, and a randomization, stratified by test set.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from sigtest.arrays import Array, Counts
from sigtest.cached import cached_property
from sigtest.comparison.plan import Plan
from sigtest.draws.product import fixed_point
from sigtest.draws.sample import Block, Sample, oriented_differences
from sigtest.draws.studentised import Studentised, count_studentised
from sigtest.draws.units import by_replica

Blocks = tuple[Block, ...]  # of the same resamples: one a part, and of several the whole's


class Samples:
    """The statistics of all systems on all test sets, ready to be resampled.

    Args:
        plan: What is compared.
        tables: For each part, one (S, m n, k) array a metric, from `measure`.
    """

    def __init__(self, plan: Plan, tables: Sequence[Sequence[Array]]) -> None:
        self.plan = plan
        self.parts = [Sample(part, own) for part, own in zip(plan.parts, tables, strict=True)]
        pooled = plan.pooled and bool(plan.names)
        self.pooled = Sample(plan.whole, _concatenated(plan, tables)) if pooled else None
        self.averaged = bool(plan.names) and not pooled

    def block(self, start: int, stop: int) -> Blocks:
        """Draw resamples `start` to `stop` for every test set and for all together.

        Where test sets are averaged, the whole's scores follow from those of the parts and are not
        kept (R is 0), and its counts are of means of differences.
        """
        blocks = tuple(part.block(start, stop) for part in self.parts)
        if self.pooled is not None:
            return (*blocks, self.pooled.block(start, stop))
        if self.averaged:
            nothing = np.empty((*blocks[0].scores.shape[:2], 0))
            whole = replace(
                blocks[0],
                scores=nothing,
                swaps=self._mean_swaps(start, stop),
                studentised=count_studentised(self.studentised, self.plan.recipe, start, stop),
            )
            return (*blocks, whole)
        return blocks

    @cached_property
    def studentised(self) -> tuple[Studentised, ...]:
        """Means over test sets in standard errors, by metric; none where nothing asks."""
        each = zip(*(part.moments for part in self.parts), strict=True)
        return tuple(Studentised(moments, self.plan.pairs) for moments in each)

    @property
    def mean_scores(self) -> Array:
        """(M, S) means over test sets of the observed scores."""
        return mean([part.scores for part in self.parts])

    def _mean_swaps(self, start: int, stop: int) -> Counts:
        """(M, P) how many means of swapped differences reach the mean observed one."""
        scores, whole = self.mean_scores, self.plan.whole
        counts = np.zeros((len(scores), len(whole.pairs)), dtype=np.int64)
        test = self.parts[0].swap_test
        if test is None:
            return counts
        seen = [oriented_differences(whole, m, own) for m, own in enumerate(scores)]
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
                    draws = mean([differences for _, differences in drawn])
                    counts[m, run] += test.count(
                        observed[run], draws, tolerance[run], whole.recipe.alternative
                    )
        return counts


def mean(arrays: Sequence[Array]) -> Array:
    """Element by element, always in this order: `np.mean` may group sums by an array's shape."""
    total = arrays[0]
    for array in arrays[1:]:
        total = total + array
    return total / len(arrays)


def _concatenated(plan: Plan, tables: Sequence[Sequence[Array]]) -> list[Array]:
    """The statistics of all test sets as one, replica by replica, in fixed point again."""
    whole = []
    for m in range(len(plan.recipe.metrics)):
        parts = [by_replica(part, own[m]) for part, own in zip(plan.parts, tables, strict=True)]
        joined = np.concatenate(parts, axis=2)
        rows = joined.reshape(len(joined), -1, joined.shape[3])
        whole.append(np.stack([fixed_point(row) for row in rows]))
    return whole
