"""The statistics of a stored comparison: taken from the cache, measured where they are missing."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from sigtest import engine
from sigtest.arrays import Array
from sigtest.comparison.plan import Plan
from sigtest.data.testset import System, TestSet
from sigtest.kinds.comparisons import output_field, testset_field
from workers.errors import gone
from workers.store import codec
from workers.store.pieces import statistics_keys
from workers.store.questions import QuestionStore
from workers.store.stored import Stored
from workers.store.testsets import TestSetStore

READ_AHEAD = 20_000  # lines of outputs that are read at a time; they are compressed until used
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
        self._packed: dict[str, bytes] = {}  # texts that were read and not used yet

    def fill(self, first: int, last: int) -> frozenset[str]:
        """Measure what is missing of outputs `first` to `last`, while its caller wants it.

        Returns:
            Keys of their statistics that exist now.
        """
        metrics = range(len(self._plan.recipe.metrics))
        names = [self._keys[output][m] for output in range(first, last) for m in metrics]
        measured = self._cache.existing(names)
        missing = {
            output: [m for m in metrics if self._keys[output][m] not in measured]
            for output in range(first, last)
            if not measured.issuperset(self._keys[output])
        }
        unsaved: dict[str, Array] = {}
        saved = time.monotonic()
        outputs = list(missing)
        for place, output in enumerate(outputs):
            self._read_ahead(outputs[place:])
            unsaved |= self._measure(output, missing[output])
            if time.monotonic() > saved + SAVE_SECONDS:
                self._cache.add(unsaved)
                measured, unsaved, saved = measured.union(unsaved), {}, time.monotonic()
                if not self._store.unfinished(self._id):
                    return measured
        self._cache.add(unsaved)
        self._at_hand = unsaved
        return measured.union(unsaved)

    def _read_ahead(self, outputs: Sequence[int]) -> None:
        """Read the texts of the first of some outputs, as many as fit, unless that was done."""
        if self._of_board is not None or output_field(outputs[0]) in self._packed:
            return
        size = len(self._plan.systems)
        some = outputs[: max(1, READ_AHEAD // self._plan.parts[outputs[0] // size].segments)]
        testsets = dict.fromkeys(output // size for output in some)
        fields = [testset_field(t) for t in testsets if t not in self._testsets]
        fields += map(output_field, some)
        self._packed = dict(zip(fields, self._store.packed(self._id, fields), strict=True))

    def _content(self, field: str) -> Any:
        """Something that was brought; see `QuestionStore.packed`."""
        if field not in self._packed:
            [self._packed[field]] = self._store.packed(self._id, [field])
        return codec.unpack_json(self._packed.pop(field))

    def tables(self) -> list[list[Array]]:
        """For each test set, one (S, n, k) array a metric."""
        size, metrics = len(self._plan.systems), len(self._plan.recipe.metrics)
        return [
            [self.table(range(first, first + size), m) for m in range(metrics)]
            for first in range(0, len(self._plan.parts) * size, size)
        ]

    def table(self, outputs: Sequence[int], metric: int, keep: bool = True) -> Array:
        """(S, n, k) statistics of some outputs for the same test set.

        Args:
            outputs: Which.
            metric: Number of the metric.
            keep: Whether those that are measured here are kept; not for who may only read.
        """
        names = [self._keys[output][metric] for output in outputs]
        found = {name: self._at_hand[name] for name in names if name in self._at_hand}
        found |= self._cache.find([name for name in names if name not in found])
        for output in outputs:
            if self._keys[output][metric] not in found:
                measured = self._measure(output, [metric])
                if keep:
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
            return System.load(name, self._content(output_field(output)))
        brought = self._boards.output(self._of_board, self._plan.parts[number].digests[s])
        if brought is None:
            raise gone(self._id)
        return brought

    def testset(self, number: int) -> TestSet:
        """References, documents and labels of a test set."""
        if number not in self._testsets:
            self._testsets[number] = (
                TestSet.load(self._content(testset_field(number)))
                if self._of_board is None
                else self._boards.testset(self._of_board)
            )
        return self._testsets[number]
