"""Doing what workers do, one task after the other, in this process."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import pytest
from board import Board
from redis import Redis

from workers.machine.supervisor import Supervisor
from workers.queue import NAME, Context
from workers.store.records import Task
from workers.tasks.run import run


def perform(context: Context, tasks: Sequence[Task]) -> None:
    for task in tasks:
        run(context, task.name, [task.owner, *task.arguments])


def missing(context: Context, question_id: str) -> list[Task]:
    return context.questions.pieces(question_id).tasks(question_id)


def finish(context: Context, question_id: str) -> None:
    """Compute a question to its end, and take what was queued for workers out of the queue."""
    while context.questions.unfinished(question_id):
        perform(context, missing(context, question_id))
    context.feed.drop(question_id)


def settle(context: Context, board: Board) -> None:
    """Measure the systems of a test set and write what its leaderboard shows."""
    perform(context, board.state.joins)
    perform(context, [board.state.refreshing("by hand")])
    context.feed.drop(board.id)


def register(redis: Redis, worker: str, task: str = "", queue: str = NAME) -> None:
    """What RQ notes of a worker, which may have a task."""
    redis.sadd(f"rq:workers:{queue}", f"rq:worker:{worker}")
    redis.hset(f"rq:worker:{worker}", "state", "busy" if task else "idle")
    if task:
        redis.hset(f"rq:worker:{worker}", "current_job", task)
    else:
        redis.hdel(f"rq:worker:{worker}", "current_job")


def waiting(context: Context) -> set[str]:
    """Ids of the tasks that wait for their turn, are queued or run."""
    redis = context.questions.redis
    lines = [line for key in redis.keys("sigtest:tasks:*") for line in redis.lrange(key, 0, -1)]
    return {Task.of(line.decode()).key for line in lines} | context.feed.jobs.alive()


def died_with(context: Context, worker: str) -> str:
    """Let a worker take the next task, as one that dies with it leaves it; its id."""
    redis = context.redis
    register(redis, worker)
    context.feed.fill()
    key = str(redis.lpop(f"rq:queue:{NAME}").decode())
    register(redis, worker, key)
    redis.zadd(f"rq:wip:{NAME}", {f"{key}:start": 1})
    return key


@contextmanager
def supervising(context: Context) -> Iterator[Supervisor]:
    """A supervisor that has started nothing."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("sigtest.warm.warm", lambda: None)
        supervisor = Supervisor(context.settings)
        supervisor._prepare()
        yield supervisor
