"""Who is served next, and what RQ does of it.

Tasks wait in the store, by caller and by question. The queue that workers take from holds one for
each worker that has none; whenever one is added, or a worker is free, `fill` fills it up. Callers
are taken in turn, by the seconds of work that they were given, so that one caller's work
delays another's by no more than what runs already; of one caller's questions small ones come first.
A turn is counted with what its task is predicted to take, and with what it took once that is known.

All names and keys of RQ that sigtest depends on are here and in `machine/worker.py`. RQ is trusted
to deliver, and with nothing else: what is done and what is missing is known from the pieces.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import compress
from typing import cast

from redis import Redis
from redis.client import Pipeline
from rq import Queue as RedisQueue
from rq import Worker
from rq.exceptions import DuplicateJobError
from rq.executions import Execution
from rq.intermediate_queue import IntermediateQueue
from rq.job import Job
from rq.serializers import JSONSerializer
from rq.worker_registration import WORKERS_BY_QUEUE_KEY

from workers.settings import Settings
from workers.store import keys
from workers.store.boards import TestSetStore
from workers.store.codec import decoded
from workers.store.questions import QuestionStore
from workers.store.records import Task, owner_of
from workers.store.webhooks import WebhookStore

# Takes the next task of a caller out of those that wait, if there is one.
TAKE = """
local function take(caller)
    local ids = ARGV[1] .. caller
    local id = redis.call('ZRANGE', ids, 0, 0)[1]
    local task
    if id then
        local tasks = ARGV[2] .. id
        task = redis.call('LPOP', tasks)
        if task then
            redis.call('ZINCRBY', KEYS[1], string.match(task, '^[^ ]+'), caller)
        end
        if redis.call('LLEN', tasks) == 0 then
            redis.call('ZREM', ids, id)
            redis.call('ZREM', KEYS[2], id)
        end
    end
    if redis.call('ZCARD', ids) == 0 then
        redis.call('ZREM', KEYS[1], caller)
    end
    return task
end
"""

# KEYS: callers that wait, when ids began to wait, whether all of them are to, tasks that were taken
#       and are not started yet, callers whose long tasks hold all workers; list and names of
#       workers of the queue, and of the one for short tasks
# ARGV: prefixes of the keys of a caller and of an id
# Gives a task to each worker that has none, and no worker another one ahead: who comes next would
# wait for it. Where no worker is, one waits for the first that comes. Takes callers in turn, by the
# seconds of work that they were given. Where all workers have one, what is tiny goes to the worker
# for short tasks; while long tasks hold all of them, so does what is short of other callers.
# Returns each caller, its task and the name of a queue.
FEED = (
    TAKE
    + """
local TINY_SECONDS, SHORT_SECONDS = 0.2, 1  -- as predicted
local taken = {}
if redis.call('EXISTS', KEYS[3]) == 1 then return taken end
local function room(list, workers, least)
    local there, free = 0, 0
    for _, worker in ipairs(redis.call('SMEMBERS', workers)) do
        there = there + redis.call('EXISTS', worker)
        free = free + redis.call('EXISTS', worker) - redis.call('HEXISTS', worker, 'current_job')
    end
    if there == 0 then free = least end
    return free - redis.call('LLEN', list)
end
local function give(caller, queue)
    local task = take(caller)
    if task then
        for _, part in ipairs({caller, task, queue}) do taken[#taken + 1] = part end
    end
    return task
end
local left = room(KEYS[6], KEYS[7], 1) - redis.call('LLEN', KEYS[4])
while left > 0 do
    local caller = redis.call('ZRANGE', KEYS[1], 0, 0)[1]
    if not caller then break end
    if give(caller, 'sigtest') then left = left - 1 end
end
if room(KEYS[8], KEYS[9], 0) < 1 then return taken end
local holders = redis.call('GET', KEYS[5])
for _, caller in ipairs(redis.call('ZRANGE', KEYS[1], 0, -1)) do
    local id = redis.call('ZRANGE', ARGV[1] .. caller, 0, 0)[1]
    local first = id and redis.call('LINDEX', ARGV[2] .. id, 0)
    local seconds = first and tonumber(string.match(first, '^[^ ]+'))
    local most = TINY_SECONDS
    if holders and not string.find(holders, caller, 1, true) then
        most = SHORT_SECONDS
    end
    if seconds and seconds <= most then
        give(caller, 'sigtest-short')
        break
    end
end
return taken
"""
)

# KEYS: as FEED, ids of this caller that wait, tasks of this id
# ARGV: as FEED, caller, id, 1 to go behind, tasks
# A caller starts just before where the least served one stands; of a caller's questions small ones
# come first, but none waits for ever: what comes later starts later. How small one is follows from
# all of its tasks, also from those that came while others waited, as on a leaderboard. A question
# that goes behind waits until the caller's others had their turn. A task that waits is not added
# again. Goes on as FEED.
WAIT = (
    """
local caller, id, ids, tasks = ARGV[3], ARGV[4], KEYS[10], KEYS[11]
local least = redis.call('ZRANGE', KEYS[1], 0, 0, 'WITHSCORES')[2] or 0
redis.call('ZADD', KEYS[1], 'NX', least - 1e-6, caller)
local served = redis.call('ZSCORE', KEYS[1], caller)
local held, added = {}, 0
for _, task in ipairs(redis.call('LRANGE', tasks, 0, -1)) do held[task] = true end
for i = 6, #ARGV do
    if not held[ARGV[i]] then
        redis.call('RPUSH', tasks, ARGV[i])
        added = added + tonumber(string.match(ARGV[i], '^[^ ]+'))
    end
end
local place = redis.call('ZSCORE', ids, id) or served
if ARGV[5] == '1' then place = redis.call('ZRANGE', ids, -1, -1, 'WITHSCORES')[2] or served end
redis.call('ZADD', ids, place + added, id)
redis.call('ZADD', KEYS[2], 'NX', redis.call('TIME')[1], id)
"""
    + FEED
)


NAME, SHORT = "sigtest", "sigtest-short"
# tasks that a worker took and has not started yet
TAKEN, TAKEN_SHORT = (
    IntermediateQueue.get_intermediate_queue_key(RedisQueue.redis_queue_namespace_prefix + name)
    for name in (NAME, SHORT)
)
RECORD = Worker.redis_worker_namespace_prefix
KEEP_FAILURES = 600


@dataclass(frozen=True)
class Turn:
    """A task whose turn it is.

    Attributes:
        owner: Hash of the caller whose question it is.
        task: What to do.
        queue: The name of the queue that it goes to.
    """

    owner: str
    task: Task
    queue: str = NAME

    @classmethod
    def of_job(cls, job: Job) -> Turn:
        """The turn that RQ's job was queued for."""
        owner, *arguments = job.args
        task = Task(str(job.func_name), owner, tuple(arguments), job.meta["seconds"])
        return cls(job.meta["owner"], task)


class Jobs:
    """The queues: the one that workers serve, and the one of the worker for short tasks.

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
            task = turn.task
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
                    meta={"owner": turn.owner, "seconds": task.seconds},
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
            for turn in self.turns([key]):  # the reconciler sees what became of unknown ones
                if self._redis.lrem(name, 1, key):  # or a worker was faster
                    erase(self._redis, key)
                    turns.append(turn)
        return turns

    def turns(self, tasks: Sequence[str]) -> list[Turn]:
        """The turns of tasks by their ids, of those that RQ knows."""
        jobs = Job.fetch_many(tasks, self._redis, JSONSerializer)
        return [Turn.of_job(job) for job in jobs if job]

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
        return self._redis.hget(RECORD + worker, "state") in {b"idle", b"busy"}

    def lives(self, workers: Sequence[str], seconds: int) -> list[tuple[bool, str]]:
        """Say that workers are alive; of each whether it is known, and the task it has, if any.

        Args:
            workers: Their names.
            seconds: How long they count as alive.
        """
        with self._redis.pipeline(transaction=False) as pipe:
            for name in workers:
                pipe.expire(RECORD + name, seconds)
                pipe.hmget(RECORD + name, "birth", "current_job")
            facts = pipe.execute()[1::2]
        return [(birth is not None, _text(task or b"")) for birth, task in facts]

    def running(self) -> set[str]:
        """Ids of the tasks that workers have."""
        names = cast("set[str]", self._redis.sunion(list(self.workers_names.values())))
        tasks = (self._redis.hget(name, "current_job") for name in names)
        return {_text(task) for task in tasks if task}

    def alive(self) -> set[str]:
        """Ids of the tasks that are queued or running."""
        queued = {key for _, key in self._queued()}  # first: one that is taken meanwhile runs
        return queued | self.running()

    def busy(self) -> bool:
        """Whether a task is queued, running, or in between: taken and not yet announced."""
        lists = *self.lists.values(), TAKEN, TAKEN_SHORT
        return bool(self._redis.exists(*lists) or self.running())

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

    def forget(self, tasks: Iterable[str]) -> list[str]:
        """Remove every trace of tasks from RQ, so that they can be queued again.

        Returns:
            Those that it knew and that a worker had begun: to have taken one is no start.
        """
        forgotten, begun = list(tasks), set[str]()
        with self._redis.pipeline() as pipe:
            for name in self._registries():
                for entry in self._redis.zrange(name, 0, -1):
                    key, _, start = _text(entry).partition(":")
                    if key in forgotten:
                        begun.add(key)
                        pipe.zrem(name, entry)  # type: ignore[arg-type]  # never with scores
                        pipe.delete(_bytes(Execution(start, key, self._redis).key))
            for key in forgotten:
                forget_taken(pipe, key)
            for key in forgotten:
                erase(pipe, key)
            known = pipe.execute()[-len(forgotten) :]
        return [key for key in compress(forgotten, known) if key in begun]

    def _registries(self) -> list[str]:
        """Keys of RQ's lists of what was started, and of what it failed at."""
        return [
            registry.key
            for queue in self._queues.values()
            for registry in (queue.started_job_registry, queue.failed_job_registry)
        ]

    def left_by(self, worker: str) -> Turn | None:
        """The task that a worker had when it died, if any; the worker is forgotten."""
        record = RECORD + worker
        task = self._redis.hget(record, "current_job")
        self._redis.delete(record)
        self.forget_workers()
        left = self.turns([_text(task)]) if task else []  # none where it was done by then
        return left[0] if left else None

    def forget_workers(self) -> None:
        """Remove the names of workers that died without saying so."""
        for name in (Worker.redis_workers_keys, *self.workers_names.values()):
            for worker in self._redis.smembers(name):
                if not self._redis.exists(worker):
                    self._redis.srem(name, worker)


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


def _bytes(entry: str) -> bytes:
    return entry.encode(errors="surrogateescape")


def _text(entry: object) -> str:
    """An entry; those that are no text, which sigtest never writes, keep bytes as surrogates."""
    return entry.decode(errors="surrogateescape") if isinstance(entry, bytes) else str(entry)


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
        self._wait = redis.register_script(WAIT)
        self._feed = redis.register_script(FEED)
        self._lists = [keys.WAITING, keys.WAITING_SINCE, keys.DRAINED, TAKEN, keys.HELD]
        for name in (NAME, SHORT):
            self._lists += [jobs.lists[name], jobs.workers_names[name]]

    def add(self, caller: str, tasks: Iterable[Task]) -> None:
        """Let tasks of one question wait for their turn, and fill the queue up.

        Args:
            caller: Whose question it is.
            tasks: All of the same question.
        """
        self._let_wait(keys.hashed(caller), list(tasks), behind=False)

    def add_view(self, caller: str, view: Task) -> None:
        """Let a view be made, unless too many of the same question wait: who wants it asks again.

        Args:
            caller: Whose question it is.
            view: Its task.
        """
        if self._redis.llen(keys.key("tasks", view.owner)) < MOST_VIEWS:
            self.add(caller, [view])

    def again(self, died: Turn) -> None:
        """Let a task whose worker died wait once more, behind the other questions of its caller.

        What kills its worker would otherwise be started again at once, as often as it may be, while
        the reason lasts; and the caller's other questions would wait for it.
        """
        self._let_wait(died.owner, [died.task], behind=True)

    def _let_wait(self, owner: str, tasks: list[Task], behind: bool) -> None:
        if not tasks:
            return
        question = tasks[0].owner
        lists = [*self._lists, f"{keys.WAITING}:{owner}", keys.key("tasks", question)]
        told = [owner, question, str(int(behind)), *(task.spelled for task in tasks)]
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
        self._queue(self._feed(self._lists, PREFIXES))

    def hold(self, tasks: Sequence[str]) -> None:
        """For a moment, let other callers' short tasks go to the worker that serves these alone.

        Args:
            tasks: Ids of the tasks that hold all workers.
        """
        holders = " ".join(turn.owner for turn in self.jobs.turns(tasks))
        self._redis.set(keys.HELD, holders, px=HELD_MS)
        self.fill()

    def _queue(self, told: Iterable[bytes]) -> None:
        taken = map(decoded, told)
        turns = zip(taken, taken, taken, strict=True)
        self.jobs.add(Turn(owner, Task.of(line), queue) for owner, line, queue in turns)

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
            self._let_wait(turn.owner, [turn.task], behind=False)

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
            lengths = pipe.execute()
        return sum(lengths), held[0][1] if held else None

    def since(self, owner: str) -> float | None:
        """Since when tasks of a question or test set wait (seconds since 1970), if any do."""
        return self._redis.zscore(keys.WAITING_SINCE, owner)

    def waiting(self) -> set[str]:
        """Ids of the questions and test sets with tasks that wait."""
        waiting = cast("list[bytes]", self._redis.zrange(keys.WAITING_SINCE, 0, -1))
        return set(map(decoded, waiting))


@dataclass(frozen=True)
class Context:
    """The stores and the queue, on one server.

    Attributes:
        redis: The server, with bytes as answers.
        settings: Limits and times.
        questions: Where questions are.
        testsets: Where test sets are.
        webhooks: Where webhooks and their messages are.
        feed: Where tasks go.
    """

    redis: Redis
    settings: Settings
    questions: QuestionStore
    testsets: TestSetStore
    webhooks: WebhookStore
    feed: Feed

    @classmethod
    def on(cls, redis: Redis, settings: Settings) -> Context:
        """Everything on a server."""
        return cls(
            redis,
            settings,
            QuestionStore(redis, settings),
            TestSetStore(redis, settings),
            WebhookStore(redis, settings),
            Feed(redis, Jobs(redis, settings)),
        )
