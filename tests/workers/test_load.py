"""What operators are told of queue and tasks is what is there."""

import time

import pytest
from byhand import finish, missing, perform
from service import CALLER, example, synthetic

from workers.observing import load
from workers.questions import Status
from workers.store.usage import BOUNDS, Tallies
from workers.tasks.run import died


def test_tasks_that_wait_are_counted_with_the_age_of_the_oldest(jobs, context):
    assert (load(context).waiting, load(context).oldest) == (0, 0.0)
    first, _ = jobs.submit(synthetic(1, segments=5), CALLER)  # all in the queue of the workers
    before = load(context).waiting
    second, _ = jobs.submit(synthetic(2, segments=5, systems=4), CALLER)
    added = len(missing(context, second.id))
    assert load(context).waiting == before + added
    time.sleep(2.1)  # the store notes whole seconds
    assert 2.0 <= load(context).oldest < 30.0
    context.feed.drop(first.id)
    context.feed.drop(second.id)
    assert (load(context).waiting, load(context).oldest) == (0, 0.0)
    assert not context.questions.redis.exists("sigtest:waiting-since")


def test_predicted_seconds_are_those_of_each_callers_unfinished_questions(jobs, context):
    small, large = synthetic(1, segments=5), example(resamples=9999)
    done, _ = jobs.submit(small, "ann")
    jobs.submit(large, "ann")
    jobs.submit(large, "bob")
    seen = load(context)
    assert seen.unfinished == {"ann": 2, "bob": 1}
    assert seen.predicted["ann"] > seen.predicted["bob"] > 0
    finish(context, done.id)
    assert load(context).unfinished == {"ann": 1, "bob": 1}
    assert load(context).predicted["ann"] == pytest.approx(seen.predicted["bob"])


def test_tasks_are_counted_by_how_they_ended(jobs, context):
    record, _ = jobs.submit(synthetic(1, segments=5, systems=2), CALLER)
    measures = missing(context, record.id)
    perform(context, measures)
    finish(context, record.id)
    perform(context, measures)
    tasks = load(context).tasks
    assert sum(tasks["measure", "done"].counts) == len(measures)
    assert sum(tasks["measure", "unwanted"].counts) == len(measures)
    assert ("measure", "failed") not in tasks
    assert 0 < tasks["measure", "done"].seconds < 60


def test_a_task_that_was_started_too_often_counts_as_failed(jobs, context):
    record, _ = jobs.submit(synthetic(1, segments=5, systems=2), CALLER)
    task, *_ = missing(context, record.id)
    for _ in range(context.settings.attempts):
        died(context, task)
    assert jobs.find(record.id, CALLER).status is Status.FAILED
    (name,) = load(context).tasks
    assert name == ("measure", "failed")


def test_each_range_of_seconds_ends_with_its_bound(context):
    tallies = Tallies(context.questions.redis)
    with context.questions.redis.pipeline() as pipe:
        for seconds in (0.0, BOUNDS[0], BOUNDS[0] + 1e-9, BOUNDS[-1], BOUNDS[-1] + 1):
            tallies.note(pipe, "ann", "measure", "done", seconds)
        pipe.execute()
    durations = tallies.all()["measure", "done"]
    assert durations.counts == [2, 1, *[0] * (len(BOUNDS) - 3), 1, 1]
    assert durations.seconds == pytest.approx(2 * BOUNDS[0] + 2 * BOUNDS[-1] + 1)
