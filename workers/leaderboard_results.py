"""What workers make of the systems of a test set: rows, totals, leaderboards."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence

from redis import Redis

from sigtest.arrays import Array
from workers import codec, totals
from workers import leaderboard_keys as keys
from workers import leaderboard_scripts as scripts
from workers.codec import decoded
from workers.leaderboard_keys import call, key
from workers.leaderboard_records import State
from workers.settings import Settings

MOST_VIEWS = 32
MOST_DISTRIBUTIONS = 32
DISTRIBUTION_SECONDS = 3600


class Results:
    """Reads and writes what follows from test sets and systems. Raises what redis raises.

    Args:
        redis: The server, with bytes as answers.
        settings: How many bytes of totals there may be.
    """

    def __init__(self, redis: Redis, settings: Settings) -> None:
        self._redis = redis
        self._settings = settings
        register = redis.register_script
        self._begin, self._keep, self._join, self._fail = map(
            register, (scripts.BEGIN, scripts.KEEP, scripts.JOIN, scripts.FAIL)
        )
        self._add_view, self._add_values = map(register, (scripts.ADD_VIEW, scripts.ADD_VALUES))

    def joining(self) -> list[str]:
        """Ids of the test sets with systems to be measured."""
        return sorted(decoded(testset_id) for testset_id in self._redis.smembers(keys.JOINING))

    def drop_joining(self, testset_id: str) -> None:
        """Stop caring for a test set that is gone."""
        self._redis.srem(keys.JOINING, testset_id)

    def begin(self, testset_id: str, digest: str) -> int:
        """Note that the joining of a digest starts; how often it did, 0 if there is no need."""
        return int(call(self._begin, testset_id, digest))

    def keep(self, testset_id: str, resamples: int, digest: str, parts: totals.Parts) -> None:
        """Keep a system's totals, while its test set has it and as long as there is room."""
        fields = [part for pair in parts.items() for part in pair]
        size = totals.size(parts.values())
        bounds = [repr(time.time()), self._settings.totals, size]
        call(self._keep, testset_id, resamples, digest, *bounds, *fields)

    def totals(
        self, testset_id: str, resamples: int, digests: Sequence[str], names: Sequence[str]
    ) -> list[dict[str, bytes]]:
        """Some parts of the totals of some systems; nothing of those that were evicted."""
        places = [keys.totals(testset_id, resamples, digest) for digest in digests]
        with self._redis.pipeline(transaction=False) as pipe:
            for place in places:
                pipe.hmget(place, names)
            found = pipe.execute()
        if places:
            self._redis.zadd(keys.USED, dict.fromkeys(places, time.time()), xx=True)
        return [
            {name: part for name, part in zip(names, parts, strict=True) if part is not None}
            for parts in found
        ]

    def join(
        self,
        testset_id: str,
        resamples: int,
        name: str,
        digest: str,
        row: bytes,
        compared: Sequence[tuple[str, str, str, bytes]],
    ) -> str:
        """Keep the rows of a system and its pairs; see `leaderboard_scripts.JOIN`."""
        others = [part for other in compared for part in other]
        arguments = [resamples, name, digest, row, len(compared), *others]
        return decoded(call(self._join, testset_id, *arguments))

    def fail(self, testset_id: str, digest: str, message: str) -> None:
        """Note why a digest cannot be measured."""
        call(self._fail, testset_id, digest, message)

    def rows(self, testset_id: str, fields: Sequence[str]) -> list[bytes | None]:
        """Rows by their fields."""
        found: list[bytes | None] = []
        if fields:
            found = self._redis.hmget(key(testset_id, "-rows"), fields)  # type: ignore[assignment]
        return found

    def add_view(self, state: State, field: str, report: bytes) -> None:
        """Keep a report, while nothing that it shows was replaced or deleted."""
        view = json.dumps([state.revision, sorted(state.measured)]).encode()
        packed = view + b"\n" + codec.pack_bytes(report)
        call(self._add_view, state.record.id, state.era, field, packed, MOST_VIEWS)

    def view(self, testset_id: str, field: str) -> tuple[str, frozenset[str], bytes] | None:
        """Revision, names of the systems and compressed report, if there is one."""
        packed = self._redis.hget(key(testset_id, "-views"), field)
        if packed is None:
            return None
        head, _, report = packed.partition(b"\n")  # type: ignore[arg-type]  # bytes
        revision, names = json.loads(head)
        return revision, frozenset(names), report  # type: ignore[return-value]

    def add_values(self, state: State, field: str, observed: float, values: Array) -> None:
        """Keep a distribution for some time, while nothing was replaced or deleted."""
        packed = codec.pack_values(observed, values)
        bounds = MOST_DISTRIBUTIONS, DISTRIBUTION_SECONDS
        call(self._add_values, state.record.id, state.era, field, packed, *bounds)

    def values(self, testset_id: str, field: str) -> tuple[float, Array] | None:
        """A distribution's observed difference and values, if they exist."""
        packed = self._redis.hget(key(testset_id, "-distributions"), field)
        return None if packed is None else codec.unpack_values(packed)  # type: ignore[arg-type]  # bytes
