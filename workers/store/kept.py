"""Totals in Redis: those that were not used for the longest time go where there is no room."""

from __future__ import annotations

import time
from collections.abc import Sequence

from redis import Redis

from workers.store import keys, totals
from workers.store.codec import decoded, flat
from workers.store.scripts import totals as scripts

COUNTED = (keys.TOTALS_USED, keys.TOTALS_SIZES, keys.TOTALS_BYTES)


class KeptTotals:
    """Reads and writes totals of systems. Raises what redis raises.

    Args:
        redis: The server, with bytes as answers.
        most: Bytes of the totals of all test sets.
    """

    def __init__(self, redis: Redis, most: int) -> None:
        self.redis = redis
        self.most = most
        self._keep = redis.register_script(scripts.KEEP)
        self._forget = redis.register_script(scripts.FORGET)

    def add(self, name: str, expiry: int, parts: totals.Parts) -> None:
        """Keep the totals of a system.

        Args:
            name: Their key.
            expiry: Of the test set, in milliseconds since the epoch.
            parts: By name.
        """
        size = sum(map(len, parts.values()))
        self._keep([name, *COUNTED], [repr(time.time()), self.most, size, expiry, *flat(parts)])

    def read(self, places: Sequence[str], names: Sequence[str]) -> list[dict[str, bytes]]:
        """Some parts of the totals under some keys; nothing of those that were evicted."""
        with self.redis.pipeline(transaction=False) as pipe:
            for place in places:
                pipe.hmget(place, names)
            found = pipe.execute()
        if places:
            self.redis.zadd(keys.TOTALS_USED, dict.fromkeys(places, time.time()), xx=True)
        return [
            {name: part for name, part in zip(names, parts, strict=True) if part is not None}
            for parts in found
        ]

    def drop(self, testset_id: str) -> None:
        """Drop the totals of all systems of a test set."""
        own = keys.key("totals", f"{testset_id}:")
        places = map(decoded, self.redis.hkeys(keys.TOTALS_SIZES))
        self.forget([place for place in places if place.startswith(own)])

    def forget(self, places: Sequence[str]) -> None:
        """Drop the totals under some keys."""
        if places:
            self._forget([places[0], *COUNTED, *places[1:]])
