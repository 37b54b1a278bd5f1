"""Lost work is found, one round after the other; nothing else is touched."""

import time
from dataclasses import replace

import pytest
from byhand import finish, missing, perform, waiting
from service import CALLER, Comparisons, example, in_process

from workers.machine.reconciler import Reconciler
from workers.queue.jobs import NAME
from workers.store.keys import PENDING
from workers.store.task import Task
from workers.tasks.context import Context


@pytest.fixture
def reconciler(context: Context) -> Reconciler:
    return Reconciler(context)


def lose_queue(context: Context) -> None:
    """What is left when everything that waited had been taken by workers that died."""
    redis = context.questions.redis
    redis.delete(f"rq:queue:{NAME}", *redis.keys("sigtest:waiting*"), *redis.keys("sigtest:tasks*"))


def test_lost_tasks_are_queued_at_the_second_look(
    jobs: Comparisons, context: Context, reconciler: Reconciler
) -> None:
    comparison = example()
    record, _ = jobs.submit(comparison, CALLER)
    perform(context, missing(context, record.id))
    lose_queue(context)
    reconciler.round()
    assert not waiting(context)
    reconciler.round()
    expected = {task.key for task in missing(context, record.id)}
    assert waiting(context) == expected
    assert len(expected) == 3  # who measured has drawn the first block
    reconciler.round()
    assert context.questions.redis.llen(f"rq:queue:{NAME}") == 1  # as if there were one worker
    assert context.questions.redis.llen(f"sigtest:tasks:{record.id}") == 2


def test_lost_report_is_concluded(
    jobs: Comparisons, context: Context, reconciler: Reconciler
) -> None:
    comparison = example()
    record, _ = jobs.submit(comparison, CALLER)
    perform(context, missing(context, record.id))
    *others, last = missing(context, record.id)
    perform(context, others)
    context.questions.commit = lambda *_, **__: False  # type: ignore[method-assign]
    perform(context, [last])
    del context.questions.commit
    lose_queue(context)
    reconciler.round()
    reconciler.round()
    assert waiting(context) == {Task("conclude", record.id).key}
    perform(context, missing(context, record.id))
    assert jobs.report(record.id, CALLER) == in_process(comparison)


def test_task_taken_by_a_worker_that_died_is_queued_again(
    jobs: Comparisons, context: Context, reconciler: Reconciler
) -> None:
    jobs.submit(example(), CALLER)
    redis = context.questions.redis
    redis.lmove(f"rq:queue:{NAME}", f"rq:queue:{NAME}:intermediate")
    for _ in range(2):
        reconciler.round()
    assert redis.llen(f"rq:queue:{NAME}") == 1
    assert not redis.exists(f"rq:queue:{NAME}:intermediate")


def test_task_of_a_dead_worker_is_queued_again(
    jobs: Comparisons, context: Context, reconciler: Reconciler
) -> None:
    record, _ = jobs.submit(example(), CALLER)
    redis = context.questions.redis
    (key,) = context.feed.jobs.alive()
    lose_queue(context)
    redis.zadd(f"rq:wip:{NAME}", {f"{key}:start": time.time() + 60})
    for _ in range(3):
        reconciler.round()
    assert not redis.exists(f"rq:queue:{NAME}")
    redis.zadd(f"rq:wip:{NAME}", {f"{key}:start": time.time() - 1})
    for _ in range(2):
        reconciler.round()
    assert waiting(context) == {task.key for task in missing(context, record.id)}
    assert not redis.exists(f"rq:wip:{NAME}")


def test_finished_comparisons_are_left_alone(
    jobs: Comparisons, context: Context, reconciler: Reconciler
) -> None:
    record, _ = jobs.submit(example(), CALLER)
    finish(context, record.id)
    for _ in range(3):
        reconciler.round()
    assert not waiting(context)


def test_comparison_that_expired_unfinished_is_no_longer_pending(
    jobs: Comparisons, context: Context, reconciler: Reconciler
) -> None:
    brief = Comparisons.connect(replace(context.settings, retention=1))
    record, _ = brief.submit(example(), CALLER)
    lose_queue(context)
    time.sleep(1.1)
    for _ in range(2):
        reconciler.round()
    assert not context.questions.redis.exists(PENDING)
    assert not waiting(context)
    perform(context, [Task("measure", record.id, (0, 5))])


def test_entries_that_are_no_text_are_removed(context: Context, reconciler: Reconciler) -> None:
    redis = context.questions.redis
    redis.rpush(f"rq:queue:{NAME}:intermediate", b"\xff\xfe", "a b")
    redis.zadd(f"rq:failed:{NAME}", {b"\xff": 1})
    for _ in range(2):
        reconciler.round()
    assert not redis.exists(f"rq:queue:{NAME}:intermediate", f"rq:failed:{NAME}")
