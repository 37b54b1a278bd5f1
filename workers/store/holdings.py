"""What each caller holds of the store, so that none holds more than is left for others.

Nobody counts what is written, deleted and expires: who looks at all keys, some at a time, adds it
up, while a good part of the store is in use.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import cast

from redis import Redis
from redis.exceptions import OutOfMemoryError

from workers.errors import FullError
from workers.settings import Settings
from workers.store import keys
from workers.store.codec import decoded
from workers.store.server import check_disk, disk_free

AT_ONCE = 2000  # keys that one look takes, some hundredths of a second
PARTS = 4  # nobody looks while less than one of so many parts of the store is in use
LASTS = 10  # seconds that a word against a caller stands without another look
WHOLES = {"question": keys.OF_QUESTION, "testset": keys.OF_TESTSET, "webhook": keys.OF_WEBHOOK}
LINES = {"gone": 0, "idempotency": 2}  # strings that end with the caller, after so many words


def room_left(redis: Redis, settings: Settings) -> float:
    """Bytes that can still be stored; more than any number where nobody bounds them.

    A disk has everything twice while the server writes its file anew.
    """
    facts = redis.info("memory")
    used, most = facts["used_memory"], facts["maxmemory"]
    memory = most - used if most else math.inf
    return max(0, min(memory, (disk_free(settings) - settings.free - used) / 2))


def check_room(redis: Redis, settings: Settings, caller: str) -> float:
    """Check that something new of a caller may be stored; how many bytes are left.

    Raises:
        FullError: The disk is nearly full, or the caller holds more than is left for others.
    """
    check_disk(settings)
    left = room_left(redis, settings)
    if not left:
        raise FullError(
            "The store of comparisons is full, or its disk has no room to write it anew; delete "
            "something, or wait until something expires."
        )
    told = cast("bytes | None", redis.hget(keys.HOLDING, caller))
    if told is not None:
        held, left = map(int, told.split())
        raise FullError(
            f"You hold {held:,} bytes of the store, more than the {left:,} that are left for "
            "others; delete something, or wait until something expires."
        )
    return left


class Tour:
    """One look at all keys, AT_ONCE at a time.

    Totals are not counted: they have a bound of their own.

    Args:
        redis: The server, with bytes as answers.
    """

    def __init__(self, redis: Redis) -> None:
        self._redis = redis
        self._cursor = 0
        self._callers: Counter[str] = Counter()
        self._spaces: Counter[str] = Counter()  # bytes that are cached, by space
        self._owners: dict[str, str] = {}  # callers, by space

    def step(self) -> bool:
        """Look at some keys more; whether these were the last."""
        answer = self._redis.scan(self._cursor, count=AT_ONCE)
        self._cursor, names = cast("tuple[int, list[bytes]]", answer)
        parted = [decoded(name).split(":") for name in names if name.count(b":") > 1]
        wholes = [(kind, name) for _, kind, name, *_ in parted if kind in WHOLES]
        lines = [(kind, name) for _, kind, name, *_ in parted if kind in LINES]
        with self._redis.pipeline(transaction=False) as pipe:
            for kind, name in wholes:
                pipe.hget(keys.key(kind, name), "caller")
            for kind, name in lines:
                pipe.get(keys.key(kind, name))
            found = cast("list[bytes | None]", pipe.execute())
        callers, texts = found[: len(wholes)], found[len(wholes) :]
        parts = [
            (decoded(text).split(" ", LINES[kind])[-1], keys.key(kind, name))
            for (kind, name), text in zip(lines, texts, strict=True)
            if text is not None
        ]
        for (kind, name), told in zip(wholes, callers, strict=True):
            if told is not None:
                caller = decoded(told)
                self._owners[keys.space_of(caller) if kind == "question" else name] = caller
                parts += [(caller, keys.key(part, name)) for part in WHOLES[kind]]
        self._add(self._callers, parts)
        self._add(self._spaces, [(own[2], ":".join(own)) for own in parted if own[1] == "cache"])
        return not self._cursor

    @property
    def held(self) -> Mapping[str, int]:
        """Bytes by caller, of all that was looked at."""
        held = Counter(self._callers)
        for space, caller in self._owners.items():
            held[caller] += self._spaces[space]
        return held

    def _add(self, sums: Counter[str], parts: Sequence[tuple[str, str]]) -> None:
        """Add the sizes of keys to the sums of whose they are."""
        with self._redis.pipeline(transaction=False) as pipe:
            for _, name in parts:
                pipe.memory_usage(name)
            sizes = cast("list[int | None]", pipe.execute())
        for (owner, _), size in zip(parts, sizes, strict=True):
            sums[owner] += size or 0


class Holdings:
    """Tells who holds more than is left for others.

    Args:
        redis: The server, with bytes as answers.
        settings: Whether it is the embedded one, and how much of its disk is to stay free.
    """

    def __init__(self, redis: Redis, settings: Settings) -> None:
        self._redis = redis
        self._settings = settings
        self._tour = Tour(redis)
        self._held: Mapping[str, int] = {}

    def round(self) -> None:
        """Look at some keys; to be called about once a second."""
        used, left = (
            self._redis.info("memory")["used_memory"],
            room_left(self._redis, self._settings),
        )
        if left > (PARTS - 1) * used:
            self._tour, self._held = Tour(self._redis), {}
            return
        if self._tour.step():
            self._tour, self._held = Tour(self._redis), self._tour.held
        over = {
            caller: f"{held} {left:.0f}"
            for caller, held in self._held.items()
            if held > left and caller != keys.ANONYMOUS
        }
        # a store without memory takes nothing new of anybody
        with suppress(OutOfMemoryError), self._redis.pipeline() as pipe:
            pipe.delete(keys.HOLDING)
            if over:
                pipe.hset(keys.HOLDING, mapping=over)  # type: ignore[arg-type]  # invariant
                pipe.expire(keys.HOLDING, LASTS)
            pipe.execute()
