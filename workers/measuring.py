"""The statistics of a stored comparison: taken from the cache, measured where they are missing."""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import cached_property

import numpy as np

from sigtest import engine
from sigtest.arrays import Array
from sigtest.plan import Plan
from sigtest.testset import TestSet
from workers.store import Store

SAVE_SECONDS = 0.25  # every write waits for the disk; more often would slow small texts down


class Measuring:
    """Statistics of one comparison; its texts are read only if something must be measured.

    Args:
        store: Where texts and statistics are.
        comparison_id: The comparison.
        plan: What it computes.
    """

    def __init__(self, store: Store, comparison_id: str, plan: Plan) -> None:
        self._store = store
        self._comparison_id = comparison_id
        self._plan = plan

    def fill(self, first: int, last: int) -> None:
        """Measure what is missing of systems `first` to `last`, while somebody wants it."""
        metrics = range(len(self._plan.recipe.metrics))
        keys = [self._key(s, m) for s in range(first, last) for m in metrics]
        measured = self._store.measured(keys)
        unsaved: dict[str, Array] = {}
        saved = time.monotonic()
        for system in range(first, last):
            missing = [m for m in metrics if self._key(system, m) not in measured]
            if missing and self._store.unfinished(self._comparison_id):
                unsaved |= self._measure(system, missing)
            if time.monotonic() > saved + SAVE_SECONDS:
                self._store.add_statistics(unsaved)
                unsaved, saved = {}, time.monotonic()
        self._store.add_statistics(unsaved)

    def tables(self) -> list[Array]:
        """One (S, n, k) array a metric."""
        systems = range(len(self._plan.systems))
        return [self.table(systems, m) for m in range(len(self._plan.recipe.metrics))]

    def table(self, systems: Sequence[int], metric: int) -> Array:
        """(S, n, k) statistics of some systems."""
        found = self._store.statistics([self._key(s, metric) for s in systems])
        for system in systems:
            if self._key(system, metric) not in found:
                measured = self._measure(system, [metric])
                self._store.add_statistics(measured)
                found |= measured
        return np.stack([found[self._key(s, metric)] for s in systems])

    def _measure(self, system: int, metrics: Sequence[int]) -> dict[str, Array]:
        """Measure one system; its metrics share what they derive from its text."""
        text = self._store.system(self._comparison_id, system)
        kinds = self._plan.recipe.metrics
        return {
            self._key(system, m): engine.measure(self._testset, text, kinds[m]) for m in metrics
        }

    @cached_property
    def _testset(self) -> TestSet:
        return self._store.testset(self._comparison_id)

    def _key(self, system: int, metric: int) -> str:
        return self._plan.statistics_key(system, self._plan.recipe.metrics[metric])
