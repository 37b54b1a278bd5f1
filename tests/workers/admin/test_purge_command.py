"""`sigtest-admin purge`: what a caller has goes, and nothing of another."""

import numpy as np
import pytest
from board import SYSTEMS, Board, board_on
from byhand import finish, settle
from commanded import told
from service import CALLER, Comparisons, synthetic

from sigtest.requests.races import RaceRequest
from sigtest.requests.shared_tasks import SharedTaskRequest, TeamRequest
from workers.errors import GoneError
from workers.queue import Context
from workers.races import Races, look
from workers.shared_tasks import SharedTasks
from workers.store import keys
from workers.testsets import TestSets
from workers.webhooks import Webhooks

OTHER = "somebody else"


@pytest.fixture
def board(jobs: Comparisons, context: Context) -> Board:
    """A leaderboard of CALLER."""
    board = board_on(context, "sets")
    for name in ("aspen", "birch"):
        board.put(name, SYSTEMS[name])
    settle(context, board)
    return board


def held(context: Context, caller: str, ids: list[str]) -> set[str]:
    """Keys of what a caller has, apart from the note that it was there."""
    names = {key.decode() for key in context.questions.redis.scan_iter("sigtest:*")}
    marks = [*ids, keys.space_of(caller)]
    return {
        name
        for name in names
        if any(mark in name for mark in marks) and not name.startswith("sigtest:gone:")
    }


def test_races_of_a_caller_go(context, settings):
    races = Races(context)
    wanted = RaceRequest(name="night", systems=("A", "B"), scale=(0, 1))
    mine, theirs = (races.make(wanted, caller)[0] for caller in (CALLER, OTHER))
    for race in (mine, theirs):
        scores = {"A": np.array([1.0, 1.0]), "B": np.array([0.0, np.nan])}
        races.observe(race.id, race.caller, ["q1", "q2"], scores)
        look(context, race.id)
    assert f"would delete (with --yes) 0 races of {CALLER}" in told(
        settings, "purge", CALLER, "--days", "1"
    )
    assert f"deleted 1 races of {CALLER}" in told(settings, "purge", CALLER, "--yes")
    assert not held(context, CALLER, [mine.id])
    assert races.current(theirs.id, OTHER)[1] is not None


def test_everything_of_a_caller_goes(jobs, context, settings, board):
    mine = [jobs.submit(synthetic(seed, segments=5), CALLER)[0].id for seed in range(103)]
    theirs, _ = jobs.submit(synthetic(1, segments=5), OTHER)
    for name in (mine[0], theirs.id):
        finish(context, name)
    shared = SharedTasks(context, TestSets(context))
    wanted = SharedTaskRequest.of({"name": "news", "testsets": {"track": board.id}})
    task, _ = shared.make(wanted, CALLER)
    team, _ = shared.add_team(task.id, CALLER, TeamRequest.of({"name": "lynx"}))
    ids = [*mine, board.id, task.id, team.digest]
    hooks = Webhooks(context)
    hooks.add(CALLER, "https://board.example/hook", ["question.succeeded"], 20, "limit")
    lines = told(settings, "purge", CALLER)
    assert lines[0] == f"would delete (with --yes) 103 comparisons of {CALLER}"
    assert lines[-3] == f"would delete (with --yes) 1 testsets of {CALLER}"
    assert lines[-2] == f"would delete (with --yes) 1 tasks of {CALLER}"
    assert lines[-1] == f"would delete (with --yes) 1 webhooks of {CALLER}"
    assert len(hooks.listing(CALLER)) == 1
    assert len(held(context, CALLER, ids)) > 206
    others = held(context, OTHER, [theirs.id])
    assert told(settings, "purge", CALLER, "--yes")[0] == f"deleted 103 comparisons of {CALLER}"
    assert not held(context, CALLER, ids)
    assert not hooks.listing(CALLER)
    assert held(context, OTHER, [theirs.id]) == others
    for name in (mine[0], mine[-1]):
        with pytest.raises(GoneError):
            jobs.find(name, CALLER)
    assert context.questions.pending() == set()
    assert jobs.find(theirs.id, OTHER).status.finished


def test_only_what_is_old_goes(jobs, context, settings, board):
    old, new = (jobs.submit(synthetic(seed, segments=5), CALLER)[0].id for seed in range(2))
    redis = context.questions.redis
    created = float(redis.hget(f"sigtest:question:{old}", "created") or 0)
    redis.hset(f"sigtest:question:{old}", "created", repr(created - 8 * 86_400))
    lines = told(settings, "purge", CALLER, "--days", "7", "--yes")
    assert lines[0] == f"deleted 1 comparisons of {CALLER}"
    assert lines[-3] == f"deleted 0 testsets of {CALLER}"
    assert [r.id for r in jobs.listing(CALLER, None, 9)[0]] == [new]
    board.is_right()
