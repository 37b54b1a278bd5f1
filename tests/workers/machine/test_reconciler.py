"""Lost work is found, one round after the other; nothing else is touched."""

import time

import pytest
from board import SYSTEMS, board_on
from byhand import died_with, finish, missing, perform, register, settle, waiting
from redis import Redis
from service import CALLER, Comparisons, example, in_process

from workers.machine.reconciler import Reconciler
from workers.questions import Status
from workers.queue import NAME, SHORT, Context, Turn
from workers.store.keys import PENDING
from workers.store.records import Task


@pytest.fixture
def reconciler(context: Context) -> Reconciler:
    return Reconciler(context)


def lose_queue(context: Context) -> None:
    """What is left when everything that waited had been taken by workers that died."""
    redis = context.questions.redis
    redis.delete(f"rq:queue:{NAME}", *redis.keys("sigtest:waiting*"), *redis.keys("sigtest:tasks*"))


def test_lost_tasks_are_queued_at_the_second_look(jobs, context, reconciler):
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


def test_lost_report_is_concluded(jobs, context, reconciler):
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


def test_task_taken_by_a_worker_that_died_is_queued_again(jobs, context, reconciler):
    record, _ = jobs.submit(example(), CALLER)
    redis = context.questions.redis
    for _ in range(2 * context.settings.attempts):  # it had not begun: no death of the task's
        redis.lmove(f"rq:queue:{NAME}", f"rq:queue:{NAME}:intermediate")
        for _ in range(2):
            reconciler.round()
        assert redis.llen(f"rq:queue:{NAME}") == 1
        assert not redis.exists(f"rq:queue:{NAME}:intermediate")
    assert context.questions.unfinished(record.id)


def test_a_task_that_was_queued_again_since_the_last_look_may_be_taken(jobs, context, reconciler):
    """Between two looks its worker died, it was queued again, and another worker took it."""
    jobs.submit(example(), CALLER)
    redis = context.questions.redis
    died_with(context, "by hand")
    redis.hdel("rq:worker:by hand", "current_job")
    reconciler.round()
    register(redis, "by hand", *context.feed.jobs.stuck(set()))
    reconciler.settle("by hand", counted=False)
    redis.lmove(f"rq:queue:{NAME}", f"rq:queue:{NAME}:intermediate")
    reconciler.round()
    assert redis.llen(f"rq:queue:{NAME}:intermediate") == 1
    assert redis.keys("rq:job:*")
    reconciler.round()
    assert redis.llen(f"rq:queue:{NAME}") == 1


@pytest.mark.parametrize("queue", [NAME, SHORT])
def test_task_of_a_dead_worker_is_queued_again(jobs, context, reconciler, queue):
    """Not that of a living one."""
    record, _ = jobs.submit(example(), CALLER)
    redis = context.questions.redis
    (key,) = context.feed.jobs.alive()
    lose_queue(context)
    register(redis, "by hand", key, queue)
    redis.zadd(f"rq:wip:{queue}", {f"{key}:start": 1})
    for _ in range(3):
        reconciler.round()
    assert not redis.exists(f"rq:queue:{NAME}")
    redis.delete("rq:worker:by hand")  # as it expires
    for _ in range(2):
        reconciler.round()
    assert waiting(context) == {task.key for task in missing(context, record.id)}
    assert not redis.exists(f"rq:wip:{queue}", f"rq:workers:{queue}")


def test_finished_comparisons_are_left_alone(jobs, context, reconciler):
    record, _ = jobs.submit(example(), CALLER)
    finish(context, record.id)
    for _ in range(3):
        reconciler.round()
    assert not waiting(context)


def test_comparison_that_expired_unfinished_is_no_longer_pending(jobs, context, reconciler):
    brief = Comparisons.connect(context.settings.model_copy(update={"retention": 1}))
    record, _ = brief.submit(example(), CALLER)
    brief.close()
    lose_queue(context)
    time.sleep(1.1)
    for _ in range(2):
        reconciler.round()
    redis = context.questions.redis
    assert not redis.exists(PENDING)
    assert not redis.keys("sigtest:pending:*")  # nor does it count against its caller
    assert not waiting(context)
    perform(context, [Task("measure", record.id, (0, 5))])


def test_entries_that_are_no_text_are_removed(context, reconciler):
    redis = context.questions.redis
    redis.rpush(f"rq:queue:{NAME}:intermediate", b"\xff\xfe", "a b")
    redis.zadd(f"rq:failed:{NAME}", {b"\xff": 1})
    for _ in range(2):
        reconciler.round()
    assert not redis.exists(f"rq:queue:{NAME}:intermediate", f"rq:failed:{NAME}")


def test_tasks_that_were_taken_from_the_waiting_but_never_queued_are_found(
    jobs, context, reconciler
):
    first, _ = jobs.submit(example(seed=1), CALLER)  # takes the room in the queue
    comparison = example(seed=2)
    record, _ = jobs.submit(comparison, CALLER)
    perform(context, missing(context, record.id))
    assert context.feed.waiting() == {record.id}
    redis = context.questions.redis
    redis.delete(f"rq:queue:{NAME}", *redis.keys("rq:job:*"))
    context.questions.commit(first.id, Status.CANCELLED)
    lost = taken_and_lost(redis, context)
    assert {turn.task.owner for turn in lost} == {record.id}
    assert not waiting(context)
    for _ in range(2):
        reconciler.round()
    assert waiting(context) == {task.key for task in missing(context, record.id)}
    perform(context, missing(context, record.id))
    assert jobs.report(record.id, CALLER) == in_process(comparison)


def taken_and_lost(redis: Redis, context: Context) -> list[Turn]:
    """Take tasks as `fill` does, by a process that dies before it queues one."""
    for i in range(1000):
        register(redis, str(i))
    taken: list[Turn] = []
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(context.feed.jobs, "add", taken.extend)
        context.feed.fill()
    return taken


def test_a_question_with_a_task_that_waits_is_left_alone(jobs, context, reconciler):
    records = [jobs.submit(example(seed=seed), CALLER)[0] for seed in range(3)]
    before = waiting(context)
    assert len(before) == 3
    for _ in range(4):
        reconciler.round()
    assert waiting(context) == before
    lengths = [context.questions.redis.llen(f"sigtest:tasks:{record.id}") for record in records]
    assert sum(lengths) == 2


def test_lost_joins_and_refreshes_are_queued_again(jobs, context, reconciler):
    board = board_on(context, "lost")
    for name in ("aspen", "birch"):
        board.put(name, SYSTEMS[name])
    expected = {entry.key for entry in board.state.joins}
    assert waiting(context) == expected
    lose_queue(context)
    reconciler.round()
    assert not waiting(context)
    reconciler.round()
    assert waiting(context) == expected
    settle(context, board)
    board.remove("aspen")
    for _ in range(2):
        reconciler.round()
    (key_of_refresh,) = waiting(context)
    assert key_of_refresh.startswith(f"{board.id}-refresh-")
    settle(context, board)
    for _ in range(3):
        reconciler.round()
    assert not waiting(context)


def test_systems_of_another_version_are_queued(jobs, context, reconciler):
    board = board_on(context, "older")
    for name in ("aspen", "birch"):
        board.put(name, SYSTEMS[name])
    settle(context, board)
    redis, rows = context.questions.redis, f"sigtest:testset-rows:{board.id}"
    redis.rename(rows, "elsewhere")
    for field, row in redis.hgetall("elsewhere").items():
        redis.hset(rows, b"0.0.1 " + field.partition(b" ")[2], row)
    assert board.record.pending == ("aspen", "birch")
    perform(context, [board.state.refreshing("asked")])
    lose_queue(context)
    for _ in range(2):
        reconciler.round()
    assert waiting(context) == {entry.key for entry in board.state.joins}
    settle(context, board)
    board.is_right()
