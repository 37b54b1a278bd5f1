"""Distributions of pairs of a leaderboard, made by hand: what is asked for, kept, and refused."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from boards import SYSTEMS, Board, board_on
from byhand import perform
from service import CALLER

from sigtest.comparison.parse import parse_comparison
from sigtest.engine import distribute
from sigtest.errors import RecipeError
from workers.errors import NotFoundError, UnfinishedError
from workers.leaderboard_distributions import distributing
from workers.leaderboard_tasks import joins
from workers.settings import Settings
from workers.store.boards import Leaderboard
from workers.store.pieces import Task
from workers.store.server import EmbeddedServer
from workers.tasks.context import Context
from workers.testsets import Leaderboards


@pytest.fixture
def board(server: EmbeddedServer, settings: Settings, context: Context) -> Iterator[Board]:
    """Two systems that are measured, on a server without workers."""
    boards = Leaderboards.connect(settings)
    board = board_on(boards, "by hand", metrics=["bleu", "ter"])
    for name in ("birch", "aspen"):
        board.put(name, SYSTEMS[name])
    measure(board, context)
    yield board
    boards.close()


def measure(board: Board, context: Context) -> None:
    state = board.boards._store.state(board.id)
    assert state is not None
    perform(context, joins(state))


def looked(board: Board) -> Leaderboard:
    choice = board.boards.choice(board.id, CALLER)
    found, _ = board.boards.leaderboard(board.id, CALLER, choice)
    assert found is not None
    return found


def task_of(board: Board, a: str, b: str) -> Task:
    store = board.boards._store
    state = store.state(board.id)
    assert state is not None
    return distributing(store.plan(board.id), state, looked(board), a, b)


def kept(board: Board) -> int:
    return int(board.boards._store.redis.hlen(f"sigtest:testset-distributions:{board.id}"))


def test_a_worker_is_asked_once_and_what_it_makes_is_kept(board: Board, context: Context) -> None:
    shown, boards = looked(board), board.boards
    for asked in (False, True, True):
        assert boards.distribution(shown, CALLER, "aspen", "birch", asked) is None
    task = task_of(board, "aspen", "birch")
    assert [key for key in context.feed.jobs.alive() if "distribute_pair" in key] == [task.key]
    perform(context, [task])
    found = boards.distribution(shown, CALLER, "aspen", "birch", True)
    assert found is not None
    comparison = parse_comparison(
        {
            "references": [board.reference],
            "systems": [{"name": n, "hypotheses": SYSTEMS[n]} for n in ("aspen", "birch")],
            "resamples": 600,
        }
    )
    expected = distribute(comparison, "aspen", "birch", "bleu", "approximate_randomization")
    assert found.values.tobytes() == expected.values.tobytes()
    assert replace(found, values=expected.values) == expected
    perform(context, [task, task])  # late and doubled
    assert kept(board) == 1
    assert boards._store.redis.ttl(f"sigtest:testset-distributions:{board.id}") <= 3600


def test_nothing_stays_of_what_was_replaced_raised_or_deleted(
    board: Board, context: Context
) -> None:
    task = task_of(board, "aspen", "birch")
    perform(context, [task])
    assert kept(board) == 1
    shown = looked(board)
    board.put("aspen", SYSTEMS["cedar"], replaces=True)
    assert kept(board) == 0
    with pytest.raises(UnfinishedError, match="ask again"):
        board.boards.distribution(shown, CALLER, "aspen", "birch", False)
    measure(board, context)
    perform(context, [task_of(board, "aspen", "birch")])
    assert kept(board) == 1
    board.boards.raise_resamples(board.id, CALLER, 700)
    assert kept(board) == 0
    perform(context, [task])  # of content and resamples that nobody has any longer
    assert kept(board) == 0
    measure(board, context)
    perform(context, [task_of(board, "birch", "aspen")])
    board.boards.delete(board.id, CALLER)
    assert kept(board) == 0
    perform(context, [task])
    assert kept(board) == 0


def test_what_is_made_while_a_system_is_replaced_is_not_kept(board: Board) -> None:
    store = board.boards._store
    state = store.state(board.id)
    assert state is not None
    board.put("aspen", SYSTEMS["cedar"], replaces=True)
    store.results.add_values(state, "field", 0.0, np.zeros(3))
    assert kept(board) == 0


def test_only_so_many_are_kept(board: Board) -> None:
    store = board.boards._store
    state = store.state(board.id)
    assert state is not None
    observed = 0.5
    for i in range(40):
        store.results.add_values(state, str(i), observed, np.arange(3.0))
    assert 0 < kept(board) <= 32
    found = store.results.values(board.id, "39")
    assert found is not None
    assert (found[0], found[1].tolist()) == (observed, [0.0, 1.0, 2.0])


def test_pending_failed_and_unknown_systems(board: Board, context: Context) -> None:
    board.put("cedar", SYSTEMS["cedar"])
    shown, boards = looked(board), board.boards
    with pytest.raises(UnfinishedError, match="'cedar' is still to be measured") as pending:
        boards.distribution(shown, CALLER, "aspen", "cedar", False)
    assert (pending.value.field, pending.value.system) == ("b", "cedar")
    state = boards._store.state(board.id)
    assert state is not None
    boards._store.results.fail(board.id, state.digests["cedar"], "No reason.")
    with pytest.raises(RecipeError, match=r"'cedar' cannot be measured: No reason\."):
        boards.distribution(looked(board), CALLER, "cedar", "aspen", False)
    with pytest.raises(RecipeError, match="no system 'elm'; it has aspen, birch"):
        boards.distribution(shown, CALLER, "elm", "aspen", False)
    with pytest.raises(RecipeError, match="two different"):
        boards.distribution(shown, CALLER, "aspen", "aspen", False)
    with pytest.raises(NotFoundError):
        boards.distribution(shown, "somebody else", "aspen", "birch", False)
    assert not [key for key in context.feed.jobs.alive() if "distribute_pair" in key]
