"""What the service has to do and has done, for who watches it. Holds nothing of any text."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

from workers.guard import storage
from workers.store import keys
from workers.store.codec import decoded
from workers.store.survey import Durations, Tallies
from workers.tasks.context import Context


@dataclass(frozen=True)
class Load:
    """The service at one moment.

    Attributes:
        workers: How many are alive.
        waiting: Tasks that no worker has.
        oldest: Seconds since the oldest of them began to wait; 0 where none waits.
        drained: Whether an operator lets all of them wait.
        unfinished: Questions without an outcome, by caller.
        predicted: Seconds of one core that these were predicted to take, by caller.
        tasks: How long tasks took, by name and outcome, since the store is there.
        spent: Seconds that they took, by caller.
        looks: Statistics that accepted comparisons found in a cache (`hit`), or not (`miss`).
    """

    workers: int
    waiting: int
    oldest: float
    drained: bool
    unfinished: Mapping[str, int]
    predicted: Mapping[str, float]
    tasks: Mapping[tuple[str, str], Durations]
    spent: Mapping[str, float]
    looks: Mapping[str, int]


@storage()
def load(context: Context) -> Load:
    """Look at the service.

    Raises:
        StorageError: The store does not answer.
    """
    waiting, since = context.feed.depth()
    pending = _pending(context)
    tallies = Tallies(context.redis)
    return Load(
        workers=context.feed.jobs.workers(),
        waiting=waiting,
        oldest=0.0 if since is None else max(0.0, time.time() - since),
        drained=context.feed.drained,
        unfinished={caller: len(seconds) for caller, seconds in pending.items()},
        predicted={caller: sum(seconds) for caller, seconds in pending.items()},
        tasks=tallies.all(),
        spent=tallies.spent(),
        looks=tallies.looks(),
    )


def _pending(context: Context) -> dict[str, list[float]]:
    """Predicted seconds of each unfinished question, by caller."""
    redis, ids = context.redis, context.questions.pending()
    with redis.pipeline(transaction=False) as pipe:
        for question in ids:
            pipe.hget(keys.key("question", question), "caller")
        callers = cast("list[bytes | None]", pipe.execute())
    known = list(dict.fromkeys(decoded(caller) for caller in callers if caller is not None))
    with redis.pipeline(transaction=False) as pipe:
        for caller in known:
            pipe.hvals(keys.of_caller("pending", caller))
        held = cast("list[list[bytes]]", pipe.execute())
    return {
        caller: [float(decoded(facts).partition(" ")[0]) for facts in own]
        for caller, own in zip(known, held, strict=True)
        if own
    }
