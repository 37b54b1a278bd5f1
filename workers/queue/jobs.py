"""RQ's jobs: tasks go in by name, once each; what RQ lost is found and forgotten.

All names and keys of RQ that sigtest depends on are here and in `machine/worker.py`. RQ is
trusted to deliver, and with nothing else: what is done and what is missing is known from the
pieces.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import cast

from redis import Redis
from rq import Queue as RedisQueue
from rq import Worker
from rq.exceptions import DuplicateJobError, NoSuchJobError
from rq.intermediate_queue import IntermediateQueue
from rq.job import Job
from rq.serializers import JSONSerializer
from rq.worker_registration import WORKERS_BY_QUEUE_KEY

from workers.settings import Settings
from workers.store import keys
from workers.store.codec import decoded
from workers.store.scripts.queue import CLAIM, STARTS
from workers.store.task import Priced, Task, owner_of

NAME = "sigtest"
# tasks that a worker took and has not started yet
TAKEN = IntermediateQueue.get_intermediate_queue_key(RedisQueue.redis_queue_namespace_prefix + NAME)
RECORD = "rq:execution:"  # prefix of the keys of RQ's records of starts
KEEP_FAILURES = 600


@dataclass(frozen=True)
class Turn:
    """A task whose turn it is.

    Attributes:
        owner: Hash of the caller whose question it is.
        priced: The task, and what it is predicted to cost.
    """

    owner: str
    priced: Priced

    @classmethod
    def of(cls, owner: str, line: str) -> Turn:
        """The turn of a task that waited as a line of seconds and task."""
        seconds, _, spelled = line.partition(" ")
        return cls(owner, Priced(Task.of(spelled), float(seconds)))

    @classmethod
    def of_job(cls, job: Job) -> Turn:
        """The turn that RQ's job was queued for."""
        name, arguments = str(job.func_name), tuple(job.args)
        task = Task(name, arguments[0], arguments[1:])
        return cls(job.meta["owner"], Priced(task, job.meta["seconds"]))


class Jobs:
    """The one queue that every worker serves.

    Args:
        redis: The server, with bytes as answers.
        settings: Time limit of a task.

    Attributes:
        list_name: Key of the list that workers take from.
        starts_name: Key of the starts of tasks.
        workers_name: Key of the names of workers that serve the queue, as far as it was told.
    """

    def __init__(self, redis: Redis, settings: Settings) -> None:
        self._redis = redis
        self._settings = settings
        self._claim = redis.register_script(CLAIM)
        self._starts = redis.register_script(STARTS)
        self._queue = RedisQueue(NAME, connection=redis, serializer=JSONSerializer)
        self._failed = self._queue.failed_job_registry.key
        self.list_name = str(self._queue.key)
        self.starts_name = str(self._queue.started_job_registry.key)
        self.workers_name = WORKERS_BY_QUEUE_KEY % NAME

    def add(self, turns: Iterable[Turn]) -> None:
        """Queue tasks; those queued or running already are left alone."""
        unsent = self._redis.pipeline()  # RQ's note that there is this queue, which nobody reads
        for turn in turns:
            task = turn.priced.task
            try:
                self._queue.enqueue_call(
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

    def claim(self, key: str) -> bool:
        """Take a task out of the queue for an extra worker, unless another one was faster."""
        return bool(self._claim([self.list_name, TAKEN, keys.ASIDE], [key]))

    def let_go(self, key: str) -> None:
        """Forget that an extra worker has a task."""
        self._redis.srem(keys.ASIDE, key)

    def drop(self, owner: str) -> None:
        """Take the tasks of a question out of the queue; those running find out themselves."""
        queued = map(_id, self._redis.lrange(self.list_name, 0, -1))
        with self._redis.pipeline() as pipe:
            for key in queued:
                if owner_of(key) == owner:
                    pipe.lrem(self.list_name, 0, key)
                    erase(pipe, key)
            pipe.execute()

    def queued(self) -> list[Turn]:
        """The tasks that no worker has taken; the reconciler sees what became of unknown ones."""
        turns = []
        for key in map(_id, self._redis.lrange(self.list_name, 0, -1)):
            with suppress(NoSuchJobError):
                turns.append(Turn.of_job(Job.fetch(key, self._redis, JSONSerializer)))
        return turns

    def withdrawn(self) -> list[Turn]:
        """Take these back."""
        turns = []
        for turn in self.queued():
            key = turn.priced.task.key
            if self._redis.lrem(self.list_name, 1, key):  # or a worker was faster
                erase(self._redis, key)
                turns.append(turn)
        return turns

    def workers(self) -> int:
        """How many workers sent a sign of life in the last seconds."""
        names = self._redis.smembers(self.workers_name)
        return self._redis.exists(*names) if names else 0

    def serves(self, worker: str) -> bool:
        """Whether the worker of that name waits for tasks or works on one."""
        return self._redis.hget(f"{Worker.redis_worker_namespace_prefix}{worker}", "state") in {
            b"idle",
            b"busy",
        }

    def starts(self) -> set[str]:
        """Starts of the tasks that workers have: the id of each, and its own."""
        return {_text(entry) for entry in self._starts([self.starts_name], [RECORD])}

    def running(self) -> set[str]:
        """Ids of the tasks that workers have."""
        return {_id(start) for start in self.starts()}

    def all_work(self) -> bool:
        """Whether every worker has a task, extra ones left out."""
        aside = map(decoded, cast("set[bytes]", self._redis.smembers(keys.ASIDE)))
        return len(self.running().difference(aside)) >= self.workers()

    def served(self) -> set[str]:
        """Hashes of the callers whose tasks workers have."""
        own = filter(str.isascii, self.running())
        jobs = Job.fetch_many(own, self._redis, JSONSerializer)
        return {job.meta.get("owner", "") for job in jobs if job is not None}

    def alive(self) -> set[str]:
        """Ids of the tasks that are queued or running."""
        running = self.running()  # first: a task that is taken meanwhile was queued
        queued = self._redis.lrange(self.list_name, 0, -1)
        return running.union(map(_id, queued))

    def busy(self) -> bool:
        """Whether a task is queued, running, or in between: taken and not yet announced."""
        with self._redis.pipeline() as pipe:
            pipe.llen(self.list_name)
            pipe.llen(TAKEN)
            return any(pipe.execute()) or bool(self.starts())

    # what follows is for the reconciler

    def stuck(self, alive: set[str]) -> set[str]:
        """Ids that RQ still knows although no worker works on them.

        A worker that dies between taking a task and announcing it leaves the task in the
        intermediate list; one that dies later leaves a start whose record expires, or, where it is
        an extra one, only that it had the task; what failed too often is listed as failed.
        """
        with self._redis.pipeline() as pipe:
            pipe.lrange(TAKEN, 0, -1)
            pipe.zrange(self.starts_name, 0, -1)
            pipe.zrange(self._failed, 0, -1)
            pipe.smembers(keys.ASIDE)
            lists = pipe.execute()
        return {_id(entry) for entries in lists for entry in entries} - alive

    def forget(self, tasks: Iterable[str]) -> None:
        """Remove every trace of these tasks from RQ, so that they can be queued again."""
        forgotten = set(tasks)
        with self._redis.pipeline() as pipe:
            for start in self._redis.zrange(self.starts_name, 0, -1):
                if _id(start) in forgotten:
                    pipe.zrem(self.starts_name, start)  # type: ignore[arg-type]  # never with scores
            for key in forgotten:
                name = key.encode(errors="surrogateescape")
                pipe.lrem(TAKEN, 0, name)  # type: ignore[arg-type]
                pipe.srem(keys.ASIDE, name)
                pipe.zrem(self._failed, name)
                erase(pipe, key)
            pipe.execute()

    def left_by(self, worker: str) -> Turn | None:
        """The task that a worker had when it died, if any; the worker is forgotten."""
        record = f"{Worker.redis_worker_namespace_prefix}{worker}"
        held = self._redis.hget(record, "current_job")
        self._redis.delete(record)
        self._redis.srem(Worker.redis_workers_keys, record)
        self.forget_workers()
        try:
            return Turn.of_job(Job.fetch(_id(held), self._redis, JSONSerializer)) if held else None
        except NoSuchJobError:  # it was done by then
            return None

    def forget_workers(self) -> None:
        """Remove the names of workers that died without saying so.

        RQ would look at those that serve the queue; extra workers do not.
        """
        lists = [Worker.redis_workers_keys, self.workers_name]
        names = list(cast("set[bytes]", self._redis.sunion(lists)))
        with self._redis.pipeline(transaction=False) as pipe:
            for name in names:
                pipe.exists(name)
            alive = pipe.execute()
        gone = [name for name, found in zip(names, alive, strict=True) if not found]
        if gone:
            for own in lists:
                self._redis.srem(own, *gone)


def erase(redis: Redis, key: str) -> None:
    """Delete all that RQ keeps of one job, at once or with what else a pipeline sends.

    Its executions, too: RQ fails a job that succeeds while an execution is listed whose record
    expired with the worker that died.
    """
    name = key.encode(errors="surrogateescape")
    prefixes = Job.redis_job_namespace_prefix, "rq:executions:", "rq:results:"
    redis.delete(*(prefix.encode() + name for prefix in prefixes))


def _id(entry: object) -> str:
    """The task of an entry, which may be followed by a colon and the id of its start."""
    return _text(entry).partition(":")[0]


def _text(entry: object) -> str:
    """An entry; those that are no text, which sigtest never writes, keep bytes as surrogates."""
    return entry.decode(errors="surrogateescape") if isinstance(entry, bytes) else str(entry)
