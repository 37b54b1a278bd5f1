"""Finds work that was lost with a worker or with Redis, and queues it again."""

from __future__ import annotations

from workers import leaderboard_tasks
from workers.errors import GoneError
from workers.leaderboard_store import LeaderboardStore
from workers.pieces import comparison_of
from workers.queue import Queue
from workers.store import Store


class Reconciler:
    """Compares what is missing with what is queued.

    A comparison with a task that is queued or running is left alone. Where there is none, its
    tasks count as lost when two rounds in a row see it so: a single round may look between the end
    of one task and the queueing of the next. Several reconcilers may work on one Redis; what two
    of them queue twice changes nothing.
    """

    def __init__(self, store: Store, queue: Queue) -> None:
        self._store = store
        self._queue = queue
        self._leaderboards = LeaderboardStore(store.redis, store.settings)
        self._idle: set[str] = set()
        self._stuck: set[str] = set()
        self._unjoined: set[str] = set()

    def round(self) -> None:
        """Look once; to be called about once a second."""
        alive = self._queue.alive()  # before looking for pieces: who is done has written them
        stuck = self._queue.stuck(alive)
        self._queue.forget(stuck & self._stuck)
        self._stuck = stuck
        idle = set(self._store.pending()) - {comparison_of(key) for key in alive}
        for comparison_id in idle & self._idle:
            self._revive(comparison_id)
        self._idle = idle
        self._revive_joins(alive)
        self._queue.forget_workers()

    def _revive(self, comparison_id: str) -> None:
        try:
            tasks = self._store.pieces(comparison_id).tasks(comparison_id)
        except GoneError:
            self._store.drop_pending(comparison_id)  # it expired
        else:
            self._queue.forget(task.key for task in tasks)
            self._queue.add(tasks)

    def _revive_joins(self, alive: set[str]) -> None:
        """The same for systems of test sets, of which each has its own task."""
        unjoined = {t.key: t for t in leaderboard_tasks.missing(self._leaderboards, alive)}
        lost = unjoined.keys() & self._unjoined
        self._queue.forget(lost)
        self._queue.add(unjoined[key] for key in lost)
        self._unjoined = unjoined.keys() - lost
