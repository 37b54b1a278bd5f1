"""What each caller has of the store, for its limits; and what tasks took, for who watches.

Of each caller one hash holds the bytes that are stored, by the hour in which they expire: whatever
stores, changes or deletes a question, test set or webhook weighs it, so that what expires needs
nobody who looks. Totals and views have bounds of their own.

Nothing is ever decided by how often tasks ended how; a task that runs twice is counted twice.
"""

import math
import time
from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from redis import Redis
from redis.client import Pipeline

from sigtest.errors import InputError
from sigtest.requests.notes import spelled
from workers.errors import BudgetError, FullError
from workers.settings import Settings
from workers.store import keys
from workers.store.codec import decoded
from workers.store.server import check_disk, disk_free

AT_ONCE = 1000  # keys looked at in one exchange with the server
HOUR = 3_600_000  # milliseconds
PARTS = 4  # nobody is refused while less than one of so many parts of the store is in use
TOMBSTONE = 150  # bytes of what says that something was there, or what a request's key stood for

# `hold` adds bytes to a caller's figure until they expire (in ms). `weigh` does it for a thing,
# named by the keys of its record and of its further parts, in the place of what it had before;
# without parts it is about to be deleted. Deleting comes first: a full store refuses what does not.
# `outlast` lets a key expire at a time (in ms), or later (GT of PEXPIREAT is of Redis 7).
WEIGH = """
local function outlast(name, expiry)
    local seconds, micros = unpack(redis.call('TIME'))
    local ends = seconds * 1000 + math.floor(micros / 1000) + redis.call('PTTL', name)
    if ends < tonumber(expiry) then redis.call('PEXPIREAT', name, expiry) end
end
local function hold(figure, caller, expiry, bytes)
    local hour = math.floor(expiry / 3600000) + 1
    redis.call('HSET', figure, 'caller', caller)
    redis.call('HINCRBY', figure, hour, bytes)
    return hour
end
local function weigh(figure, record, ...)
    local facts = redis.call('HMGET', record, 'bytes', 'hour', 'caller', 'expiry')
    local bytes, hour, caller, expiry = unpack(facts)
    redis.call('HDEL', record, 'bytes', 'hour')
    if bytes then redis.call('HINCRBY', figure, hour, -bytes) end
    if not caller or select('#', ...) == 0 then return end
    local total = 0
    for _, name in ipairs({record, ...}) do
        total = total + (redis.call('MEMORY', 'USAGE', name) or 0)
    end
    hour = hold(figure, caller, expiry or 1e15, total)  -- a webhook stays until it is deleted
    redis.call('HSET', record, 'bytes', total, 'hour', hour)
end
"""
WHOLES = {
    "question": keys.OF_QUESTION,
    "race": keys.OF_RACE,
    "testset": keys.OF_TESTSET,
    "shared-task": keys.OF_SHARED_TASK,
    "webhook": keys.OF_WEBHOOK,
}


# KEYS: bytes of the caller, a thing, its further parts
# ARGV: when it expires, until when is remembered that it was there (both in ms), its listing, what
#       says that it was there; or nothing, and it is weighed alone
STAY = (
    WEIGH
    + """
if ARGV[1] then
    local expiry, remembered, listing, tombstone = unpack(ARGV)
    if redis.call('EXISTS', KEYS[2]) == 0 then return end
    for i = 2, #KEYS do redis.call('PEXPIREAT', KEYS[i], expiry) end
    local caller, place = unpack(redis.call('HMGET', KEYS[2], 'caller', 'place'))
    redis.call('HSET', KEYS[2], 'expiry', expiry)
    redis.call('SET', tombstone, caller, 'PXAT', remembered)
    if place then
        redis.call('ZADD', listing, 0, place)
        outlast(listing, expiry)
    end
end
weigh(unpack(KEYS))
"""
)


def weigh(
    pipe: Any, caller: str, kind: str, name: str, *stays: str | int, lasts: bool = True
) -> None:
    """Count what a thing takes of the store, with what else is sent.

    Args:
        pipe: To send it with.
        caller: Whose it is.
        kind: One of WHOLES.
        name: Its id.
        stays: From `stay`.
        lasts: False where it is about to be deleted.
    """
    parts = WHOLES[kind] if lasts else WHOLES[kind][:1]
    names = [keys.of_caller("bytes", caller), *(keys.key(part, name) for part in parts)]
    pipe.eval(STAY, len(names), *names, *stays)


def stay(
    pipe: Any, settings: Settings, caller: str, kind: str, name: str, listing: str, expiry: int
) -> None:
    """Let a thing, and what says that it was there, expire at a time, with what else is sent.

    Args:
        pipe: To send it with.
        settings: How long is remembered what was there.
        caller: Whose it is.
        kind: One of WHOLES.
        name: Its id.
        listing: What it is listed among.
        expiry: When, in ms; the listing lasts as long as all in it.
    """
    remembered = expiry + settings.remembrance * 1000
    listed, tombstone = keys.of_caller("listing", caller, listing), keys.key("gone", name)
    weigh(pipe, caller, kind, name, expiry, remembered, listed, tombstone)


def hold(pipe: Any, caller: str, expiry: int, size: int = TOMBSTONE) -> None:
    """Count bytes until they expire (in ms), with what else is sent."""
    figure = keys.of_caller("bytes", caller)
    pipe.hset(figure, "caller", caller)
    pipe.hincrby(figure, expiry // HOUR + 1, size)


def held(redis: Redis, figure: str, since: int = 0) -> int:
    """Bytes of a caller's figure, or those that expire after an hour; what is over leaves it."""
    facts = cast("Mapping[bytes, bytes]", redis.hgetall(figure))
    hours = {int(hour): int(size) for hour, size in facts.items() if hour != b"caller"}
    now = int(time.time() * 1000) // HOUR
    if over := [hour for hour in hours if hour < now]:
        redis.hdel(figure, *map(str, over))
    return max(0, sum(size for hour, size in hours.items() if hour >= max(now, since)))


@dataclass(frozen=True)
class Storage:
    """What a caller has of the store.

    Attributes:
        bytes: In all.
        lasting: Of these, that last longer than what nobody asked to last.
        budget: How many of those there may be.
    """

    bytes: int
    lasting: int
    budget: int


def storage(redis: Redis, settings: Settings, caller: str) -> Storage:
    """What a caller has of the store."""
    figure = keys.of_caller("bytes", caller)
    return Storage(held(redis, figure), held(redis, figure, late(settings)), settings.lasting)


def late(settings: Settings) -> int:
    """The first hour, as figures have them, in which nothing expires that was not to last."""
    usual = (settings.retention + settings.remembrance) * 1000
    return (int(time.time() * 1000) + usual) // HOUR + 2


def check_lasting(
    redis: Redis, settings: Settings, caller: str, expiry: int, size: int, record: str | None = None
) -> None:
    """Check that something of a caller may last until a time.

    Args:
        redis: The server.
        settings: How many bytes may.
        caller: Whose it is.
        expiry: When it is to expire, in ms; 0 where that is left to the retention.
        size: Bytes that come.
        record: Key of a thing whose end is said; what it has is counted in its place.

    Raises:
        InputError: It would be gone already.
        BudgetError: The caller has too much that lasts.
    """
    if not expiry:
        return
    first = late(settings)
    if record is not None:
        if expiry < time.time() * 1000:
            words = f"expires is {spelled(expiry)}, which is past; delete what may go."
            raise InputError(words, field="expires")
        weighed, hour = (int(fact or 0) for fact in redis.hmget(record, ["bytes", "hour"]))
        size = 0 if hour >= first else max(size, weighed)  # or it lasts already
    own = storage(redis, settings, caller)
    if size and expiry // HOUR + 1 >= first and own.lasting + size > own.budget:
        raise BudgetError(
            f"This takes {size:,} bytes, and you have {own.lasting:,} that last longer than the "
            f"service's retention, of at most {own.budget:,}; let something expire, or delete it.",
            limit="SIGTEST_LASTING",
            field="expires",
        )


def all_held(redis: Redis) -> dict[str, int]:
    """Bytes by caller."""
    figures = map(decoded, redis.scan_iter(keys.key("bytes", "*"), AT_ONCE))
    sizes = {redis.hget(figure, "caller"): held(redis, figure) for figure in figures}
    return {decoded(caller): size for caller, size in sizes.items() if caller is not None}


def check_room(redis: Redis, settings: Settings, caller: str) -> float:
    """Check that something new of a caller may be stored; how many bytes are left.

    A disk has everything twice while the server writes its file anew.

    Raises:
        FullError: The disk is nearly full, or the caller holds more than is left for others.
    """
    check_disk(settings)
    facts = redis.info("memory")
    used, most = facts["used_memory"], facts["maxmemory"]
    memory = most - used if most else math.inf
    left = max(0, min(memory, (disk_free(settings) - settings.free - used) / 2))
    if not left:
        raise FullError(
            "The store of comparisons is full, or its disk has no room to write it anew; delete "
            "something, or wait until something expires."
        )
    if caller == keys.ANONYMOUS or left > (PARTS - 1) * used:
        return left
    size = held(redis, keys.of_caller("bytes", caller))
    if size > left:
        raise FullError(
            f"You hold {size:,} bytes of the store, more than the {left:,.0f} that are left for "
            "others; delete something, or wait until something expires."
        )
    return left


def ids_of(redis: Redis, kind: str) -> list[str]:
    """Ids of all questions or test sets that have a key of this kind."""
    names = redis.scan_iter(keys.key(kind, "*"), AT_ONCE)
    return sorted(decoded(name).rpartition(":")[2] for name in names)


def forget_space(redis: Redis, space: str) -> None:
    """Delete what is cached in a space."""
    for name in redis.scan_iter(keys.cached(space, "*"), AT_ONCE):
        redis.delete(name)


BOUNDS = (0.01, 0.1, 0.5, 1.0, 5.0, 30.0, 120.0, 600.0)  # seconds; one more range is beyond all
SECONDS = "seconds"


@dataclass
class Durations:
    """How long things took.

    Attributes:
        counts: How many took at most each of BOUNDS but more than the one before, and how many
            took longer than the last.
        seconds: All of them together.
    """

    counts: list[int] = field(default_factory=lambda: [0] * (len(BOUNDS) + 1))
    seconds: float = 0.0

    def note(self, seconds: float) -> None:
        """Count one more."""
        self.counts[bisect_left(BOUNDS, seconds)] += 1
        self.seconds += seconds


class Tallies:
    """Tasks by name and outcome, of all workers together.

    Args:
        redis: The server, with bytes as answers.
    """

    def __init__(self, redis: Redis) -> None:
        self._redis = redis

    @staticmethod
    def note(pipe: Pipeline, caller: str | None, task: str, outcome: str, seconds: float) -> None:
        """Count a task that ended, with what else is sent.

        Args:
            pipe: To send it with.
            caller: Whose question or test set it worked on; nothing where that is gone.
            task: Its name.
            outcome: How it ended.
            seconds: How long it took.
        """
        if caller is not None:
            pipe.hincrbyfloat(keys.TALLIES_CALLERS, caller, round(seconds, 6))
        name = f"{task} {outcome}"
        pipe.hincrby(keys.TALLIES, f"{name} {bisect_left(BOUNDS, seconds)}", 1)
        pipe.hincrbyfloat(keys.TALLIES, f"{name} {SECONDS}", round(seconds, 6))

    def looks(self) -> dict[str, int]:
        """How often statistics were found in a cache (`hit`), or not (`miss`)."""
        held = cast("Mapping[bytes, bytes]", self._redis.hgetall(keys.TALLIES_CACHE))
        return {"hit": 0, "miss": 0} | {decoded(name): int(n) for name, n in held.items()}

    def spent(self) -> dict[str, float]:
        """Seconds that tasks took, by caller."""
        held = cast("Mapping[bytes, bytes]", self._redis.hgetall(keys.TALLIES_CALLERS))
        return {decoded(name): float(seconds) for name, seconds in sorted(held.items())}

    def all(self) -> dict[tuple[str, str], Durations]:
        """How long tasks took, by name and outcome."""
        held = cast("Mapping[bytes, bytes]", self._redis.hgetall(keys.TALLIES))
        found: dict[tuple[str, str], Durations] = {}
        for name, value in sorted(held.items()):
            task, outcome, part = decoded(name).split(" ")
            durations = found.setdefault((task, outcome), Durations())
            if part == SECONDS:
                durations.seconds = float(value)
            else:
                durations.counts[int(part)] = int(value)
        return found
