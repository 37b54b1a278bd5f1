"""A task that finds no memory is worth another try, as one whose process was killed for it."""

import os
import resource
from pathlib import Path

import pytest
from byhand import died_with, finish, missing, perform, supervising, waiting
from redis.exceptions import OutOfMemoryError
from rq.serializers import JSONSerializer
from service import CALLER, in_process, synthetic, until

from workers.errors import FullError
from workers.machine.supervisor import Slot
from workers.machine.worker import PieceJob
from workers.queue import Context
from workers.settings import Settings
from workers.store.records import Task
from workers.tasks.run import TASKS

NO_MEMORY, DONE = 3, 4


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """Few tasks of many resamples."""
    return Settings(state=tmp_path, block=100_000)


def without_memory(context: Context, task: Task) -> int:
    """How a process ends that performs a task and may have no further byte."""
    pid = os.fork()
    if not pid:
        try:
            resource.setrlimit(resource.RLIMIT_AS, (1, resource.RLIM_INFINITY))
            perform(context, [task])
        except MemoryError:
            os._exit(NO_MEMORY)
        finally:
            os._exit(DONE)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def test_a_task_without_memory_fails_nothing(jobs, context):
    recipe = {"metrics": ["bleu"], "tests": ["bootstrap"], "resamples": 999_999}
    comparison = synthetic(1, segments=12, systems=5, **recipe)
    record, _ = jobs.submit(comparison, CALLER)
    perform(context, missing(context, record.id))  # all is measured
    large = Task("resample", record.id, (0, 999_999))  # 40 MB of scores, more than a heap has free
    assert without_memory(context, large) == NO_MEMORY
    assert not jobs.find(record.id, CALLER).status.finished
    finish(context, record.id)
    assert jobs.report(record.id, CALLER) == in_process(comparison)


@pytest.mark.parametrize("error", [OutOfMemoryError("OOM"), FullError("The store is full.")])
def test_a_store_without_memory_fails_nothing_however_long_it_lasts(
    jobs, context, monkeypatch, error
):
    """That it was begun does not count as a start of the task."""
    comparison = synthetic(1, segments=30, systems=2)
    record, _ = jobs.submit(comparison, CALLER)

    def full(*_: object) -> None:
        raise error

    with supervising(context) as supervisor, monkeypatch.context() as patched:
        patched.setitem(TASKS, "measure", full)
        for number in range(context.settings.attempts + 2):
            slot = Slot(name=f"worker {number}")
            job = died_with(context, slot.name)
            slot.pid = performing(context, job)
            until(lambda slot=slot: supervisor._tended(slot).pid == 0)
            assert waiting(context) == {job}
    finish(context, record.id)
    assert jobs.report(record.id, CALLER) == in_process(comparison)


def performing(context: Context, job: str) -> int:
    """A process that performs a job as workers do."""
    pid = os.fork()
    if not pid:
        try:
            PieceJob.context = context
            PieceJob.fetch(job, context.redis, JSONSerializer).perform()
        finally:
            os._exit(DONE)
    return pid
