"""What a leaderboard has claimed and seen, kept when systems leave; see `tasks/families.py`.

Systems are told apart by name and content: what replaces a system is another one.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence

from redis import Redis

from workers.store import keys
from workers.store.codec import decoded

Member = tuple[str, str]  # name and digest of a system
Pair = tuple[Member, Member]


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
        p_values: Mapping[Pair, bytes],
        claims: Sequence[tuple[str, str, Pair]],
    ) -> None:
        """Keep what a report says; the first time of a claim stays.

        Args:
            testset_id: The test set.
            expiry: When it expires, in milliseconds.
            p_values: Of each pair, by metric and test.
            claims: Metric, test and pair of every significant difference.
        """
        seen, claimed = _keys(testset_id)
        now = repr(time.time())
        with self.redis.pipeline() as pipe:
            if p_values:
                pipe.hset(seen, mapping={json.dumps(p): row for p, row in p_values.items()})
            for claim in claims:
                pipe.hsetnx(claimed, json.dumps(claim), now)
            pipe.pexpireat(seen, expiry)
            pipe.pexpireat(claimed, expiry)
            pipe.execute()

    def seen(self, testset_id: str) -> dict[Pair, bytes]:
        """The p-values of every pair that a report ever had."""
        found: dict[bytes, bytes] = self.redis.hgetall(_keys(testset_id)[0])  # type: ignore[assignment]  # bytes
        return {_pair(json.loads(name)): row for name, row in found.items()}

    def times(self, testset_id: str, claims: Sequence[tuple[str, str, Pair]]) -> list[float | None]:
        """When each claim was first made, in seconds since the epoch; nothing where it was not."""
        if not claims:
            return []
        found = self.redis.hmget(_keys(testset_id)[1], [json.dumps(claim) for claim in claims])
        return [None if when is None else float(decoded(when)) for when in found]


def _keys(testset_id: str) -> tuple[str, str]:
    return keys.key("testset-seen", testset_id), keys.key("testset-claims", testset_id)


def _pair(stored: list[list[str]]) -> Pair:
    (name, digest), (other, others) = stored
    return (name, digest), (other, others)
