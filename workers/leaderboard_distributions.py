"""The pseudo-statistics of one pair of a leaderboard, made by a worker when first asked for.

They are addressed by what both systems brought, never by names.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from sigtest.comparison.plan import Plan
from sigtest.draws.distribution import distribution, pair_of
from sigtest.errors import RecipeError, SigtestError
from workers.desk import Desk
from workers.errors import UnfinishedError
from workers.leaderboard_records import Leaderboard, State
from workers.pieces import Task
from workers.sampling import Sampling

PAIR = ("a", "b")


def distribute_pair(
    desk: Desk, testset_id: str, a: str, b: str, metric: int, test: int, resamples: int
) -> None:
    """Make the pseudo-statistics of two systems, told by their digests; the others have no say."""
    store = desk.leaderboards
    plan, state = store.plan(testset_id), store.state(testset_id)
    if state is None or plan.resamples != resamples:
        return
    sampling = Sampling(desk.store, store, testset_id, plan)
    label, both = plan.recipe.labels[metric], replace(plan, systems=PAIR, digests=(a, b))
    pair, _ = pair_of(both, *PAIR, label, plan.recipe.tests[test])
    table = np.stack([sampling.statistics(digest, [metric])[metric] for digest in (a, b)])
    made = distribution(pair, [table], label)
    field = field_of((a, b, metric, test, resamples))
    store.results.add_values(state, field, made.observed, made.values)


def distributing(plan: Plan, state: State, shown: Leaderboard, a: str, b: str) -> Task:
    """The task that makes the distribution of a pair of a leaderboard.

    Args:
        plan: Of the test set.
        state: Of the test set, now.
        shown: The leaderboard.
        a: Name of the first system.
        b: Of the second.

    Raises:
        RecipeError: No two systems of the leaderboard.
        UnfinishedError: A system that is still to be measured; or a leaderboard that is no longer
            true.
    """
    if state.era != shown.era:
        raise UnfinishedError(
            "A system was replaced or deleted, or resamples were raised, while this was drawn; "
            "ask again."
        )
    for field, name in (("a", a), ("b", b)):
        if name not in shown.systems:
            raise _absence(shown, state, field, name)
    if a == b:
        raise RecipeError("a and b must be two different systems.", field="b")
    recipe, choice = plan.recipe, shown.choice
    numbers = recipe.labels.index(choice.metric), recipe.tests.index(choice.test)
    digests = state.digests[a], state.digests[b]
    return Task("distribute_pair", state.record.id, (*digests, *numbers, plan.resamples))


def field_of(arguments: Sequence[int | str]) -> str:
    """Where a distribution is kept."""
    return " ".join(map(str, arguments))


def _absence(shown: Leaderboard, state: State, field: str, name: str) -> SigtestError:
    """Why a leaderboard lacks a system."""
    if name in shown.failed:
        why = f"System {name!r} cannot be measured: {shown.failed[name]}"
        return RecipeError(why, field=field, system=name)
    if name in state.digests:
        why = f"System {name!r} is still to be measured; ask again."
        return UnfinishedError(why, field=field, system=name)
    known = ", ".join(shown.systems) or "none yet"
    return RecipeError(f"The leaderboard has no system {name[:60]!r}; it has {known}.", field=field)
