"""Who is served next: the one place that decides it.

Tasks wait in the store, by caller and by question. The queue that workers take from holds one for
each worker that has none; whenever one is added, or a worker is free, `fill` fills it up. Callers
are taken in turn, by the seconds of work that they were given, so that one caller's work
delays another's by no more than what runs already; of one caller's questions small ones come first.
A turn is counted with what its task is predicted to take, and with what it took once that is known.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import cast

from redis import Redis
from redis.client import Pipeline

from workers.queue.jobs import NAME, SHORT, TAKEN, Jobs, Turn
from workers.store import keys
from workers.store.codec import decoded
from workers.store.scripts import queue as scripts
from workers.store.task import Priced

MOST_VIEWS = 1000  # tasks of a question that wait, beyond which reading adds none
PREFIXES = f"{keys.WAITING}:", keys.key("tasks", "")  # of the keys of a caller and of an id
HELD_MS = 2000  # in which long tasks are believed to hold all workers


class Feed:
    """The tasks that wait.

    Args:
        redis: The server, with bytes as answers.
        jobs: The queue that workers take from.
    """

    def __init__(self, redis: Redis, jobs: Jobs) -> None:
        self._redis = redis
        self.jobs = jobs
        self._wait = redis.register_script(scripts.WAIT)
        self._feed = redis.register_script(scripts.FEED)
        self._lists = [keys.WAITING, keys.WAITING_SINCE, keys.DRAINED, TAKEN, keys.HELD]
        for name in (NAME, SHORT):
            self._lists += [jobs.lists[name], jobs.workers_names[name]]

    def add(self, caller: str, tasks: Iterable[Priced]) -> None:
        """Let tasks of one question wait for their turn, and fill the queue up.

        Args:
            caller: Whose question it is.
            tasks: All of the same question.
        """
        self._let_wait(keys.hashed(caller), list(tasks), behind=False)

    def add_view(self, caller: str, view: Priced) -> None:
        """Let a view be made, unless too many of the same question wait: who wants it asks again.

        Args:
            caller: Whose question it is.
            view: Its task.
        """
        if self._redis.llen(keys.key("tasks", view.task.owner)) < MOST_VIEWS:
            self.add(caller, [view])

    def again(self, died: Turn) -> None:
        """Let a task whose worker died wait once more, behind the other questions of its caller.

        What kills its worker would otherwise be started again at once, as often as it may be, while
        the reason lasts; and the caller's other questions would wait for it.
        """
        self.jobs.forget([died.priced.task.key])
        self._let_wait(died.owner, [died.priced], behind=True)

    def _let_wait(self, owner: str, priced: list[Priced], behind: bool) -> None:
        if not priced:
            return
        question = priced[0].task.owner
        tasks = keys.key("tasks", question)
        lists = [*self._lists, f"{keys.WAITING}:{owner}", tasks]
        lines = [f"{entry.seconds:.6f} {entry.task.spelled}" for entry in priced]
        told: list[str | int] = [owner, question, int(behind), *lines]
        self._queue(self._wait(lists, [*PREFIXES, *told]))

    def correct(self, pipe: Pipeline, caller: str, seconds: float) -> None:
        """Count a turn with what it took, once that is known; sent with what else is.

        Nothing where none of the caller's work waits: who comes back starts with the least served.

        Args:
            pipe: To send it with.
            caller: Whose turn it was.
            seconds: More than predicted, or less.
        """
        pipe.zadd(keys.WAITING, {keys.hashed(caller): seconds}, xx=True, incr=True)

    def fill(self) -> None:
        """Give the queues as many tasks as there are workers without one."""
        self._queue(self._feed(self._lists, [*PREFIXES]))

    def hold(self) -> None:
        """For a moment, let short tasks go to the worker that serves these alone."""
        self._redis.set(keys.HELD, 1, px=HELD_MS)
        self.fill()

    def _queue(self, told: Iterable[bytes]) -> None:
        taken = map(decoded, told)
        turns = zip(taken, taken, taken, strict=True)
        self.jobs.add(Turn.of(owner, line, queue) for owner, line, queue in turns)

    def drop(self, question: str) -> None:
        """Forget the tasks of a question and fill the queue up; those running find out."""
        self._redis.delete(keys.key("tasks", question))
        self._redis.zrem(keys.WAITING_SINCE, question)
        self.jobs.drop(question)
        self.fill()

    def drain(self) -> None:
        """Let everything wait that no worker has, until `resume`; what is new waits, too."""
        self._redis.set(keys.DRAINED, 1)
        for turn in self.jobs.withdrawn():  # where no worker was, one waits for the next that comes
            self._let_wait(turn.owner, [turn.priced], behind=False)

    def resume(self) -> None:
        """Serve what waits."""
        self._redis.delete(keys.DRAINED)
        self.fill()

    @property
    def drained(self) -> bool:
        """Whether everything waits."""
        return bool(self._redis.exists(keys.DRAINED))

    def depth(self) -> tuple[int, float | None]:
        """How many tasks no worker has, and since when the oldest waits (seconds since 1970).

        Those in the queue that workers take from are counted; they are about to be taken.
        """
        held = cast(
            "list[tuple[bytes, float]]",
            self._redis.zrange(keys.WAITING_SINCE, 0, -1, withscores=True),
        )
        with self._redis.pipeline(transaction=False) as pipe:
            for name in self.jobs.lists.values():
                pipe.llen(name)
            for question, _ in held:
                pipe.llen(keys.key("tasks", decoded(question)))
            lengths = cast("list[int]", pipe.execute())
        return sum(lengths), held[0][1] if held else None

    def since(self, owner: str) -> float | None:
        """Since when tasks of a question or test set wait (seconds since 1970), if any do."""
        score = self._redis.zscore(keys.WAITING_SINCE, owner)
        return None if score is None else float(score)

    def waiting(self) -> set[str]:
        """Ids of the questions and test sets with tasks that wait."""
        callers: list[bytes] = self._redis.zrange(keys.WAITING, 0, -1)  # type: ignore[assignment]
        with self._redis.pipeline(transaction=False) as pipe:
            for caller in callers:
                pipe.zrange(f"{keys.WAITING}:{decoded(caller)}", 0, -1)
            found = pipe.execute()
        return {decoded(question) for ids in found for question in ids}
