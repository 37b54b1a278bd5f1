"""PERM-BOTH through the resampling engine: metrics take the place of systems, cells of segments.

The one module that builds what the engine resamples.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sigtest.arrays import Array, Counts
from sigtest.comparison.plan import Part
from sigtest.data.testset import System, TestSet
from sigtest.draws.sample import Sample
from sigtest.engine import measure
from sigtest.metrics import Metric
from sigtest.questions.meta.significance.enumeration import Tails, tails
from sigtest.requests.recipe import Recipe
from sigtest.significance import ALTERNATIVES, Alternative, resampling_tests

Pairs = Sequence[tuple[int, int]]
Say = Callable[[int, int], None]
RANDOMIZATION = "approximate_randomization"


@dataclass(frozen=True)
class Column:
    """What is exchanged between metrics for one statistic.

    Attributes:
        metric: Scores sums of what the rows become.
        rows: (M, U, w) numbers of each metric's units.
    """

    metric: Metric
    rows: Array


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
    columns: Mapping[str, Column],
    pairs: Pairs,
    *,
    resamples: int,
    seed: int,
    stream: int,
    say: Say,
) -> dict[str, Exchanges]:
    """Exchange units between the metrics of each pair, in every way or in so many at random.

    Args:
        columns: By name of the statistic, all of the same metrics and units.
        pairs: Which metrics to compare.
        resamples: R.
        seed: Every draw is a function of it.
        stream: Separates the draws of several sets.
        say: Told how many resamples are done, and of how many.
    """
    tables = {name: _statistics(column) for name, column in columns.items()}
    exact = {
        name: tuple(tails(columns[name].metric, table[a], table[b]) for a, b in pairs)
        for name, table in tables.items()
    }
    drawn = [name for name in columns if any(known is None for known in exact[name])]
    counts: dict[str, dict[Alternative, Counts]] = {
        name: {claim: np.zeros(len(pairs), dtype=np.int64) for claim in ALTERNATIVES}
        for name in columns
    }
    if drawn:
        sample = _sample(
            [columns[name].metric for name in drawn],
            [tables[name] for name in drawn],
            resamples,
            seed,
            stream,
        )
        found = _count(sample, resamples, say)
        places = _places(len(tables[drawn[0]]), pairs)
        for name, own in zip(drawn, found, strict=True):
            counts[name] = {claim: own[claim][places] for claim in ALTERNATIVES}
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


def _sample(
    metrics: Sequence[Metric], tables: Sequence[Array], resamples: int, seed: int, stream: int
) -> Sample:
    """The engine's view: metrics as systems, units as segments."""
    recipe = Recipe(
        metrics=tuple(metrics),
        tests=(RANDOMIZATION,),
        resamples=resamples,
        seed=seed,
        correction="none",
    )
    names = tuple(str(m) for m in range(len(tables[0])))
    part = Part(
        systems=names,
        digests=names,
        segments=tables[0].shape[1],
        references=0,
        documents=None,
        testset="",
        recipe=recipe,
        stream=stream,
    )
    return Sample(part, tables)


def _count(sample: Sample, resamples: int, say: Say) -> list[dict[Alternative, Counts]]:
    """For each metric of the engine and each claim, counts of all its pairs."""
    test = resampling_tests()[RANDOMIZATION]
    size = len(sample.part.pairs)
    counts: list[dict[Alternative, Counts]] = [
        {claim: np.zeros(size, dtype=np.int64) for claim in ALTERNATIVES} for _ in sample.metrics
    ]
    for first, last in sample.row_blocks(0, resamples):
        say(first, resamples)
        for m, kept in enumerate(sample.swapped_sums(first, last)):
            observed, tolerance = sample.observed[m]
            for run, draws in sample.swap_differences(m, kept):
                for claim, own in counts[m].items():
                    own[run] += test.count(observed[run], draws, tolerance[run], claim)
    return counts


def _places(metrics: int, pairs: Pairs) -> Counts:
    """Where each pair stands among all pairs of so many metrics."""
    number = np.zeros((metrics, metrics), dtype=np.int64)
    first, second = np.triu_indices(metrics, 1)
    number[first, second] = np.arange(len(first))
    a, b = np.array(pairs, dtype=np.int64).T
    return number[a, b]
