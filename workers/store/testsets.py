"""Test sets in Redis, their systems, what workers keep of these, and what leaderboards show."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from typing import Any, TypeAlias

from redis import Redis
from redis.exceptions import OutOfMemoryError

from sigtest.arrays import Array, Flags
from sigtest.comparison.plan import Part, Plan
from sigtest.data.testset import System, TestSet
from sigtest.kinds.comparisons import about
from sigtest.requests.notes import Noted
from sigtest.version import __version__
from workers.errors import GoneError
from workers.settings import Settings
from workers.store import codec, keys, scripts, totals
from workers.store.boards import Choice, ClaimStore, Column, Pair, Rows, State, TestSetRecord
from workers.store.cache import newest
from workers.store.codec import decoded
from workers.store.records import (
    FIELDS,
    EnvelopeStore,
    Filter,
    Progress,
    Status,
    by_name,
    envelope_of,
    fields_of,
    page,
    place_of,
)
from workers.store.totals import KeptTotals
from workers.store.webhooks import Message, announcing

SHOWN = ("caller", "created", "expiry", "summary", "resamples")
COUNTED = ("capacity", "submissions")
Argument: TypeAlias = str | bytes | int | float
KIND = "testsets"  # what their listing is called


class TestSetStore:
    """Reads and writes test sets and systems. Raises what redis raises.

    Args:
        redis: The server, with bytes as answers.
        settings: How long things live, and how many bytes of totals there may be.
    """

    def __init__(self, redis: Redis, settings: Settings) -> None:
        self.redis = redis
        self.settings = settings
        register = redis.register_script
        self._create = register(scripts.CREATE_TESTSET)
        self._put = register(scripts.PUT)
        self._remove = register(scripts.REMOVE)
        self._raise = register(scripts.RAISE)
        self._join = register(scripts.JOIN)
        self._settle = register(scripts.SETTLE_TESTSET)
        self._envelopes = EnvelopeStore(redis)
        self.claims = ClaimStore(redis)
        self.kept = KeptTotals(redis, settings.most_totals)
        self.shown = ShownStore(redis, settings)

    # test sets

    def create(
        self,
        testset_id: str,
        name: str,
        caller: str,
        testset: TestSet,
        part: Part,
        capacity: int,
        notes: Noted,
    ) -> bool:
        """Store a test set that takes so many systems; whether it was not there before.

        What is said is written on it in either case.
        """
        now = time.time()
        summary = {
            "name": name,
            "content": _content(part, testset),
            "settings": {**part.recipe.as_json(), "replicas": part.replicas},
            "metrics": part.recipe.labels,
        }
        facts: dict[str, str | bytes] = {
            "caller": caller,
            "created": repr(now),
            "place": place_of(testset_id, now),
            "part": codec.pack_json(part.as_json()),
            "summary": json.dumps(summary),
            "resamples": str(part.resamples),
            "capacity": str(capacity),
            **fields_of(notes),
        }
        text = codec.pack_json(testset.as_json() | {"segments": testset.segments})
        told: list[Argument] = [testset_id, *self._lives(caller), text, *codec.flat(facts)]
        created = decoded(self._create(_names(testset_id), told)) == "created"
        if not created:
            self.describe(testset_id, notes)
        return created

    def describe(
        self, testset_id: str, notes: Noted, check: Callable[[], None] | None = None
    ) -> bool:
        """Write on a test set; see `EnvelopeStore.write`."""
        return self._envelopes.write(keys.key("testset", testset_id), notes, check)

    def state(self, testset_id: str) -> State | None:
        """A test set as it is now, unless it expired, was deleted or never was."""
        with self.redis.pipeline() as pipe:
            pipe.hmget(keys.key("testset", testset_id), SHOWN + COUNTED + FIELDS)
            pipe.hgetall(keys.key("testset-systems", testset_id))
            pipe.hgetall(keys.key("testset-failures", testset_id))
            pipe.smembers(keys.key("testset-left", testset_id))
            pipe.hgetall(keys.key("testset-envelopes", testset_id))
            facts, digests, failures, gone, envelopes = pipe.execute()
        if facts[0] is None:
            return None
        caller, created, expiry, summary, resamples = map(decoded, facts[: len(SHOWN)])
        capacity, submissions = (int(facts[len(SHOWN) + i] or 0) for i in range(len(COUNTED)))
        told = json.loads(summary)
        held = {decoded(name): decoded(digest) for name, digest in digests.items()}
        left = {(name, digest) for digest, _, name in (decoded(m).partition(" ") for m in gone)}
        names = Rows(int(resamples))
        found = self.rows(testset_id, [names.system(digest) for digest in held.values()])
        state = State(
            caller,
            TestSetRecord(
                id=testset_id,
                name=told["name"],
                created_at=float(created),
                expires_at=int(expiry) / 1000,
                content=told["content"],
                settings={**told["settings"], "resamples": int(resamples), "capacity": capacity},
                metrics=tuple(told["metrics"]),
                systems=len(held),
                pending=0,
                submissions=submissions,
                envelope=envelope_of(facts[-len(FIELDS) :]),
            ),
            held,
            {d: row for d, row in zip(held.values(), found, strict=True) if row is not None},
            {decoded(digest): decoded(why) for digest, why in failures.items()},
            frozenset(left.difference(held.items())),
            by_name(envelopes),
        )
        pending, measured = len(state.pending), len(state.measured)
        return replace(state, record=replace(state.record, pending=pending, measured=measured))

    def part(self, testset_id: str) -> Part:
        """The settings of a test set, without systems.

        Raises:
            GoneError: It expired or was deleted.
        """
        packed, resamples = self.redis.hmget(keys.key("testset", testset_id), ["part", "resamples"])
        if packed is None or resamples is None:
            raise gone(testset_id)
        part = Part.of(codec.unpack_json(packed))  # type: ignore[arg-type]  # bytes
        return replace(part, recipe=part.recipe.but(resamples=int(resamples)))

    def testset(self, testset_id: str) -> TestSet:
        """References, documents and labels.

        Raises:
            GoneError: They were deleted.
        """
        packed = self.redis.get(keys.key("testset-text", testset_id))
        if packed is None:
            raise gone(testset_id)
        return TestSet.load(codec.unpack_json(packed))  # type: ignore[arg-type]  # bytes

    def listing(
        self, caller: str, cursor: str | None, limit: int, wanted: Filter
    ) -> tuple[list[TestSetRecord], str | None]:
        """The caller's test sets; see `page`."""

        def passes(state: State) -> bool:
            return wanted.passes(state.record.envelope, name=state.record.name)

        found, following = page(self.redis, _listing(caller), cursor, limit, self.state, passes)
        return [state.record for state in found], following

    def raise_resamples(
        self, testset_id: str, caller: str, resamples: int, check: Callable[[], None] = lambda: None
    ) -> str:
        """Raise R: `raised`, `same`, `fewer` or `gone`.

        Args:
            testset_id: The test set.
            caller: Whose it is.
            resamples: How many.
            check: Raises where it is not as expected; nothing comes between this and the raising.
        """
        arguments: list[Argument] = [testset_id, *self._lives(caller), resamples]
        return self._answer(self._raise, arguments, check)

    def delete(self, testset_id: str, caller: str, check: Callable[[], None]) -> None:
        """Delete everything about a test set except that it was there.

        Args:
            testset_id: The test set.
            caller: Whose it is.
            check: Raises where it is not as expected; nothing comes between this and the deletion.
        """
        record, reports = (keys.key(part, testset_id) for part in ("testset", "testset-reports"))
        shown: set[bytes] = set()

        def checked(pipe: Any) -> None:
            check()
            place = pipe.hget(record, "place")
            shown.update(pipe.smembers(reports))
            pipe.multi()
            for question_id in map(decoded, shown):
                pipe.delete(*(keys.key(part, question_id) for part in keys.OF_QUESTION))
            if place is not None:
                pipe.zrem(_listing(caller), place)
            pipe.delete(*_names(testset_id)[: len(keys.OF_TESTSET)])
            pipe.srem(keys.JOINING, testset_id)

        self.redis.transaction(checked, record, reports)
        self.kept.drop(testset_id)
        # at last: a full server takes nothing new
        with suppress(OutOfMemoryError), self.redis.pipeline() as pipe:
            for question_id in map(decoded, shown):
                pipe.set(keys.key("gone", question_id), caller, ex=self.settings.remembrance)
            pipe.set(keys.key("gone", testset_id), caller, pxat=self._lives(caller)[1])
            pipe.set(keys.ERASE, 1)
            pipe.execute()

    # systems

    def put(
        self,
        testset_id: str,
        caller: str,
        system: System,
        replaces: bool,
        most: int,
        notes: Noted,
        check: Callable[[], None] | None,
    ) -> str:
        """Add or replace a system, and write on it; `check` as for `raise_resamples`.

        Returns:
            `created`, `replaced`, `known` (the same content is there), `again` (it is, and had
            failed), `taken` (other content is there), `full`, `spent` (its capacity is) or `gone`.
        """
        output = codec.pack_json(system.as_json())
        told: list[Argument] = [testset_id, *self._lives(caller), system.name, system.sha256]
        told += [output, int(replaces), most, *codec.flat(fields_of(notes))]
        return self._answer(self._put, told, check)

    def remove(self, testset_id: str, caller: str, name: str, check: Callable[[], None]) -> str:
        """Remove a system: `removed` or `absent`; `check` as for `raise_resamples`."""
        arguments: list[Argument] = [testset_id, *self._lives(caller), name, *FIELDS]
        verdict = self._answer(self._remove, arguments, check)
        with suppress(OutOfMemoryError):
            self.redis.set(keys.ERASE, 1)
        return verdict

    def _answer(
        self, script: Any, arguments: Sequence[Argument], check: Callable[[], None] | None
    ) -> str:
        """What a script answers that changes a test set; nothing comes between it and the check."""
        names = _names(str(arguments[0]))
        if check is None:
            return decoded(script(names, arguments))

        def checked(pipe: Any) -> None:
            check()
            pipe.multi()
            script(names, arguments, pipe)

        done: Any = self.redis.transaction(checked, names[0])
        return decoded(done[0])

    def has(self, testset_id: str, digest: str) -> bool:
        """Whether a system of the test set has this content."""
        return bool(self.redis.hexists(keys.key("testset-outputs", testset_id), digest))

    def output(self, testset_id: str, digest: str) -> System | None:
        """What a system brought, under a name of no meaning; nothing where it was removed."""
        packed = self.redis.hget(keys.key("testset-outputs", testset_id), digest)
        if packed is None:
            return None
        return System.load("system", codec.unpack_json(packed))  # type: ignore[arg-type]  # bytes

    # what workers make of them

    def joining(self) -> list[str]:
        """Ids of the test sets whose systems have changed since they were last settled."""
        return sorted(decoded(testset_id) for testset_id in self.redis.smembers(keys.JOINING))

    def joins(self, testset_id: str) -> bool:
        """Whether a worker measures a system of this test set, and will write what is shown."""
        return bool(self.redis.hlen(keys.key("testset-attempts", testset_id)))

    def settle(self, testset_id: str, seen: State | None = None) -> None:
        """Nothing is left to do for a test set, unless it was changed since it was seen."""
        expiry = "" if seen is None else round(seen.record.expires_at * 1000)
        self._settle(_names(testset_id), [testset_id, expiry])

    def unsettle(self, testset_id: str) -> None:
        """Something is left to do: there are systems that another version measured."""
        self.redis.sadd(keys.JOINING, testset_id)

    def begin(self, testset_id: str, digest: str) -> int:
        """Note that the joining of a digest starts; how often it did, 0 if there is no need."""
        return int(self._join(_names(testset_id), [testset_id, digest]))

    def end(self, testset_id: str, digest: str) -> None:
        """Note that the joining of a digest has ended; it may start as often again."""
        self.redis.hdel(keys.key("testset-attempts", testset_id), digest)

    def fail(self, testset_id: str, digest: str, message: str) -> None:
        """Note why a digest cannot be measured."""
        self._hold("testset-failures", testset_id, {digest: message.encode()})

    def rows(self, testset_id: str, names: Sequence[str]) -> list[bytes | None]:
        """Rows by their names."""
        found: list[bytes | None] = []
        if names:
            key = keys.key("testset-rows", testset_id)
            found = self.redis.hmget(key, names)  # type: ignore[assignment]  # bytes
        return found

    def add_rows(self, testset_id: str, rows: Mapping[str, bytes]) -> None:
        """Keep rows, which follow from what their names say."""
        self._hold("testset-rows", testset_id, rows)

    def tidy(self, testset_id: str, state: State) -> None:
        """Drop totals of what no system brings any longer; rows, where they have become many."""
        current = set(state.digests.values())
        unused = sorted({digest for _, digest in state.left} - current)
        self.kept.forget([keys.totals(testset_id, state.resamples, own) for own in unused])
        name = keys.key("testset-rows", testset_id)
        size = len(state.digests)
        if self.redis.hlen(name) <= 2 * (size * (size + 1) + 100):
            return
        old = [
            field
            for field in map(decoded, self.redis.hkeys(name))
            if not set(field.split(" ")[2:]) <= current
        ]
        if old:
            self.redis.hdel(name, *old)

    def note_claims(
        self,
        testset_id: str,
        columns: Sequence[Column],
        pairs: Sequence[Pair],
        p_values: Array,
        significant: Flags,
    ) -> None:
        """Keep what a report says as long as its test set; see `ClaimStore.note`."""
        expiry = self._expiry(testset_id)
        if expiry:
            self.claims.note(testset_id, expiry, columns, pairs, p_values, significant)

    def keep(self, testset_id: str, resamples: int, digest: str, parts: totals.Parts) -> None:
        """Keep a system's totals as long as its test set, and as long as there is room."""
        expiry = self._expiry(testset_id)
        if expiry:
            self.kept.add(keys.totals(testset_id, resamples, digest), expiry, parts)

    def _hold(self, part: str, testset_id: str, fields: Mapping[str, bytes]) -> None:
        """Keep something of a test set as long as it."""
        name, expiry = keys.key(part, testset_id), self._expiry(testset_id)
        if fields and expiry:
            with self.redis.pipeline() as pipe:
                pipe.hset(name, mapping=fields)  # type: ignore[arg-type]  # bytes are fine
                pipe.pexpireat(name, expiry)
                pipe.execute()

    def _expiry(self, testset_id: str) -> int:
        """When a test set expires, in milliseconds; 0 where it is gone."""
        return int(self.redis.hget(keys.key("testset", testset_id), "expiry") or 0)

    def _lives(self, caller: str) -> tuple[int, int, str]:
        """What scripts take that prolong the life of a test set.

        Returns:
            When what is changed now expires, and when it is no longer remembered, in ms; and the
            listing of its caller.
        """
        expiry = int((time.time() + self.settings.retention) * 1000)
        return expiry, expiry + self.settings.remembrance * 1000, _listing(caller)


def gone(testset_id: str) -> GoneError:
    """The error for a test set that was there."""
    return GoneError(f"The test set {testset_id} expired or was deleted; make it again.")


def _listing(caller: str) -> str:
    """The key of a caller's test sets."""
    return keys.of_caller("listing", caller, KIND)


def _names(testset_id: str) -> list[str]:
    """The keys that scripts on test sets take."""
    own = [keys.key(part, testset_id) for part in keys.OF_TESTSET]
    return [*own, keys.key("gone", testset_id), keys.JOINING]


def _content(part: Part, testset: TestSet) -> dict[str, Any]:
    content: dict[str, Any] = {"segments": part.segments, "references": part.references}
    if part.document_count:
        content["documents"] = part.document_count
    if testset.labels is not None:
        content["labels"] = len(set(testset.labels))
    return {**content, "sha256": part.testset}


MOST_CHOICES = 8  # of a caller's boards, decided in another way than their test sets say


class ShownStore:
    """Reads and writes what leaderboards show. Raises what redis raises.

    Args:
        redis: The server, with bytes as answers.
        settings: For how long it is known that one was there, and one of another choice kept.
    """

    def __init__(self, redis: Redis, settings: Settings) -> None:
        self.redis = redis
        self.settings = settings
        self._show = redis.register_script(scripts.SHOW)

    def find(self, testset_id: str, choice: str) -> str | None:
        """Id of the comparison that was shown last."""
        found = self.redis.hget(keys.key("testset-shown", testset_id), choice)
        return None if found is None else decoded(found)

    def add(
        self,
        state: State,
        choice: Choice,
        question_id: str,
        plan: Plan,
        report: bytes,
        pictures: Sequence[str],
    ) -> None:
        """Store a comparison with its report; one that is there already stays as old as it is.

        Args:
            state: Its test set, which has the contents.
            choice: How it is decided; what only a reader chose is kept as long as a cache.
            question_id: Where.
            plan: What is compared.
            report: Canonical JSON.
            pictures: Names of those that can be drawn of the report.
        """
        testset, expiry = state.record.id, int(state.record.expires_at * 1000)
        remembered = expiry + self.settings.remembrance * 1000
        if choice != Choice():
            expiry = min(expiry, int((time.time() + self.settings.cache) * 1000))
            remembered = expiry
        facts: dict[str, str | bytes] = {
            "caller": state.caller,
            "kind": "comparisons",
            "expiry": str(expiry),
            "about": json.dumps(asdict(about(plan))),
            "testset": testset,
            "outline": codec.pack_json(plan.as_json()),
            "outcome": Status.SUCCEEDED.value,
            "progress": json.dumps(vars(Progress("report", 1, 1))),
            "computed_with": __version__,
            "pictures": json.dumps(pictures),
        }
        name = keys.key("question", question_id)
        with self.redis.pipeline() as pipe:
            pipe.hset(name, mapping=facts)  # type: ignore[arg-type]  # bytes are fine
            pipe.hsetnx(name, "created", repr(time.time()))
            pipe.pexpireat(name, expiry)
            packed = codec.pack_bytes(report)
            pipe.set(keys.key("report", question_id), packed, pxat=expiry)
            pipe.set(keys.key("gone", question_id), state.caller, pxat=remembered)
            reports = keys.key("testset-reports", testset)  # deleted with the test set
            pipe.sadd(reports, question_id)
            pipe.pexpireat(reports, expiry)
            pipe.publish(keys.key("news", testset), question_id)
            pipe.execute()

    def show(self, state: State, choice: Choice, question_id: str) -> None:
        """Note which comparison is to be shown; webhooks are told where it is another one.

        They are told of the choice that their test set makes, and of no other.
        """
        record = state.record
        parts = ("testset-shown", "testset-reports", "testset")
        names = [keys.key(part, record.id) for part in parts]
        told = {"id": record.id, "name": record.name, "comparison": question_id}
        message = Message.of("leaderboard.refreshed", {**told, **vars(record.envelope)})
        shown = [choice.spelled, question_id, keys.key("news", record.id)]
        own: list[str | int] = [*shown, int(choice == Choice()), *message.arguments]
        self._show([*names, *announcing(state.caller)], own)
        if choice != Choice():
            chosen = " ".join((record.id, choice.spelled, question_id))
            group = keys.of_caller("choices", state.caller)
            for old in newest(self.redis, group, chosen, MOST_CHOICES, self.settings.retention):
                self._drop(*old.split())

    def _drop(self, testset_id: str, spelled: str, question_id: str) -> None:
        """Forget a comparison that only a reader chose."""
        shown, reports = (keys.key(f"testset-{part}", testset_id) for part in ("shown", "reports"))
        with self.redis.pipeline() as pipe:
            pipe.hdel(shown, spelled)
            pipe.srem(reports, question_id)
            pipe.delete(*(keys.key(part, question_id) for part in (*keys.OF_QUESTION, "gone")))
            pipe.execute()
