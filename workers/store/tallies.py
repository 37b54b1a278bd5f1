"""How often tasks ended how, and how long they took: for who watches the service, and nothing else.

Nothing is ever decided by these counts. A task that runs twice is counted twice.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import cast

from redis import Redis
from redis.client import Pipeline

from workers.store import keys
from workers.store.codec import decoded

BOUNDS = (0.01, 0.1, 0.5, 1.0, 5.0, 30.0, 120.0, 600.0)  # seconds; one more range is beyond all
SECONDS = "seconds"


@dataclass
class Durations:
    """How long things took.

    Attributes:
        counts: How many took at most each of BOUNDS but more than the one before, and how many
            took longer than the last.
        seconds: All of them together.
    """

    counts: list[int] = field(default_factory=lambda: [0] * (len(BOUNDS) + 1))
    seconds: float = 0.0

    def note(self, seconds: float) -> None:
        """Count one more."""
        self.counts[place_of(seconds)] += 1
        self.seconds += seconds


class Tallies:
    """Tasks by name and outcome, of all workers together.

    Args:
        redis: The server, with bytes as answers.
    """

    def __init__(self, redis: Redis) -> None:
        self._redis = redis

    @staticmethod
    def note(pipe: Pipeline, caller: str | None, task: str, outcome: str, seconds: float) -> None:
        """Count a task that ended, with what else is sent.

        Args:
            pipe: To send it with.
            caller: Whose question or test set it worked on; nothing where that is gone.
            task: Its name.
            outcome: How it ended.
            seconds: How long it took.
        """
        if caller is not None:
            pipe.hincrbyfloat(keys.TALLIES_CALLERS, caller, round(seconds, 6))
        name = f"{task} {outcome}"
        pipe.hincrby(keys.TALLIES, f"{name} {place_of(seconds)}", 1)
        pipe.hincrbyfloat(keys.TALLIES, f"{name} {SECONDS}", round(seconds, 6))

    def looks(self) -> dict[str, int]:
        """How often statistics were found in a cache (`hit`), or not (`miss`)."""
        held = cast("Mapping[bytes, bytes]", self._redis.hgetall(keys.TALLIES_CACHE))
        return {"hit": 0, "miss": 0} | {decoded(name): int(n) for name, n in held.items()}

    def spent(self) -> dict[str, float]:
        """Seconds that tasks took, by caller."""
        held = cast("Mapping[bytes, bytes]", self._redis.hgetall(keys.TALLIES_CALLERS))
        return {decoded(name): float(seconds) for name, seconds in sorted(held.items())}

    def all(self) -> dict[tuple[str, str], Durations]:
        """How long tasks took, by name and outcome."""
        held = cast("Mapping[bytes, bytes]", self._redis.hgetall(keys.TALLIES))
        found: dict[tuple[str, str], Durations] = {}
        for name, value in sorted(held.items()):
            task, outcome, part = decoded(name).split(" ")
            durations = found.setdefault((task, outcome), Durations())
            if part == SECONDS:
                durations.seconds = float(value)
            else:
                durations.counts[int(part)] = int(value)
        return found


def place_of(seconds: float) -> int:
    """Which of the ranges that BOUNDS make a duration is in."""
    return bisect_left(BOUNDS, seconds)
