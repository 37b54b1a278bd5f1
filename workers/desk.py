"""What every task works with."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from workers.leaderboard_store import LeaderboardStore
from workers.queue import Queue
from workers.store import Store


@dataclass(frozen=True)
class Desk:
    """What lies ready for a task.

    Attributes:
        store: Where comparisons are.
        queue: Where tasks go.
    """

    store: Store
    queue: Queue

    @cached_property
    def leaderboards(self) -> LeaderboardStore:
        """Where test sets are: on the same server."""
        return LeaderboardStore(self.store.redis, self.store.settings)
