"""How often tasks ended how, and how long they took: for who watches the service, and nothing else.

Nothing is ever decided by these counts. A task that runs twice is counted twice.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import cast

from redis import Redis

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

    def note(self, task: str, outcome: str, seconds: float) -> None:
        """Count a task that ended."""
        name = f"{task} {outcome}"
        with self._redis.pipeline() as pipe:
            pipe.hincrby(keys.TALLIES, f"{name} {place_of(seconds)}", 1)
            pipe.hincrbyfloat(keys.TALLIES, f"{name} {SECONDS}", round(seconds, 6))
            pipe.execute()

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
