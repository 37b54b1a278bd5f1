"""Everything that the store has, of all callers, and another start for it: for operators."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from redis import Redis

from workers.store import codec, keys
from workers.store.codec import decoded
from workers.store.pieces import Cut
from workers.store.records import Status
from workers.store.scripts import questions as scripts
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


def starts(redis: Redis, kind: str, name: str) -> int:
    """How often the task that was started most often was.

    Args:
        redis: The server.
        kind: `attempts` of a question, `testset-attempts` of a test set.
        name: Its id.
    """
    counts = cast("list[bytes]", redis.hvals(keys.key(kind, name)))
    return max(map(int, counts), default=0)


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
