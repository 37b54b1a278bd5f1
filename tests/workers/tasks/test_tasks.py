"""Tasks by hand: lost, doubled, late and reordered pieces change nothing."""

import random
import zlib
from typing import Any

import pytest
from byhand import finish, missing, perform
from rq.timeouts import JobTimeoutException
from service import CALLER, Comparisons, example, in_process, synthetic

from sigtest.comparison.comparison import Comparison
from sigtest.errors import LengthError, LimitError, RecipeError, UnavailableError
from sigtest.kinds import KINDS
from sigtest.metrics.bleu import Bleu
from workers.errors import GoneError, NotReadyError, StorageError
from workers.questions import Record, Status
from workers.store.questions import QuestionStore
from workers.store.records import Progress, Task
from workers.tasks.run import died, run

ODD_KEYS = tuple((f"{i:064x}",) for i in range(3))  # of another make's statistics


def submitted(jobs: Comparisons, comparison: Comparison) -> Record:
    record, created = jobs.submit(comparison, CALLER)
    assert created
    return record


def test_any_order_and_twice(jobs, context):
    comparison = example(metrics=["bleu", "chrf"])
    record = submitted(jobs, comparison)
    rng = random.Random(0)
    for _ in ("statistics", "blocks"):
        tasks = missing(context, record.id) * 2
        rng.shuffle(tasks)
        perform(context, tasks)
    assert jobs.report(record.id, CALLER) == in_process(comparison)


def test_texts_that_are_read_one_at_a_time_give_the_same_report(jobs, context, monkeypatch):
    comparison = example(metrics=["bleu", "chrf"])
    record = submitted(jobs, comparison)
    read: list[int] = []
    packed = QuestionStore.packed

    def counted(store: QuestionStore, question_id: str, fields: list[str]) -> list[bytes]:
        read.append(len(fields))
        return packed(store, question_id, fields)

    monkeypatch.setattr(QuestionStore, "packed", counted)
    monkeypatch.setattr("workers.tasks.questions.READ_AHEAD", 1)
    finish(context, record.id)
    outputs = len(comparison.entries[0].systems)
    assert sum(read) == outputs + 1
    assert len(read) == outputs
    assert jobs.report(record.id, CALLER) == in_process(comparison)


def test_progress_is_what_exists(jobs, context):
    record = submitted(jobs, synthetic(1, systems=2))
    seen = [(record.status, record.progress)]
    while not record.status.finished:
        first, *_ = missing(context, record.id)
        perform(context, [first])
        record = jobs.find(record.id, CALLER)
        seen.append((record.status, record.progress))
    assert seen == [
        (Status.QUEUED, Progress("statistics", 0, 2)),
        (Status.RUNNING, Progress("resampling", 500, 2000)),  # drawn by who measured
        (Status.RUNNING, Progress("resampling", 1000, 2000)),
        (Status.RUNNING, Progress("resampling", 1500, 2000)),
        (Status.SUCCEEDED, Progress("report", 1, 1)),
    ]


@pytest.mark.parametrize("outcome", [Status.CANCELLED, Status.FAILED])
def test_progress_stays_where_it_was(jobs, context, outcome):
    record = submitted(jobs, synthetic(1, systems=2))
    for _ in range(2):
        perform(context, missing(context, record.id)[:1])
    before = jobs.find(record.id, CALLER).progress
    assert before == Progress("resampling", 1000, 2000)
    assert context.questions.commit(record.id, outcome)
    after = jobs.find(record.id, CALLER)
    assert (after.status, after.progress) == (outcome, before)


def test_statistics_that_expired_are_measured_again(jobs, context):
    comparison = example()
    record = submitted(jobs, comparison)
    perform(context, missing(context, record.id))
    blocks = missing(context, record.id)
    context.questions.redis.delete(*context.questions.redis.keys("sigtest:cache:*"))
    perform(context, blocks)
    assert jobs.report(record.id, CALLER) == in_process(comparison)


def test_statistics_are_shared_between_comparisons_of_a_caller(jobs, context):
    first = submitted(jobs, example(seed=1))
    finish(context, first.id)
    second = submitted(jobs, example(seed=2))
    assert second.progress == first.progress  # acceptance tells nothing of what is cached
    assert jobs.find(second.id, CALLER).progress.phase == "resampling"


def test_last_block_is_reported_again_where_its_worker_died(jobs, context):
    comparison = example()
    record = submitted(jobs, comparison)
    perform(context, missing(context, record.id))
    blocks = missing(context, record.id)
    perform(context, blocks[:-1])
    context.questions.commit = lambda *_, **__: False  # type: ignore[method-assign]
    perform(context, blocks[-1:])
    del context.questions.commit
    assert missing(context, record.id) == [Task("conclude", record.id)]
    finish(context, record.id)
    assert jobs.report(record.id, CALLER) == in_process(comparison)


def test_late_pieces_of_a_finished_comparison_leave_no_trace(jobs, context):
    record = submitted(jobs, example())
    perform(context, missing(context, record.id))
    blocks = missing(context, record.id)
    finish(context, record.id)
    before = context.questions.redis.keys("*")
    assert b"sigtest:tallies" in before
    perform(context, [*blocks, Task("conclude", record.id), Task("measure", record.id, (0, 5))])
    assert sorted(context.questions.redis.keys("*")) == sorted(before)


def test_late_pieces_of_a_deleted_comparison_leave_no_trace(jobs, context):
    record = submitted(jobs, example())
    perform(context, missing(context, record.id))
    blocks = missing(context, record.id)
    finish(context, record.id)
    jobs.remove(record.id, CALLER)
    perform(context, blocks)
    left = context.questions.redis.keys(f"*{record.id}*")
    assert set(left) == {f"sigtest:gone:{record.id}".encode()}


def test_pieces_of_another_cut_are_not_mixed_up(jobs, context):
    comparison = example()
    record = submitted(jobs, comparison)
    perform(context, missing(context, record.id))
    perform(context, missing(context, record.id)[:1])
    jobs.remove(record.id, CALLER)
    again = Comparisons.connect(context.settings.model_copy(update={"block": 300}))
    record = submitted(again, comparison)
    run(context, "resample", [record.id, 500, 1000])  # somebody who comes late with the old cut
    finish(context, record.id)
    assert jobs.report(record.id, CALLER) == in_process(comparison)
    again.close()


def test_first_outcome_stays(jobs, context):
    record = submitted(jobs, example())
    assert context.questions.commit(record.id, Status.FAILED, "first")
    assert not context.questions.commit(record.id, Status.SUCCEEDED, report=b"{}")
    assert jobs.find(record.id, CALLER).error == "first"


def test_error_of_a_task_is_the_error_of_the_comparison(jobs, context, monkeypatch):
    def broken(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(Bleu, "statistics", broken)
    record = submitted(jobs, example())
    finish(context, record.id)
    record = jobs.find(record.id, CALLER)
    assert record.status is Status.FAILED
    assert record.error == (
        "Internal error in one task (measure): ZeroDivisionError. This is a fault of the service; "
        "its log says more under the id of this question."
    )
    with pytest.raises(NotReadyError) as caught:
        jobs.report(record.id, CALLER)
    assert caught.value.record == record


@pytest.mark.parametrize(
    ("error", "problem"),
    [
        (ZeroDivisionError(), {"type": "internal-error"}),
        (JobTimeoutException(), {"type": "task-timeout"}),
        (RecipeError("No.", field="metrics"), {"type": "invalid-recipe", "field": "metrics"}),
        (LimitError("No.", limit="max_rows"), {"type": "limit-exceeded"}),
        (UnavailableError("METEOR needs Java."), {"type": "unavailable"}),
        (StorageError("No."), None),
        (
            LengthError("No.", field="systems[1]", system="birch", line=3),
            {"type": "length-mismatch", "field": "systems[1]", "system": "birch", "line": 3},
        ),
    ],
)
def test_failed_questions_say_what_failed(jobs, context, monkeypatch, error, problem):
    def broken(*_: object) -> None:
        raise error

    monkeypatch.setattr(Bleu, "statistics", broken)
    record = submitted(jobs, example())
    if problem is None:
        with pytest.raises(StorageError):
            finish(context, record.id)
        assert not jobs.find(record.id, CALLER).status.finished
        return
    finish(context, record.id)
    urn = {"type": f"urn:sigtest:problem:{problem['type']}"}
    assert jobs.find(record.id, CALLER).problem == problem | urn


def test_failures_of_older_versions_have_the_general_type(jobs, context):
    record = submitted(jobs, example())
    context.questions.commit(record.id, Status.FAILED, "bad luck", problem={"type": "any"})
    context.redis.hdel(f"sigtest:question:{record.id}", "problem")
    assert jobs.find(record.id, CALLER).problem == {"type": "urn:sigtest:problem:error"}


def test_failed_comparison_keeps_its_texts_and_runs_again(jobs, context):
    comparison = example()
    record = submitted(jobs, comparison)
    context.questions.commit(record.id, Status.FAILED, "bad luck")
    assert context.questions.redis.exists(f"sigtest:contents:{record.id}")
    again = submitted(jobs, comparison)
    assert (again.id, again.status, again.error) == (record.id, Status.QUEUED, None)
    finish(context, record.id)
    assert jobs.report(record.id, CALLER) == in_process(comparison)


def test_task_started_too_often_fails_the_comparison(jobs, context):
    record = submitted(jobs, example())
    first, *_ = missing(context, record.id)
    for _ in range(context.settings.attempts):
        assert not jobs.find(record.id, CALLER).status.finished
        died(context, first)
    failed = jobs.find(record.id, CALLER)
    assert "started 5 times" in (failed.error or "")
    assert failed.problem == {"type": "urn:sigtest:problem:workers-died"}


def test_a_task_that_ended_may_start_as_often_again(jobs, context):
    """In a rolling upgrade workers of another version take it again and again."""
    record = submitted(jobs, synthetic(5, segments=20))
    first, *_ = missing(context, record.id)
    for _ in range(context.settings.attempts - 1):
        died(context, first)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("workers.tasks.questions.statistics_keys", lambda plan: ODD_KEYS)
        patch.setattr("workers.store.questions.statistics_keys", lambda plan: ODD_KEYS)
        for _ in range(2 * context.settings.attempts):
            perform(context, [first])
    assert jobs.find(record.id, CALLER).error is None
    finish(context, record.id)
    assert jobs.find(record.id, CALLER).status is Status.SUCCEEDED


def test_text_is_stored_compressed_and_deleted(jobs, context):
    comparison = synthetic(3)
    line = comparison.entries[0].systems[0].hypotheses
    assert line is not None
    record = submitted(jobs, comparison)
    assert any(line.lines[7].encode() in text for text in everything(context.questions))
    finish(context, record.id)
    jobs.remove(record.id, CALLER)
    assert not any(line.lines[7].encode() in text for text in everything(context.questions))
    with pytest.raises(GoneError):
        context.questions.packed(record.id, ["output-0"])


def everything(store: QuestionStore) -> list[bytes]:
    """All values in Redis, unpacked where they are packed."""
    values: list[Any] = []
    for key in store.redis.keys("*"):
        kind = store.redis.type(key)
        if kind == b"string":
            values.append(store.redis.get(key))
        elif kind == b"hash":
            values += store.redis.hvals(key)
    return [unpacked(value) for value in values]


def unpacked(value: bytes) -> bytes:
    try:
        return zlib.decompress(value)
    except zlib.error:
        return value


def test_a_question_that_is_deleted_while_it_is_read_is_no_fault(jobs, context, monkeypatch):
    kind = KINDS["human-evaluations"]
    rows = [
        {"annotator": "w", "system": name, "segment": i, "score": 10 * i}
        for name in "ab"
        for i in range(1, 4)
    ]
    question = kind.parse({"judgements": rows})
    record, _ = jobs.questions.submit(kind.path, question, CALLER)
    read = context.questions.read

    def read_as_it_goes(question_id: str) -> object:
        found = read(question_id)
        for _ in ("cancelled", "deleted"):
            jobs.remove(question_id, CALLER)
        return found

    monkeypatch.setattr(context.questions, "read", read_as_it_goes)
    (task,) = missing(context, record.id)
    assert run(context, task.name, [record.id, *task.arguments]) == "unwanted"
