"""Arrays that follow from content, kept inside one space until some time after their last use.

What somebody who may only read lets be written is bounded in number and bytes: `newest`.
"""

import time
from collections.abc import Mapping, Sequence
from itertools import accumulate, islice
from typing import cast

from redis import Redis

from sigtest.arrays import Array
from workers.store import codec, keys
from workers.store.codec import decoded
from workers.store.usage import TOMBSTONE, hold

VIEWS, VIEW_BYTES = 32, 2**25  # distributions and shares of a caller: so many, as far as they fit


class Cache:
    """What was derived inside one space: of a caller, or of a test set.

    Args:
        redis: The server, with bytes as answers.
        space: From `keys.space_of`, or the id of a test set.
        seconds: How long an entry lives after its last use.
    """

    def __init__(self, redis: Redis, space: str, seconds: int) -> None:
        self._redis = redis
        self._space = space
        self._seconds = seconds

    def existing(self, names: Sequence[str]) -> frozenset[str]:
        """Which of these statistics exist."""
        with self._redis.pipeline(transaction=False) as pipe:
            for name in names:
                pipe.exists(keys.cached(self._space, name))
            found = pipe.execute()
        return frozenset(name for name, there in zip(names, found, strict=True) if there)

    def add(self, caller: str, tables: Mapping[str, Array]) -> None:
        """Keep statistics of a caller under names that are hashes of what they follow from."""
        size, expiry = 0, int((time.time() + self._seconds) * 1000)
        with self._redis.pipeline(transaction=False) as pipe:
            for name, table in tables.items():
                data = codec.seal(name, codec.pack_statistics(table))
                pipe.set(keys.cached(self._space, name), data, ex=self._seconds)
                size += len(data) + TOMBSTONE
            hold(pipe, caller, expiry, size)
            pipe.execute()

    def find(self, names: Sequence[str]) -> dict[str, Array]:
        """Those statistics that exist as they were written; their lives are prolonged."""
        with self._redis.pipeline(transaction=False) as pipe:
            for name in names:
                pipe.getex(keys.cached(self._space, name), ex=self._seconds)
            found = pipe.execute()
        tables = {}
        for name, data in zip(names, found, strict=True):
            whole = codec.unseal(name, data) if data is not None else None
            table = codec.unpack_statistics(whole) if whole is not None else None
            if table is not None:
                tables[name] = table
        return tables

    def add_values(self, caller: str, name: str, observed: float, values: Array) -> None:
        """Keep a distribution in the place of older ones of the caller."""
        data = codec.seal(name, codec.pack_values(observed, values))
        place, views = keys.cached(self._space, name), keys.of_caller("views", caller)
        self._redis.set(place, data, ex=self._seconds)
        if old := newest(self._redis, views, place, self._seconds, VIEWS, len(data), VIEW_BYTES):
            self._redis.delete(*old)

    def values(self, name: str) -> tuple[float, Array] | None:
        """A distribution's observed difference and values, if they exist as they were written.

        Its life is prolonged.
        """
        place = keys.cached(self._space, name)
        data = cast("bytes | None", self._redis.getex(place, ex=self._seconds))
        whole = codec.unseal(name, data) if data is not None else None
        return None if whole is None else codec.unpack_values(whole)


def newest(
    redis: Redis, group: str, name: str, seconds: int, most: int, size: int = 0, room: int = 0
) -> list[str]:
    """Note a name as the newest of its group; those that have to go for it.

    Args:
        redis: The server.
        group: Key of the list of its members, newest first: their bytes, and their names.
        name: To be noted.
        seconds: After which it is forgotten, where nothing is noted.
        most: Names that the group may have.
        size: Bytes of what has the name.
        room: Bytes that they may have, where that of the newest is not more by itself.
    """
    member = f"{size} {name}"
    with redis.pipeline() as pipe:
        pipe.lrem(group, 0, member)
        pipe.lpush(group, member)
        pipe.expire(group, seconds)
        pipe.lrange(group, 0, -1)
        members = [decoded(one).split(" ", 1) for one in pipe.execute()[-1]]
    sums = accumulate(int(each) for each, _ in members)
    fit = max(1, sum(total <= room for total in islice(sums, most)))
    redis.ltrim(group, 0, fit - 1)
    return [old for _, old in members[fit:]]
