"""Whatever dies in the middle, an accepted comparison succeeds, with the report it always has."""

import os
import random
import re
import signal
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest
from service import (
    CALLER,
    Comparisons,
    Service,
    children,
    finished,
    in_process,
    kill,
    send,
    started,
    synthetic,
    until,
)

from sigtest.comparison.comparison import Comparison
from workers.questions import Record, Status
from workers.queue import NAME, TAKEN
from workers.settings import Settings
from workers.store.keys import PENDING
from workers.store.server import connect

STARTS = f"rq:wip:{NAME}"
SLOW: dict[str, Any] = {
    "segments": 1500,
    "systems": 6,
    "metrics": ["bleu", "chrf"],
    "resamples": 12_000,
}
# Only a job that is still there: one made anew, of a task that has ended, nobody would look at.
CORRUPT = """
if redis.call('DEL', KEYS[1]) == 1 then
    redis.call('HSET', KEYS[1], 'data', ARGV[1], 'created_at', 'yesterday')
end
"""


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """Two workers that nobody else needs."""
    with started(Settings(state=tmp_path_factory.mktemp("state"), block=1000)) as service:
        yield service


def half_way(service: Service, seed: int) -> tuple[Comparison, Record]:
    """A comparison of which some blocks exist and some are being drawn."""
    comparison = synthetic(seed, **SLOW)
    record, _ = service.jobs.submit(comparison, CALLER)

    def drawn() -> Record | None:
        found = service.jobs.find(record.id, CALLER)
        at_work = found.progress.phase == "resampling" and service.busy()
        return found if at_work or found.status.finished else None

    if until(drawn).status.finished:  # this process slept meanwhile: another one, then
        return half_way(service, seed + 1000)
    return comparison, record


def succeeds(service: Service, comparison: Comparison, record: Record) -> None:
    end = finished(service.jobs, record.id)
    assert end.status is Status.SUCCEEDED, (end.error, end.progress)
    assert service.jobs.report(record.id, CALLER) == in_process(comparison)


def test_workers_killed_within_their_tasks(service):
    comparison, record = half_way(service, 1)
    killed = service.caught()
    kill(*killed)
    succeeds(service, comparison, record)
    until(lambda: len(service.workers()) == 3)  # others come in their places
    assert set(killed).isdisjoint(service.workers())


@pytest.mark.slow
def test_worker_killed_over_a_forgotten_job_leaves_nothing(service):
    comparison, record = half_way(service, 12)
    workers = service.caught()
    redis = connect(service.settings)
    for key in redis.keys("rq:job:*"):
        redis.delete(key)
    kill(*workers)
    succeeds(service, comparison, record)
    until(lambda: not redis.zcard(STARTS))
    redis.close()


def test_a_forgotten_job_that_is_taken_leaves_its_worker_free(service):
    """As where a question is cancelled while a worker takes its task."""
    redis = connect(service.settings)
    send(signal.SIGSTOP, service.supervisor())  # with the reconciler, which would see to it
    try:
        redis.rpush(f"rq:queue:{NAME}", "nothing-measure-0-1")
        until(lambda: not redis.llen(f"rq:queue:{NAME}") and not redis.llen(TAKEN), 30)
    finally:
        send(signal.SIGCONT, service.supervisor())
    redis.close()


@pytest.mark.slow
def test_executions_without_a_record_stop_nobody(service):
    """RQ fails a job that succeeded where it lists an execution whose record has expired."""
    comparison, record = half_way(service, 11)
    redis = connect(service.settings)
    for start in range(0, SLOW["resamples"], 1000):
        task = f"{record.id}-resample-{start}-{start + 1000}"
        redis.zadd(f"rq:executions:{task}", {"expired": time.time() + 1000})
    succeeds(service, comparison, record)
    until(lambda: not redis.keys("rq:job:*"))
    redis.close()


def test_server_killed(service):
    comparison, record = half_way(service, 4)
    server = service.server()
    kill(server)
    until(lambda: children(service.supervisor(), "valkey") not in ([], [server]))
    succeeds(service, comparison, record)


def test_server_killed_while_nobody_works(service):
    kill(service.server())
    comparison = synthetic(5, segments=50)
    until(lambda: children(service.supervisor(), "valkey"))
    record, _ = service.jobs.submit(comparison, CALLER)
    succeeds(service, comparison, record)


def test_supervisor_killed(service):
    comparison, record = half_way(service, 6)
    supervisor, everybody = service.supervisor(), [service.server(), *service.workers()]
    kill(supervisor)
    state = str(service.settings.state)

    def replaced() -> bool:
        found = children(os.getpid(), "workers.machine.supervisor", state)
        return found not in ([], [supervisor]) and bool(children(found[0], "valkey"))

    until(replaced)
    succeeds(service, comparison, record)
    assert service.supervisor() != supervisor
    assert not set(everybody) & {service.server(), *service.workers()}


@pytest.mark.slow
def test_lost_pieces_are_computed_again(service):
    comparison, record = half_way(service, 7)
    redis = connect(service.settings)
    redis.delete(f"sigtest:blocks:{record.id}", *redis.keys("sigtest:cache:*"))
    redis.close()
    succeeds(service, comparison, record)


def test_lost_queue_is_filled_again(service):
    comparison, record = half_way(service, 8)
    redis = connect(service.settings)
    redis.delete(f"rq:queue:{NAME}", *redis.keys("sigtest:waiting*"), *redis.keys("sigtest:tasks*"))
    redis.close()
    succeeds(service, comparison, record)


def test_corrupt_jobs_stop_nobody(service):
    comparison, record = half_way(service, 9)
    redis = connect(service.settings)
    corrupt = redis.register_script(CORRUPT)
    for key in redis.keys("rq:job:*"):
        corrupt([key], [b"\xff\x00 no job"])
    redis.set("rq:job:text", "no hash")
    redis.hset("rq:job:garbage", mapping={"data": b"[1]", "timeout": "soon"})
    redis.rpush(f"rq:queue:{NAME}", "text", "garbage", "not there", b"\xff\xfe", "a b;c")
    succeeds(service, comparison, record)
    until(lambda: not redis.llen(f"rq:queue:{NAME}"))
    until(lambda: service.jobs.workers() == 2)
    redis.close()


def test_task_that_kills_its_workers_fails_the_comparison(service):
    jobs = Comparisons.connect(service.settings.model_copy(update={"block": 999_999}))
    comparison = synthetic(10, **{**SLOW, "resamples": 999_999})
    record, _ = jobs.submit(comparison, CALLER)
    deadline = time.monotonic() + 120
    while not (found := jobs.find(record.id, CALLER)).status.finished:
        kill(*service.busy())
        assert time.monotonic() < deadline
        time.sleep(0.02)
    assert found.status is Status.FAILED
    assert "started 5 times" in (found.error or "")
    jobs.close()


@pytest.mark.slow
def test_twenty_comparisons_survive_a_storm(service):
    """Kills workers and the server at random while comparisons come in."""
    choices = {"segments": 600, "systems": 3, "metrics": ["bleu", "chrf"], "resamples": 9999}
    comparisons = [synthetic(100 + i, **choices) for i in range(20)]
    rng = random.Random(0)
    over = threading.Event()
    kills: list[str] = []

    def storm() -> None:
        while not over.wait(rng.uniform(0.2, 0.6)):
            kind = rng.choice(["busy", "busy", "workers", "worker", "server"])
            victims = {
                "busy": service.busy,
                "workers": service.workers,
                "worker": lambda: service.workers()[:1],
                "server": lambda: children(service.supervisor(), "valkey"),
            }[kind]()
            kill(*victims)
            kills.append(kind)

    raging = threading.Thread(target=storm)
    raging.start()
    records = [until(lambda c=c: submitted(service, c)) for c in comparisons]
    until(lambda: len(kills) >= 20)
    over.set()
    raging.join()
    for comparison, record in zip(comparisons, records, strict=True):
        succeeds(service, comparison, record)
    listed, _ = service.jobs.listing(CALLER, None, 1000)
    ids = [record.id for record in listed]
    assert len(ids) == len(set(ids))
    assert {record.id for record in records} <= set(ids)
    redis = connect(service.settings)
    assert not redis.exists(PENDING)
    until(lambda: not redis.keys("rq:job:*"))
    redis.close()


def submitted(service: Service, comparison: Comparison) -> Record | None:
    """The comparison once the store has taken it; it may be away for seconds."""
    try:
        return service.jobs.submit(comparison, CALLER)[0]
    except Exception:
        return None


def test_task_that_takes_too_long_says_what_to_do(tmp_path):
    """All resamples in one task, which is longer than the second that it may take."""
    with started(Settings(state=tmp_path, workers=1, timeout=1, block=500_000)) as service:
        asked = synthetic(17, **{**SLOW, "systems": 3, "resamples": 500_000})
        record, _ = service.jobs.submit(asked, CALLER)
        record = finished(service.jobs, record.id)
    assert record.status is Status.FAILED
    assert re.fullmatch(
        r"One task \((measure|resample)\) took more than 1 seconds\. Ask for fewer systems, "
        r"metrics or resamples, or have SIGTEST_TIMEOUT of the service raised\.",
        record.error or "",
    )
