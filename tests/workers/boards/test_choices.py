"""Boards decided in another way: a view, which takes nothing from the board's own report."""

import json

import pytest
from board import SYSTEMS, Board, board_on
from byhand import perform, settle, waiting
from service import CALLER, Comparisons

from workers.questions import Questions
from workers.queue import Context
from workers.store.boards import Choice
from workers.store.records import Task
from workers.tasks.boards import refresh


@pytest.fixture
def board(jobs: Comparisons, context: Context) -> Board:
    """With two systems that are measured, on a server without workers."""
    board = board_on(context, "by hand", metrics=["chrf"], tests=["bootstrap"], capacity=4)
    for name in ("aspen", "birch"):
        board.put(name, SYSTEMS[name])
    settle(context, board)
    return board


def asked_for(context: Context) -> list[Task]:
    """Reports of boards that a worker is asked for."""
    keys = [key.split("-") for key in waiting(context)]
    return [Task(name, owner, tuple(rest)) for owner, name, *rest in keys if name == "refresh"]


@pytest.mark.parametrize("choice", [Choice(alpha=0.05), Choice(0.05, "holm")])
def test_claims_are_kept_however_the_boards_own_choice_is_spelled(board, context, choice):
    for name in ("cedar", "elm"):
        board.put(name, SYSTEMS[name])
    cedar, _ = board.state.joins
    perform(context, [cedar])  # as elm is still to come, it writes no report
    context.feed.drop(board.id)
    board.look(choice)
    perform(context, asked_for(context))
    context.testsets.fail(board.id, board.state.digests["elm"], "No reason.")
    settle(context, board)
    shown = board.look()
    assert shown.comparison is not None
    pairs = json.loads(Questions(context).report(shown.comparison, CALLER))["pairs"]
    significant = [(pair["a"], pair["b"]) for pair in pairs if pair["significant"]]
    claims = board.testsets.claims(board.record, ("chrf", "bootstrap"), significant)
    assert [(claim.a, claim.b) for claim in claims] == significant
    assert ("aspen", "cedar") in significant


def test_another_level_leaves_the_board_itself_to_be_written(board, context):
    board.remove("aspen")
    refresh(context, board.id, Choice(alpha=0.2).spelled)
    assert context.testsets.pending() == {board.id}  # for the reconciler; webhooks are told then
    refresh(context, board.id, Choice().spelled)
    assert context.testsets.pending() == set()
