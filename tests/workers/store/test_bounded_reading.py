"""What somebody lets be written by reading is bounded, and all else is in a caller's figure."""

import numpy as np
import pytest
from byhand import finish
from service import CALLER, example, synthetic

from workers.access import MOST_SESSIONS, Sessions
from workers.questions import PairChoice
from workers.store import cache, keys
from workers.store.usage import all_held
from workers.tasks.run import run
from workers.webhooks import Webhooks


@pytest.mark.parametrize(("size", "most"), [(10, cache.VIEWS), (2**20, 4)])
def test_a_caller_has_so_many_distributions_and_the_newest(context, size, most):
    noise = np.random.default_rng(0).standard_normal(size)
    spaces = [context.questions.cache(space) for space in ("of questions", "of a test set")]
    for number in range(40):
        spaces[number % 2].add_values(CALLER, str(number), 1.0, noise)
    context.questions.cache("of questions").add_values("somebody else", "other", 1.0, noise)
    there = [spaces[number % 2].values(str(number)) is not None for number in range(40)]
    assert there[-1]
    assert sum(there) in range(most - 1, most + 1)  # what is packed is a little larger
    assert all(there[-sum(there) :])


def test_views_write_themselves_and_nothing_else(jobs, context):
    record, _ = jobs.submit(example(metrics=["bleu"], resamples=99), CALLER)
    finish(context, record.id)
    for name in context.redis.keys("sigtest:cache:*"):
        context.redis.delete(name)
    run(context, "distribute", [record.id, 0, 0, 4, 0, 0])
    run(context, "attribute", [record.id, 0, 0, 4, 0])
    assert len(context.redis.keys("sigtest:cache:*")) == 2


def test_so_many_views_of_a_question_wait(jobs, context):
    record, _ = jobs.submit(example(metrics=["bleu"], resamples=99), CALLER)
    finish(context, record.id)
    waiting = keys.key("tasks", record.id)
    context.redis.rpush(waiting, *(f"0.1 {number}" for number in range(1000)))
    pair = PairChoice("aspen", "elm", "bleu", "approximate_randomization")
    assert jobs.questions.distribution(record.id, CALLER, pair, False) is None
    assert jobs.questions.segments(record.id, CALLER, pair, False) is None
    assert context.redis.llen(waiting) == 1000


def test_a_key_has_so_many_sessions(context):
    sessions = Sessions(context.redis)
    other = sessions.begin("another key")
    tokens = [sessions.begin("a key") for _ in range(MOST_SESSIONS + 5)]
    alive = [sessions.digest(token) is not None for token in tokens]
    assert alive == [False] * 5 + [True] * MOST_SESSIONS
    assert sessions.digest(other)


def test_messages_idempotency_keys_and_tombstones_are_in_the_figure(jobs, context):
    caller = "ann of b"
    jobs.submit(example(metrics=["bleu"], resamples=99), caller)
    figures = [all_held(context.redis)[caller]]
    for number in range(50):
        jobs.submit(example(metrics=["bleu"], resamples=99), caller, f"key {number}")
    figures.append(all_held(context.redis)[caller])
    for seed in range(50):
        name = jobs.submit(synthetic(seed, segments=2), caller)[0].id
        assert jobs.remove(name, caller)  # cancelled
        assert not jobs.remove(name, caller)
    figures.append(all_held(context.redis)[caller])
    webhooks = Webhooks(context)
    hook, _ = webhooks.add(
        caller, "http://receiver.example/", ["question.failed"], 20, "max_webhooks"
    )
    for _ in range(50):
        webhooks.test(hook.id, caller)
    figures.append(all_held(context.redis)[caller])
    assert all(np.diff(figures) > 30 * 50)


def test_tests_of_a_webhook_wait_in_bounded_number(context):
    webhooks = Webhooks(context)
    hook, _ = webhooks.add(
        CALLER, "http://receiver.example/", ["question.failed"], 20, "max_webhooks"
    )
    waiting = keys.key("deliveries", hook.id)
    context.redis.hset(waiting, mapping={str(number): "" for number in range(10_000)})
    assert webhooks.test(hook.id, CALLER).dropped == 1
    assert context.redis.hlen(waiting) == 10_000
