"""What the store has of all callers: for operators, for who watches it, and for its limits.

Nothing is ever decided by how often tasks ended how; a task that runs twice is counted twice.

Nobody counts what is written, deleted and expires, so that none holds more than is left for others:
who looks at all keys, some at a time, adds it up, while a good part of the store is in use.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import cast

from redis import Redis
from redis.client import Pipeline
from redis.exceptions import OutOfMemoryError

from workers.errors import FullError
from workers.settings import Settings
from workers.store import codec, keys, scripts
from workers.store.codec import decoded
from workers.store.progress import Cut
from workers.store.records import Status
from workers.store.server import check_disk, disk_free
from workers.store.testsets import TestSetStore

AT_ONCE = 1000  # keys looked at in one exchange with the server


def failed_questions(redis: Redis) -> Iterator[str]:
    """Ids of the questions that failed."""
    names = list(redis.scan_iter(keys.key("question", "*"), AT_ONCE))
    for first in range(0, len(names), AT_ONCE):
        yield from _failed(redis, names[first : first + AT_ONCE])


def failed_testsets(redis: Redis) -> Iterator[str]:
    """Ids of the test sets with content that could not be measured, of systems there or not."""
    yield from map(_id, redis.scan_iter(keys.key("testset-failures", "*"), AT_ONCE))


def forget_space(redis: Redis, space: str) -> None:
    """Delete what is cached in a space."""
    names = list(redis.scan_iter(keys.cached(space, "*"), AT_ONCE))
    for first in range(0, len(names), AT_ONCE):
        redis.delete(*names[first : first + AT_ONCE])


def revive_question(redis: Redis, question_id: str, caller: str) -> bool:
    """Let a question that failed or is unfinished start as if never tried; whether it may.

    One that was cancelled has no contents, and one that succeeded needs no other start.
    """
    question, contents = (keys.key(part, question_id) for part in ("question", "contents"))
    packed = redis.hget(question, "cut")
    if packed is None:
        return False
    cut = Cut.from_json(codec.unpack_json(packed))  # type: ignore[arg-type]  # bytes
    sizes = (redis.hstrlen(contents, field) for field in redis.hkeys(contents))
    size = sum(map(int, sizes)) + cut.bytes
    names = [question, contents, keys.key("attempts", question_id), keys.PENDING]
    held = f"{cut.measuring + cut.computing!r} {size}"
    revive = redis.register_script(scripts.REVIVE)
    return bool(revive([*names, keys.of_caller("pending", caller)], [question_id, held]))


def revive_testset(store: TestSetStore, testset_id: str) -> None:
    """Let the systems of a test set that failed be measured as if never tried."""
    parts = ("testset-failures", "testset-attempts")
    store.redis.delete(*(keys.key(part, testset_id) for part in parts))
    store.unsettle(testset_id)


def _failed(redis: Redis, names: list[bytes]) -> Iterator[str]:
    with redis.pipeline(transaction=False) as pipe:
        for name in names:
            pipe.hget(name, "outcome")
        outcomes = cast("list[bytes | None]", pipe.execute())
    for name, outcome in zip(names, outcomes, strict=True):
        if outcome is not None and decoded(outcome) == Status.FAILED:
            yield _id(name)


def _id(name: bytes) -> str:
    return decoded(name).rpartition(":")[2]


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
        self.counts[place_of(seconds)] += 1
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
        pipe.hincrby(keys.TALLIES, f"{name} {place_of(seconds)}", 1)
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


def place_of(seconds: float) -> int:
    """Which of the ranges that BOUNDS make a duration is in."""
    return bisect_left(BOUNDS, seconds)


KEYS_A_LOOK = 2000  # keys that one look takes, some hundredths of a second
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
    """One look at all keys, KEYS_A_LOOK at a time.

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
        answer = self._redis.scan(self._cursor, count=KEYS_A_LOOK)
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
