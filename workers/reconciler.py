"""Finds work that was lost with a worker or with Redis, and queues it again."""

from __future__ import annotations

from workers.errors import GoneError
from workers.pieces import Task
from workers.queue import Queue
from workers.store import Store


class Reconciler:
    """Compares what is missing with what is queued.

    A task counts as lost when two rounds in a row find its piece missing and nobody working on it:
    a single round may look between the end of one task and the queueing of the next. Several
    reconcilers may work on one Redis; what two of them queue twice changes nothing.
    """

    def __init__(self, store: Store, queue: Queue) -> None:
        self._store = store
        self._queue = queue
        self._idle: set[str] = set()
        self._stuck: set[str] = set()

    def round(self) -> None:
        """Look once; to be called about once a second."""
        alive = self._queue.alive()  # before looking for pieces: who is done has written them
        stuck = self._queue.stuck(alive)
        self._queue.forget(stuck & self._stuck)
        self._stuck = stuck
        idle = {task.key: task for task in self._missing(alive)}
        lost = idle.keys() & self._idle
        self._queue.forget(lost)
        self._queue.add(idle[key] for key in lost)
        self._idle = idle.keys() - lost
        self._queue.forget_workers()

    def _missing(self, alive: set[str]) -> list[Task]:
        """What is to be done next for all unfinished comparisons, and nobody is going to do."""
        missing: list[Task] = []
        for comparison_id in self._store.pending():
            try:
                tasks = self._store.pieces(comparison_id).tasks(comparison_id)
            except GoneError:
                self._store.drop_pending(comparison_id)
                continue
            if len(tasks) == 1 and any(key.startswith(comparison_id) for key in alive):
                continue  # whoever does the task before does a single one that follows
            missing += [task for task in tasks if task.key not in alive]
        return missing
