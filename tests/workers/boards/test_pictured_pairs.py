"""Distributions of pairs of a leaderboard, made by hand: asked for like those of any comparison."""

from dataclasses import replace

import pytest
from board import SYSTEMS, Board, board_on
from byhand import perform, settle, waiting
from service import CALLER

from sigtest.engine import distribute
from sigtest.errors import RecipeError
from workers.errors import GoneError, NotFoundError
from workers.questions import PairChoice, Questions
from workers.queue import Context
from workers.store.records import Task

PAIR = PairChoice("aspen", "birch", "ter", "bootstrap")
ARGUMENTS = (0, 0, 1, 1, 1)  # part, systems, metric, test


@pytest.fixture
def board(context: Context) -> Board:
    """Two systems that are measured, on a server without workers."""
    board = board_on(context, "by hand", metrics=["bleu", "ter"])
    for name in ("birch", "aspen"):
        board.put(name, SYSTEMS[name])
    settle(context, board)
    return board


@pytest.fixture
def context(jobs: object, context: Context) -> Context:
    """On a server that runs."""
    return context


def shown(board: Board) -> str:
    comparison = board.look().comparison
    assert comparison is not None
    return comparison


def cached(board: Board) -> int:
    return len(board.context.questions.redis.keys(f"sigtest:cache:{board.id}:*"))


@pytest.mark.parametrize("expired", [False, True])
def test_a_worker_is_asked_once_and_what_it_makes_is_kept(board, context, expired):
    questions, comparison = Questions(context), shown(board)
    for asked in (False, True, True):
        assert questions.distribution(comparison, CALLER, PAIR, asked) is None
    task = Task("distribute", comparison, ARGUMENTS)
    assert waiting(context) == {task.key}
    redis = context.questions.redis
    if expired:
        redis.delete(*redis.keys("sigtest:cache:*"))
    perform(context, [task])
    found = questions.distribution(comparison, CALLER, PAIR, True)
    assert found is not None
    expected = distribute(board.comparison(), "aspen", "birch", "ter", "bootstrap")
    assert found.values.tobytes() == expected.values.tobytes()
    assert vars(replace(found, values=expected.values)) == vars(expected)
    held = cached(board)
    perform(context, [task, task])  # late and doubled
    assert cached(board) == held
    lives = [redis.ttl(key) for key in redis.keys("sigtest:cache:*")]
    assert 0 < min(lives) <= max(lives) <= 3600


def test_others_and_unknown_systems(board, context):
    questions, comparison = Questions(context), shown(board)
    with pytest.raises(NotFoundError):
        questions.distribution(comparison, "somebody else", PAIR, False)
    with pytest.raises(RecipeError, match="elm"):
        questions.distribution(comparison, CALLER, replace(PAIR, a="elm"), False)
    with pytest.raises(RecipeError, match="two different"):
        questions.distribution(comparison, CALLER, replace(PAIR, b="aspen"), False)
    assert not waiting(context)


def test_nothing_can_be_made_of_a_system_that_was_replaced(board, context):
    questions, comparison = Questions(context), shown(board)
    redis = context.questions.redis
    board.put("aspen", SYSTEMS["cedar"], replaces=True)
    redis.delete(*redis.keys("sigtest:cache:*"))
    perform(context, [Task("distribute", comparison, ARGUMENTS)])
    with pytest.raises(GoneError, match="'aspen' of this leaderboard was deleted or replaced"):
        questions.distribution(comparison, CALLER, PAIR, True)
    assert cached(board) == 0
    settle(context, board)
    assert shown(board) != comparison
    perform(context, [Task("distribute", shown(board), ARGUMENTS)])
    found = questions.distribution(shown(board), CALLER, PAIR, True)
    assert found is not None
    expected = distribute(board.comparison(), "aspen", "birch", "ter", "bootstrap")
    assert found.values.tobytes() == expected.values.tobytes()


def test_a_late_task_leaves_nothing_of_a_deleted_test_set(board, context):
    comparison = shown(board)
    board.testsets.delete(board.id, CALLER)
    redis = context.questions.redis
    redis.delete(*redis.keys("sigtest:cache:*"))
    perform(context, [Task("distribute", comparison, ARGUMENTS)])
    assert cached(board) == 0
