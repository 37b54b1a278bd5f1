"""Arrays that follow from content, kept inside one space until some time after their last use."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from redis import Redis

from sigtest.arrays import Array
from workers.store import codec, keys


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

    def add(self, tables: Mapping[str, Array]) -> None:
        """Keep statistics under names that are hashes of what they follow from."""
        if not tables:
            return
        with self._redis.pipeline(transaction=False) as pipe:
            for name, table in tables.items():
                data = codec.pack_statistics(table)
                pipe.set(keys.cached(self._space, name), data, ex=self._seconds)
            pipe.execute()

    def find(self, names: Sequence[str], shape: tuple[int, int]) -> dict[str, Array]:
        """Those statistics that exist and can be read; their lives are prolonged.

        Args:
            names: Of what is looked for.
            shape: (m n, k) of each; what has another one is damaged.
        """
        with self._redis.pipeline(transaction=False) as pipe:
            for name in names:
                pipe.getex(keys.cached(self._space, name), ex=self._seconds)
            found = pipe.execute()
        tables = {}
        for name, data in zip(names, found, strict=True):
            table = None if data is None else codec.unpack_statistics(data)
            if table is not None and table.shape == shape:
                tables[name] = table
        return tables

    def add_values(self, name: str, observed: float, values: Array) -> None:
        """Keep a distribution."""
        data = codec.pack_values(observed, values)
        self._redis.set(keys.cached(self._space, name), data, ex=self._seconds)

    def values(self, name: str) -> tuple[float, Array] | None:
        """A distribution's observed difference and values, if they exist and can be read."""
        data = self._redis.get(keys.cached(self._space, name))
        return None if data is None else codec.unpack_values(data)  # type: ignore[arg-type]  # bytes
