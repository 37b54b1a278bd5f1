"""From a comparison to its report, in three steps that any process can take.

`measure` turns one system into statistics, `Samples.block` draws some resamples for all systems,
metrics and pairs at once, `reduce` turns all blocks into the report. `compare` is the three in a
row. The result does not depend on how the resamples are cut into blocks.
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain
from typing import NamedTuple

import numpy as np

from sigtest.arrays import Array
from sigtest.comparison.comparison import Comparison, ComparisonEntry
from sigtest.data.testset import System, TestSet
from sigtest.data.text import Text
from sigtest.decide.facts import gather_all
from sigtest.decide.summary import summarise
from sigtest.draws.distribution import Distribution, distribution, pair_of
from sigtest.draws.product import fixed_point
from sigtest.draws.sample import Blocks, Samples
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
    """For each test set, one (S, m n, k) array a metric, in fixed point.

    What is derived from texts on the way (n-grams, numbers of words) takes many times their memory.
    It is kept with the texts, so that systems and metrics share it; a large test set is cut into
    stretches whose texts, and all that was derived from them, are forgotten once every system is
    measured there.
    """
    entries, metrics = comparison.entries, comparison.recipe.measured
    stints = [stint for e, entry in enumerate(entries) for stint in _stints(e, entry, metrics)]
    tables = [[np.empty(0)] * len(metrics) for _ in entries]

    def measured(number: int) -> list[list[list[Array]]]:
        """For each system, run and metric of a stint, (segments, k) sufficient statistics."""
        stint = stints[number]
        testset, systems = _stretch(entries[stint.entry], stint)
        return [
            [[metrics[m].statistics(testset, run) for m in stint.metrics] for run in own.runs]
            for own in systems
        ]

    jobs = min([jobs, *(metric.most_jobs for metric in comparison.recipe.metrics)])
    say("statistics", 0, len(stints))
    for number, found in enumerate(in_order(measured, len(stints), jobs)):
        stint = stints[number]
        _fill(tables[stint.entry], entries[stint.entry], stint, found)
        say("statistics", number + 1, len(stints))
    for table in chain.from_iterable(tables):
        for system in range(len(table)):
            table[system] = fixed_point(table[system])
    return tables


STRETCH = 1 << 12  # segments


class Stint(NamedTuple):
    """What is measured at a time.

    Attributes:
        entry: Number of the test set.
        systems: Numbers of the systems.
        metrics: Numbers of the metrics.
        first: First segment.
        last: One after the last.
    """

    entry: int
    systems: Sequence[int]
    metrics: Sequence[int]
    first: int
    last: int


def _stints(e: int, entry: ComparisonEntry, metrics: Sequence[Measurable]) -> list[Stint]:
    segments, systems = entry.testset.segments, range(len(entry.systems))
    cut = [m for m, own in enumerate(metrics) if own.local and segments > STRETCH]
    whole = [m for m in range(len(metrics)) if m not in cut]
    stretches = range(0, segments, STRETCH) if cut else ()
    return [
        *(Stint(e, (s,), whole, 0, segments) for s in systems if whole),
        *(Stint(e, systems, cut, a, min(a + STRETCH, segments)) for a in stretches),
    ]


def _stretch(entry: ComparisonEntry, stint: Stint) -> tuple[TestSet, list[System]]:
    """Some segments of a test set and of its systems; only what metrics that look at one need."""
    testset, systems = entry.testset, [entry.systems[s] for s in stint.systems]
    if (stint.first, stint.last) == (0, testset.segments):
        return testset, systems

    def cut(text: Text) -> Text:
        return Text(text.lines[stint.first : stint.last])

    return TestSet(stint.last - stint.first, tuple(map(cut, testset.references))), [
        replace(
            own,
            hypotheses=cut(own.hypotheses) if own.hypotheses is not None else None,
            scores={},
            replicas=tuple(map(cut, own.replicas)),
        )
        for own in systems
    ]


def _fill(
    tables: list[Array],
    entry: ComparisonEntry,
    stint: Stint,
    found: Sequence[Sequence[Sequence[Array]]],
) -> None:
    """Put what a stint measured in its place."""
    for place, m in enumerate(stint.metrics):
        if not tables[m].size:
            length, width = found[0][0][place].shape
            length = max(length, entry.testset.segments)  # rows are of segments, or of all words
            tables[m] = np.empty((len(entry.systems), len(found[0]) * length, width))
        for s, runs in zip(stint.systems, found, strict=True):
            for r, run in enumerate(runs):
                first = r * (tables[m].shape[1] // len(runs)) + stint.first
                tables[m][s, first : first + len(run[place])] = run[place]
