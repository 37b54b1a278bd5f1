"""The statistics of a comparison's systems, and resamples of them in blocks.

The bootstrap draws segments (or documents) with all replicas of all systems together. Exchanges
are made within each replica, so that their units are segments times replicas. Without replicas
the two are the same.

The macro-average of several test sets is one more comparison whose pseudo-statistics are the means
of the test sets' pseudo-statistics: resample r of the whole is resample r of every test set, drawn
independently. That is a bootstrap, and a randomization, stratified by test set.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np

from sigtest.arrays import Array, Counts, Weights
from sigtest.cached import cached_property
from sigtest.comparison.plan import Part, Plan
from sigtest.compiled import compiled
from sigtest.draws import weights
from sigtest.draws.product import DistinctColumns, fixed_point, levelled, relative
from sigtest.draws.studentised import Moments, Studentised, added, count_studentised
from sigtest.metrics import Metric
from sigtest.significance import swap_test
from sigtest.significance.base import slack
from sigtest.significance.exact import ExactP, convolve_swaps, enumerate_swaps, surely_on_grid

SMALLEST = 1e-300  # of what is divided by
TOGETHER_BYTES = 1 << 21  # of swapped totals at a time: fewer calls, and still near the processor


@dataclass(frozen=True)
class Block:
    """What some resamples of a comparison say; blocks of one comparison can be joined.

    Attributes:
        start: First resample.
        stop: First resample of the next block.
        scores: (M, S, R) bootstrap scores of every system; those of its first `Part.draws`.
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


Blocks = tuple[Block, ...]  # of the same resamples: one a part, and of several the whole's


class Sample:
    """The statistics of all systems of a comparison, ready to be resampled.

    Args:
        part: What is compared.
        tables: One (S, m n, k) array a metric, from `measure`, and what else is measured.
    """

    def __init__(self, part: Part, tables: Sequence[Array]) -> None:
        self.part = part
        self.metrics = part.recipe.metrics
        self.words = tables[len(self.metrics) :]
        self.swap_tables = [units_of_swaps(part, table) for table in tables[: len(self.metrics)]]
        self.tables = self.swap_tables
        if part.replicas > 1:  # of fixed-point numbers: their sums stay exact
            self.tables = [by_replica(part, table).sum(axis=1) for table in self.swap_tables]
        self.units = self.tables[0].shape[1]
        self.columns = DistinctColumns(self.tables)
        self.swap_columns = DistinctColumns([relative(table) for table in self.swap_tables])
        self.totals = self.columns.totals
        scores = [m.score_columns(t)[:, 0] for m, t in zip(self.metrics, self.totals, strict=True)]
        self.scores: Array = np.array(scores)  # (M, S)
        # for each metric (P,) oriented differences of these, and the slack of each
        self.observed = [oriented_differences(part, m, own) for m, own in enumerate(self.scores)]
        self.swap_test = swap_test(part.recipe.tests)
        self._rooms: dict[int, Weights] = {}

    @cached_property
    def needs_swaps(self) -> tuple[bool, ...]:
        """(M,) whether swaps are to be drawn: not where every pair is sure to be convolved."""
        never = self.part.recipe.exact == "never"
        pairs = zip(self.metrics, self.swap_tables, strict=True)
        return tuple(never or not surely_on_grid(metric, table) for metric, table in pairs)

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
        none = np.zeros(self.units, int)
        strata = self.part.strata if self.part.labels is not None else none
        pairs = zip(self.metrics, tables, strict=False)
        return tuple(Moments(*own, strata, self._counts) for own in pairs)

    @cached_property
    def studentised(self) -> tuple[Studentised, ...]:
        """Scores and differences in standard errors, by metric; none where nothing asks."""
        return tuple(Studentised([own], self.part.pairs) for own in self.moments)

    def block(self, start: int, stop: int) -> Block:
        """Draw resamples `start` to `stop` for every system, metric and pair."""
        drawn = min(max(self.part.draws - start, 0), stop - start)
        scores = np.empty((len(self.metrics), len(self.part.systems), drawn))
        for first, last in self.swap_columns.row_blocks(start, start + drawn):
            scores[:, :, first - start : last - start] = self.bootstrap_scores(first, last)
        pairs = len(self.part.pairs) if self.swap_test else 0
        swaps = np.zeros((len(self.metrics), pairs), int)
        if self.swap_test and any(self.needs_swaps):
            for first, last in self.swap_columns.row_blocks(start, stop):
                for m, kept in enumerate(self.swapped_sums(first, last)):
                    if self.needs_swaps[m]:
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
            for first, last in self.swap_columns.row_blocks(start, stop):
                scores = metric.score_columns(
                    weights.permuted_sums(seed, first, last, rows, stream)
                )
                ranges[m, first - start : last - start] = np.ptp(scores, axis=0)
        return ranges

    def exact(self, m: int) -> tuple[ExactP | None, ...]:
        """(P,) exact randomization p-values of metric m, where there are any."""
        table = self.swap_tables[m]
        return tuple(exact_p(self.part, m, table[a], table[b]) for a, b in self.part.pairs)

    def bootstrap_scores(self, first: int, last: int) -> Array:
        """(M, S, R) scores of every system on bootstrap resamples `first` to `last`."""
        two = None if self.part.labels is not None else self.columns.two
        if two is None:
            drawn = self.columns.sums(self._counts(first, last))
        else:
            seed, stream = self.part.recipe.seed, self.part.stream
            drawn = self.columns.placed(two.bootstrap_sums(seed, first, last, stream))
        return np.array([m.score_columns(d) for m, d in zip(self.metrics, drawn, strict=True)])

    def swapped_sums(self, first: int, last: int) -> list[Array]:
        """Sums of the units that keep their labels in swaps `first` to `last`: (k, S, R) each.

        Of several systems, whole numbers are told less those of the first (see `relative`).
        """
        seed, stream = self.part.recipe.seed, self.part.stream
        two = self.swap_columns.two
        if two is not None:
            return self.swap_columns.placed(two.swap_sums(seed, first, last, stream))
        units = self.part.replicas * self.units
        room = self._room(last - first, units)
        return self.swap_columns.sums(weights.swap_masks(seed, first, last, units, stream, room))

    def _counts(self, first: int, last: int) -> Weights:
        """How often each unit is drawn in bootstrap resamples `first` to `last`."""
        seed, stream = self.part.recipe.seed, self.part.stream
        if self.part.labels is None:
            room = self._room(last - first, self.units)
            return weights.bootstrap_counts(seed, first, last, self.units, stream, room)
        return weights.stratified_counts(seed, first, last, self.part.strata, max(1, stream))

    def _room(self, rows: int, units: int) -> Weights:
        """Where weights are drawn, always the same: new memory takes as long as the drawing."""
        room = self._rooms.get(units)
        if room is None or len(room) < rows:
            room = self._rooms[units] = np.empty((rows, units), np.float32)
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
        counts = np.zeros(len(self.part.pairs), int)
        if self.swap_test is None:
            return counts
        observed, tolerance = self.observed[m]
        alternative = self.part.recipe.alternative
        for run, draws in self.swap_differences(m, kept):
            counts[run] = self.swap_test.count(observed[run], draws, tolerance[run], alternative)
        return counts


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
    of_units = part.document_index if recipe.unit == "document" else np.arange(part.segments)
    a = levelled(a, b, int(np.bincount(of_units).max()))
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


class MeanSample:
    """Means over test sets as one more sample: of scores, and of what is drawn of each.

    Args:
        part: All test sets as one.
        parts: Each of them.
    """

    tables: Sequence[Array] = ()  # it has no units
    words = totals = tables

    def __init__(self, part: Part, parts: Sequence[Sample]) -> None:
        self.part = part
        self.parts = parts
        self.scores = mean([own.scores for own in parts])

    @cached_property
    def replica_scores(self) -> Array:
        """(M, S, m) means of the scores of each replica."""
        return mean([own.replica_scores for own in self.parts])

    @cached_property
    def evenness(self) -> Array:
        """(M, S) that of the test set whose units weigh least evenly."""
        found: Array = np.min([own.evenness for own in self.parts], axis=0)
        return found

    @cached_property
    def studentised(self) -> tuple[Studentised, ...]:
        """Means in standard errors, by metric; none where nothing asks."""
        each = zip(*(own.moments for own in self.parts), strict=True)
        return tuple(Studentised(moments, self.part.pairs) for moments in each)

    def exact(self, m: int) -> tuple[None, ...]:
        """No exchange of means is counted."""
        return (None,) * len(self.part.pairs)

    def block(self, start: int, stop: int) -> Block:
        """Counts of means of differences; scores follow from those of the parts (R is 0 here)."""
        nothing = np.empty((len(self.scores), 0))
        swaps = self._swaps(start, stop)
        studentised = count_studentised(self.studentised, self.part.recipe, start, stop)
        return Block(start, stop, nothing, swaps, nothing, studentised)

    def _swaps(self, start: int, stop: int) -> Counts:
        """(M, P) how many means of swapped differences reach the mean observed one."""
        counts = np.zeros((len(self.scores), len(self.part.pairs)), int)
        test = self.parts[0].swap_test
        if test is None:
            return counts
        seen = [oriented_differences(self.part, m, own) for m, own in enumerate(self.scores)]
        widest = max(self.parts, key=lambda part: part.swap_columns.units)
        for first, last in widest.swap_columns.row_blocks(start, stop):
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
                        observed[run], draws, tolerance[run], self.part.recipe.alternative
                    )
        return counts


class Samples:
    """The statistics of all systems on all test sets, ready to be resampled.

    Args:
        plan: What is compared.
        tables: For each part, one (S, m n, k) array a metric, from `measure`.

    Attributes:
        parts: One a test set.
        all: These, and where there are several, all together as one more.
    """

    def __init__(self, plan: Plan, tables: Sequence[Sequence[Array]]) -> None:
        self.plan = plan
        self.parts = [Sample(part, own) for part, own in zip(plan.parts, tables, strict=True)]
        self.all: list[Sample | MeanSample] = [*self.parts]
        if plan.names and plan.pooled:
            self.all.append(Sample(plan.whole, _concatenated(plan, tables)))
        elif plan.names:
            self.all.append(MeanSample(plan.whole, self.parts))

    def block(self, start: int, stop: int) -> Blocks:
        """Draw resamples `start` to `stop` for every test set and for all together."""
        return tuple(own.block(start, stop) for own in self.all)


def mean(arrays: Sequence[Array]) -> Array:
    """Element by element, see `added`."""
    return added(arrays) / len(arrays)


def _concatenated(plan: Plan, tables: Sequence[Sequence[Array]]) -> list[Array]:
    """The statistics of all test sets as one, replica by replica, in fixed point again."""
    whole = []
    for m in range(len(plan.recipe.metrics)):
        parts = [by_replica(part, own[m]) for part, own in zip(plan.parts, tables, strict=True)]
        joined = np.concatenate(parts, axis=2)
        rows = joined.reshape(len(joined), -1, joined.shape[3])
        whole.append(np.stack([fixed_point(row) for row in rows]))
    return whole


def units_of_swaps(part: Part, table: Array) -> Array:
    """Statistics of what is exchanged, one replica after the other.

    Args:
        part: What is compared; m replicas of n segments in U units of resampling.
        table: (S, m n, k) statistics, from `measure`.

    Returns:
        (S, m U, k).
    """
    if part.recipe.unit != "document":
        return table
    systems, rows, width = table.shape
    replica = np.arange(rows) // part.segments
    unit = replica * part.document_count + np.tile(part.document_index, part.replicas)
    summed = np.zeros((systems, part.replicas * part.document_count, width))
    for s in range(systems):
        np.add.at(summed[s], unit, table[s])
        summed[s] = fixed_point(summed[s])
    return summed


def evenness(part: Part, metric: Metric, table: Array) -> Array:
    """(S,) how many units of equal weight say as much as one unit does, from (S, U, k) statistics.

    The weight of a unit is its denominator where scores are ratios, else its number of segments;
    within strata. It is 1 where weights are equal: Kish (1965), "Survey Sampling", section 11.7.
    """
    weights = np.ones(table.shape[:2])
    if metric.fraction is not None:
        weights = table[:, :, metric.fraction.denominator]
    elif part.recipe.unit == "document":
        weights = weights * np.bincount(part.document_index)
    strata = part.strata if part.labels is not None else np.zeros(part.units, int)
    shares = np.zeros(len(weights))
    for stratum in range(int(strata.max()) + 1):
        inside = weights[:, strata == stratum]
        most = np.maximum(inside.max(axis=1, keepdims=True), SMALLEST)
        inside = inside / most  # ones where all are equal, whose sums are exact
        shares += inside.sum(axis=1) ** 2 / np.maximum((inside**2).sum(axis=1), SMALLEST)
    return shares / part.units


def known_means(metric: Metric, observed: Array, even_a: Array, even_b: Array) -> Array:
    """(P,) means of what bootstrap differences are drawn from; NaN where these are not known.

    Those of means of units of equal weight are the observed differences.

    Args:
        metric: Whose scores differ.
        observed: (P,) differences.
        even_a: (P,) `evenness` of the first systems.
        even_b: (P,) that of the second ones.
    """
    known = (metric.fraction is not None) & (even_a == 1) & (even_b == 1)
    return np.where(known, observed, np.nan)


def replica_scores(part: Part, metric: Metric, swapped: Array) -> Array:
    """(S, m) score of each replica on the whole test set, from (S, m U, k) statistics."""
    return metric.score(by_replica(part, swapped).sum(axis=2))


def by_replica(part: Part, table: Array) -> Array:
    """(S, m n, k) to (S, m, n, k)."""
    systems, rows, width = table.shape
    return table.reshape(systems, part.replicas, rows // part.replicas, width)
