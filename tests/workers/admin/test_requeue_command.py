"""`sigtest-admin requeue`: what failed starts again and ends as it would have."""

import pytest
from board import SYSTEMS, board_on
from byhand import finish, missing, waiting
from commanded import admin, told
from service import CALLER, example, finished, in_process, synthetic, until

from workers.observing import load
from workers.questions import Status
from workers.tasks.run import died


def test_what_failed_is_computed_after_all(service, working):
    comparison = synthetic(41, segments=30)
    told(service.settings, "drain")
    try:
        record, _ = service.jobs.submit(comparison, CALLER)
        assert working.questions.commit(record.id, Status.FAILED, "The machine had no memory.")
        assert load(working).unfinished.get(CALLER, 0) == 0
        lines = told(service.settings, "requeue", record.id)
        assert lines == [f"requeued {record.id} of {CALLER}"]
        again = service.jobs.find(record.id, CALLER)
        assert (again.status, again.error) == (Status.QUEUED, None)
        assert load(working).unfinished[CALLER] == 1
        assert load(working).predicted[CALLER] > 0
    finally:
        told(service.settings, "drain", "--end")
    assert finished(service.jobs, record.id).status is Status.SUCCEEDED
    assert service.jobs.report(record.id, CALLER) == in_process(comparison)
    assert load(working).unfinished.get(CALLER, 0) == 0


def test_what_killed_its_workers_may_start_as_often_again(jobs, context, settings):
    record, _ = jobs.submit(example(), CALLER)
    first, *_ = missing(context, record.id)
    for _ in range(settings.attempts):
        died(context, first)
    assert jobs.find(record.id, CALLER).status is Status.FAILED
    context.feed.drop(record.id)
    assert told(settings, "requeue", "--failed") == [f"requeued {record.id} of {CALLER}"]
    assert first.key in waiting(context)
    finish(context, record.id)
    assert jobs.report(record.id, CALLER) == in_process(example())


def test_what_failed_is_revived_in_a_full_store(jobs, context):
    record, _ = jobs.submit(example(), CALLER)
    first, *_ = missing(context, record.id)
    for _ in range(context.settings.attempts):
        died(context, first)
    context.redis.config_set("maxmemory", 1)
    assert context.questions.revive(record.id, CALLER)
    context.redis.config_set("maxmemory", 0)
    finish(context, record.id)
    assert jobs.report(record.id, CALLER) == in_process(example())


def test_what_was_lost_is_queued_once(jobs, context, settings):
    record, _ = jobs.submit(example(), CALLER)
    context.feed.drop(record.id)
    for _ in range(2):
        told(settings, "requeue", record.id)
    assert waiting(context) == {task.key for task in missing(context, record.id)}
    assert context.feed.depth()[0] == len(waiting(context))


def test_a_system_that_failed_is_measured_after_all(service, working):
    board = board_on(working, "failed and back", metrics=["bleu"])
    board.put("aspen", SYSTEMS["aspen"])
    board.put("birch", SYSTEMS["birch"])
    until(lambda: board.id not in working.testsets.pending())
    redis, digest = working.questions.redis, board.state.digests["birch"]
    rows = f"sigtest:testset-rows:{board.id}"
    redis.hdel(rows, *(name for name in redis.hkeys(rows) if digest.encode() in name))
    working.testsets.fail(board.id, digest, "The machine had no memory.")
    assert board.state.failed == {"birch": "The machine had no memory."}
    assert told(service.settings, "requeue", board.id) == [f"requeued {board.id} of {CALLER}"]
    board.is_right()
    board.testsets.delete(board.id, CALLER)


@pytest.mark.parametrize("outcome", ["succeeded", "cancelled"])
def test_nothing_else_starts_again(jobs, context, settings, outcome):
    record, _ = jobs.submit(example(), CALLER)
    if outcome == "cancelled":
        jobs.remove(record.id, CALLER)
    else:
        finish(context, record.id)
    done = admin(settings, "requeue", record.id)
    assert (done.returncode, done.stdout) == (2, "")
    assert f" {record.id} is {outcome}; only what failed or is unfinished" in done.stderr


@pytest.mark.parametrize(
    ("words", "said"), [(("f" * 32,), "no question and no test set"), ((), "ID --failed")]
)
def test_what_is_not_there_is_one_message(jobs, settings, words, said):
    done = admin(settings, "requeue", *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
    assert "Traceback" not in done.stderr
