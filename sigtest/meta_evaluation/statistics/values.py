"""The statistics of metrics on the cells they share: correlations, and shares of ordered pairs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from sigtest.arrays import Array, Counts, Flags
from sigtest.meta_evaluation.statistics.cells import Cells
from sigtest.meta_evaluation.statistics.correlation import CORRELATIONS, by_group
from sigtest.meta_evaluation.statistics.pairwise import (
    accuracy,
    accuracy_within,
    calibrate,
    called_right,
)

Pairs = Sequence[tuple[int, int]]


@dataclass(frozen=True)
class Shares:
    """A statistic as the weighted mean of what it is on each unit: (sum of parts) / (weights).

    Attributes:
        unit: What a unit is: `segment`, `system`, or `pair` of systems on a segment.
        parts: (M, U) values times weights; 0 where a unit says nothing of a metric.
        weights: (M, U) weights, 0 likewise.
        segments: (U,) number of each unit's segment among those with cells; the unit's own number
            where it is no part of a segment.
    """

    unit: str
    parts: Array
    weights: Array
    segments: Counts

    @property
    def values(self) -> Array:
        """(M,) the means; NaN without any unit."""
        total = self.weights.sum(axis=1)
        with np.errstate(invalid="ignore"):
            return self.parts.sum(axis=1) / total


@dataclass(frozen=True)
class Values:
    """One statistic of some metrics on the cells they share.

    Attributes:
        values: (M,) the statistic; NaN where it is not defined.
        n: (M,) how many cells, pairs of systems, or groups of cells it is over.
        shares: Its parts, where it is a mean over units; none where it is one correlation.
        epsilons: (M,) largest gap that counts as a tie, for `accuracy_ties` only.
    """

    values: Array
    n: Counts
    shares: Shares | None = None
    epsilons: Array | None = None

    def together(self, pairs: Pairs) -> tuple[Values, Pairs]:
        """Both metrics of each pair over the units that say something of both.

        Returns:
            A row for each metric and each choice of units, and where the pairs stand in these.
        """
        known = None if self.shares is None else self.shares.weights > 0
        if self.shares is None or known is None or (known == known[:1]).all():
            return self, pairs
        rows: dict[tuple[int, bytes], int] = {}
        numbers: list[int] = []
        masks: list[Flags] = []
        places: list[tuple[int, int]] = []
        for pair in pairs:
            both: Flags = np.logical_and(known[pair[0]], known[pair[1]])
            for m in pair:
                if rows.setdefault((m, both.tobytes()), len(rows)) == len(numbers):
                    numbers.append(m)
                    masks.append(both)
            places.append((rows[pair[0], both.tobytes()], rows[pair[1], both.tobytes()]))
        parts, weights = (
            table[numbers] * masks for table in (self.shares.parts, self.shares.weights)
        )
        shares = replace(self.shares, parts=parts, weights=weights)
        return Values(shares.values, np.count_nonzero(shares.weights, axis=1), shares), places


def evaluate(statistic: str, cells: Cells, group: str) -> Values:
    """One statistic of all metrics of some cells.

    Args:
        statistic: Of `parse.STATISTICS`, but for `soft_accuracy`.
        cells: Scores.
        group: `none`, `item` or `system`.
    """
    if statistic == "accuracy_ties":
        return _calibrated(cells)
    if statistic == "accuracy" and group != "system":
        parts = _contests(cells, np.zeros(len(cells.metrics)))
        n = np.full(len(parts.parts), parts.parts.shape[1])
        exact = [accuracy(row > 0, cells.contests) for row in parts.parts]  # of whole numbers
        return Values(np.array(exact), n, parts)
    if group == "none":
        correlate = CORRELATIONS[statistic]
        found = [
            np.nan if flat else correlate(scores, cells.flat_human)
            for scores, flat in zip(cells.flat_metrics, cells.constant, strict=True)
        ]
        return Values(np.array(found), np.full(len(found), cells.size))
    shares = _grouped(statistic, cells, group)
    return Values(shares.values, np.count_nonzero(shares.weights, axis=1), shares)


def _calibrated(cells: Cells) -> Values:
    """Accuracy with the ties that suit each metric best."""
    contests = cells.contests
    human = contests.gaps(cells.human)
    if not len(human):
        nothing = np.full(len(cells.metrics), np.nan)
        return Values(nothing, np.zeros(len(nothing), dtype=np.int64), None, nothing)
    found = [calibrate(human, contests.gaps(scores), contests) for scores in cells.metrics]
    epsilons = np.array([best.epsilon for best in found])
    values = np.array([best.accuracy for best in found])
    shares = _contests(cells, epsilons)
    return Values(values, np.full(len(values), len(human)), shares, epsilons)


def _contests(cells: Cells, epsilons: Array) -> Shares:
    """Which pairs of systems each metric orders as people do."""
    contests = cells.contests
    human = contests.gaps(cells.human)
    weights = contests.weights.astype(np.float64)
    correct = [
        called_right(human, contests.gaps(scores), epsilon)
        for scores, epsilon in zip(cells.metrics, epsilons, strict=True)
    ]
    columns = np.flatnonzero(cells.present.any(axis=0))
    return Shares(
        unit="pair",
        parts=np.array(correct) * weights,
        weights=np.broadcast_to(weights, (len(correct), len(weights))),
        segments=np.searchsorted(columns, contests.segment).astype(np.int64),
    )


def _grouped(statistic: str, cells: Cells, group: str) -> Shares:
    """A correlation, or an accuracy, in each segment or each system."""
    human, metrics, starts = cells.grouped(group)
    if statistic == "accuracy":
        rows = [
            [
                accuracy_within(human[first:last], scores[first:last])
                for first, last in pairwise(starts)
            ]
            for scores in metrics
        ]
        found = np.array(rows)
    else:
        found = np.array([by_group(statistic, scores, human, starts) for scores in metrics])
    known = ~np.isnan(found)
    return Shares(
        unit="segment" if group == "item" else "system",
        parts=np.where(known, found, 0.0),
        weights=known.astype(np.float64),
        segments=np.arange(found.shape[1], dtype=np.int64),
    )
