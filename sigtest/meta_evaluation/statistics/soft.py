"""Soft pairwise accuracy: how far a metric's certainty about two systems is from people's.

Thompson, Mathur, Deutsch & Khayrallah (2024), "Improving Statistical Significance in Human
Evaluation of Automatic Metrics via Soft Pairwise Accuracy", section 3:
1 - mean of |p_human - p_metric| over pairs of systems, with one-sided p-values.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sigtest.arrays import Array, Counts, Flags
from sigtest.draws.product import ROWS, fixed_point
from sigtest.draws.weights import bootstrap_counts, swap_masks
from sigtest.significance.base import SLACK
from sigtest.significance.montecarlo import p_value
from sigtest.special import ndtr


@dataclass(frozen=True)
class Draws:
    """How p-values and intervals are drawn.

    Attributes:
        seed: Every draw is a function of it.
        stream: Separates the draws of several sets.
        flips: Sign flips behind a p-value.
        resamples: Bootstrap resamples behind an interval.
    """

    seed: int
    stream: int
    flips: int
    resamples: int


@dataclass(frozen=True)
class Soft:
    """Soft pairwise accuracy of one metric.

    Attributes:
        gaps: (P,) |p_human - p_metric| of each pair of systems.
        drawn: (B,) means of the gaps on bootstrap resamples of the segments; none where the
            metric's p-values were given.
    """

    gaps: Array
    drawn: Array

    @property
    def value(self) -> float:
        """1 - mean gap; NaN without any pair."""
        return 1.0 - float(self.gaps.mean()) if len(self.gaps) else float("nan")

    @property
    def around(self) -> Array:
        """(B,) its values on the resamples, moved so that their mean is the value.

        P-values of resamples vary by more than those of samples, which widens the gaps.
        """
        if not len(self.drawn):
            return self.drawn
        moved: Array = np.clip(self.value + float(self.drawn.mean()) - self.drawn, 0.0, 1.0)
        return moved


def soft_accuracies(
    human: Array, metrics: Array, present: Flags, given: list[Array | None], draws: Draws
) -> list[Soft]:
    """Soft pairwise accuracy of every metric, on the segments that it shares with people.

    Args:
        human: (S, n) human scores.
        metrics: (M, S, n) oriented scores.
        present: (M, S, n) cells that people and a metric have.
        given: For each metric (S, S) one-sided p-values that stand in for those from its segment
            scores, or none.
        draws: How to draw.
    """
    judged = ~np.isnan(human)
    known: dict[bytes, tuple[Array, Array]] = {}
    found = []
    for scores, cells, better in zip(metrics, present, given, strict=True):
        shared = judged if better is not None else cells
        pairs = Paired.of(human, shared)
        content = shared.tobytes()
        if content not in known:
            known[content] = pairs.p_values(draws), pairs.resampled(draws)
        p_human, drawn_human = known[content]
        if better is not None:
            p_metric = better[pairs.first, pairs.second]
            usable = ~np.isnan(p_metric)
            found.append(Soft(np.abs(p_human - p_metric)[usable], np.empty(0)))
            continue
        own = Paired.of(scores, shared)
        gaps = np.abs(p_human - own.p_values(draws))
        found.append(Soft(gaps, np.abs(drawn_human - own.resampled(draws)).mean(axis=1)))
    return found


@dataclass(frozen=True)
class Paired:
    """Segment scores of all pairs of systems that share any segment.

    Attributes:
        first: (P,) first system of each pair.
        second: (P,) second system.
        differences: (n, P) score of the first less score of the second, in fixed point; 0 where
            one of them has none.
        columns: (n, S) scores, where every segment has all systems or none; else nothing.
    """

    first: Counts
    second: Counts
    differences: Array
    columns: Array | None

    @classmethod
    def of(cls, scores: Array, present: Flags) -> Paired:
        """From (S, n) scores and which of them count."""
        first, second = np.triu_indices(len(scores), 1)
        both = present[first] & present[second]
        pairs, used = both.any(axis=1), both.any(axis=0)
        first, second, both = first[pairs], second[pairs], both[pairs][:, used]
        known = np.where(present, scores, 0.0)[:, used]
        differences = np.where(both, known[first] - known[second], 0.0)
        return cls(
            first=first.astype(np.int64),
            second=second.astype(np.int64),
            differences=fixed_point(np.ascontiguousarray(differences.T)),
            columns=fixed_point(np.ascontiguousarray(known.T)) if both.all() else None,
        )

    def p_values(self, draws: Draws) -> Array:
        """(P,) one-sided p-values of sign flips, (c + 1) / (flips + 1).

        Approximate randomization of means of segment scores: how likely so large a sum of
        differences is if their signs are those of fair coins.
        """
        least = self.differences.sum(axis=0)
        least -= SLACK * np.abs(self.differences).sum(axis=0)
        counts: Counts = np.zeros(len(least), dtype=np.int64)
        n = len(self.differences)
        for start in range(0, draws.flips, ROWS):
            stop = min(start + ROWS, draws.flips)
            kept = swap_masks(draws.seed, start, stop, n, draws.stream).astype(np.float64)
            # with T the sum, flips give 2 kept - T, which reaches T where kept does
            counts += np.count_nonzero(self._sums(kept) >= least, axis=0)
        return p_value(counts, draws.flips)

    def _sums(self, weights: Array) -> Array:
        """(R, P) weighted sums of differences; one column a system is enough where none miss."""
        if self.columns is None:
            return weights @ self.differences
        sums = weights @ self.columns
        return sums[:, self.first] - sums[:, self.second]

    def resampled(self, draws: Draws) -> Array:
        """(B, P) p-values on bootstrap resamples of the segments.

        They come from the normal limit of the flips, with mean 0 and the sum of squares as
        variance: both are sums over segments, so that a product serves all resamples.
        """
        squares = fixed_point(self.differences**2)
        drawn = np.empty((draws.resamples, len(self.first)))
        for start in range(0, draws.resamples, ROWS):
            stop = min(start + ROWS, draws.resamples)
            counts = bootstrap_counts(draws.seed, start, stop, len(squares), draws.stream)
            weights = counts.astype(np.float64)
            with np.errstate(divide="ignore", invalid="ignore"):
                z = self._sums(weights) / np.sqrt(weights @ squares)
            drawn[start:stop] = ndtr(-np.nan_to_num(z))
        return drawn
