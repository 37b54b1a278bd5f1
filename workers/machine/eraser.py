"""Makes deletion reach the disk: the embedded server writes its append-only file anew.

Until then the file still has what was deleted, as it has every change since it was last written.
"""

from __future__ import annotations

import time

from redis import Redis
from redis.exceptions import ResponseError

from workers.store import keys

APART = 20.0  # seconds between two rewrites, each of which writes everything


class Eraser:
    """Looks whether something was deleted since the file was written.

    Args:
        redis: The embedded server.
    """

    def __init__(self, redis: Redis) -> None:
        self._redis = redis
        self._due = 0.0

    def round(self) -> None:
        """Look once; to be called about once a second."""
        now = time.monotonic()
        if now < self._due or not self._redis.getdel(keys.ERASE):
            return
        self._due = now + APART
        try:
            self._redis.bgrewriteaof()
        except ResponseError:  # one is under way, which began before the deletion
            self._redis.set(keys.ERASE, 1)
