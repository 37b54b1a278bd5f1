"""Comparisons for whoever serves them: submit, watch, read, cancel. `app` calls this and no more.

Every function may raise StorageError, and those that take an id raise NotFoundError for one that
is unknown or somebody else's and GoneError for one that expired or was deleted.
"""

from __future__ import annotations

import hashlib
import json

from sigtest.draws.distribution import Distribution, pair_of
from workers.errors import (
    BusyError,
    ConflictError,
    NotFoundError,
    NotReadyError,
    gone,
)
from workers.guard import storage
from workers.pieces import Cut, Task
from workers.queue import Queue
from workers.records import Progress, Record, Status
from workers.server import connect
from workers.settings import Settings
from workers.store import Store
from workers.work import Asked, parts


class Jobs:
    """The comparisons of all callers; safe to share between threads.

    Args:
        store: Where comparisons are.
        queue: Where tasks go.
        settings: Limits and how to cut.
    """

    def __init__(self, store: Store, queue: Queue, settings: Settings) -> None:
        self._store = store
        self._queue = queue
        self._settings = settings

    @classmethod
    def connect(cls, settings: Settings) -> Jobs:
        """Jobs on the server that the settings name, which need not be up yet."""
        redis = connect(settings)
        return cls(Store(redis, settings), Queue(redis, settings), settings)

    def close(self) -> None:
        """Close the connections."""
        self._store.close()

    @storage()
    def submit(
        self, asked: Asked, caller: str, idempotency_key: str | None = None
    ) -> tuple[Record, bool]:
        """Accept a comparison; once this returns it survives any crash.

        Args:
            asked: What to compute, on one test set or on several.
            caller: Who asks; callers do not see each other's comparisons.
            idempotency_key: Another submission with this key must have the same content.

        Returns:
            The comparison, and whether it was created: equal content from the same caller is the
            same comparison, which runs again only if it failed or was cancelled.

        Raises:
            ConflictError: The key was used with different content.
            BusyError: Too many comparisons are unfinished.
        """
        plan = asked.plan
        content = json.dumps([caller, plan.key]).encode()
        comparison_id = hashlib.sha256(content).hexdigest()[:32]
        cut = Cut.of(plan, self._settings.workers, self._settings.block)
        verdict = self._store.create(comparison_id, asked, cut, caller, idempotency_key)
        if verdict == "conflict":
            raise ConflictError("This Idempotency-Key was used with different content.")
        if verdict == "busy":
            raise BusyError(
                f"{self._settings.pending} comparisons are unfinished; try again later.",
                limit="SIGTEST_PENDING",
            )
        if verdict == "created":
            self._queue.add(self._store.pieces(comparison_id).tasks(comparison_id))
        return self._find(comparison_id, caller), verdict == "created"

    @storage()
    def find(self, comparison_id: str, caller: str) -> Record:
        """A comparison of the caller."""
        return self._find(comparison_id, caller)

    @storage()
    def listing(
        self, caller: str, cursor: str | None, limit: int
    ) -> tuple[list[Record], str | None]:
        """The caller's comparisons, newest first, and the cursor of the next page if there is one.

        Raises:
            InputError: A cursor that no listing gave.
        """
        return self._store.listing(caller, cursor, limit)

    @storage()
    def report(self, comparison_id: str, caller: str) -> bytes:
        """The report of a finished comparison as canonical JSON.

        Raises:
            NotReadyError: It is unfinished, failed or cancelled.
        """
        self._succeeded(comparison_id, caller)
        report = self._store.report(comparison_id)
        if report is None:
            raise gone(comparison_id)
        return report

    @storage()
    def distribution(
        self, comparison_id: str, caller: str, a: str, b: str, metric: str, test: str, asked: bool
    ) -> Distribution | None:
        """The pseudo-statistics of one pair, as far as they are made.

        Args:
            comparison_id: The comparison.
            caller: Whose it is.
            a: First system.
            b: Second system.
            metric: Label of the metric.
            test: Name of the significance test.
            asked: Whether a worker has been asked for them before.

        Raises:
            RecipeError: A system, metric or test that is no part of the comparison, or several test
                sets.
            NotReadyError: The comparison has no report.
        """
        record = self._succeeded(comparison_id, caller)
        record.require_one_testset()
        (plan,) = parts(self._store.plan(comparison_id))
        _, (first, second) = pair_of(plan, a, b, metric, test)
        numbers = (
            first,
            second,
            plan.recipe.labels.index(metric),
            plan.recipe.tests.index(test),
        )
        found = self._store.values(comparison_id, numbers)
        if found is not None:
            return Distribution(a, b, metric, test, *found)
        if not asked:
            self._queue.add([Task("distribute", comparison_id, numbers)], front=True)
        return None

    @storage()
    def remove(self, comparison_id: str, caller: str) -> Record | None:
        """Cancel an unfinished comparison and return it, or delete a finished one with its texts.

        What was measured stays in the cache of statistics, which holds no text, until it expires.
        """
        self._find(comparison_id, caller)
        if self._store.commit(comparison_id, Status.CANCELLED):
            self._queue.drop(comparison_id)
            return self._find(comparison_id, caller)
        self._store.delete(comparison_id, caller)
        return None

    @storage()
    def check(self) -> None:
        """Write something, to see that it can be done."""
        self._store.probe()

    @storage()
    def workers(self) -> int:
        """How many workers are alive, here and on other machines."""
        return self._queue.workers()

    def _find(self, comparison_id: str, caller: str) -> Record:
        stored = self._store.find(comparison_id)
        if stored is not None and stored.caller == caller:
            return stored.record
        if stored is None and self._store.was(comparison_id, caller):
            raise gone(comparison_id)
        raise NotFoundError(f"There is no comparison {comparison_id}.")

    def _succeeded(self, comparison_id: str, caller: str) -> Record:
        record = self._find(comparison_id, caller)
        if record.status is not Status.SUCCEEDED:
            raise NotReadyError(f"The comparison is {record.status}; it has no report.", record)
        return record


__all__ = ["Jobs", "Progress", "Record", "Status"]
