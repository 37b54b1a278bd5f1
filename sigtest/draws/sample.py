"""The statistics of a comparison's systems, and resamples of them in blocks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np

from sigtest.arrays import Array, Counts, Weights
from sigtest.cached import cached_property
from sigtest.comparison.plan import Part
from sigtest.compiled import compiled
from sigtest.draws.permutations import permuted_sums
from sigtest.draws.product import DistinctColumns, levelled, relative
from sigtest.draws.studentised import Moments, Studentised, count_studentised
from sigtest.draws.units import (
    evenness,
    replica_scores,
    segments_of_units,
    units_of_draws,
    units_of_swaps,
)
from sigtest.draws.weights import bootstrap_counts, stratified_counts, swap_masks
from sigtest.significance import ResamplingTest, swap_test
from sigtest.significance.base import slack
from sigtest.significance.convolution import convolve_swaps, surely_on_grid
from sigtest.significance.exact import ExactP, enumerate_swaps

TOGETHER_BYTES = 1 << 21  # of swapped totals at a time: fewer calls, and still near the processor


@dataclass(frozen=True)
class Block:
    """What some resamples of a comparison say; blocks of one comparison can be joined.

    Attributes:
        start: First resample.
        stop: First resample of the next block.
        scores: (M, S, R) bootstrap scores of every system.
        swaps: (M, P) swapped differences at least as extreme as the observed one; M is 0 where
            no test asks for swaps.
        studentised: (M, P) studentised differences at least as extreme as the observed one; M is 0
            where no test asks.
        ranges: (M, R) best minus worst score after permuting all systems' labels; R is 0 unless
            the correction is `tukey`.
    """

    start: int
    stop: int
    scores: Array
    swaps: Counts
    ranges: Array
    studentised: Counts


class Sample:
    """The statistics of all systems of a comparison, ready to be resampled.

    Args:
        part: What is compared.
        tables: One (S, m n, k) array a metric, from `measure`.
    """

    def __init__(self, part: Part, tables: Sequence[Array]) -> None:
        self.part = part
        self.metrics = part.recipe.metrics
        self.swap_tables = [units_of_swaps(part, table) for table in tables]
        self.tables = [units_of_draws(part, table) for table in self.swap_tables]
        self.units = self.tables[0].shape[1]
        self.columns = DistinctColumns(self.tables)
        self.swap_columns = DistinctColumns([relative(table) for table in self.swap_tables])
        self.totals = self.columns.totals
        scores = [m.score_columns(t)[:, 0] for m, t in zip(self.metrics, self.totals, strict=True)]
        self.scores: Array = np.array(scores)  # (M, S)
        self._rooms: dict[int, Weights] = {}

    @cached_property
    def needs_swaps(self) -> tuple[bool, ...]:
        """(M,) whether swaps are to be drawn: not where every pair is sure to be convolved."""
        if self.part.recipe.exact == "never":
            return tuple(True for _ in self.metrics)
        return tuple(
            not surely_on_grid(metric, table)
            for metric, table in zip(self.metrics, self.swap_tables, strict=True)
        )

    @cached_property
    def replica_scores(self) -> Array:
        """(M, S, m) score of each replica."""
        pairs = zip(self.metrics, self.swap_tables, strict=True)
        return np.array([replica_scores(self.part, metric, table) for metric, table in pairs])

    @cached_property
    def evenness(self) -> Array:
        """(M, S) how evenly units weigh."""
        pairs = zip(self.metrics, self.tables, strict=True)
        return np.array([evenness(self.part, metric, table) for metric, table in pairs])

    @cached_property
    def moments(self) -> tuple[Moments, ...]:
        """What standard errors of resamples follow from, by metric; none where nothing asks."""
        tables = self.tables if self.part.recipe.studentised else []
        none = np.zeros(self.units, dtype=np.int64)
        strata = self.part.strata if self.part.labels is not None else none
        pairs = zip(self.metrics, tables, strict=False)
        return tuple(Moments(*own, strata, self._counts) for own in pairs)

    @cached_property
    def studentised(self) -> tuple[Studentised, ...]:
        """Scores and differences in standard errors, by metric; none where nothing asks."""
        return tuple(Studentised([own], self.part.pairs) for own in self.moments)

    @cached_property
    def swap_test(self) -> ResamplingTest | None:
        """The test of the recipe that looks at swaps, if any."""
        return swap_test(self.part.recipe.tests)

    def block(self, start: int, stop: int) -> Block:
        """Draw resamples `start` to `stop` for every system, metric and pair."""
        scores = np.empty((len(self.metrics), len(self.part.systems), stop - start))
        pairs = len(self.part.pairs) if self.swap_test else 0
        swaps = np.zeros((len(self.metrics), pairs), dtype=np.int64)
        for first, last in self.row_blocks(start, stop):
            here = slice(first - start, last - start)
            scores[:, :, here] = self.bootstrap_scores(first, last)
            if self.swap_test and any(self.needs_swaps):
                for m, kept in enumerate(self.swapped_sums(first, last)):
                    if not self.needs_swaps[m]:
                        continue
                    swaps[m] += self.count_swaps(m, kept)
        studentised = count_studentised(self.studentised, self.part.recipe, start, stop)
        return Block(start, stop, scores, swaps, self.ranges(start, stop), studentised)

    def ranges(self, start: int, stop: int) -> Array:
        """(M, R) ranges of the scores of permuted systems, for Tukey's correction only."""
        if self.part.recipe.correction != "tukey":
            return np.empty((len(self.metrics), 0))
        ranges = np.empty((len(self.metrics), stop - start))
        seed, stream = self.part.recipe.seed, self.part.stream
        for m, (metric, table) in enumerate(zip(self.metrics, self.swap_tables, strict=True)):
            rows = np.ascontiguousarray(table.swapaxes(0, 1))
            for first, last in self.row_blocks(start, stop):
                scores = metric.score_columns(permuted_sums(seed, first, last, rows, stream))
                ranges[m, first - start : last - start] = np.ptp(scores, axis=0)
        return ranges

    def row_blocks(self, start: int, stop: int) -> Iterator[tuple[int, int]]:
        """Cut resamples into runs whose weights, of either kind, are not too large."""
        return self.swap_columns.row_blocks(start, stop)

    def bootstrap_scores(self, first: int, last: int) -> Array:
        """(M, S, R) scores of every system on bootstrap resamples `first` to `last`."""
        two = None if self.part.labels is not None else self.columns.two
        if two is None:
            drawn = self.columns.sums(self._counts(first, last))
        else:
            seed, stream = self.part.recipe.seed, self.part.stream
            drawn = self.columns.placed(two.drawn(seed, first, last, stream))
        return np.array([m.score_columns(d) for m, d in zip(self.metrics, drawn, strict=True)])

    def swapped_sums(self, first: int, last: int) -> list[Array]:
        """Sums of the units that keep their labels in swaps `first` to `last`: (k, S, R) each.

        Of several systems, whole numbers are told less those of the first (see `relative`).
        """
        seed, stream = self.part.recipe.seed, self.part.stream
        two = self.swap_columns.two
        if two is not None:
            return self.swap_columns.placed(two.kept(seed, first, last, stream))
        units = self.part.replicas * self.units
        room = self._room(last - first, units)
        return self.swap_columns.sums(swap_masks(seed, first, last, units, stream, room))

    def _counts(self, first: int, last: int) -> Weights:
        """How often each unit is drawn in bootstrap resamples `first` to `last`."""
        seed, stream = self.part.recipe.seed, self.part.stream
        if self.part.labels is None:
            room = self._room(last - first, self.units)
            return bootstrap_counts(seed, first, last, self.units, stream, room)
        return stratified_counts(seed, first, last, self.part.strata, max(1, stream))

    def _room(self, rows: int, units: int) -> Weights:
        """Where weights are drawn, always the same: new memory takes as long as the drawing."""
        room = self._rooms.get(units)
        if room is None or len(room) < rows:
            room = self._rooms[units] = np.empty((rows, units), dtype=np.float32)
        return room

    def swap_differences(self, m: int, kept: Array) -> Iterator[tuple[slice, Array]]:
        """Oriented differences of all pairs after swaps, for a run of pairs with the same a.

        With P the sums of the units that keep their labels and T all sums, the swapped totals of
        ANY pair are P_a + (T_b - P_b) and P_b + (T_a - P_a): one product serves every pair. Only
        how far P_a and P_b differ matters.

        Args:
            m: The metric.
            kept: (k, S, R) from `swapped_sums`.

        Yields:
            Which pairs, and their (pairs, R) differences.
        """
        metric = self.metrics[m]
        width, _, rows = kept.shape
        totals = np.ascontiguousarray(self.totals[m][:, :, 0])
        most = max(1, TOGETHER_BYTES // (16 * width * rows))
        pairs = self.part.pairs
        for run in self._runs(most):
            a, b = int(pairs[run.start, 0]), np.ascontiguousarray(pairs[run, 1])
            x = np.empty((width, len(b), rows))
            y = np.empty((width, len(b), rows))
            exchange(kept, totals, a, b, x, y)
            yield run, oriented(metric.score_columns(x), metric.score_columns(y), metric.sign)

    def _runs(self, most: int) -> Iterator[slice]:
        """Cut the pairs into runs that share their first system, each at most so long."""
        first = 0
        for _, run in groupby(self.part.pairs[:, 0].tolist()):
            end = first + len(list(run))
            for start in range(first, end, most):
                yield slice(start, min(start + most, end))
            first = end

    def count_swaps(self, m: int, kept: Array) -> Counts:
        """(P,) how many swapped differences reach the observed one; `kept` from `swapped_sums`."""
        counts = np.zeros(len(self.part.pairs), dtype=np.int64)
        if self.swap_test is None:
            return counts
        observed, tolerance = self.observed[m]
        alternative = self.part.recipe.alternative
        for run, draws in self.swap_differences(m, kept):
            counts[run] = self.swap_test.count(observed[run], draws, tolerance[run], alternative)
        return counts

    @cached_property
    def observed(self) -> list[tuple[Array, Array]]:
        """For each metric (P,) oriented observed differences, and the slack of each."""
        return [oriented_differences(self.part, m, scores) for m, scores in enumerate(self.scores)]


def exact_p(part: Part, m: int, a: Array, b: Array) -> ExactP | None:
    """The exact randomization p-value of a pair, where the recipe wants it and there is one.

    Args:
        part: What is compared.
        m: The metric.
        a: (n, k) statistics of the first system's units of exchange.
        b: (n, k) statistics of the second.
    """
    recipe = part.recipe
    if recipe.exact == "never" or not swap_test(recipe.tests):
        return None
    metric = recipe.metrics[m]
    a = levelled(a, b, segments_of_units(part))
    convolved = convolve_swaps(metric, a, b, recipe.alternative)
    return convolved or enumerate_swaps(metric, a, b, recipe.alternative)


def oriented_differences(part: Part, m: int, scores: Array) -> tuple[Array, Array]:
    """What (S,) scores of metric m say of all pairs.

    Returns:
        (P,) differences a - b, positive where a is better, and the slack within which each is tied.
    """
    a, b = part.pairs.T
    sign = part.recipe.metrics[m].sign
    return sign * (scores[a] - scores[b]), slack(scores[a], scores[b])


def oriented(scores_a: Array, scores_b: Array, sign: float) -> Array:
    """Differences a - b, positive where a is better; takes the place of the first scores."""
    scores_a -= scores_b
    if sign < 0:
        scores_a *= sign
    return scores_a


@compiled
def exchange(kept: Array, totals: Array, a: int, b: Counts, x: Array, y: Array) -> None:
    """Fill in the swapped totals of the pairs (a, b[p]).

    Args:
        kept: (k, S, R) sums of the units that keep their labels, or how far they differ.
        totals: (k, S) sums of all units.
        a: The first system of every pair.
        b: (pairs,) the second systems.
        x: (k, pairs, R) totals of what is labelled a.
        y: (k, pairs, R) totals of what is labelled b: all that is not in x.
    """
    for j in range(x.shape[0]):
        own = kept[j, a]
        for p in range(x.shape[1]):
            others, total = kept[j, b[p]], totals[j, b[p]]
            both = totals[j, a] + total
            for r in range(x.shape[2]):
                swapped = own[r] + (total - others[r])
                x[j, p, r] = swapped
                y[j, p, r] = both - swapped
