"""The statistics of a stored comparison: taken from the cache, measured where they are missing."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence

import numpy as np

from sigtest import engine
from sigtest.arrays import Array
from sigtest.comparison.plan import Plan
from sigtest.data.testset import System, TestSet
from sigtest.kinds.comparisons import output_field, testset_field
from workers.store.pieces import statistics_keys
from workers.store.questions import QuestionStore, Stored
from workers.store.records import gone
from workers.store.testsets import TestSetStore

SAVE_SECONDS = 0.25  # every write waits for the disk; more often would slow small texts down


class Statistics:
    """Statistics of one comparison; its texts are read only if something must be measured.

    Args:
        store: Where questions are.
        testsets: Where test sets are, which have the texts of what their leaderboards show.
        stored: The comparison.
        plan: What it computes.
    """

    def __init__(
        self, store: QuestionStore, testsets: TestSetStore, stored: Stored, plan: Plan
    ) -> None:
        self._store = store
        self._boards = testsets
        self._id = stored.record.id
        self._of_board = stored.record.testset
        self._cache = store.cache(stored.space)
        self._plan = plan
        self._keys = statistics_keys(plan)
        self._testsets: dict[int, TestSet] = {}
        self._at_hand: dict[str, Array] = {}  # what was saved last

    def fill(self, first: int, last: int) -> None:
        """Measure what is missing of outputs `first` to `last`, while its caller wants it."""
        metrics = range(len(self._plan.recipe.metrics))
        names = [self._keys[output][m] for output in range(first, last) for m in metrics]
        measured = self._cache.existing(names)
        unsaved: dict[str, Array] = {}
        saved = time.monotonic()
        for output in range(first, last):
            missing = [m for m in metrics if self._keys[output][m] not in measured]
            if missing:
                unsaved |= self._measure(output, missing)
            if time.monotonic() > saved + SAVE_SECONDS:
                self._cache.add(unsaved)
                unsaved, saved = {}, time.monotonic()
                if not self._store.unfinished(self._id):
                    return
        self._cache.add(unsaved)
        self._at_hand = unsaved

    def tables(self) -> list[list[Array]]:
        """For each test set, one (S, n, k) array a metric."""
        size, metrics = len(self._plan.systems), len(self._plan.recipe.metrics)
        return [
            [self.table(range(first, first + size), m) for m in range(metrics)]
            for first in range(0, len(self._plan.parts) * size, size)
        ]

    def table(self, outputs: Sequence[int], metric: int) -> Array:
        """(S, n, k) statistics of some outputs for the same test set."""
        names = [self._keys[output][metric] for output in outputs]
        found = {name: self._at_hand[name] for name in names if name in self._at_hand}
        found |= self._cache.find([name for name in names if name not in found])
        for output in outputs:
            if self._keys[output][metric] not in found:
                measured = self._measure(output, [metric])
                self._cache.add(measured)
                found |= measured
        return np.stack([found[self._keys[output][metric]] for output in outputs])

    def _measure(self, output: int, metrics: Iterable[int]) -> dict[str, Array]:
        """Measure one output; its metrics share what they derive from its text."""
        testset = self.testset(output // len(self._plan.systems))
        system = self.system(output)
        kinds = self._plan.recipe.metrics
        return {self._keys[output][m]: engine.measure(testset, system, kinds[m]) for m in metrics}

    def system(self, output: int) -> System:
        """What a system brings to a test set.

        Raises:
            GoneError: It was deleted.
        """
        number, s = divmod(output, len(self._plan.systems))
        name = self._plan.systems[s]
        if self._of_board is None:
            return System.load(name, self._store.content(self._id, output_field(output)))
        brought = self._boards.output(self._of_board, self._plan.parts[number].digests[s])
        if brought is None:
            raise gone(self._id)
        return brought

    def testset(self, number: int) -> TestSet:
        """References, documents and labels of a test set."""
        if number not in self._testsets:
            self._testsets[number] = (
                TestSet.load(self._store.content(self._id, testset_field(number)))
                if self._of_board is None
                else self._boards.testset(self._of_board)
            )
        return self._testsets[number]
