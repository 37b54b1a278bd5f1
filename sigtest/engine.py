"""From a comparison to its report, in three steps that any process can take.

`measure` turns one system into statistics, `Samples.block` draws some resamples for all systems,
metrics and pairs at once, `reduce` turns all blocks into the report. `compare` is the three in a
row. The result does not depend on how the resamples are cut into blocks.
"""

from collections.abc import Sequence

import numpy as np

from sigtest.arrays import Array
from sigtest.comparison.comparison import Comparison
from sigtest.data.testset import System, TestSet
from sigtest.decide.facts import gather_all
from sigtest.decide.summary import summarise
from sigtest.draws.distribution import Distribution, distribution, pair_of
from sigtest.draws.product import fixed_point
from sigtest.draws.sample import Blocks, Samples
from sigtest.measuring import Measuring
from sigtest.metrics import Measurable
from sigtest.parallel import in_order
from sigtest.progress import Progress, silent
from sigtest.report import Report

BLOCK = 4096


def measure(testset: TestSet, system: System, metric: Measurable) -> Array:
    """(m n, k) sufficient statistics of one system's segments, in fixed point.

    The segments of one replica come after those of the other.
    """
    return fixed_point(np.concatenate([metric.statistics(testset, run) for run in system.runs]))


def reduce(samples: Samples, blocks: Sequence[Blocks]) -> Report:
    """The report, from blocks that together hold every resample once."""
    return summarise(samples.plan, gather_all(samples, blocks))


def sampled(comparison: Comparison, say: Progress = silent, jobs: int = 1) -> Samples:
    """The measured statistics of a comparison, ready to be resampled in this process."""
    return Samples(comparison.plan, measure_all(comparison, say, jobs))


def drawn(samples: Samples, say: Progress, jobs: int = 1) -> list[Blocks]:
    """All resamples, in blocks."""
    resamples = samples.plan.resamples
    rows = min(BLOCK, -(-resamples // jobs)) or 1
    starts = range(0, resamples, rows)
    blocks = []
    say("resampling", 0, resamples)
    for block in in_order(
        lambda i: samples.block(starts[i], min(starts[i] + rows, resamples)), len(starts), jobs
    ):
        blocks.append(block)
        say("resampling", block[0].stop, resamples)
    return blocks


def compare(comparison: Comparison, progress: Progress | None = None, jobs: int = 1) -> Report:
    """Compute a comparison on this machine.

    Args:
        comparison: What to compare and how.
        progress: Called with phase (`statistics`, `resampling`, `report`), done and total.
        jobs: Processes to share large work between; 1 for this one alone.

    Returns:
        The report, bit for bit the one that the service gives, whatever `jobs` is.
    """
    say = progress or silent
    samples = sampled(comparison, say, jobs)
    blocks = drawn(samples, say, jobs)
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


def measure_all(comparison: Comparison, say: Progress, jobs: int = 1) -> list[list[Array]]:
    """For each test set, one (S, m n, k) array a metric, in fixed point."""
    measuring = Measuring(comparison)
    count = len(measuring.stints)
    jobs = min([jobs, *(metric.most_jobs for metric in comparison.recipe.metrics)])
    say("statistics", 0, count)
    for number, found in enumerate(in_order(measuring.measure, count, jobs)):
        measuring.fill(number, found)
        say("statistics", number + 1, count)
    for own in measuring.tables():
        for table in own:
            for system in range(len(table)):
                table[system] = fixed_point(table[system])
    return measuring.tables()
