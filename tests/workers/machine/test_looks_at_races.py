"""A look that was lost comes again, and what it decides is told once, however often it is made."""

import numpy as np
import pytest
from service import CALLER

from sigtest.race.compute import compute
from sigtest.requests.races import RaceRequest
from workers.machine.reconciler import Reconciler
from workers.queue import Context
from workers.races import RaceRecord, Races, look
from workers.store import keys
from workers.tasks.run import DONE, FAILED, UNWANTED, died, run

ITEMS = [f"q{i}" for i in range(40)]


@pytest.fixture
def races(context: Context) -> Races:
    return Races(context)


@pytest.fixture
def race(races: Races) -> RaceRecord:
    wanted = RaceRequest(name="night", systems=("A", "B"), scale=(0, 1))
    return races.make(wanted, CALLER)[0]


def observe(races: Races, race: RaceRecord, first: int, last: int) -> RaceRecord:
    scores = {"A": np.ones(last - first), "B": np.zeros(last - first)}
    return races.observe(race.id, CALLER, ITEMS[first:last], scores)


def test_the_reconciler_asks_again_for_a_look_that_was_lost(context, races, race):
    now = observe(races, race, 0, 40)
    context.feed.drop(race.id)  # as if the front end, or a worker, had died
    reconciler = Reconciler(context)
    for _ in range(2):
        reconciler.round()
    assert now.task.key in context.feed.jobs.alive()
    assert run(context, "look", [race.id, now.observations]) == DONE
    assert not races.find(race.id, CALLER).pending
    assert not context.redis.exists(keys.RACING)
    assert run(context, "look", [race.id, now.observations]) == UNWANTED


def test_a_look_again_tells_nothing_again(context, races, race):
    webhook, _ = context.webhooks.add(
        CALLER, "https://board.example/", ["race.decided", "race.over"]
    )
    now = observe(races, race, 0, 40)
    scores, _ = races.scores(now)
    look(context, race.id)
    races.show(race.id, compute(now.question(scores)))  # the same look by a worker that was slow
    pending = context.webhooks.find(webhook)
    assert pending is not None
    assert pending.pending == 2
    assert len(races.decisions(race.id, 0)) == 1


def test_scores_that_come_while_a_look_is_made_are_looked_at(context, races, race):
    now = observe(races, race, 0, 20)
    early = compute(now.question(races.scores(now)[0]))
    observe(races, race, 20, 40)
    races.show(race.id, early)
    races.settle(race.id)
    assert races.find(race.id, CALLER).pending
    assert context.redis.sismember(keys.RACING, race.id)
    look(context, race.id)
    races.show(race.id, early)  # by a worker that was slow: it takes nothing back
    assert not races.find(race.id, CALLER).pending
    assert not context.redis.exists(keys.RACING)


def test_a_look_that_kills_its_workers_is_given_up_until_more_comes(context, races, race):
    now = observe(races, race, 0, 20)
    for _ in range(context.settings.attempts):
        died(context, now.task)
    assert not context.redis.exists(keys.RACING)
    assert observe(races, race, 20, 40).pending
    assert context.redis.sismember(keys.RACING, race.id)


def test_a_look_that_fails_is_made_when_it_is_asked_for(context, races, race):
    now = observe(races, race, 0, 20)
    context.redis.hset(keys.key("race-items", race.id), "damaged", b"x")
    assert run(context, "look", [race.id, now.observations]) == FAILED
    context.redis.hdel(keys.key("race-items", race.id), "damaged")
    assert races.current(race.id, CALLER)[1] is None
    assert context.redis.sismember(keys.RACING, race.id)
    look(context, race.id)
    assert races.current(race.id, CALLER)[1] is not None


def test_scores_that_came_after_they_were_counted_wait_for_a_look(context, races, race):
    now = observe(races, race, 0, 20)
    races.settle(race.id)
    assert context.redis.sismember(keys.RACING, race.id)
    races.show(race.id, compute(now.question(races.scores(now)[0])))
    races.settle(race.id)
    assert not context.redis.exists(keys.RACING)
