"""Lost work is found, one round after the other; nothing else is touched."""

import time
from dataclasses import replace

import pytest
from byhand import finish, missing, perform
from service import CALLER, example, in_process

from workers.desk import Desk
from workers.machine.reconciler import Reconciler
from workers.pieces import Task
from workers.questions import Jobs
from workers.queue import NAME
from workers.store import PENDING, Store


@pytest.fixture
def reconciler(desk: Desk) -> Reconciler:
    return Reconciler(desk.store, desk.queue)


def lose_queue(store: Store) -> None:
    """What is left when everything that was queued had been taken by workers that died."""
    store.redis.delete(f"rq:queue:{NAME}")


def test_lost_tasks_are_queued_at_the_second_look(
    jobs: Jobs, desk: Desk, reconciler: Reconciler
) -> None:
    comparison = example()
    record, _ = jobs.submit(comparison, CALLER)
    perform(desk, missing(desk, record.id))
    lose_queue(desk.store)
    reconciler.round()
    assert not desk.queue.alive()
    reconciler.round()
    expected = {task.key for task in missing(desk, record.id)}
    assert desk.queue.alive() == expected
    assert len(expected) == 3  # who measured has drawn the first block
    reconciler.round()
    assert desk.store.redis.llen(f"rq:queue:{NAME}") == 3


def test_lost_report_is_concluded(jobs: Jobs, desk: Desk, reconciler: Reconciler) -> None:
    comparison = example()
    record, _ = jobs.submit(comparison, CALLER)
    perform(desk, missing(desk, record.id))
    *others, last = missing(desk, record.id)
    perform(desk, others)
    desk.store.commit = lambda *_, **__: False  # type: ignore[method-assign]
    perform(desk, [last])
    del desk.store.commit
    lose_queue(desk.store)
    reconciler.round()
    reconciler.round()
    assert desk.queue.alive() == {Task("conclude", record.id).key}
    perform(desk, missing(desk, record.id))
    assert jobs.report(record.id, CALLER) == in_process(comparison)


def test_task_taken_by_a_worker_that_died_is_queued_again(
    jobs: Jobs, desk: Desk, reconciler: Reconciler
) -> None:
    jobs.submit(example(), CALLER)
    redis = desk.store.redis
    redis.lmove(f"rq:queue:{NAME}", f"rq:queue:{NAME}:intermediate")
    for _ in range(2):
        reconciler.round()
    assert redis.llen(f"rq:queue:{NAME}") == 1
    assert not redis.exists(f"rq:queue:{NAME}:intermediate")


def test_task_of_a_dead_worker_is_queued_again(
    jobs: Jobs, desk: Desk, reconciler: Reconciler
) -> None:
    record, _ = jobs.submit(example(), CALLER)
    redis = desk.store.redis
    (key,) = desk.queue.alive()
    lose_queue(desk.store)
    redis.zadd(f"rq:wip:{NAME}", {f"{key}:start": time.time() + 60})
    for _ in range(3):
        reconciler.round()
    assert not redis.exists(f"rq:queue:{NAME}")
    redis.zadd(f"rq:wip:{NAME}", {f"{key}:start": time.time() - 1})
    for _ in range(2):
        reconciler.round()
    assert desk.queue.alive() == {task.key for task in missing(desk, record.id)}
    assert not redis.exists(f"rq:wip:{NAME}")


def test_finished_comparisons_are_left_alone(
    jobs: Jobs, desk: Desk, reconciler: Reconciler
) -> None:
    record, _ = jobs.submit(example(), CALLER)
    finish(desk, record.id)
    for _ in range(3):
        reconciler.round()
    assert not desk.queue.alive()


def test_comparison_that_expired_unfinished_is_no_longer_pending(
    jobs: Jobs, desk: Desk, reconciler: Reconciler
) -> None:
    brief = Jobs(desk.store, desk.queue, replace(desk.store.settings, retention=1))
    desk.store.settings = replace(desk.store.settings, retention=1)
    record, _ = brief.submit(example(), CALLER)
    lose_queue(desk.store)
    time.sleep(1.1)
    for _ in range(2):
        reconciler.round()
    assert not desk.store.redis.exists(PENDING)
    assert not desk.queue.alive()
    perform(desk, [Task("measure", record.id, (0, 5))])


def test_entries_that_are_no_text_are_removed(desk: Desk, reconciler: Reconciler) -> None:
    redis = desk.store.redis
    redis.rpush(f"rq:queue:{NAME}:intermediate", b"\xff\xfe", "a b")
    redis.zadd(f"rq:failed:{NAME}", {b"\xff": 1})
    for _ in range(2):
        reconciler.round()
    assert not redis.exists(f"rq:queue:{NAME}:intermediate", f"rq:failed:{NAME}")
