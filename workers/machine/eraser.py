"""Makes deletion reach the disk: the embedded server writes its append-only file anew.

Until then the file still has what was deleted, as it has every change since it was last written.
The new file is there beside the old one, which a disk must have room for.
"""

from __future__ import annotations

import time

from redis import Redis
from redis.exceptions import ResponseError

from workers.settings import Settings
from workers.store import keys
from workers.store.server import disk_free

APART = 20.0  # seconds between two rewrites, each of which writes everything
GROWN = 2**26  # bytes of changes, besides as many as the file had when it was written


class Eraser:
    """Looks whether something was deleted since the file was written.

    Args:
        redis: The embedded server.
        settings: How much of its disk is to stay free.
    """

    def __init__(self, redis: Redis, settings: Settings) -> None:
        self._redis = redis
        self._settings = settings
        self._due = 0.0

    def round(self) -> None:
        """Look once; to be called about once a second."""
        now = time.monotonic()
        if now < self._due:
            return
        facts, free = self._redis.info(), disk_free(self._settings)
        used, size, before = (
            facts[name] for name in ("used_memory", "aof_current_size", "aof_base_size")
        )
        if free < used:
            return  # later, or the server could not write
        grown = size > 2 * before + GROWN or (free < self._settings.free and size > used)
        if not self._redis.getdel(keys.ERASE) and not grown:
            return
        self._due = now + APART
        try:
            self._redis.bgrewriteaof()
        except ResponseError:  # one is under way, which began before the deletion
            self._redis.set(keys.ERASE, 1)
