"""What a leaderboard has claimed and seen, kept when systems leave; see `tasks/families.py`.

Systems are told apart by name and content: what replaces a system is another one. All pairs of a
test set lie together, a number in eight bytes: as fields of their own they took twenty times that.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from redis import Redis

from sigtest.arrays import Array, Flags
from workers.store import codec, keys

Member = tuple[str, str]  # name and digest of a system
Pair = tuple[Member, Member]
Column = tuple[str, str]  # metric and test


class ClaimStore:
    """Reads and writes p-values and first times of claims. Raises what redis raises.

    Args:
        redis: The server, with bytes as answers.
    """

    def __init__(self, redis: Redis) -> None:
        self.redis = redis

    def note(
        self,
        testset_id: str,
        expiry: int,
        columns: Sequence[Column],
        pairs: Sequence[Pair],
        p_values: Array,
        significant: Flags,
    ) -> None:
        """Keep what a report says; the first time of a claim stays.

        Args:
            testset_id: The test set.
            expiry: When it expires, in milliseconds.
            columns: Its metrics and tests, always the same.
            pairs: Those of the report.
            p_values: (P, columns) of each.
            significant: (P, columns) whether the difference is claimed.
        """
        name = keys.key("testset-claims", testset_id)

        def write(pipe: Any) -> None:
            _, held = _read(pipe, name)
            since = np.full(p_values.shape, np.nan)
            for i, pair in enumerate(pairs):
                if pair in held:
                    since[i] = held[pair][len(columns) :]
            since[np.isnan(since) & significant] = time.time()
            rows = held | dict(zip(pairs, np.hstack([p_values, since]), strict=True))
            members = list(dict.fromkeys(member for pair in rows for member in pair))
            place = {member: i for i, member in enumerate(members)}
            told = {
                "columns": columns,
                "members": members,
                "pairs": [(place[a], place[b]) for a, b in rows],
            }
            numbers = np.stack([*rows.values()]).tobytes()
            pipe.multi()
            pipe.hset(name, mapping={"about": codec.pack_json(told), "numbers": numbers})
            pipe.pexpireat(name, expiry)

        self.redis.transaction(write, name)

    def seen(self, testset_id: str) -> dict[Pair, Array]:
        """The p-values of every pair that a report ever had, by metric and test."""
        columns, rows = _read(self.redis, keys.key("testset-claims", testset_id))
        return {pair: row[: len(columns)] for pair, row in rows.items()}

    def times(self, testset_id: str, column: Column, pairs: Sequence[Pair]) -> list[float | None]:
        """When each claim was first made, in seconds since the epoch; nothing where it was not."""
        columns, rows = _read(self.redis, keys.key("testset-claims", testset_id))
        if column not in columns:
            return [None] * len(pairs)
        place = len(columns) + columns.index(column)
        found = [float(rows[pair][place]) if pair in rows else math.nan for pair in pairs]
        return [None if math.isnan(when) else when for when in found]


def _read(redis: Any, name: str) -> tuple[list[Column], dict[Pair, Array]]:
    """Columns, and of each pair its p-values and the first times of its claims, NaN for none."""
    about, numbers = redis.hmget(name, ["about", "numbers"])
    if about is None:
        return [], {}
    told = codec.unpack_json(about)
    members = [(system, digest) for system, digest in told["members"]]
    pairs = [(members[a], members[b]) for a, b in told["pairs"]]
    rows = np.frombuffer(numbers).reshape(len(pairs), -1)
    columns = [(metric, test) for metric, test in told["columns"]]
    return columns, dict(zip(pairs, rows, strict=True))
