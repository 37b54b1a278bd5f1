"""A worker that dies with a task: how often that counts against the task, whatever else dies."""

import os
import signal
from collections.abc import Callable

import pytest
from byhand import died_with, missing, supervising, waiting
from rq.job import Job
from rq.serializers import JSONSerializer
from service import CALLER, Comparisons, example

from workers.machine.reconciler import Reconciler
from workers.machine.supervisor import Slot
from workers.machine.worker import STORE_FULL
from workers.questions import Status
from workers.queue import Context, Turn
from workers.store import keys
from workers.tasks.run import died

WORKER = "by hand"


@pytest.fixture
def task(jobs: Comparisons, context: Context) -> str:
    """The task of a worker that has just died."""
    jobs.submit(example(), CALLER)
    return died_with(context, WORKER)


def deaths(context: Context, task: str) -> dict[bytes, bytes]:
    found: dict[bytes, bytes] = context.redis.hgetall(keys.key("attempts", task.partition("-")[0]))
    return found


def ended(how: Callable[[], object]) -> int:
    """A child process that ends so, or waits to be ended."""
    pid = os.fork()
    if not pid:
        try:
            how()
        finally:
            os._exit(0)
    return pid


class Killed(BaseException):
    """What a supervisor cannot catch."""


@pytest.mark.parametrize("step", ["left_by", "forget", "again"])
def test_one_death_counts_once(context, task, step):
    """Its supervisor may die as well, and several reconcilers look after what is left."""

    def killed(*_: object) -> None:
        raise Killed

    first, second = Reconciler(context), Reconciler(context)
    second.round()
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(context.feed if step == "again" else context.feed.jobs, step, killed)
        with pytest.raises(Killed):
            first.settle(WORKER, counted=True)
    context.redis.delete(f"rq:worker:{WORKER}")  # as it expires
    others = Reconciler(context), Reconciler(context)
    for _ in range(3):
        for each in others:
            each.round()
    assert deaths(context, task) == {task.encode(): b"1"}


def test_who_forgets_a_job_counts_its_death(context, task):
    two = Reconciler(context), Reconciler(context)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(context.feed.jobs, "left_by", lambda worker: turn)
        job = Job.fetch(task, context.redis, JSONSerializer)
        turn = Turn.of_job(job)
        two[0].settle(WORKER, counted=True)
        context.feed.drop(turn.task.owner)
        two[1].settle(WORKER, counted=True)
    assert deaths(context, task) == {task.encode(): b"1"}


@pytest.mark.parametrize(("status", "counted"), [(STORE_FULL, False), (1, True)])
def test_a_full_store_is_no_fault_of_the_task(context, task, status, counted):
    with supervising(context) as supervisor:
        slot = Slot(name=WORKER, pid=ended(lambda: os._exit(status)))
        os.waitid(os.P_PID, slot.pid, os.WEXITED | os.WNOWAIT)
        supervisor._tended(slot)
    assert bool(deaths(context, task)) == counted
    assert waiting(context) == {task}


def test_a_stop_is_no_fault_of_the_task(context, task):
    with supervising(context) as supervisor:
        supervisor._slots = [Slot(name=WORKER, pid=ended(signal.pause))]
        supervisor._stop_workers(0.0)
    assert not deaths(context, task)
    assert waiting(context) == {task}


def test_a_death_over_what_nobody_needs_counts_nothing(jobs, context, task):
    question = task.partition("-")[0]
    context.questions.commit(question, Status.CANCELLED)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(context.questions, "died", pytest.fail)
        Reconciler(context).settle(WORKER, counted=True)
        first, *_ = missing(context, question)
        died(context, first)
    assert not deaths(context, task)
