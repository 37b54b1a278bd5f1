"""The process that takes tasks from the queue and hands them to its work horse.

`python -m workers.machine.worker` starts everything a machine needs to compute: the embedded server
where no REDIS_URL is set, WORKERS of these processes, and what keeps them alive.
"""

from __future__ import annotations

import logging
import os
import signal
import sys
import time
from contextlib import suppress
from datetime import datetime
from typing import Any, NoReturn

from redis import Redis
from redis.client import Pipeline
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import RedisError
from redis.exceptions import TimeoutError as RedisTimeoutError
from rq import Worker
from rq.exceptions import NoSuchJobError
from rq.executions import Execution
from rq.job import Job
from rq.queue import Queue as RedisQueue
from rq.registry import StartedJobRegistry
from rq.serializers import JSONSerializer
from rq.timeouts import HorseMonitorTimeoutException
from rq.utils import now
from rq.worker_registration import register

from sigtest.metrics import meteor
from workers.machine.horse import Line, Order, Stamina
from workers.process import die_with_parent
from workers.queue.jobs import NAME, TAKEN, Turn, erase
from workers.settings import Settings
from workers.store.server import connect
from workers.tasks.context import Context
from workers.tasks.run import FAILED, TASKS, concluded, run, wanted

log = logging.getLogger(__name__)

BEAT = 2  # seconds between signs of life
LOOK = 0.5  # seconds between looks whether a task is still wanted
ALIVE = 6  # seconds after the last one until a worker and its task count as dead
RETRIES = 23  # about ten seconds: the embedded server is back long before
RQ_MARGIN = 15  # RQ waits for tasks this much shorter than its workers' time to live


class PieceJob(Job):
    """A job that can name one of TASKS and nothing else.

    RQ imports and calls whatever function, callback or web hook a job names; who can write to
    Redis could run anything as this user.
    """

    context: Context
    outcome = ""

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
                connection.lrem(TAKEN, 1, id)
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

    def heartbeat(
        self, timestamp: datetime, ttl: int, pipeline: Pipeline | None = None, xx: bool = False
    ) -> None:
        """Only look: a note of the time would make a job anew that others have deleted.

        RQ deletes such a job, but not where its worker or the store dies in between. It takes an
        answer of 1 for a job made anew.
        """
        if pipeline is not None:
            pipeline.hget(self.key, "status")

    def prepare_for_execution(self, worker_name: str, pipeline: Pipeline) -> None:
        """Know that it starts; to write so, too, would make a job anew."""
        self.worker_name = worker_name
        self.last_heartbeat = self.started_at = now()

    def perform(self) -> None:
        """Run the task; RQ would first ask the store to keep the job, which never expires."""
        self.outcome = run(self.context, str(self.func_name), self.args, self.meta["seconds"])


class PieceWorker(Worker):
    """RQ's forking worker with short heartbeats, whose horses never outlive it.

    RQ would fork a horse for each task; here one runs many, see `horse`.

    Every write waits for the disk, so that what RQ writes a dozen times a task is left out.

    Args:
        name: Its name in Redis.
        settings: Where Redis is and how tasks are limited.
        meteor_options: Those that METEOR is loaded with ahead; none where it is not.
    """

    max_connection_wait_time = 1.0
    _beat = 0.0
    _line: Line | None = None  # to the horse, if there is one
    _unwanted = ""  # job that was not wanted when it was last looked at
    _horse_at_hand = 0  # its process; RQ forgets `horse_pid` after each task
    _meteor: meteor.Jvm | None = None  # that horses borrow

    def __init__(self, name: str, settings: Settings, meteor_options: tuple[str, ...] = ()) -> None:
        redis = connect(settings, RETRIES, timeout=10.0, patient=True)
        self.context = Context.on(redis, settings)
        self._meteor_options = meteor_options
        super().__init__(
            # one queue: with two, RQ loses a task when a worker dies right after taking it
            [RedisQueue(NAME, connection=redis, job_class=PieceJob, serializer=JSONSerializer)],
            name=name,
            default_result_ttl=0,
            connection=redis,
            job_class=PieceJob,
            serializer=JSONSerializer,
            worker_ttl=RQ_MARGIN + BEAT,
            job_monitoring_interval=1,  # in whole seconds; looks are more frequent
            log_job_description=False,
        )

    def _set_ip_address(self, connection: Redis) -> None:
        """Not asked: nobody reads it, and the store's user need not list who is connected."""
        self.ip_address = "unknown"

    def heartbeat(self, timeout: int | None = None, pipeline: Pipeline | None = None) -> None:
        """Tell that the worker is alive; RQ would allow it a minute more.

        A worker that was stopped for longer than ALIVE is not listed when it goes on, and what was
        known of it is gone; so each sign of life lists it and says what it does.
        """
        if pipeline is not None:
            super().heartbeat(ALIVE, pipeline)  # first: RQ, too, looks at the first answer
            register(self, pipeline)
            pipeline.hset(self.key, "state", self.get_state())
        elif time.monotonic() > self._beat + BEAT / 2:
            self._beat = time.monotonic()
            with self.connection.pipeline() as own:
                self.heartbeat(pipeline=own)
                expired = own.execute()[0] == 1  # the note of the time made the key
            if expired:
                self.connection.hset(self.key, mapping=self.serialize())

    def set_state(self, state: str, pipeline: Pipeline | None = None) -> None:
        """Tell what the worker does, unless that was told before."""
        if state != self.get_state():
            super().set_state(state, pipeline)

    def set_current_job_working_time(
        self, current_job_working_time: float, pipeline: Pipeline | None = None
    ) -> None:
        """Know how long the task runs; nobody reads what RQ would write at each look."""
        self.current_job_working_time = current_job_working_time

    def maintain_heartbeats(self, job: Job) -> None:
        """At every look while a task runs: end it where it is no longer wanted.

        At once where nobody needs its work; where its question has an outcome, when that is seen
        twice: the task may be the one that wrote it, which has only to say so and ends by itself.
        """
        assert isinstance(job, PieceJob)
        if not wanted(self.context, str(job.func_name), job.args):
            if self._unwanted == job.id or not concluded(self.context, job.args):
                self.kill_horse()
            self._unwanted = job.id
        elif time.monotonic() > self._beat + BEAT / 2:
            super().maintain_heartbeats(job)

    def get_heartbeat_ttl(self, job: Job) -> int:
        """Seconds after which a started task counts as lost."""
        return ALIVE

    def run_maintenance_tasks(self) -> None:
        """Nothing: the reconciler looks after lost tasks, and never reads jobs it cannot trust."""

    def dequeue_job_and_maintain_ttl(
        self, timeout: int | None, max_idle_time: int | None = None
    ) -> tuple[Job, RedisQueue] | None:
        """Take the next task: of those that wait, the one whose turn it is now."""
        with suppress(RedisError):  # the reconciler does it, too, and RQ waits for the server
            self.context.feed.fill()
        return super().dequeue_job_and_maintain_ttl(timeout, max_idle_time)

    def check_for_suspension(self, burst: bool) -> None:
        """Nothing: workers are never suspended through Redis."""

    def subscribe(self) -> None:
        """Take no commands: a thread would be forked with every horse."""

    def perform_job(self, job: Job, queue: RedisQueue) -> bool:
        """Run the job in the horse."""
        assert isinstance(job, PieceJob)
        job.context = self.context
        return bool(super().perform_job(job, queue))

    def handle_job_success(
        self, job: Job, queue: RedisQueue, started_job_registry: StartedJobRegistry
    ) -> None:
        """Forget a job that ended well; RQ would first look for others that depend on it."""
        assert job.started_at is not None
        assert job.ended_at is not None
        with self.connection.pipeline() as pipe:
            self.increment_successful_job_count(pipeline=pipe)
            self.increment_total_working_time(job.ended_at - job.started_at, pipe)
            erase(pipe, job.id)
            self.cleanup_execution(job, pipeline=pipe)
            pipe.execute()

    def handle_job_failure(
        self,
        job: Job,
        queue: RedisQueue,
        started_job_registry: StartedJobRegistry | None = None,
        exc_string: str = "",
    ) -> None:
        """Let a task whose horse died wait for another turn; RQ would start it at once."""
        super().handle_job_failure(job, queue, started_job_registry, exc_string)
        self.context.feed.again(Turn.of_job(job))

    def monitor_work_horse(self, job: Job, queue: RedisQueue) -> None:
        """Look after the horse until its task is done.

        Of a horse that died over a job which others have forgotten RQ leaves the start and, where
        it died at once, that the job was taken; as long as these count the feed takes this worker
        for busy.
        """
        super().monitor_work_horse(job, queue)
        if self._line is None and self.execution is not None:
            with self.connection.pipeline() as pipe:
                pipe.lrem(TAKEN, 1, job.id)
                self.cleanup_execution(job, pipe)
                pipe.execute()

    def fork_work_horse(self, job: Job, queue: RedisQueue) -> None:
        """Hand the job to the horse that waits for one, or to a new one."""
        assert self.execution is not None
        if self._line is not None and not self._line.hand_over(Order(job.id, self.execution.id)):
            self._bury(self._line)
        if self._line is None:
            self._line = Line()
            self.load_meteor()
            super().fork_work_horse(job, queue)
            self._line.hold_worker_end(LOOK)
            self._horse_at_hand = self.horse_pid
        self._horse_pid = self._horse_at_hand

    def wait_for_horse(self) -> tuple[int | None, int | None, Any]:
        """Wait until the horse has done its task or is gone, and how that ended.

        Raises:
            HorseMonitorTimeoutException: Neither happened before the next look.
        """
        if self._line is None:
            return super().wait_for_horse()
        try:
            if self._line.done():
                return self.horse_pid, os.EX_OK, None
        except TimeoutError as error:
            raise HorseMonitorTimeoutException from error
        return self._bury(self._line)

    def _bury(self, line: Line) -> tuple[int | None, int | None, Any]:
        """Wait for a horse that is gone, or going."""
        self._line = None
        line.cut()
        self._horse_pid = self._horse_at_hand
        ending = super().wait_for_horse()
        if self._meteor is not None and not self._meteor.sound:
            self._meteor.kill()  # it works for a horse that is gone
        return ending

    def load_meteor(self) -> None:
        """Let METEOR load where horses are to borrow it; anew where a horse left it unusable."""
        if self._meteor_options and not (self._meteor and self._meteor.sound):
            if self._meteor is not None:
                self._meteor.close()
            self._meteor = meteor.ahead(self._meteor_options)

    def main_work_horse(self, job: Job, queue: RedisQueue) -> NoReturn:
        """Live in the horse: run tasks as long as all goes well, and die with the worker."""
        die_with_parent(signal.SIGKILL)
        if os.getppid() != self.pid:
            os._exit(1)  # the worker died before the kernel was asked
        self._is_horse = True
        self.setup_work_horse_signals()  # type: ignore[no-untyped-call]
        try:
            self._run_tasks(job, queue)
        except BaseException:
            os._exit(1)
        os._exit(0)

    def _run_tasks(self, job: Job, queue: RedisQueue) -> None:
        assert self._line is not None
        assert isinstance(job, PieceJob)
        self._line.hold_horse_end()
        meteor.borrow(self._meteor)
        stamina = Stamina()
        while self.perform_job(job, queue) and job.outcome != FAILED and stamina.lasts():
            order = self._line.next_order()
            if order is None:
                return
            job = PieceJob.fetch(order.job, self.connection, self.serializer)
            self.execution = Execution(order.execution, order.job, self.connection)


def work(name: str, settings: Settings, meteor_options: tuple[str, ...]) -> None:
    """Take tasks until told to stop."""
    worker = PieceWorker(name, settings, meteor_options)
    worker.load_meteor()
    worker.work(logging_level="WARNING")


def main() -> None:
    """Become the supervisor, whose environment must be set before NumPy is loaded."""
    supervisor = [sys.executable, "-m", "workers.machine.supervisor"]
    os.execv(sys.executable, [*supervisor, *sys.argv[1:]])


if __name__ == "__main__":
    main()
