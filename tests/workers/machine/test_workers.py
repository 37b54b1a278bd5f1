"""A worker runs many tasks, and goes where that is safer."""

import os

import pytest
from service import CALLER, Service, finished, kill, synthetic, until

from workers.machine.worker import GROWTH, PieceJob, PieceWorker
from workers.questions import Status
from workers.queue import NAME
from workers.store.records import Task


def succeeds(service: Service, seed: int) -> None:
    record, _ = service.jobs.submit(synthetic(seed, segments=30, resamples=99), CALLER)
    assert finished(service.jobs, record.id).status is Status.SUCCEEDED


def test_small_tasks_share_workers(service):
    before = service.workers()
    for seed in range(8):
        succeeds(service, 7_000 + seed)
    assert service.workers() == before


def test_workers_that_die_idle_are_replaced(service):
    until(lambda: not service.busy())
    killed = service.workers()
    kill(*killed)
    for seed in range(7_101, 7_105):
        succeeds(service, seed)
    assert not set(killed) & set(service.workers())


@pytest.mark.parametrize(
    ("growth", "failed", "takes"),
    [(0, False, True), (GROWTH + (64 << 20), False, False), (0, True, False)],
)
def test_a_worker_goes_when_it_has_grown_or_a_task_failed(context, growth, failed, takes):
    context.feed.add("one", [Task("measure", "0" * 32, (0, 2), 1.0)])
    pid = os.fork()
    if not pid:  # whose largest size is that at the fork
        worker = PieceWorker("tried", NAME, context.settings)
        held = bytearray(growth)
        held[::4096] = b"x" * len(held[::4096])
        PieceJob.failed = failed
        taken = worker.dequeue_job_and_maintain_ttl(1, 1)
        os._exit(0 if (taken is not None) == takes else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
