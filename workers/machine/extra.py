"""When a machine has one worker more: all have long tasks, and somebody waits who has none.

Most work is cut so that a task takes half a second; some cannot be cut. No task gives way to
another, but one more worker can share the cores.
"""

from __future__ import annotations

import time

from workers.queue.feed import Feed

LONG_SECONDS = 1.0


class Watch:
    """Looks how long tasks run.

    Args:
        feed: What waits, and what runs.
    """

    def __init__(self, feed: Feed) -> None:
        self._feed = feed
        self._seen: dict[str, float] = {}  # starts of tasks, and when each was first seen

    def all_are_held(self) -> bool:
        """Whether every worker has a long task while a caller waits who has none."""
        jobs, now = self._feed.jobs, time.monotonic()
        self._seen = {start: self._seen.get(start, now) for start in jobs.starts()}
        long = sum(now - seen > LONG_SECONDS for seen in self._seen.values())
        return bool(long) and long >= jobs.workers() and self._feed.others_wait()
