"""The cells of a set that people and metrics both score: a system, or a system on a segment."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sigtest.arrays import Array, Counts, Flags
from sigtest.cached import cached_property
from sigtest.meta_evaluation.asked import Choices
from sigtest.meta_evaluation.scored import ScoredSet
from sigtest.meta_evaluation.statistics.correlation import is_constant, pearson
from sigtest.meta_evaluation.statistics.pairwise import Contests
from sigtest.significance.ties import with_ties


@dataclass(frozen=True)
class Cells:
    """Scores on the cells that people and all metrics of interest have; N of them.

    Scores of whole systems are a table with one segment.

    Attributes:
        human: (S, n) human scores.
        metrics: (M, S, n) oriented scores.
        present: (S, n) which cells count.
    """

    human: Array
    metrics: Array
    present: Flags

    @cached_property
    def size(self) -> int:
        """How many cells count, N."""
        return int(np.count_nonzero(self.present))

    @cached_property
    def flat_human(self) -> Array:
        """(N,) human scores, system after system."""
        return self.human[self.present]

    @cached_property
    def flat_metrics(self) -> Array:
        """(M, N) scores of the metrics, system after system."""
        return self.metrics[:, self.present]

    @cached_property
    def segments(self) -> Counts:
        """(N,) number of each cell's segment among those with cells, system after system."""
        columns = np.nonzero(self.present)[1]
        return np.unique(columns, return_inverse=True)[1].astype(np.int64)

    @property
    def segment_count(self) -> int:
        """Segments with cells."""
        return int(np.count_nonzero(self.present.any(axis=0)))

    @cached_property
    def contests(self) -> Contests:
        """Pairs of systems on the same segment."""
        return Contests.of(self.present)

    @cached_property
    def constant(self) -> Flags:
        """(M,) whether a metric, or people, give every cell the same score."""
        flat = [is_constant(self.flat_human) or is_constant(row) for row in self.flat_metrics]
        return np.array(flat, dtype=np.bool_)

    def grouped(self, by: str) -> tuple[Array, Array, Counts]:
        """Scores group after group.

        Args:
            by: `item` for segments, `system` for systems.

        Returns:
            (N,) human scores, (M, N) scores of the metrics, (G + 1,) starts of the groups.
        """
        if by == "system":
            sizes = np.count_nonzero(self.present, axis=1)
            human, metrics = self.flat_human, self.flat_metrics
        else:
            sizes = np.count_nonzero(self.present, axis=0)
            human = self.human.T[self.present.T]
            metrics = np.ascontiguousarray(self.metrics.swapaxes(1, 2)[:, self.present.T])
        starts = np.concatenate([[0], np.cumsum(sizes[sizes > 0])]).astype(np.int64)
        return human, metrics, starts


class Table:
    """All scores of a set at one level, ties made equal, and the cells that its metrics share.

    Args:
        own: The set.
        choices: Say the level, and whether metrics that correlate negatively are turned round.
    """

    def __init__(self, own: ScoredSet, choices: Choices) -> None:
        self.human = _ties_equal(own.human_scores(choices.level))
        self.metrics = np.array([_ties_equal(row) for row in own.metric_scores(choices.level)])
        self.present: Flags = ~np.isnan(self.human) & ~np.isnan(self.metrics)
        if choices.absolute:
            for m, scores in enumerate(self.metrics):
                here = self.present[m]
                if pearson(scores[here], self.human[here]) < 0:
                    self.metrics[m] = -scores

    def cells(self, metrics: Sequence[int]) -> Cells:
        """The cells that people and all of some metrics have."""
        chosen = list(metrics)
        present: Flags = np.logical_and.reduce(self.present[chosen])
        return Cells(self.human, self.metrics[chosen], present)

    def shared(self) -> list[list[tuple[int, int]]]:
        """Pairs of metrics, those that have the same cells together."""
        found: dict[bytes, list[tuple[int, int]]] = {}
        count = len(self.metrics)
        for a in range(count):
            for b in range(a + 1, count):
                present = self.present[a] & self.present[b]
                found.setdefault(present.tobytes(), []).append((a, b))
        return list(found.values())


def _ties_equal(scores: Array) -> Array:
    """(S, n) scores, those equal that only rounding tells apart."""
    known = ~np.isnan(scores)
    made = scores.copy()
    made[known] = with_ties(scores[known], float(np.abs(scores[known]).max(initial=0.0)))
    return made
