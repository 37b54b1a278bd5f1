"""PERM-BOTH: what exchanging units between two metrics says, in every way or at random."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sigtest.arrays import Array, Counts
from sigtest.data.testset import System, TestSet
from sigtest.draws.product import Columns, relative
from sigtest.draws.weights import swap_masks
from sigtest.engine import measure
from sigtest.meta_evaluation.significance.enumeration import Tails, tails
from sigtest.metrics import Metric
from sigtest.significance import ALTERNATIVES, Alternative
from sigtest.significance.base import reaching, slack

Pairs = Sequence[tuple[int, int]]
Say = Callable[[int, int], None]
TOGETHER_BYTES = 1 << 21  # of exchanged sums at a time


@dataclass(frozen=True)
class Column:
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
    exact: tuple[Tails | None, ...]


def exchange(
    columns: Mapping[str, Column], *, resamples: int, seed: int, stream: int, say: Say
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
        totals = Columns([tables[name] for name in drawn]).totals
        moved = Columns([relative(tables[name]) for name in drawn])
        for first, last in moved.row_blocks(0, resamples):
            say(first, resamples)
            kept = moved.sums(swap_masks(seed, first, last, moved.units, stream))
            for name, total, sums in zip(drawn, totals, kept, strict=True):
                _count(columns[name], total, sums, counts[name])
    return {name: Exchanges(counts[name], exact[name]) for name in columns}


def _statistics(column: Column) -> Array:
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
    column: Column, totals: Array, kept: Array, counts: Mapping[Alternative, Counts]
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
