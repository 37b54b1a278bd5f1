"""From a comparison to its report, in three steps that any process can take.

`measure` turns one system into statistics, `Samples.block` draws some resamples for all systems,
metrics and pairs at once, `reduce` turns all blocks into the report. `compare` is the three in a
row. The result does not depend on how the resamples are cut into blocks.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from sigtest.arrays import Array
from sigtest.comparison.comparison import Comparison
from sigtest.data.testset import System, TestSet
from sigtest.decide.facts import gather_all
from sigtest.decide.summary import summarise
from sigtest.draws.distribution import Distribution, distribution, pair_of
from sigtest.draws.product import fixed_point
from sigtest.draws.samples import Blocks, Samples
from sigtest.metrics import Metric
from sigtest.report import Report

Progress = Callable[[str, int, int], None]

BLOCK = 4096


def measure(testset: TestSet, system: System, metric: Metric) -> Array:
    """(m n, k) sufficient statistics of one system's segments, in fixed point.

    The segments of one replica come after those of the other.
    """
    return fixed_point(np.concatenate([metric.statistics(testset, run) for run in system.runs]))


def reduce(samples: Samples, blocks: Sequence[Blocks]) -> Report:
    """The report, from blocks that together hold every resample once."""
    return summarise(samples.plan, gather_all(samples, blocks))


def compare(comparison: Comparison, progress: Progress | None = None) -> Report:
    """Compute a comparison in this process.

    Args:
        comparison: What to compare and how.
        progress: Called with phase (`statistics`, `resampling`, `report`), done and total.

    Returns:
        The report, bit for bit the one that the service gives.
    """
    say = progress or (lambda phase, done, total: None)
    samples = Samples(comparison.plan, _measure_all(comparison, say))
    blocks, resamples = [], comparison.plan.resamples
    for start in range(0, resamples, BLOCK):
        say("resampling", start, resamples)
        blocks.append(samples.block(start, min(start + BLOCK, resamples)))
    say("report", 0, 1)
    report = reduce(samples, blocks)
    say("report", 1, 1)
    return report


def distribute(
    comparison: Comparison, a: str, b: str, metric: str, test: str, testset: str | None = None
) -> Distribution:
    """The pseudo-statistics of one pair, as the service gives them.

    Args:
        comparison: On one test set or on several.
        a: First system.
        b: Second system.
        metric: Label of the metric.
        test: Name of the significance test.
        testset: Name of one test set of several.

    Raises:
        RecipeError: A system, metric, test or test set that the comparison does not have.
    """
    number = comparison.plan.number_of(testset)
    entry = comparison.entries[number]
    pair, numbers = pair_of(comparison.plan.parts[number], a, b, metric, test)
    (scored,) = pair.recipe.metrics
    systems = [entry.systems[s] for s in numbers]
    table = np.stack([measure(entry.testset, system, scored) for system in systems])
    return distribution(pair, [table], metric)


def _measure_all(comparison: Comparison, say: Progress) -> list[list[Array]]:
    """For each test set, one (S, m n, k) array a metric."""
    metrics = comparison.recipe.metrics
    total = sum(len(entry.systems) * len(metrics) for entry in comparison.entries)
    done = 0
    measured: list[list[Array]] = []
    for entry in comparison.entries:
        tables = []
        for metric in metrics:
            rows = []
            for system in entry.systems:
                say("statistics", done, total)
                rows.append(measure(entry.testset, system, metric))
                done += 1
            tables.append(np.stack(rows))
        measured.append(tables)
    return measured
