"""The worker: RQ's own simple one, which runs only this project's tasks.

`python -m workers.machine.worker` starts everything a machine needs to compute: the embedded server
where no REDIS_URL is set, WORKERS of these processes, and what keeps them alive.
"""

from __future__ import annotations

import logging
import os
import resource
import sys
from contextlib import suppress
from typing import Any, ClassVar

from redis import Redis
from redis.client import Pipeline
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import OutOfMemoryError, RedisError
from redis.exceptions import TimeoutError as RedisTimeoutError
from rq import SimpleWorker
from rq.exceptions import NoSuchJobError
from rq.job import Job
from rq.queue import Queue as RedisQueue
from rq.serializers import JSONSerializer

from sigtest.metrics import jvm
from workers.errors import FullError
from workers.process import call_oneself
from workers.queue import Context, forget_taken
from workers.settings import Settings
from workers.store.server import connect
from workers.tasks.run import FAILED, TASKS, run

log = logging.getLogger(__name__)

ALIVE = 6  # seconds after its last sign of life until a worker and its task count as dead
RETRIES = 23  # about ten seconds: the embedded server is back long before
LOOK = 2  # seconds that a worker waits for a task before it says that it is alive
RQ_MARGIN = 15  # RQ waits for tasks this much shorter than its workers' time to live
MOST_JOBS = 1000  # of one worker, after which another takes its place
STORE_FULL = 75  # how a worker ends whose task found no room, which is no fault of the task
GROWTH = 128 << 20  # bytes that a worker may grow beyond its size after the fork
UNIT = 1 if sys.platform == "darwin" else 1024  # of `ru_maxrss`
WORKING, WAITING = "sigtest task", "sigtest idle"  # what workers are called in lists of processes


class PieceJob(Job):
    """A job that can name one of TASKS and nothing else.

    RQ imports and calls whatever function, callback or web hook a job names; who can write to
    Redis could run anything as this user.

    Attributes:
        context: What tasks of this process work with.
        failed: Whether a task of this process failed.
    """

    context: ClassVar[Context]
    failed: ClassVar[bool] = False

    @classmethod
    def fetch(cls, id: str, connection: Redis | None = None, serializer: Any = None) -> PieceJob:  # noqa: A002
        """Read a job; one that cannot be read or may not run is deleted as if it never was.

        An exception here would stop the worker, and every other that takes the job after it. One
        that others have forgotten is taken out of those for which a worker counts as busy.
        """
        try:
            job = super().fetch(id, connection, serializer)
            assert isinstance(job, PieceJob)
            if job.func_name not in TASKS:
                raise ValueError(f"{job.func_name!r} is no task")
        except NoSuchJobError:
            if connection is not None:
                forget_taken(connection, id)
            raise
        except (RedisConnectionError, RedisTimeoutError):
            raise
        except Exception as error:
            log.error("refused job %r: %s", id, error)
            if connection is not None:
                connection.delete(cls.key_for(id))
            raise NoSuchJobError(id) from error
        return job

    def restore(self, raw_data: Any) -> None:
        """Read what sigtest writes; ignore every other thing that RQ would call."""
        super().restore(raw_data)
        self.webhooks = []
        self._success_callback_name = None
        self._failure_callback_name = None
        self._stopped_callback_name = None
        self._dependency_ids = []
        self.repeats_left = None
        self.group_id = None

    def perform(self) -> None:
        """Run the task, or end the process where it is worth another try: it waits once more."""
        call_oneself(WORKING)
        try:
            outcome = run(self.context, str(self.func_name), self.args, self.meta["seconds"])
        except (OutOfMemoryError, FullError):
            log.warning("the store is full: task %s waits for room and starts again", self.id)
            os._exit(STORE_FULL)
        except BaseException as error:
            log.warning("task %s ends its worker: %s", self.id, type(error).__name__)
            os._exit(1)
        PieceJob.failed |= outcome == FAILED
        call_oneself(WAITING)


class PieceWorker(SimpleWorker):
    """RQ's worker without forks, threads and maintenance; the supervisor says that it is alive.

    Args:
        name: Its name in Redis.
        queue: The name of the queue that it serves.
        settings: Where Redis is and how tasks are limited.
    """

    max_connection_wait_time = 1.0

    def __init__(self, name: str, queue: str, settings: Settings) -> None:
        redis = connect(settings, RETRIES, timeout=10.0, patient=True)
        self._parent = os.getppid()
        self._most_memory = _largest_size() + GROWTH
        PieceJob.context = Context.on(redis, settings)
        super().__init__(
            # one queue: with two, RQ loses a task when a worker dies right after taking it
            [RedisQueue(queue, connection=redis, job_class=PieceJob, serializer=JSONSerializer)],
            name=name,
            default_result_ttl=0,
            connection=redis,
            job_class=PieceJob,
            serializer=JSONSerializer,
            worker_ttl=RQ_MARGIN + LOOK,
            log_job_description=False,
        )

    def _set_ip_address(self, connection: Redis) -> None:
        """Not looked up: nobody reads it, and the store's user need not list its clients."""
        self.ip_address = "unknown"

    def heartbeat(self, timeout: int | None = None, pipeline: Pipeline | None = None) -> None:
        """Say that the worker is alive; RQ would believe it for an hour."""
        super().heartbeat(ALIVE, pipeline)

    def run_maintenance_tasks(self) -> None:
        """Nothing: the reconciler looks after lost tasks, and never reads jobs it cannot trust."""

    def subscribe(self) -> None:
        """Take no commands, which need a thread."""

    def dequeue_job_and_maintain_ttl(
        self, timeout: int | None, max_idle_time: int | None = None
    ) -> tuple[Job, RedisQueue] | None:
        """Take the next task: of those that wait, the one whose turn it is now.

        Nothing, which ends the worker, where it has grown, a task of it failed and may have left
        something behind, or its supervisor is gone.
        """
        grown = _largest_size() > self._most_memory
        if grown or PieceJob.failed or os.getppid() != self._parent:
            return None
        with suppress(RedisError):  # the reconciler does it, too, and RQ waits for the server
            PieceJob.context.feed.fill()
        return super().dequeue_job_and_maintain_ttl(timeout, max_idle_time)


def _largest_size() -> int:
    """Bytes of memory that this process had at most."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * UNIT


def work(name: str, queue: str, settings: Settings, meteor_options: tuple[str, ...]) -> None:
    """Take tasks until told to stop.

    Args:
        name: The worker's name in Redis.
        queue: The name of its queue.
        settings: Where Redis is and how tasks are limited.
        meteor_options: Those that METEOR is loaded with ahead; none where it is not.
    """
    call_oneself(WAITING)
    worker = PieceWorker(name, queue, settings)
    if meteor_options:
        jvm.ahead(meteor_options)
    worker.work(logging_level="WARNING", max_jobs=MOST_JOBS)


def main() -> None:
    """Become the supervisor, whose environment must be set before NumPy is loaded."""
    supervisor = [sys.executable, "-m", "workers.machine.supervisor"]
    os.execv(sys.executable, [*supervisor, *sys.argv[1:]])


if __name__ == "__main__":
    main()
