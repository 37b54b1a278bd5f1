"""The cells that people and metrics both score, and the statistics of metrics on them.

A *contest* is two systems on one segment, or two systems alone where scores are of whole systems.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from sigtest.arrays import Array, Counts, Flags
from sigtest.cached import cached_property
from sigtest.compiled import compiled
from sigtest.meta_evaluation.question import MetricChoices
from sigtest.meta_evaluation.scored import ScoredSet
from sigtest.meta_evaluation.statistics.correlation import (
    CORRELATIONS,
    by_group,
    is_constant,
    pearson,
)
from sigtest.significance.ties import with_ties

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


LARGEST_WEIGHT = 2**52


@dataclass(frozen=True)
class Contests:
    """All contests that count, segment after segment; C of them.

    Attributes:
        a: (C,) first system.
        b: (C,) second system.
        segment: (C,) number of the segment, from 0.
        weights: (C,) whole numbers in proportion to 1 / contests of the segment, so that every
            segment counts alike.
    """

    a: Counts
    b: Counts
    segment: Counts
    weights: Counts

    @classmethod
    def of(cls, present: Flags) -> Contests:
        """The contests of the cells that are present.

        Args:
            present: (S, n) whether people and every metric of interest have a score.
        """
        first, second = np.triu_indices(len(present), 1)
        both = present[first] & present[second]
        segment, pair = np.nonzero(both.T)  # segment after segment
        sizes = np.bincount(segment, minlength=both.shape[1])
        return cls(
            a=first[pair].astype(np.int64),
            b=second[pair].astype(np.int64),
            segment=segment.astype(np.int64),
            weights=_weights(sizes)[segment],
        )

    def gaps(self, scores: Array) -> Array:
        """(C,) score of a minus score of b, from (S, n) scores; gaps of one size are equal."""
        first, second = scores[self.a, self.segment], scores[self.b, self.segment]
        gaps = first - second
        largest = max(np.abs(own).max(initial=0.0) for own in (first, second))
        return np.copysign(with_ties(np.abs(gaps), float(largest)), gaps)


@dataclass(frozen=True)
class Calibrated:
    """Accuracy after small gaps of the metric are called ties.

    Attributes:
        accuracy: Mean over segments of the share of contests that are called right.
        epsilon: Largest gap that counts as a tie.
    """

    accuracy: float
    epsilon: float


def accuracy(correct: Flags, contests: Contests) -> float:
    """Mean over segments of the share of correct contests; NaN without any."""
    if not len(correct):
        return math.nan
    return int(contests.weights[correct].sum()) / int(contests.weights.sum())


def called_right(human: Array, metric: Array, epsilon: float = 0.0) -> Flags:
    """(C,) whether gaps have the same sign, gaps of the metric up to `epsilon` being ties."""
    seen = np.where(np.abs(metric) <= epsilon, 0.0, np.sign(metric))
    return np.sign(human) == seen


def calibrate(human: Array, metric: Array, contests: Contests) -> Calibrated:
    """The epsilon that makes the accuracy greatest, the smallest where several do.

    Every gap of the metric is tried, in whole numbers: moving epsilon over a gap makes its
    contests ties, which is right where people see a tie and was right before where the signs
    agreed. Equal gaps move together.

    Args:
        human: (C,) gaps of the human scores.
        metric: (C,) gaps of the metric.
        contests: Says how much each counts.

    Deutsch, Foster & Freitag (2023), "Ties Matter: Meta-Evaluating Modern Metrics with Pairwise
    Accuracy and Tie Calibration", sections 4 and 5.
    """
    sizes = np.abs(metric)
    agree = called_right(human, metric)
    change = np.where(sizes > 0, (human == 0).astype(np.int64) - agree, 0) * contests.weights
    order = np.argsort(sizes, kind="stable")
    ordered = sizes[order]
    gained = np.cumsum(change[order])
    closes = np.append(ordered[1:] != ordered[:-1], True)  # the last of equal gaps
    reached = np.concatenate([[0], gained[closes]])
    epsilons = np.concatenate([[0.0], ordered[closes]])
    best = int(np.argmax(reached))
    right = int(contests.weights[agree].sum()) + int(reached[best])
    return Calibrated(right / int(contests.weights.sum()), float(epsilons[best]))


def accuracy_within(human: Array, metric: Array) -> float:
    """Share of all pairs of places in two vectors that are ordered alike; NaN without any."""
    n = len(human)
    pairs = n * (n - 1) // 2
    return _ordered_alike(human, metric) / pairs if pairs else math.nan


@compiled
def _ordered_alike(human: Array, metric: Array) -> int:
    count = 0
    for i in range(len(human)):
        for j in range(i):
            count += np.sign(human[i] - human[j]) == np.sign(metric[i] - metric[j])
    return count


def _weights(sizes: Counts) -> Counts:
    """(n,) whole numbers in proportion to 1 / sizes; 0 where a segment has no contest.

    Their common multiple grows with the variety of sizes; where sums would no longer be exact
    it is cut to the largest power of two that does, which changes an accuracy by less than 1e-12.
    """
    known = [int(size) for size in np.unique(sizes) if size]
    common = math.lcm(*known) if known else 0
    most = LARGEST_WEIGHT // max(1, int(sizes.sum()))
    common = common if common <= most else 1 << (most.bit_length() - 1)
    weights = np.zeros(len(sizes), dtype=np.int64)
    some = sizes > 0
    weights[some] = [round(common / int(size)) for size in sizes[some]]
    return weights


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


class ScoreTable:
    """All scores of a set at one level, ties made equal, and the cells that its metrics share.

    Args:
        own: The set.
        choices: Say the level, and whether metrics that correlate negatively are turned round.
    """

    def __init__(self, own: ScoredSet, choices: MetricChoices) -> None:
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
