"""The worker that a machine has more while long tasks hold all others.

Most work is cut so that a task takes half a second; some cannot be cut. No task gives way to
another, but one more worker can share the cores. It takes short tasks, and those of callers for
whom no worker works; so the long tasks of one caller cannot hold it, too.
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
    """Looks how long tasks run.

    Args:
        jobs: What runs.
    """

    def __init__(self, jobs: Jobs) -> None:
        self._jobs = jobs
        self._seen: dict[str, float] = {}  # starts of tasks, and when each was first seen

    def all_are_held(self, extra: int) -> bool:
        """Whether long tasks hold every worker, and so many extra ones."""
        now = time.monotonic()
        self._seen = {start: self._seen.get(start, now) for start in self._jobs.starts()}
        long = sum(now - seen > LONG_SECONDS for seen in self._seen.values())
        return bool(long) and long >= self._jobs.workers() + extra


class ExtraWorker(PieceWorker):
    """A worker that ends when another one is free; it serves no queue, and takes tasks by name."""

    _task = ""

    def queue_names(self) -> list[str]:
        """None: RQ would list it among those for which the feed fills the queue."""
        return []

    def dequeue_job_and_maintain_ttl(
        self, timeout: int | None, max_idle_time: int | None = None
    ) -> tuple[Job, RedisQueue] | None:
        """Wait for a task that should not wait for others; nothing once another worker is free."""
        feed = self.context.feed
        feed.jobs.let_go(self._task)
        while feed.jobs.all_work():
            if key := feed.take_aside():
                self._task = key
                with suppress(NoSuchJobError):  # it was dropped meanwhile
                    return PieceJob.fetch(key, self.connection, self.serializer), self.queues[0]
            self.heartbeat()
            time.sleep(PAUSE)
        return None


def work(name: str, settings: Settings) -> None:
    """Take such tasks until another worker is free."""
    ExtraWorker(name, settings).work(burst=True, logging_level="WARNING")
