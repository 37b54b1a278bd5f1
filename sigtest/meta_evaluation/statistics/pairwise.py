"""Pairs of systems that metric and people put in the same order, ties included.

A *contest* is two systems on one segment, or two systems alone where scores are of whole systems.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from sigtest.arrays import Array, Counts, Flags
from sigtest.compiled import compiled
from sigtest.significance.ties import with_ties

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
