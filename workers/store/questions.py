"""Questions in Redis: what is asked, what became of it, and its report."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import compress
from typing import Any, cast

from redis import Redis
from redis.exceptions import OutOfMemoryError

from sigtest.kinds import Question
from sigtest.requests.notes import Noted
from sigtest.version import __version__
from workers.errors import GoneError, gone
from workers.logs import REQUEST
from workers.settings import Settings
from workers.store import codec, keys, scripts
from workers.store.cache import Cache
from workers.store.codec import decoded
from workers.store.progress import Cut, ProgressStore
from workers.store.records import (
    FIELDS,
    SHOWN,
    EnvelopeStore,
    Filter,
    Progress,
    Record,
    Status,
    Stored,
    facts_of,
    fields_of,
    page,
    place_of,
    stored_of,
)
from workers.store.webhooks import Message, announcing

PROBE_SECONDS = 10


@dataclass(frozen=True)
class Verdict:
    """Whether a question was stored.

    Attributes:
        word: See `QuestionStore.create`.
        id: Of the question; another one's where the idempotency key stands for that.
        seconds: Predicted for what its caller has pending.
        bytes: The same of the store.
        size: Bytes predicted for the question.
        stored: The question, where it was created.
        measured: Keys of its statistics that are cached, where it was created.
    """

    word: str
    id: str
    seconds: float
    bytes: float
    size: int
    stored: Stored | None = None
    measured: frozenset[str] = frozenset()


class QuestionStore:
    """Reads and writes questions. Raises what redis raises.

    Args:
        redis: The server, with bytes as answers.
        settings: How long things live, and how much a caller may have pending.
    """

    def __init__(self, redis: Redis, settings: Settings) -> None:
        self.redis = redis
        self.settings = settings
        self.progress = ProgressStore(redis, settings)
        self._create = redis.register_script(scripts.CREATE)
        self._commit = redis.register_script(scripts.COMMIT)
        self._share = redis.register_script(scripts.SHARE)
        self._envelopes = EnvelopeStore(redis)

    def probe(self) -> None:
        """Write a key, which fails where the server cannot be reached or is out of memory."""
        self.redis.set(keys.PROBE, b"", ex=PROBE_SECONDS)

    def cache(self, space: str) -> Cache:
        """What is cached in a space."""
        return Cache(self.redis, space, self.settings.cache)

    # questions

    def create(
        self,
        question_id: str,
        kind: str,
        question: Question,
        cut: Cut,
        caller: str,
        idempotency_key: str | None,
        budget: int,
        left: float,
        notes: Noted,
    ) -> Verdict:
        """Store a question and count it as pending.

        Args:
            question_id: Where.
            kind: Path of its kind.
            question: What is asked.
            cut: How it is cut into pieces.
            caller: Who asks.
            idempotency_key: Stands for the question from now on.
            budget: Most predicted seconds of what the caller has pending.
            left: Bytes that the store has left for what is unfinished of all callers, and this.
            notes: What its caller writes on it.

        Returns:
            `created`; `known` where it exists and has not failed or been cancelled; `conflict`
            where the idempotency key stands for another one; `many` where the caller has too many
            pending, `seconds` or `bytes` where these are predicted to take too much, `full` where
            the store has not so much left.
        """
        now = time.time()
        contents = codec.pack_fields(question.contents())
        brought = sum(map(len, contents.values()))
        size = brought + cut.bytes
        expiry = int((now + self.settings.retention) * 1000)
        place = place_of(question_id, now)
        facts: dict[str, str | bytes] = {
            "caller": caller,
            "kind": kind,
            "created": repr(now),
            "expiry": str(expiry),
            "size": str(brought),
            "promised": str(cut.bytes),
            "place": place,
            "request": REQUEST.get(),
            "cut": codec.pack_json(cut.as_json()),
            **facts_of(question),
            **fields_of(notes),
        }
        names = keys.of_submission(question_id, caller, kind, idempotency_key)
        options: list[str | int] = [
            question_id,
            expiry,
            expiry + self.settings.remembrance * 1000,
            self.settings.pending,
            budget,
            self.settings.room,
            repr(question.seconds),
            size,
            place,
            caller,
            int(idempotency_key is not None),
            keys.asked(caller, kind, {**contents, "outline": facts["outline"]}),
            2 * len(facts),
            int(min(left, 2**53)),  # scripts of the store have no larger whole numbers
        ]
        names += [keys.cached(keys.space_of(caller), name) for name in cut.distinct_keys]
        told = self._create(names, [*options, *codec.flat(facts), *codec.flat(contents)])
        return _verdict(told, facts, size, cut)

    def find(self, question_id: str, how_far: bool = True) -> Stored | None:
        """A question, unless it expired, was deleted or never was.

        Args:
            question_id: Where.
            how_far: Whether to look which pieces of an unfinished one exist; its progress is
                NOTHING_SEEN otherwise.
        """
        found = self.redis.hmget(keys.key("question", question_id), SHOWN)
        return self._shown(question_id, found, how_far)

    def with_report(self, question_id: str) -> tuple[Stored | None, bytes | None]:
        """A question, not how far it is, and its canonical JSON where it is finished."""
        with self.redis.pipeline(transaction=False) as pipe:
            pipe.hmget(keys.key("question", question_id), SHOWN)
            pipe.get(keys.key("report", question_id))
            found, data = pipe.execute()
        report = None if data is None else codec.unpack_bytes(data)
        return self._shown(question_id, found, False), report

    def read(self, question_id: str) -> tuple[Stored, dict[str, Any]]:
        """A question, not how far it is, and what is known of it without its contents.

        Raises:
            GoneError: It expired or was deleted.
        """
        fields = (*SHOWN, "outline")
        found = self.redis.hmget(keys.key("question", question_id), fields)
        stored = self._shown(question_id, found[:-1], False)
        if stored is None:
            raise gone(question_id)
        return stored, codec.unpack_json(found[-1])  # type: ignore[arg-type]  # bytes

    def origin(self, name: str) -> tuple[str, str | None]:
        """Where a question or test set comes from.

        Returns:
            Id of the request that a question came with, empty where there is none; and whose it is
            or was, nothing where that is not known any more.
        """
        with self.redis.pipeline(transaction=False) as pipe:
            pipe.hget(keys.key("question", name), "request")
            pipe.get(keys.key("gone", name))
            request, caller = pipe.execute()
        return decoded(request or b""), None if caller is None else decoded(caller)

    def was(self, question_id: str, caller: str) -> bool:
        """Whether the caller had something with this id that is gone now."""
        left = self.redis.get(keys.key("gone", question_id))
        return left is not None and decoded(left) == caller

    def listing(
        self, caller: str, kind: str, cursor: str | None, limit: int, wanted: Filter
    ) -> tuple[list[Record], str | None]:
        """The caller's questions of one kind; see `page`."""

        def passes(stored: Stored) -> bool:
            return wanted.passes(stored.record.envelope, stored.record.status)

        listing = keys.of_caller("listing", caller, kind)
        found, following = page(self.redis, listing, cursor, limit, self.find, passes)
        return [stored.record for stored in found], following

    def describe(
        self, question_id: str, notes: Noted, check: Callable[[], None] | None = None
    ) -> bool:
        """Write on a question; see `EnvelopeStore.write`."""
        return self._envelopes.write(keys.key("question", question_id), notes, check)

    def pending(self) -> list[str]:
        """Ids of the questions without an outcome."""
        return sorted(decoded(question_id) for question_id in self.redis.smembers(keys.PENDING))

    def drop_pending(self, question_id: str) -> None:
        """Stop caring for a question that expired before it was finished."""
        caller = self.redis.get(keys.key("gone", question_id))
        with self.redis.pipeline() as pipe:
            pipe.srem(keys.PENDING, question_id)
            if caller is not None:
                pipe.hdel(keys.of_caller("pending", decoded(caller)), question_id)
            pipe.execute()

    def commit(
        self,
        question_id: str,
        outcome: Status,
        error: str = "",
        report: bytes = b"",
        pictures: Sequence[str] = (),
    ) -> bool:
        """Give a question its outcome, unless it has one; with the report where it succeeded.

        The progress of one that failed or was cancelled stays where it was.

        Args:
            question_id: The question.
            outcome: How it ended.
            error: Why it failed.
            report: Canonical JSON.
            pictures: Names of those that can be drawn of the report.
        """
        stored = self.find(question_id, how_far=outcome is not Status.SUCCEEDED)
        if stored is None:
            return False
        progress = Progress("report", 1, 1)
        if outcome is not Status.SUCCEEDED:
            progress = stored.record.progress
        names = [
            *(keys.key(part, question_id) for part in keys.OF_QUESTION),
            keys.PENDING,
            keys.of_caller("pending", stored.caller),
            *announcing(stored.caller),
        ]
        packed, channel = codec.pack_bytes(report), keys.key("news", question_id)
        told = json.dumps(vars(progress))
        facts = [question_id, outcome.value, error, packed, channel, told, __version__]
        message = _message(stored.record, outcome, error)
        done = bool(self._commit(names, [*facts, json.dumps(pictures), *message.arguments]))
        if done and outcome is Status.CANCELLED:  # whose texts are deleted
            with suppress(OutOfMemoryError):
                self.redis.set(keys.ERASE, 1)
        return done

    def delete(
        self, question_id: str, caller: str, check: Callable[[], None] = lambda: None
    ) -> None:
        """Delete everything about a question except that it was there.

        Args:
            question_id: The question.
            caller: Whose it is.
            check: Raises where it is not as expected; nothing comes between this and the deletion.
        """
        name = keys.key("question", question_id)

        def checked(pipe: Any) -> None:
            check()
            place, kind = pipe.hmget(name, ["place", "kind"])
            pipe.multi()
            pipe.delete(*(keys.key(part, question_id) for part in keys.OF_QUESTION))
            pipe.srem(keys.PENDING, question_id)
            pipe.hdel(keys.of_caller("pending", caller), question_id)
            if place is not None and kind is not None:
                pipe.zrem(keys.of_caller("listing", caller, decoded(kind)), place)

        self.redis.transaction(checked, name)
        # on its own: a full server takes nothing new, and must be emptied all the same
        with suppress(OutOfMemoryError):
            self.redis.set(keys.ERASE, 1)
            self.redis.set(keys.key("gone", question_id), caller, ex=self.settings.remembrance)

    def unfinished(self, question_id: str) -> bool:
        """Whether the question exists and has no outcome."""
        return bool(self.redis.sismember(keys.PENDING, question_id))

    def outline(self, question_id: str) -> dict[str, Any]:
        """What is known of a question without its contents.

        Raises:
            GoneError: It expired or was deleted.
        """
        packed = self.redis.hget(keys.key("question", question_id), "outline")
        if packed is None:
            raise gone(question_id)
        outline: dict[str, Any] = codec.unpack_json(packed)  # type: ignore[arg-type]  # bytes
        return outline

    def packed(self, question_id: str, fields: Sequence[str]) -> list[bytes]:
        """Some of what was brought, as it is stored.

        Raises:
            GoneError: It was deleted with the question.
        """
        found = self.redis.hmget(keys.key("contents", question_id), fields)
        if None in found:
            raise gone(question_id)
        return cast("list[bytes]", found)

    def contents(self, question_id: str) -> dict[str, Any]:
        """Everything that was brought; raises as `packed` does."""
        packed = self.redis.hgetall(keys.key("contents", question_id))
        if not packed:
            raise gone(question_id)
        return {
            decoded(field): codec.unpack_json(data)  # type: ignore[arg-type]  # bytes
            for field, data in packed.items()
        }

    def share(self, question_id: str, link: str) -> str | None:
        """Give a question a public link, or take it back with an empty one.

        Returns:
            The link that it has then: the first one that it was given; nothing where it is gone.
        """
        held = self._share([keys.key("question", question_id)], [link])
        return None if held is None else decoded(held)

    def link(self, question_id: str) -> str | None:
        """The public link of a question, if it has one."""
        link = self.redis.hget(keys.key("question", question_id), "link")
        return None if link is None else decoded(link) or None

    def _shown(
        self, question_id: str, found: Sequence[bytes | str | None], how_far: bool
    ) -> Stored | None:
        """A question by its fields SHOWN, unless it is gone."""
        stored = stored_of(question_id, dict(zip(SHOWN, found, strict=True)))
        if stored is None or not how_far or stored.record.status.finished:
            return stored
        with suppress(GoneError):
            progress = self.progress.pieces(question_id).progress
            stored = replace(stored, record=replace(stored.record, progress=progress))
        return stored


def _verdict(
    told: Sequence[bytes], facts: Mapping[str, str | bytes], size: int, cut: Cut
) -> Verdict:
    """What the script that stores questions told."""
    word, seconds, held, known = map(decoded, told[:4])
    written, cached = told[4 : 4 + len(FIELDS)], told[4 + len(FIELDS) :]
    stored = None
    if word == "created":
        stored = stored_of(known, {**facts, **dict(zip(FIELDS, written, strict=True))})
    measured = frozenset(compress(cut.distinct_keys, cached))
    return Verdict(word, known, float(seconds), float(held), size, stored, measured)


def _message(record: Record, outcome: Status, error: str) -> Message:
    """What webhooks are told of the outcome of a question."""
    told = {"kind": record.kind, "id": record.id, "status": outcome.value}
    why = {"error": error} if outcome is Status.FAILED else {}
    return Message.of(f"question.{outcome.value}", {**told, **why, **vars(record.envelope)})
