"""The statistics of a stored comparison: taken from the cache, measured where they are missing."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence

import numpy as np

from sigtest import engine
from sigtest.arrays import Array
from sigtest.data.testset import TestSet
from workers import work
from workers.store import Store
from workers.work import Work

SAVE_SECONDS = 0.25  # every write waits for the disk; more often would slow small texts down


class Measuring:
    """Statistics of one comparison; its texts are read only if something must be measured.

    Args:
        store: Where texts and statistics are.
        comparison_id: The comparison.
        plan: What it computes.
    """

    def __init__(self, store: Store, comparison_id: str, plan: Work) -> None:
        self._store = store
        self._comparison_id = comparison_id
        self._plans = work.parts(plan)
        self._metrics = plan.recipe.metrics
        self._systems = len(plan.systems)
        self._testsets: dict[int, TestSet] = {}

    def fill(self, first: int, last: int) -> None:
        """Measure what is missing of outputs `first` to `last`, while somebody wants it."""
        metrics = range(len(self._metrics))
        keys = [self._key(output, m) for output in range(first, last) for m in metrics]
        measured = self._store.measured(keys)
        unsaved: dict[str, Array] = {}
        saved = time.monotonic()
        for output in range(first, last):
            missing = [m for m in metrics if self._key(output, m) not in measured]
            if missing and self._store.unfinished(self._comparison_id):
                unsaved |= self._measure(output, missing)
            if time.monotonic() > saved + SAVE_SECONDS:
                self._store.add_statistics(unsaved)
                unsaved, saved = {}, time.monotonic()
        self._store.add_statistics(unsaved)

    def tables(self) -> list[list[Array]]:
        """For each test set, one (S, n, k) array a metric."""
        size = self._systems
        return [
            [self.table(range(first, first + size), m) for m in range(len(self._metrics))]
            for first in range(0, len(self._plans) * size, size)
        ]

    def table(self, outputs: Sequence[int], metric: int) -> Array:
        """(S, n, k) statistics of some outputs for the same test set."""
        found = self._store.statistics([self._key(output, metric) for output in outputs])
        for output in outputs:
            if self._key(output, metric) not in found:
                measured = self._measure(output, [metric])
                self._store.add_statistics(measured)
                found |= measured
        return np.stack([found[self._key(output, metric)] for output in outputs])

    def _measure(self, output: int, metrics: Iterable[int]) -> dict[str, Array]:
        """Measure one output; its metrics share what they derive from its text."""
        testset = self._testset(output // self._systems)
        system = self._store.system(self._comparison_id, output)
        return {
            self._key(output, m): engine.measure(testset, system, self._metrics[m]) for m in metrics
        }

    def _testset(self, number: int) -> TestSet:
        if number not in self._testsets:
            self._testsets[number] = self._store.testset(self._comparison_id, number)
        return self._testsets[number]

    def _key(self, output: int, metric: int) -> str:
        number, system = divmod(output, self._systems)
        return self._plans[number].statistics_key(system, self._metrics[metric])
