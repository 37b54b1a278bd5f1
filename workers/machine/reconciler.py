"""Finds work that was lost with a worker or with Redis, or is due, and lets it wait its turn.

It also makes deletion reach the disk: the embedded server writes its append-only file anew. Until
then the file still has what was deleted. The new file is there beside the old one, which a disk
must have room for.
"""

import time

from redis import Redis
from redis.exceptions import ResponseError

from workers import webhooks
from workers.errors import GoneError
from workers.queue import Context
from workers.races import Races
from workers.settings import Settings
from workers.store import keys
from workers.store.records import Task, owner_of
from workers.store.server import disk_free
from workers.tasks.run import died


class Reconciler:
    """Compares what is missing with what waits, is queued or runs.

    A question with a task that waits, is queued or runs is left alone. Where there is none, its
    tasks count as lost when two rounds in a row see it so: a single round may look between the end
    of one task and the queueing of the next. Several reconcilers may work on one Redis; what two
    of them queue twice changes nothing.

    Args:
        context: The stores and the queue.
    """

    def __init__(self, context: Context) -> None:
        self._context = context
        self._jobs = context.feed.jobs
        self._races = Races(context)
        self._idle: set[str] = set()
        self._stuck: set[str] = set()

    def round(self) -> None:
        """Look once; to be called about once a second."""
        context, jobs = self._context, self._jobs
        alive = jobs.alive()  # before looking for pieces: a task that ended has written them
        busy = {owner_of(key) for key in alive} | context.feed.waiting()
        stuck = jobs.stuck(alive)
        lost = stuck & self._stuck  # with supervisors, which count what is lost with a worker
        deaths = jobs.forget(lost)
        self._stuck = stuck - lost
        asked, boards = context.questions.pending(), context.testsets.pending()
        idle = (asked | boards | self._races.pending()) - busy
        self._revive(idle & self._idle)
        self._idle = idle
        jobs.forget_workers()
        context.feed.fill()
        webhooks.hand_out(context)
        for key in deaths:
            died(context, Task.of_key(key))

    def settle(self, worker: str, counted: bool) -> None:
        """Let the task that a worker had when it died wait for another one.

        Who forgets the job counts the death: a supervisor, or a reconciler where that died, too.

        Args:
            worker: Its name.
            counted: Whether the death may be the task's fault.
        """
        turn = self._jobs.left_by(worker)
        if turn is None:
            return
        forgotten = self._jobs.forget([turn.task.key])
        self._stuck, self._idle = set(), set()  # it waits again, and may be taken
        if counted and forgotten:
            died(self._context, turn.task)
        self._context.feed.again(turn)

    def _revive(self, lost: set[str]) -> None:
        questions = self._context.questions
        asked = lost.intersection(questions.pending())
        for question_id in sorted(asked):
            try:
                pieces = questions.pieces(question_id)
                stored, _ = questions.read(question_id)
            except GoneError:
                questions.drop_pending(question_id)  # it expired
            else:
                self._again(stored.caller, pieces.tasks(question_id))
        raced = lost & self._races.pending()
        for race_id in sorted(raced):
            if (race := self._races.stored(race_id)) is not None:
                self._again(race.caller, [race.task])
            else:
                self._context.redis.srem(keys.RACING, race_id)
        for testset_id in sorted(lost - asked - raced):
            state = self._context.testsets.stored(testset_id)
            if state is None:
                self._context.testsets.settle(testset_id)
            else:
                self._again(state.caller, state.joins or [state.refreshing()])

    def _again(self, caller: str, tasks: list[Task]) -> None:
        self._jobs.forget(entry.key for entry in tasks)
        self._context.feed.add(caller, tasks)


APART = 20.0  # seconds between two rewrites, each of which writes everything
GROWN = 2**26  # bytes of changes, besides as many as the file had when it was written


class Eraser:
    """Looks whether something was deleted since the file was written.

    Args:
        redis: The embedded server.
        settings: How much of its disk is to stay free.
    """

    def __init__(self, redis: Redis, settings: Settings) -> None:
        self._redis = redis
        self._settings = settings
        self._due = 0.0

    def round(self) -> None:
        """Look once; to be called about once a second."""
        now = time.monotonic()
        if now < self._due:
            return
        facts, free = self._redis.info(), disk_free(self._settings)
        used, size, before = (
            facts[name] for name in ("used_memory", "aof_current_size", "aof_base_size")
        )
        if free < used:
            return  # later, or the server could not write
        grown = size > 2 * before + GROWN or (free < self._settings.free and size > used)
        if not self._redis.getdel(keys.ERASE) and not grown:
            return
        self._due = now + APART
        try:
            self._redis.bgrewriteaof()
        except ResponseError:  # one is under way, which began before the deletion
            self._redis.set(keys.ERASE, 1)
