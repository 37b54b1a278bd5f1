"""PERM-BOTH: what exchanging units between two metrics says, in every way or at random.

An exchange pattern and its complement give opposite differences, so half of the patterns are
visited. Statistics are in fixed point: no sum depends on the way it was reached.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from sigtest.arrays import Array, Counts, Flags
from sigtest.compiled import compiled
from sigtest.data.testset import System, TestSet
from sigtest.draws.product import DistinctColumns, relative
from sigtest.draws.weights import swap_masks
from sigtest.engine import measure
from sigtest.metrics.base import Metric
from sigtest.significance import ALTERNATIVES, Alternative
from sigtest.significance.base import reaching, slack
from sigtest.significance.convolution import applies, convolve_swaps
from sigtest.significance.exact import MOST_UNITS, ExactP, enumerate_swaps, subset_sums

Pairs = Sequence[tuple[int, int]]
Say = Callable[[int, int], None]
TOGETHER_BYTES = 1 << 21  # of exchanged sums at a time


@dataclass(frozen=True)
class ExchangeColumn:
    """What is exchanged between metrics for one statistic.

    Attributes:
        metric: Scores sums of what the rows become.
        rows: (M, U, w) numbers of each metric's units.
        pairs: Which of the rows to compare.
    """

    metric: Metric
    rows: Array
    pairs: Pairs


@dataclass(frozen=True)
class Exchanges:
    """What exchanging units between the metrics of some pairs says of one statistic.

    Attributes:
        counts: (P,) differences that reach the observed one, for each claim; 0 where exact.
        exact: Exact p-values of the pairs that have them.
    """

    counts: Mapping[Alternative, Counts]
    exact: tuple[ExactTails | None, ...]


def exchange(
    columns: Mapping[str, ExchangeColumn], *, resamples: int, seed: int, stream: int, say: Say
) -> dict[str, Exchanges]:
    """Exchange units between the metrics of each pair, in every way or in so many at random.

    Args:
        columns: By name of the statistic, all of the same units.
        resamples: R.
        seed: Every draw is a function of it.
        stream: Separates the draws of several sets.
        say: Told how many resamples are done, and of how many.
    """
    tables = {name: _statistics(column) for name, column in columns.items()}
    exact = {
        name: tuple(tails(columns[name].metric, table[a], table[b]) for a, b in columns[name].pairs)
        for name, table in tables.items()
    }
    counts: dict[str, dict[Alternative, Counts]] = {
        name: {claim: np.zeros(len(exact[name]), dtype=np.int64) for claim in ALTERNATIVES}
        for name in columns
    }
    drawn = [name for name in columns if any(known is None for known in exact[name])]
    if drawn:
        totals = DistinctColumns([tables[name] for name in drawn]).totals
        moved = DistinctColumns([relative(tables[name]) for name in drawn])
        for first, last in moved.row_blocks(0, resamples):
            say(first, resamples)
            kept = moved.sums(swap_masks(seed, first, last, moved.units, stream))
            for name, total, sums in zip(drawn, totals, kept, strict=True):
                _count(columns[name], total, sums, counts[name])
    return {name: Exchanges(counts[name], exact[name]) for name in columns}


def _statistics(column: ExchangeColumn) -> Array:
    """(M, U, k) statistics in fixed point."""
    testset = TestSet(column.rows.shape[1])
    label = column.metric.label
    return np.stack(
        [
            measure(testset, System(str(m), None, {label: rows}), column.metric)
            for m, rows in enumerate(column.rows)
        ]
    )


def _count(
    column: ExchangeColumn, totals: Array, kept: Array, counts: Mapping[Alternative, Counts]
) -> None:
    """Add up the differences that reach the observed ones.

    Args:
        column: What is exchanged.
        totals: (k, M, 1) sums of all units.
        kept: (k, M, R) sums of the units that keep their metrics, or how far they differ.
        counts: (P,) of each claim.
    """
    metric = column.metric
    scores = metric.score_columns(totals)[:, 0]
    most = max(1, TOGETHER_BYTES // (16 * len(kept) * kept.shape[2]))
    for first in range(0, len(column.pairs), most):
        run = slice(first, first + most)
        a, b = np.array(column.pairs[run], dtype=np.int64).T
        x = kept[:, a] + (totals[:, b] - kept[:, b])
        y = totals[:, a] + totals[:, b] - x
        differences = metric.score_columns(x) - metric.score_columns(y)
        observed, tolerance = scores[a] - scores[b], slack(scores[a], scores[b])
        for claim, count in counts.items():
            reached = reaching(observed, differences, tolerance, claim)
            count[run] += np.count_nonzero(reached, axis=1)


@dataclass(frozen=True)
class Pearson(Metric):
    """Correlation with people, from six numbers a cell that may be added.

    The two "systems" of a comparison are two metrics, its "segments" are the cells. With m the
    metric's score and h the human one, a cell is (1, m, m^2, m h, h, h^2); the last two and the
    first are the same for all metrics, so that exchanging cells of two metrics exchanges the
    other three: PERM-BOTH of Deutsch, Dror & Roth (2021) is approximate randomization.

    Attributes:
        of: Which scores of a metric to take, (n, 2) numbers m and h: `pearson`, or `spearman`
            where they are ranks.
    """

    name = "pearson"

    of: str = "pearson"

    @property
    def label(self) -> str:
        return self.of

    @property
    def width(self) -> int:
        return 6

    @property
    def implementation(self) -> str:
        return "supplied"

    def statistics(self, testset: TestSet, system: System) -> Array:
        m, h = system.scores[self.of].T
        return np.stack([np.ones_like(m), m, m * m, m * h, h, h * h], axis=1)

    def formula(self, sums: Array) -> Array:
        return _correlations(sums)


@compiled
def _correlations(sums: Array) -> Array:
    """One correlation a column; 0 where a vector does not vary."""
    found = np.empty(sums.shape[1])
    for i in range(len(found)):
        n, m, mm, mh, h, hh = sums[:, i]
        spread = (n * mm - m * m) * (n * hh - h * h)
        found[i] = (n * mh - m * h) / np.sqrt(spread) if spread > 0.0 else 0.0
    return found


@dataclass(frozen=True)
class ExactTails:
    """The exact p-values of a pair for both one-sided claims.

    Attributes:
        greater: That the first metric is better.
        less: That it is worse.
    """

    greater: ExactP
    less: ExactP

    def of(self, alternative: Alternative) -> ExactP:
        """For one claim; a null distribution of exchanges is symmetric."""
        if alternative == "greater":
            return self.greater
        if alternative == "less":
            return self.less
        nearer = min(self.greater, self.less, key=lambda tail: tail.log10_p)
        doubled = min(0.0, nearer.log10_p + math.log10(2.0))
        if nearer.count is None or nearer.patterns is None:
            return ExactP(None, None, doubled)
        count = min(2 * nearer.count, nearer.patterns)
        return ExactP(count, nearer.patterns, doubled)


def tails(metric: Metric, a: Array, b: Array) -> ExactTails | None:
    """Both exact p-values of a pair of metrics, where there are any.

    Args:
        metric: Scores sums of statistics.
        a: (U, k) statistics of the first metric's units, in fixed point.
        b: (U, k) of the second.

    Returns:
        The p-values; nothing where more than 20 units differ and no convolution applies.
    """
    if metric.fraction is not None and applies(metric, np.stack([a, b])):
        greater = convolve_swaps(metric, a, b, "greater")
        less = convolve_swaps(metric, a, b, "less")
        if greater is not None and less is not None:
            return ExactTails(greater, less)
    differing = (a != b).any(axis=1)
    if np.count_nonzero(differing) > MOST_UNITS:
        return None
    if isinstance(metric, Pearson):
        return _pearson_tails(metric, a, b, differing.nonzero()[0])
    greater = enumerate_swaps(metric, a, b, "greater")
    less = enumerate_swaps(metric, a, b, "less")
    return ExactTails(greater, less) if greater is not None and less is not None else None


def _pearson_tails(metric: Pearson, a: Array, b: Array, differing: Counts) -> ExactTails:
    """All patterns of the units that differ; the last of them stays, as complements count too."""
    if not len(differing):
        return from_counts(1, 1, 0)
    sums_a, sums_b = a.sum(axis=0), b.sum(axis=0)
    observed_a, observed_b = metric.score(np.stack([sums_a, sums_b]))
    moved = (a - b)[differing[:-1], 1:4]
    half = len(moved) // 2
    greater, less = _count_correlations(
        sums_a,
        sums_b,
        subset_sums(moved[half:]),
        subset_sums(moved[:half]),
        float(observed_a - observed_b),
        float(slack(observed_a, observed_b)),
    )
    return from_counts(greater, less, len(differing))


def from_counts(greater: int, less: int, units: int) -> ExactTails:
    """P-values from counts among 2**units patterns, the observed one among them."""
    patterns = 2**units
    both = [
        ExactP(count, patterns, math.log10(count) - units * math.log10(2))
        for count in (max(greater, 1), max(less, 1))
    ]
    return ExactTails(*both)


@lru_cache(maxsize=4)
def patterns(units: int) -> Flags:
    """(2**units, units) which units stay, each pattern once, neighbours differing in one unit."""
    numbers = np.arange(2**units, dtype=np.int64)
    gray = numbers ^ (numbers >> 1)
    return (gray[:, None] >> np.arange(units)) & 1 == 0


@compiled
def _count_correlations(
    a: Array, b: Array, low: Array, high: Array, observed: float, tolerance: float
) -> tuple[int, int]:
    """How many differences of all patterns are at least, and at most, the observed one.

    Args:
        a: (6,) sums of the first metric.
        b: (6,) sums of the second.
        low: (3, L) what exchanging some of the units takes from the sums of m, m^2 and m h of a
            and gives to b, for every choice of them.
        high: (3, H) the same for other units; one unit is in neither, as complements count too.
        observed: The difference.
        tolerance: Slack within which two differences are tied.
    """
    n, h = a[0], a[4]
    spread = n * a[5] - h * h
    least, most = observed - tolerance, observed + tolerance
    greater, less = 0, 0
    for i in range(high.shape[1]):
        am, amm, amh = a[1] - high[0, i], a[2] - high[1, i], a[3] - high[2, i]
        bm, bmm, bmh = b[1] + high[0, i], b[2] + high[1, i], b[3] + high[2, i]
        for j in range(low.shape[1]):
            xm, ym = am - low[0, j], bm + low[0, j]
            x = (n * (amm - low[1, j]) - xm * xm) * spread
            y = (n * (bmm + low[1, j]) - ym * ym) * spread
            rx = (n * (amh - low[2, j]) - xm * h) / np.sqrt(x)
            ry = (n * (bmh + low[2, j]) - ym * h) / np.sqrt(y)
            difference = (rx if x > 0.0 else 0.0) - (ry if y > 0.0 else 0.0)
            greater += int(difference >= least) + int(-difference >= least)
            less += int(difference <= most) + int(-difference <= most)
    return greater, less
