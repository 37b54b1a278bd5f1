"""From a comparison to its report, in three steps that any process can take.

`measure` turns one system into statistics, `Sample.block` draws some resamples for all systems,
metrics and pairs at once, `reduce` turns all blocks into the report. `compare` is the three in a
row. The result does not depend on how the resamples are cut into blocks.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np

from sigtest.arrays import Array
from sigtest.comparison.comparison import Comparison
from sigtest.data.testset import System, TestSet
from sigtest.decide.facts import gather
from sigtest.decide.summary import summarise
from sigtest.draws.distribution import Distribution, distribution, pair_of
from sigtest.draws.product import fixed_point
from sigtest.draws.sample import Block, Sample
from sigtest.metrics import Metric
from sigtest.report import Report

Progress = Callable[[str, int, int], None]
Drawn = TypeVar("Drawn")

BLOCK = 4096


def measure(testset: TestSet, system: System, metric: Metric) -> Array:
    """(m n, k) sufficient statistics of one system's segments, in fixed point.

    The segments of one replica come after those of the other.
    """
    return fixed_point(np.concatenate([metric.statistics(testset, run) for run in system.runs]))


def reduce(sample: Sample, blocks: Sequence[Block]) -> Report:
    """The report, from blocks that together hold every resample once."""
    return summarise(sample.plan, gather(sample, list(blocks)))


def compare(comparison: Comparison, progress: Progress | None = None) -> Report:
    """Compute a comparison in this process.

    Args:
        comparison: What to compare and how.
        progress: Called with phase (`statistics`, `resampling`, `report`), done and total.

    Returns:
        The report, bit for bit the one that the service gives.
    """
    say = progress or (lambda phase, done, total: None)
    (tables,) = measure_all([comparison], say)
    sample = Sample(comparison.plan, tables)
    blocks = draw_all(sample.block, comparison.plan.resamples, say)
    say("report", 0, 1)
    report = reduce(sample, blocks)
    say("report", 1, 1)
    return report


def distribute(comparison: Comparison, a: str, b: str, metric: str, test: str) -> Distribution:
    """The pseudo-statistics of one pair, as the service gives them.

    Raises:
        RecipeError: A system, metric or test that is no part of the comparison.
    """
    pair, numbers = pair_of(comparison.plan, a, b, metric, test)
    (scored,) = pair.recipe.metrics
    systems = [comparison.systems[s] for s in numbers]
    table = np.stack([measure(comparison.testset, system, scored) for system in systems])
    return distribution(pair, [table], metric)


def measure_all(comparisons: Sequence[Comparison], say: Progress) -> list[list[Array]]:
    """For each comparison, one (S, m n, k) array a metric."""
    total = sum(len(own.systems) * len(own.recipe.metrics) for own in comparisons)
    done = 0
    measured: list[list[Array]] = []
    for own in comparisons:
        tables = []
        for metric in own.recipe.metrics:
            rows = []
            for system in own.systems:
                say("statistics", done, total)
                rows.append(measure(own.testset, system, metric))
                done += 1
            tables.append(np.stack(rows))
        measured.append(tables)
    return measured


def draw_all(block: Callable[[int, int], Drawn], resamples: int, say: Progress) -> list[Drawn]:
    """Every resample once, in blocks that `block` makes of the first and the one after the last."""
    blocks: list[Drawn] = []
    for start in range(0, resamples, BLOCK):
        say("resampling", start, resamples)
        blocks.append(block(start, min(start + BLOCK, resamples)))
    return blocks
