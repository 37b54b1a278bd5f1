"""RQ's jobs: tasks go in by name, once each; what RQ lost is found and forgotten.

All names and keys of RQ that sigtest depends on are here and in `machine/worker.py`. RQ is
trusted to deliver, and with nothing else: what is done and what is missing is known from the
pieces.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import cast

from redis import Redis
from rq import Queue as RedisQueue
from rq import Worker
from rq.exceptions import DuplicateJobError, NoSuchJobError
from rq.executions import Execution
from rq.intermediate_queue import IntermediateQueue
from rq.job import Job
from rq.serializers import JSONSerializer
from rq.worker_registration import WORKERS_BY_QUEUE_KEY

from workers.settings import Settings
from workers.store.task import Priced, Task, owner_of

NAME, SHORT = "sigtest", "sigtest-short"
# tasks that a worker took and has not started yet
TAKEN, TAKEN_SHORT = (
    IntermediateQueue.get_intermediate_queue_key(RedisQueue.redis_queue_namespace_prefix + name)
    for name in (NAME, SHORT)
)
KEEP_FAILURES = 600


@dataclass(frozen=True)
class Turn:
    """A task whose turn it is.

    Attributes:
        owner: Hash of the caller whose question it is.
        priced: The task, and what it is predicted to cost.
        queue: The name of the queue that it goes to.
    """

    owner: str
    priced: Priced
    queue: str = NAME

    @classmethod
    def of(cls, owner: str, line: str, queue: str) -> Turn:
        """The turn of a task that waited as a line of seconds and task."""
        seconds, _, spelled = line.partition(" ")
        return cls(owner, Priced(Task.of(spelled), float(seconds)), queue)

    @classmethod
    def of_job(cls, job: Job) -> Turn:
        """The turn that RQ's job was queued for."""
        name, arguments = str(job.func_name), tuple(job.args)
        task = Task(name, arguments[0], arguments[1:])
        return cls(job.meta["owner"], Priced(task, job.meta["seconds"]))


class Jobs:
    """The queues: the one that workers serve, and that of short tasks while long ones hold these.

    Args:
        redis: The server, with bytes as answers.
        settings: Time limit of a task.

    Attributes:
        lists: Keys of the lists that workers take from, by name.
        workers_names: Keys of the names of workers, by the name of the queue that they serve.
    """

    def __init__(self, redis: Redis, settings: Settings) -> None:
        self._redis = redis
        self._settings = settings
        self._queues = {
            name: RedisQueue(name, connection=redis, serializer=JSONSerializer)
            for name in (NAME, SHORT)
        }
        self.lists = {name: str(queue.key) for name, queue in self._queues.items()}
        self.workers_names = {name: WORKERS_BY_QUEUE_KEY % name for name in self._queues}

    def add(self, turns: Iterable[Turn]) -> None:
        """Queue tasks; those queued or running already are left alone."""
        unsent = self._redis.pipeline()  # RQ's note that there is this queue, which nobody reads
        for turn in turns:
            task = turn.priced.task
            try:
                self._queues[turn.queue].enqueue_call(
                    task.name,
                    pipeline=unsent,
                    args=(task.owner, *task.arguments),
                    job_id=task.key,
                    unique=True,
                    description=task.key,
                    timeout=self._settings.timeout,
                    result_ttl=0,  # what a task did is in the pieces; its id is free again
                    failure_ttl=KEEP_FAILURES,
                    meta={"owner": turn.owner, "seconds": turn.priced.seconds},
                )
            except DuplicateJobError:
                continue

    def drop(self, owner: str) -> None:
        """Take the tasks of a question out of the queues; those running find out themselves."""
        with self._redis.pipeline() as pipe:
            for name, key in self._queued():
                if owner_of(key) == owner:
                    pipe.lrem(name, 0, key)
                    erase(pipe, key)
            pipe.execute()

    def withdrawn(self) -> list[Turn]:
        """Take back the tasks that no worker has taken."""
        turns = []
        for name, key in self._queued():
            with suppress(NoSuchJobError):  # the reconciler sees what became of unknown ones
                turn = Turn.of_job(Job.fetch(key, self._redis, JSONSerializer))
                if self._redis.lrem(name, 1, key):  # or a worker was faster
                    erase(self._redis, key)
                    turns.append(turn)
        return turns

    def _queued(self) -> list[tuple[str, str]]:
        """Lists of the queues and ids of tasks in them."""
        return [
            (name, _text(key))
            for name in self.lists.values()
            for key in self._redis.lrange(name, 0, -1)
        ]

    def workers(self) -> int:
        """How many workers sent a sign of life in the last seconds."""
        names = self._redis.smembers(self.workers_names[NAME])
        return self._redis.exists(*names) if names else 0

    def serves(self, worker: str) -> bool:
        """Whether the worker of that name waits for tasks or works on one."""
        return self._redis.hget(_record(worker), "state") in {b"idle", b"busy"}

    def lives(self, workers: Sequence[str], seconds: int) -> list[tuple[bool, str]]:
        """Say that workers are alive; of each whether it is known, and the task it has, if any.

        Args:
            workers: Their names.
            seconds: How long they count as alive.
        """
        with self._redis.pipeline(transaction=False) as pipe:
            for name in workers:
                pipe.expire(_record(name), seconds)
                pipe.hmget(_record(name), "birth", "current_job")
            facts = pipe.execute()[1::2]
        return [(birth is not None, _text(task or b"")) for birth, task in facts]

    def running(self) -> set[str]:
        """Ids of the tasks that workers have."""
        names = cast("set[bytes]", self._redis.sunion(list(self.workers_names.values())))
        with self._redis.pipeline(transaction=False) as pipe:
            for name in names:
                pipe.hget(name, "current_job")
            return {_text(task) for task in pipe.execute() if task is not None}

    def alive(self) -> set[str]:
        """Ids of the tasks that are queued or running."""
        queued = {key for _, key in self._queued()}  # first: one that is taken meanwhile runs
        return queued | self.running()

    def busy(self) -> bool:
        """Whether a task is queued, running, or in between: taken and not yet announced."""
        lists = *self.lists.values(), TAKEN, TAKEN_SHORT
        return bool(self._redis.exists(*lists)) or bool(self.running())

    # what follows is for the reconciler

    def stuck(self, alive: set[str]) -> set[str]:
        """Ids that RQ still knows although no worker works on them.

        A worker that dies between taking a task and announcing it leaves the task in the
        intermediate list; one that dies later leaves a start; what RQ itself failed at is listed.
        """
        lists = self._redis.lrange(TAKEN, 0, -1) + self._redis.lrange(TAKEN_SHORT, 0, -1)
        for name in self._registries():
            lists += self._redis.zrange(name, 0, -1)  # type: ignore[arg-type]  # no scores
        return {_text(entry).partition(":")[0] for entry in lists} - alive

    def forget(self, tasks: Iterable[str]) -> None:
        """Remove every trace of these tasks from RQ, so that they can be queued again."""
        forgotten = set(tasks)
        with self._redis.pipeline() as pipe:
            for name in self._registries():
                for entry in self._redis.zrange(name, 0, -1):
                    key, _, start = _text(entry).partition(":")
                    if key in forgotten:
                        pipe.zrem(name, entry)  # type: ignore[arg-type]  # never with scores
                        pipe.delete(_bytes(Execution(start, key, self._redis).key))
            for key in forgotten:
                forget_taken(pipe, key)
                erase(pipe, key)
            pipe.execute()

    def _registries(self) -> list[str]:
        """Keys of RQ's lists of what was started, and of what it failed at."""
        return [
            registry.key
            for queue in self._queues.values()
            for registry in (queue.started_job_registry, queue.failed_job_registry)
        ]

    def left_by(self, worker: str) -> Turn | None:
        """The task that a worker had when it died, if any; the worker is forgotten."""
        record = _record(worker)
        task = self._redis.hget(record, "current_job")
        self._redis.delete(record)
        self.forget_workers()
        try:
            return (
                Turn.of_job(Job.fetch(_text(task), self._redis, JSONSerializer)) if task else None
            )
        except NoSuchJobError:  # it was done by then
            return None

    def forget_workers(self) -> None:
        """Remove the names of workers that died without saying so."""
        for name in (Worker.redis_workers_keys, *self.workers_names.values()):
            workers = list(cast("set[bytes]", self._redis.smembers(name)))
            with self._redis.pipeline(transaction=False) as pipe:
                for worker in workers:
                    pipe.exists(worker)
                alive = pipe.execute()
            gone = [w for w, there in zip(workers, alive, strict=True) if not there]
            if gone:
                self._redis.srem(name, *gone)


def erase(redis: Redis, key: str) -> None:
    """Delete all that RQ keeps of one job, at once or with what else a pipeline sends.

    Its executions, too: RQ fails a job that succeeds while an execution is listed whose record
    expired with the worker that died.
    """
    name = _bytes(key)
    prefixes = Job.redis_job_namespace_prefix, "rq:executions:", "rq:results:"
    redis.delete(*(prefix.encode() + name for prefix in prefixes))


def forget_taken(redis: Redis, key: str) -> None:
    """Forget that a worker took a task, at once or with what else a pipeline sends."""
    for name in (TAKEN, TAKEN_SHORT):
        redis.lrem(name, 0, _bytes(key))  # type: ignore[arg-type]


def _record(worker: str) -> str:
    return f"{Worker.redis_worker_namespace_prefix}{worker}"


def _bytes(entry: str) -> bytes:
    return entry.encode(errors="surrogateescape")


def _text(entry: object) -> str:
    """An entry; those that are no text, which sigtest never writes, keep bytes as surrogates."""
    return entry.decode(errors="surrogateescape") if isinstance(entry, bytes) else str(entry)
