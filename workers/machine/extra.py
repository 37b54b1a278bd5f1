"""The worker that a machine has more while all others work without a pause.

Most work is cut so that a task takes half a second; some cannot be cut. No task gives way to
another, but one more worker can share the cores. It takes tasks of callers for whom no worker
works, and once long tasks hold all others, short ones; so the long tasks of one caller cannot hold
it, too.
"""

from __future__ import annotations

import time
from contextlib import suppress

from rq.exceptions import NoSuchJobError
from rq.job import Job
from rq.queue import Queue as RedisQueue

from workers.machine.worker import PieceJob, PieceWorker
from workers.queue.jobs import Jobs
from workers.settings import Settings

LONG_SECONDS = 1.0
PAUSE = 0.05  # between looks for a task


class Watch:
    """Looks how long tasks run, and how long all workers have had one.

    Args:
        jobs: What runs.

    Attributes:
        busy: Seconds since a worker was seen without a task.
        quiet: Seconds since all were seen with one; 0 where they have.
    """

    def __init__(self, jobs: Jobs) -> None:
        self._jobs = jobs
        self._seen: dict[str, float] = {}  # starts of tasks, and when each was first seen
        self._free = self._full = time.monotonic()
        self.busy = self.quiet = 0.0

    def look(self) -> None:
        """Look once; to be called every moment."""
        now, starts = time.monotonic(), self._jobs.starts()
        self._seen = {start: self._seen.get(start, now) for start in starts}
        if starts and self._jobs.all_work():
            self._full = now
        else:
            self._free = now
        self.busy, self.quiet = now - self._free, now - self._full

    def held(self, extra: int = 0) -> bool:
        """Whether long tasks hold every worker, and so many extra ones."""
        now = time.monotonic()
        long = sum(now - seen > LONG_SECONDS for seen in self._seen.values())
        return bool(long) and long >= self._jobs.workers() + extra


class ExtraWorker(PieceWorker):
    """A worker that ends when others are free again; it has no queue, and takes tasks by name."""

    _task = ""

    def __init__(self, name: str, settings: Settings) -> None:
        super().__init__(name, settings)
        self._watch = Watch(self.context.feed.jobs)

    def queue_names(self) -> list[str]:
        """None: RQ would list it among those for which the feed fills the queue."""
        return []

    def dequeue_job_and_maintain_ttl(
        self, timeout: int | None, max_idle_time: int | None = None
    ) -> tuple[Job, RedisQueue] | None:
        """Wait for a task that should not wait for others; nothing once others are free again."""
        feed, watch = self.context.feed, self._watch
        feed.jobs.let_go(self._task)
        watch.look()
        while watch.quiet <= LONG_SECONDS:
            if not watch.quiet and (key := feed.take_aside(watch.held())):
                self._task = key
                with suppress(NoSuchJobError):  # it was dropped meanwhile
                    return PieceJob.fetch(key, self.connection, self.serializer), self.queues[0]
            self.heartbeat()
            time.sleep(PAUSE)
            watch.look()
        return None


def work(name: str, settings: Settings) -> None:
    """Take such tasks until others are free again."""
    ExtraWorker(name, settings).work(burst=True, logging_level="WARNING")
