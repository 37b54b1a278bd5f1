"""Statistics of all outputs of a comparison, measured some segments at a time.

What is derived from texts on the way (n-grams, numbers of words) takes many times their memory. It
is kept with the texts, so that systems and metrics share it; a large test set is cut into stretches
whose texts, and all that was derived from them, are forgotten once every system is measured there.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from sigtest.arrays import Array
from sigtest.comparison.comparison import Comparison, ComparisonEntry
from sigtest.data.testset import System, TestSet
from sigtest.data.text import Text

STRETCH = 1 << 12  # segments


@dataclass(frozen=True)
class Stint:
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


class Measuring:
    """The stints of a comparison, and the tables that they fill.

    Args:
        comparison: What is measured.
    """

    def __init__(self, comparison: Comparison) -> None:
        self._comparison = comparison
        self._metrics = comparison.recipe.measured
        self.stints = [s for e in range(len(comparison.entries)) for s in self._stints(e)]
        self._tables: list[list[Array]] = [
            [np.empty(0)] * len(self._metrics) for _ in comparison.entries
        ]

    def measure(self, number: int) -> list[list[list[Array]]]:
        """For each system, run and metric of a stint, (segments, k) sufficient statistics."""
        stint = self.stints[number]
        entry = self._comparison.entries[stint.entry]
        testset, systems = entry.testset, [entry.systems[s] for s in stint.systems]
        if (stint.first, stint.last) != (0, testset.segments):
            testset, systems = _stretch(entry, stint)
        return [
            [[self._metrics[m].statistics(testset, run) for m in stint.metrics] for run in own.runs]
            for own in systems
        ]

    def fill(self, number: int, found: Sequence[Sequence[Sequence[Array]]]) -> None:
        """Put what a stint measured in its place."""
        stint = self.stints[number]
        segments = self._comparison.entries[stint.entry].testset.segments
        for place, m in enumerate(stint.metrics):
            tables = self._tables[stint.entry]
            if not tables[m].size:
                length, width = found[0][0][place].shape
                length = max(length, segments)  # rows are of segments, or of all words
                rows = len(found[0]) * length
                tables[m] = np.empty((len(self._comparison.plan.systems), rows, width))
            for s, runs in zip(stint.systems, found, strict=True):
                for r, measured in enumerate(runs):
                    first = r * (tables[m].shape[1] // len(runs)) + stint.first
                    tables[m][s, first : first + len(measured[place])] = measured[place]

    def tables(self) -> list[list[Array]]:
        """For each test set one (S, m n, k) array a metric, once all stints are done."""
        return self._tables

    def _stints(self, e: int) -> list[Stint]:
        entry = self._comparison.entries[e]
        segments, systems = entry.testset.segments, range(len(entry.systems))
        numbers = range(len(self._metrics))
        cut = [m for m in numbers if self._metrics[m].local and segments > STRETCH]
        whole = [m for m in numbers if m not in cut]
        stretches = range(0, segments, STRETCH) if cut else ()
        return [
            *(Stint(e, (s,), whole, 0, segments) for s in systems if whole),
            *(Stint(e, systems, cut, a, min(a + STRETCH, segments)) for a in stretches),
        ]


def _stretch(entry: ComparisonEntry, stint: Stint) -> tuple[TestSet, list[System]]:
    """Some segments of a test set and of its systems; only what metrics that look at one need."""
    here = slice(stint.first, stint.last)

    def cut(text: Text) -> Text:
        return Text(text.lines[here])

    references = tuple(map(cut, entry.testset.references))
    systems = [entry.systems[s] for s in stint.systems]
    return TestSet(stint.last - stint.first, references), [
        replace(
            system,
            hypotheses=cut(system.hypotheses) if system.hypotheses is not None else None,
            scores={},
            replicas=tuple(map(cut, system.replicas)),
        )
        for system in systems
    ]
