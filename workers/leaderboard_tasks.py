"""What workers do for leaderboards: measure a system that joins, and put together what is shown.

Either may run twice, late or at the same time as itself: rows are functions of what they are
about, and the server refuses those of systems that are there no longer.
"""

from __future__ import annotations

import logging
import struct
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from redis.exceptions import RedisError
from rq.timeouts import JobTimeoutException

from sigtest.arrays import Array
from sigtest.comparison.plan import Plan
from sigtest.decide.rows import needs_draws, pair_rows, report, shown, system_row
from sigtest.draws.totals import SwapFact, swap_fact, wants_statistics
from sigtest.errors import SigtestError
from sigtest.render import RENDERERS
from sigtest.significance import TESTS
from workers.desk import Desk
from workers.errors import GoneError
from workers.leaderboard_distributions import distribute_pair
from workers.leaderboard_records import Choice, State
from workers.leaderboard_store import LeaderboardStore
from workers.pieces import Task
from workers.sampling import Member, Sampling

log = logging.getLogger(__name__)

TOGETHER = 12  # systems whose totals are in memory at the same time
LOOKS = 5  # at a test set that changes while it is looked at


def join(desk: Desk, testset_id: str, digest: str, resamples: int) -> None:
    """Measure what one system brought and compare it with every other system that is measured.

    Of two that join at the same time each writes its rows before it looks for others; whoever
    writes last finds the first among those that are measured.
    """
    store = desk.leaderboards
    plan = store.plan(testset_id)
    if plan.resamples != resamples:
        return  # raised meanwhile; another task has the new number
    sampling = Sampling(desk.store, store, testset_id, plan)
    member = sampling.member(digest)
    state = store.state(testset_id)
    if member is None or state is None:
        return
    names = [name for name, held in state.digests.items() if held == digest]
    verdicts = [_join_as(store, sampling, member, name) for name in names]
    if "last" in verdicts:
        _show(store, sampling, default_choice(plan))


def show(
    desk: Desk, testset_id: str, metric: int, test: int, alpha: str, correction: str, *_: Any
) -> None:
    """Put one leaderboard together; `alpha` is spelled by `spelled`."""
    store = desk.leaderboards
    plan = store.plan(testset_id)
    (level,) = struct.unpack(">d", bytes.fromhex(alpha))
    labels, tests = plan.recipe.labels, plan.recipe.tests
    choice = Choice(labels[metric], tests[test], level, correction)
    _show(store, Sampling(desk.store, store, testset_id, plan), choice)


TASKS: dict[str, Callable[..., None]] = {
    task.__name__: task for task in (join, show, distribute_pair)
}


def run(desk: Desk, name: str, arguments: Sequence[Any]) -> None:
    """Run a task. What would go wrong again becomes the system's error.

    Raises:
        RedisError: The server failed; the task is worth another try.
    """
    try:
        if name == join.__name__:
            _run_join(desk, *arguments)
        else:
            TASKS[name](desk, *arguments)
    except (RedisError, JobTimeoutException):
        raise
    except GoneError:
        return
    except Exception:
        log.exception("task %s of test set %s failed", name, arguments[0])


def missing(store: LeaderboardStore, alive: set[str]) -> list[Task]:
    """Systems to be measured that nobody is going to measure."""
    found: list[Task] = []
    for testset_id in store.results.joining():
        state = store.state(testset_id)
        if state is None:
            store.results.drop_joining(testset_id)
        else:
            found += joins(state)
    return [task for task in found if task.key not in alive]


def joins(state: State) -> list[Task]:
    """A task for everything that is to be measured."""
    digests = dict.fromkeys(state.digests[name] for name in state.pending)
    return [Task("join", state.record.id, (digest, state.resamples)) for digest in digests]


def default_choice(plan: Plan) -> Choice:
    """What a test set's leaderboard shows where nothing else is asked for."""
    recipe = plan.recipe
    return Choice(recipe.labels[0], recipe.tests[0], recipe.alpha, recipe.correction)


def showing(plan: Plan, state: State, choice: Choice) -> Task:
    """The task that puts a leaderboard together."""
    recipe = plan.recipe
    numbers = recipe.labels.index(choice.metric), recipe.tests.index(choice.test)
    alpha = struct.pack(">d", choice.alpha).hex()
    at = f"{state.era}_{state.revision}"
    return Task("show", state.record.id, (*numbers, alpha, choice.correction, at))


def _run_join(desk: Desk, testset_id: str, digest: str, resamples: int) -> None:
    store = desk.leaderboards
    limit = desk.store.settings.attempts
    attempt = store.results.begin(testset_id, digest)
    if attempt > limit:
        store.results.fail(
            testset_id,
            digest,
            f"Measuring was started {limit} times and its worker died each time; it may need more "
            "memory than there is.",
        )
    if not 0 < attempt <= limit:
        return
    try:
        join(desk, testset_id, digest, resamples)
    except (RedisError, GoneError):
        raise
    except SigtestError as error:
        store.results.fail(testset_id, digest, error.message)
    except JobTimeoutException:
        seconds = desk.store.settings.timeout
        store.results.fail(testset_id, digest, f"Measuring took more than {seconds} seconds.")
    except Exception as error:
        log.exception("joining %s of test set %s failed", digest, testset_id)
        store.results.fail(
            testset_id, digest, f"Internal error in measuring: {type(error).__name__}."
        )


def _join_as(store: LeaderboardStore, sampling: Sampling, member: Member, name: str) -> str:
    """Write the rows of a system under one of its names, until no measured system lacks one.

    Returns:
        `last` where nobody else is to be measured; `joined`, or `stale` where it has gone.
    """
    plan, testset_id = sampling.plan, sampling.testset_id
    metrics = range(len(plan.recipe.metrics))
    row = np.concatenate([system_row(plan, m, member.totals) for m in metrics]).tobytes()
    verdict = "more"
    while verdict == "more":
        state = store.state(testset_id)
        if state is None:
            return "stale"
        others = {n: state.digests[n] for n in state.measured if n in state.digests and n != name}
        compared = _compared(store, sampling, member, name, others)
        verdict = store.results.join(testset_id, plan.resamples, name, member.digest, row, compared)
    return verdict


def _compared(
    store: LeaderboardStore,
    sampling: Sampling,
    member: Member,
    name: str,
    others: dict[str, str],
) -> list[tuple[str, str, str, bytes]]:
    """Name, digest, field and row of every other system and the pair with it."""
    own = member.digest
    ordered = sorted(others.items())
    fields = [own + d if name < other else d + own for other, d in ordered]
    known = store.results.rows(sampling.testset_id, fields)
    compared: list[tuple[str, str, str, bytes]] = []
    wanted = []
    for (other, digest), field, row in zip(ordered, fields, known, strict=True):
        if row is not None:
            compared.append((other, digest, "", b""))
        else:
            wanted.append((other, digest, field))
    for first in range(0, len(wanted), TOGETHER):
        batch = wanted[first : first + TOGETHER]
        members = sampling.members([digest for _, digest, _ in batch])
        there = [(entry, members[entry[1]]) for entry in batch if entry[1] in members]
        first_of_pair = [name < other for (other, _, _), _ in there]
        rows = _pair_rows(sampling, member, [other for _, other in there], first_of_pair)
        compared += [(*entry, row.tobytes()) for (entry, _), row in zip(there, rows, strict=True)]
    return compared


def _pair_rows(
    sampling: Sampling, member: Member, others: Sequence[Member], first: Sequence[bool]
) -> Array:
    """(P, M, 8 + tests) rows of the pairs of a system and others, `first` where it is before."""
    plan = sampling.plan
    if not others:
        return np.empty((0, 0, 0))
    systems = [member.totals, *(other.totals for other in others)]
    places = np.array([(0, i) if f else (i, 0) for i, f in enumerate(first, 1)])
    rows = []
    for m in range(len(plan.recipe.metrics)):
        swaps = [
            _swaps(sampling, m, *((member, other) if f else (other, member)))
            for other, f in zip(others, first, strict=True)
        ]
        rows.append(pair_rows(plan, m, systems, places, swaps))
    return np.ascontiguousarray(np.stack(rows, axis=1))


def _swaps(sampling: Sampling, m: int, a: Member, b: Member) -> SwapFact:
    """What randomization says of a pair."""
    plan = sampling.plan
    if all(TESTS[test].draws != "swaps" for test in plan.recipe.tests):
        return SwapFact(0, None)
    if wants_statistics(plan, m, a.totals, b.totals):
        tables = sampling.table(a, m), sampling.table(b, m)
        # totals under swaps are not kept where the exact p-value is as good as certain
        fact = swap_fact(plan, m, a.totals, b.totals, tables)
        if fact.exact is not None:
            return fact
    return swap_fact(plan, m, sampling.with_kept(a, m), sampling.with_kept(b, m), None)


def _show(store: LeaderboardStore, sampling: Sampling, choice: Choice) -> None:
    """Keep the report of all systems that are measured now."""
    for _ in range(LOOKS):
        state = store.state(sampling.testset_id)
        if state is None:
            return
        made = _report(store, sampling, state, choice)
        if made is not None:
            store.results.add_view(state, choice.field, made)
            return


def _report(
    store: LeaderboardStore, sampling: Sampling, state: State, choice: Choice
) -> bytes | None:
    """The report, or nothing where a system was replaced or deleted meanwhile."""
    settings = sampling.plan
    names = sorted(state.measured & state.digests.keys())
    digests = [state.digests[name] for name in names]
    plan = shown(
        replace(settings, systems=tuple(names), digests=tuple(digests)),
        choice.metric,
        choice.test,
        choice.alpha,
        choice.correction,
    )
    m = settings.recipe.labels.index(choice.metric)
    fields = [digests[a] + digests[b] for a, b in plan.pairs.tolist()]
    found = store.results.rows(sampling.testset_id, [*digests, *fields])
    if any(row is None for row in found):
        return None
    rows = [row or b"" for row in found]
    draws = sampling.scores(digests, m) if needs_draws(settings, plan) else None
    made = report(
        settings,
        plan,
        _metric_rows(settings, rows[: len(names)], m),
        _metric_rows(settings, rows[len(names) :], m),
        draws,
    )
    return RENDERERS["json"](made).encode()


def _metric_rows(settings: Plan, rows: Sequence[bytes], m: int) -> Array:
    """What rows say of one metric."""
    if not rows:
        return np.empty((0, 5))
    numbers = np.frombuffer(b"".join(rows)).reshape(len(rows), len(settings.recipe.metrics), -1)
    return np.ascontiguousarray(numbers[:, m])
