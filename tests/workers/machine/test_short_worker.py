"""One more worker serves short tasks while all have tasks that cannot be cut, and others wait."""

import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest
from service import CALLER, Service, finished, in_process, kill, send, started, synthetic, until

from sigtest.comparison.comparison import Comparison
from workers.machine.supervisor import LONG_SECONDS
from workers.questions import Status
from workers.settings import Settings
from workers.store.server import connect

HEAVY = "heavy"  # a caller whose tasks take long


@contextmanager
def held(state: Path, workers: int) -> Iterator[tuple[Service, list[int]]]:
    """A service all of whose workers have tasks of one caller that last as long as the block."""
    with started(Settings(state=state, workers=workers)) as service:
        stopped: list[int] = []
        for seed in range(workers):
            service.jobs.submit(synthetic(seed), HEAVY)
            stopped = until(partial(caught, service, seed + 1))
        yield service, stopped
        send(signal.SIGCONT, *stopped)


def caught(service: Service, many: int) -> list[int]:
    """The workers that are stopped within their tasks, once they are so many."""
    workers = service.caught()
    return workers if len(workers) == many else []


def outcome(service: Service, question_id: str) -> Status | None:
    """How a question of CALLER ended, once it has."""
    status = service.jobs.questions.find(question_id, CALLER, how_far=False).status
    return status if status.finished else None


def dear(seed: int) -> Comparison:
    """A comparison whose first task is predicted to take long."""
    return synthetic(seed, segments=8_000, systems=2, metrics=["ter"])


@pytest.mark.parametrize("workers", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_what_is_short_does_not_wait_for_long_tasks_of_others(tmp_path, workers):
    with held(tmp_path, workers) as (service, _):
        service.jobs.submit(dear(5), HEAVY)  # which waits, and must not take their place
        for seed in range(20):  # one at once after the other
            small = synthetic(10 + seed, segments=20, resamples=99)
            record, _ = service.jobs.submit(small, CALLER)
            ended = partial(outcome, service, record.id)
            assert until(ended, pause=0.005) is Status.SUCCEEDED
        assert service.jobs.report(record.id, CALLER) == in_process(small)
        assert service.jobs.workers() == workers


def test_what_is_short_waits_for_nobody_and_what_is_long_for_its_callers_turn(tmp_path):
    with held(tmp_path, 1) as (service, stopped):
        waiting, _ = service.jobs.submit(dear(5), HEAVY)
        time.sleep(2 * LONG_SECONDS)
        assert service.busy() == stopped  # the short worker leaves it
        short, _ = service.jobs.submit(synthetic(6), HEAVY)
        until(lambda: service.jobs.find(short.id, HEAVY).status is Status.SUCCEEDED)
        assert service.jobs.find(waiting.id, HEAVY).status is Status.QUEUED
        send(signal.SIGCONT, *stopped)
        until(lambda: service.jobs.find(waiting.id, HEAVY).status is Status.SUCCEEDED)


def test_the_short_worker_may_die(tmp_path):
    with held(tmp_path, 1) as (service, stopped):
        record, _ = service.jobs.submit(synthetic(3), CALLER)
        kill(*until(lambda: set(service.caught()).difference(stopped)))
        assert finished(service.jobs, record.id).status is Status.SUCCEEDED
        assert service.jobs.workers() == 1


def test_workers_whose_machine_died_leave_no_name(tmp_path):
    with started(Settings(state=tmp_path, workers=1)) as service:
        redis = connect(service.settings, retries=100)
        names = redis.smembers("rq:workers")
        assert len(names) == 2
        kill(service.supervisor())
        until(lambda: redis.smembers("rq:workers").isdisjoint(names))
        until(lambda: redis.scard("rq:workers") == 2)
        redis.close()
