"""What somebody lets be written by reading is bounded, and all else is in a caller's figure."""

import numpy as np
import pytest
from board import SYSTEMS, Board, board_on
from byhand import finish, settle
from service import CALLER, Comparisons, example, synthetic

from workers.access import MOST_SESSIONS, Sessions
from workers.questions import PairChoice
from workers.queue import Context
from workers.store import cache, keys
from workers.store.boards import MOST_CHOICES, Choice
from workers.store.usage import all_held
from workers.tasks.boards import refresh
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


@pytest.fixture
def board(jobs: Comparisons, context: Context) -> Board:
    board = board_on(context, "by hand", metrics=["chrf"], tests=["bootstrap"], capacity=4)
    for name in ("aspen", "birch"):
        board.put(name, SYSTEMS[name])
    settle(context, board)
    return board


def test_boards_that_readers_choose_are_few_and_go(board, context):
    whole = board.look().comparison
    choices = [Choice(alpha=0.2 + number / 100) for number in range(MOST_CHOICES + 4)]
    for choice in choices:
        refresh(context, board.id, choice.spelled)
    names = context.redis.keys("sigtest:question:*")
    assert len(names) == MOST_CHOICES + 1
    for name in names:
        if name.decode() != keys.key("question", str(whole)):
            assert 0 < context.redis.ttl(name) <= context.settings.cache
    for part in ("gone", "report"):
        assert len(context.redis.keys(f"sigtest:{part}:*")) <= MOST_CHOICES + 2
    assert context.redis.hlen(keys.key("testset-shown", board.id)) == MOST_CHOICES + 1
    assert context.redis.scard(keys.key("testset-reports", board.id)) == MOST_CHOICES + 1
    assert board.look().comparison == whole
    assert board.look(choices[-1]).comparison
    assert not board.look(choices[0]).comparison


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
