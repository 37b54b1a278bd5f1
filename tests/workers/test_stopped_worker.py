"""A worker that was stopped for longer than it may be silent serves again when it goes on."""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from service import CALLER, Service, children, finished, started, synthetic, until

from workers.questions import Status
from workers.queue.jobs import Jobs
from workers.settings import Settings
from workers.store.server import connect


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    with started(Settings(state=tmp_path, workers=1, block=999_999)) as service:
        yield service


@contextmanager
def stopped_until_forgotten(service: Service, worker: int) -> Iterator[None]:
    redis = connect(service.settings)
    os.kill(worker, signal.SIGSTOP)
    try:
        until(lambda: not redis.smembers("rq:workers:sigtest"))
        assert service.jobs.workers() == 0
        yield
    finally:
        os.kill(worker, signal.SIGCONT)
        redis.close()


def serving(service: Service) -> bool:
    """Whether the one worker is listed, alive, and says what it does; extra ones are not listed."""
    redis = connect(service.settings)
    queue = Jobs(redis, service.settings)
    listed = redis.smembers("rq:workers:sigtest")
    names = [key.decode().removeprefix("rq:worker:") for key in listed]
    found = queue.workers() == 1 and [queue.serves(name) for name in names] == [True]
    redis.close()
    return found


def test_idle_worker_that_was_stopped_is_listed_again_and_works(service: Service) -> None:
    assert serving(service)
    (worker,) = service.workers()
    with stopped_until_forgotten(service, worker):
        pass
    until(lambda: serving(service))
    assert service.workers() == [worker]
    record, _ = service.jobs.submit(synthetic(1, segments=50), CALLER)
    assert finished(service.jobs, record.id).status is Status.SUCCEEDED


def test_busy_worker_that_was_stopped_is_listed_again_while_it_works(service: Service) -> None:
    (worker,) = service.workers()
    comparison = synthetic(2, segments=1500, systems=6, metrics=["bleu", "chrf"], resamples=999_999)
    record, _ = service.jobs.submit(comparison, CALLER)
    (horse,) = until(lambda: children(worker))
    os.kill(horse, signal.SIGSTOP)  # its task must not end before the worker goes on
    with stopped_until_forgotten(service, worker):
        pass
    until(lambda: serving(service))
    assert children(worker) == [horse]
    os.kill(horse, signal.SIGCONT)
    service.jobs.remove(record.id, CALLER)
