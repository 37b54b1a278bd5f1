"""Test sets, their systems and leaderboards in Redis, and what these claimed.

Claims stay when systems leave. Systems are told apart by name and content: what replaces a system
is another one. All pairs of a test set lie together, a number in eight bytes: as fields of their
own they took twenty times that.
"""

from __future__ import annotations

import hashlib
import json
import math
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from types import MappingProxyType
from typing import Any, TypeVar

import numpy as np
from redis.exceptions import OutOfMemoryError

from sigtest.arrays import Array, Flags
from sigtest.comparison.plan import Part, Plan
from sigtest.data.testset import System, TestSet
from sigtest.decide.summary import score_report
from sigtest.errors import LimitError, RecipeError, SigtestError
from sigtest.kinds.comparisons import about
from sigtest.metrics import Metric
from sigtest.report import ScoreReport
from sigtest.requests.notes import LAST, Noted, Notes, PlainNotes
from sigtest.requests.recipe import Recipe, parse_metric
from sigtest.version import __version__
from workers.errors import CapacityError, NotFoundError, TakenError
from workers.store import codec, keys
from workers.store.cache import newest
from workers.store.codec import decoded
from workers.store.keys import MAKE
from workers.store.lasting import Shelf, unseen
from workers.store.records import (
    FIELDS,
    Check,
    Progress,
    Record,
    Status,
    Task,
    by_name,
    envelope_of,
    fields_of,
    place_of,
)
from workers.store.shared_tasks import Entry, admit, behind, clock, receipts_of, spelled
from workers.store.totals import Parts
from workers.store.usage import check_lasting, hold, stay, weigh
from workers.store.webhooks import Message, announce

NOTHING: Noted = MappingProxyType({})
T = TypeVar("T")


class Standing(StrEnum):
    """Where a system of a test set stands."""

    PENDING = "pending"
    MEASURED = "measured"
    FAILED = "failed"


@dataclass(frozen=True)
class SystemRecord:
    """A system of a test set.

    Attributes:
        name: Its name.
        digest: Hash of its content; the name is no part of it.
        standing: Whether the leaderboard has it.
        scores: Scores by metric at the test set's own level, once measured.
        error: Why it could not be measured, if it could not.
        envelope: What is written on it.
    """

    name: str
    digest: str
    standing: Standing
    scores: Mapping[str, ScoreReport] | None
    error: str | None
    envelope: PlainNotes = field(default_factory=PlainNotes)

    @property
    def etag(self) -> str:
        """Changes whenever anything else does."""
        return hashlib.sha256(repr(self).encode()).hexdigest()[:32]


@dataclass(frozen=True)
class TestSetRecord:
    """A test set as its caller sees it.

    Attributes:
        id: 32 hexadecimal digits: a hash of caller, content, settings and versions.
        caller: Whose it is.
        name: What its caller calls it.
        created_at: Seconds since the epoch.
        expires_at: When it will be forgotten unless something changes, seconds since the epoch.
        content: Sizes and content hash, as reports have them.
        settings: The recipe as JSON, with the number of resamples that is in force, and how many
            replicas every system brings.
        metrics: Labels of the metrics.
        submissions: How many different systems have been taken, with those deleted or replaced.
        family: Of how many systems all pairs are corrected together.
        task: Id of the shared task that it belongs to, if it does.
        envelope: What is written on it.
        changed_at: Seconds since the epoch.
        digests: Content of each system, by name.
        failures: Why a digest cannot be measured.
        left: Names and digests of systems that were deleted or replaced and are not back.
        envelopes: What is written on systems, by name, where anything is.
        rows: The rows of all contents that are measured, by digest.
        mark: Moved by every change.
        size: Bytes of the store that it takes with its systems.
    """

    id: str
    caller: str
    name: str
    created_at: float
    expires_at: float
    content: Mapping[str, Any]
    settings: Mapping[str, Any]
    metrics: tuple[str, ...]
    submissions: int
    family: int
    task: str | None
    envelope: Notes
    changed_at: float
    digests: Mapping[str, str]
    failures: Mapping[str, str]
    left: frozenset[tuple[str, str]] = field(repr=False)
    envelopes: Mapping[str, PlainNotes]
    rows: Mapping[str, bytes] = field(repr=False, compare=False)
    mark: int
    size: int = field(repr=False, compare=False)

    @property
    def capacity(self) -> int:
        """How many systems may be submitted: their pairs are what is corrected for."""
        return int(self.settings["capacity"])

    @property
    def resamples(self) -> int:
        """R in force."""
        return int(self.settings["resamples"])

    @property
    def tests(self) -> tuple[str, ...]:
        """Names of the significance tests."""
        return tuple(self.settings["tests"])

    @property
    def etag(self) -> str:
        """Changes whenever anything else does."""
        return hashlib.sha256(repr((self, self.measured)).encode()).hexdigest()[:32]

    @property
    def systems(self) -> int:
        """How many it has."""
        return len(self.digests)

    @property
    def measured(self) -> tuple[str, ...]:
        """Names of the systems that are measured, sorted."""
        return tuple(name for name, digest in sorted(self.digests.items()) if digest in self.rows)

    @property
    def pending(self) -> tuple[str, ...]:
        """Names of the systems that are to be measured, sorted."""
        ended = {*self.rows, *self.failures}
        return tuple(name for name, digest in sorted(self.digests.items()) if digest not in ended)

    @property
    def failed(self) -> dict[str, str]:
        """Why systems could not be measured, by name."""
        return {
            name: self.failures[digest]
            for name, digest in sorted(self.digests.items())
            if digest not in self.rows and digest in self.failures
        }

    def system(self, name: str) -> SystemRecord:
        """What is told of one system.

        Raises:
            NotFoundError: There is none of this name.
        """
        if name not in self.digests:
            raise NotFoundError(f"The test set {self.id} has no system {name!r}.", system=name)
        digest = self.digests[name]
        standing = Standing.FAILED if digest in self.failures else Standing.PENDING
        scores = None
        if digest in self.rows:
            standing = Standing.MEASURED
            rows = np.frombuffer(self.rows[digest]).reshape(len(self.metrics), -1)
            scores = {
                label: score_of(row, int(self.settings["replicas"]), parse_metric(metric))
                for label, row, metric in zip(
                    self.metrics, rows, self.settings["metrics"], strict=True
                )
            }
        error = self.failures.get(digest) if scores is None else None
        envelope = self.envelopes.get(name, PlainNotes())
        return SystemRecord(name, digest, standing, scores, error, envelope)


@dataclass(frozen=True)
class Choice:
    """How a leaderboard is decided, where not as its test set says.

    Attributes:
        alpha: Level of decisions and intervals.
        correction: Correction for multiple comparisons.
    """

    alpha: float | None = None
    correction: str | None = None

    @property
    def spelled(self) -> str:
        """What tells it from others: letters and digits, as ids of tasks have them."""
        return json.dumps([self.alpha, self.correction]).encode().hex()

    def beside(self, recipe: Recipe) -> Choice:
        """The same choice without what the test set says itself: of one choice, one spelling."""
        return Choice(
            None if self.alpha == recipe.alpha else self.alpha,
            None if self.correction == recipe.correction else self.correction,
        )

    @classmethod
    def of(cls, spelled: str) -> Choice:
        """The choice that `spelled` wrote."""
        return cls(*json.loads(bytes.fromhex(spelled)))


def row_name(resamples: int | str, *digests: str) -> str:
    """What the row of one system, or of a pair, is called; `said` for all numbers of resamples."""
    return " ".join((MAKE, str(resamples), *digests))


def score_of(row: Array, replicas: int, metric: Metric) -> ScoreReport:
    """What one row of a system says."""
    score, low, high, stderr, _, *rest = row.tolist()
    counts = metric.beside(rest[replicas:][: metric.width], replicas) if metric.counted else {}
    return score_report(score, (low, high), stderr, rest[:replicas], counts=counts)


Member = tuple[str, str]  # name and digest of a system
Pair = tuple[Member, Member]
Column = tuple[str, str]  # metric and test


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


_CHANGED = (
    "testset",
    "testset-systems",
    "testset-failures",
    "testset-left",
    "testset-envelopes",
)
SHOWN = ("caller", "created", "expiry", "summary", "resamples", "task")
COUNTED = ("capacity", "submissions", "changed", "bytes", "family")
# of a comparison that is frozen
FROZEN = (
    "caller",
    "kind",
    "about",
    "testset",
    "outline",
    "outcome",
    "progress",
    "computed_with",
    "pictures",
)


class TestSetStore(Shelf[TestSetRecord]):
    """Reads and writes test sets and systems. Raises what redis raises."""

    kind, noun, listed, busy = "testset", "test set", "testsets", keys.JOINING

    # test sets

    def besides(self, pipe: Any, name: str) -> tuple[list[str], list[str]]:
        """The comparisons that it shows or showed are deleted with a test set, and totals."""
        shown = self.comparison_of(name, Choice().spelled)
        reports = {*map(decoded, pipe.smembers(keys.key("testset-reports", name)))}
        return [*filter(None, [shown]), *reports.difference([shown])], []

    def stored(self, name: str) -> TestSetRecord | None:
        """A test set as it is now, unless it expired, was deleted or never was."""
        with self.redis.pipeline() as pipe:
            pipe.hmget(keys.key("testset", name), SHOWN + COUNTED + FIELDS)
            pipe.hgetall(keys.key("testset-systems", name))
            pipe.hgetall(keys.key("testset-failures", name))
            pipe.smembers(keys.key("testset-left", name))
            pipe.hgetall(keys.key("testset-envelopes", name))
            facts, systems, failures, left, envelopes = pipe.execute()
        if facts[0] is None:
            return None
        caller, created, expiry, summary, resamples, task = (
            decoded(fact or b"") for fact in facts[: len(SHOWN)]
        )
        counts = facts[len(SHOWN) : -len(FIELDS)]
        capacity, submissions, changed, size, family = (int(count or 0) for count in counts)
        told = json.loads(summary)
        digests = {decoded(system): decoded(digest) for system, digest in systems.items()}
        rows = self.rows(name, [row_name(resamples, digest) for digest in digests.values()])
        parts = (decoded(member).partition(" ") for member in left)
        return TestSetRecord(
            id=name,
            caller=caller,
            name=told["name"],
            created_at=float(created),
            expires_at=int(expiry) / 1000,
            content=told["content"],
            settings={**told["settings"], "resamples": int(resamples), "capacity": capacity},
            metrics=tuple(told["metrics"]),
            submissions=submissions,
            family=family or capacity,
            task=task or None,
            envelope=envelope_of(facts[-len(FIELDS) :]),
            # 0.2.0 noted no change; each put the end off
            changed_at=changed / 1000 or int(expiry) / 1000 - self.settings.retention,
            digests=digests,
            failures={decoded(digest): decoded(why) for digest, why in failures.items()},
            left=frozenset((system, digest) for digest, _, system in parts) - digests.items(),
            envelopes=by_name(envelopes),
            rows={d: row for d, row in zip(digests.values(), rows, strict=True) if row is not None},
            mark=changed,
            size=size,
        )

    def part(self, testset_id: str) -> Part:
        """The settings of a test set, without systems.

        Raises:
            GoneError: It expired or was deleted.
        """
        packed, resamples = self.redis.hmget(keys.key("testset", testset_id), ["part", "resamples"])
        if packed is None or resamples is None:
            raise self.gone(testset_id)
        part = Part.of(codec.unpack_json(packed))
        return replace(part, recipe=part.recipe.but(resamples=int(resamples)))

    def testset(self, testset_id: str) -> TestSet:
        """References, documents and labels.

        Raises:
            GoneError: They were deleted.
        """
        packed = self.redis.get(keys.key("testset-text", testset_id))
        if packed is None:
            raise self.gone(testset_id)
        return TestSet.load(codec.unpack_json(packed))

    def raise_resamples(
        self, testset_id: str, caller: str, resamples: int, check: Check = unseen
    ) -> TestSetRecord:
        """Draw more resamples, the first of which stay; every system is measured again.

        Raises:
            RecipeError: Fewer than there are, or more than there can be.
        """
        self.part(testset_id).recipe.but(resamples=resamples)  # checks the range
        record = keys.key("testset", testset_id)
        forgotten = ("testset-rows", "testset-failures", "attempts")

        def write(pipe: Any) -> bool:
            before = int(pipe.hget(record, "resamples"))
            if resamples < before:
                raise RecipeError(
                    f"The test set has {before:,} resamples already; more can be asked for, not "
                    f"{resamples:,}.",
                    field="resamples",
                )
            pipe.multi()
            if resamples > before:
                pipe.hset(record, "resamples", resamples)
                pipe.delete(*(keys.key(part, testset_id) for part in forgotten))
                pipe.sadd(keys.JOINING, testset_id)
            return True

        self.change(testset_id, caller, write, self.seen(testset_id, caller, check))
        return self.find(testset_id, caller)

    def enrol(self, testset_id: str, caller: str, task_id: str, family: int) -> None:
        """Let a test set belong to a shared task.

        Args:
            testset_id: The test set.
            caller: Whose it is.
            task_id: The task.
            family: Of how many systems all pairs are corrected together.

        Raises:
            TakenError: It belongs to another task, or has systems and another family.
        """
        record = keys.key("testset", testset_id)

        def write(pipe: Any) -> bool:
            task, *counts = pipe.hmget(record, ["task", "family", "capacity", "submissions"])
            before, capacity, submissions = (int(count or 0) for count in counts)
            other = decoded(task or task_id)
            if other != task_id and pipe.exists(keys.key("shared-task", other)):
                raise TakenError(f"The test set {testset_id} has another task.", field="testsets")
            if submissions and family != (before or capacity):
                raise TakenError(
                    f"The test set {testset_id} has systems already: how many pairs are corrected "
                    "together is fixed by then. Take family testset, or make a new test set.",
                    field="family",
                )
            pipe.multi()
            pipe.hset(record, mapping={"task": task_id, "family": family})
            return True

        self.change(testset_id, caller, write)

    def leave(self, testset_id: str, task_id: str) -> None:
        """Let a test set belong to no shared task, where it belongs to this one."""
        record = keys.key("testset", testset_id)
        if self.belongs(testset_id, task_id):
            begun = self.redis.hexists(record, "submissions")
            self.redis.hdel(record, "task", *(() if begun else ("family",)))

    def belongs(self, testset_id: str, task_id: str) -> bool:
        """Whether a test set is there, and belongs to this shared task."""
        return bool(self.redis.hget(keys.key("testset", testset_id), "task") == task_id.encode())

    def delete(self, name: str, caller: str, check: Check = unseen) -> None:
        """Delete a test set with its systems and everything that was computed."""
        super().delete(name, caller, check)
        self._forget_totals(name)

    # systems

    def put(
        self,
        testset_id: str,
        caller: str,
        system: System,
        replaces: bool,
        most: int,
        limit: str,
        notes: Noted = NOTHING,
        check: Check | None = None,
        entry: Entry | None = None,
    ) -> tuple[SystemRecord, str]:
        """Add a system, or replace one by other content, and write on it.

        Args:
            testset_id: The test set.
            caller: Whose it is.
            system: What it brings, checked by `TestSets.check`.
            replaces: Whether other content under the same name may go.
            most: Systems that the test set may have.
            limit: The setting that says so.
            notes: What is written on it; what is not said stays.
            check: Raises where the system that is there is not what its caller thinks.
            entry: Of a team of a shared task, whose rules hold, and whose receipt is written, too.

        Returns:
            The system, and what was done: `created`, `replaced`, `known`, or `again` where the
            same content had failed.

        Raises:
            TakenError: Other content is there under this name, or it is one of a team's.
            LimitError: The test set has as many systems as it may have.
            CapacityError: It has taken as many as were declared when it was made.
        """
        name, digest, output = system.name, system.sha256, codec.pack_json(system.as_json())
        record, systems, failures, left, envelopes = (
            keys.key(part, testset_id) for part in _CHANGED
        )

        def write(pipe: Any) -> str:
            fields = ["capacity", "submissions", "resamples", "expires", "task"]
            capacity, submissions, resamples, expires, task = pipe.hmget(record, fields)
            held, count = pipe.hget(systems, name), pipe.hlen(systems)
            failed, back = pipe.hexists(failures, digest), pipe.sismember(left, f"{digest} {name}")
            before = None if held is None else decoded(held)
            shared = list(map(decoded, pipe.hvals(systems))).count(before or "") > 1
            new = before != digest
            size = len(output) if new else 0
            check_lasting(self.redis, self.settings, caller, int(expires or 0), size)
            shared_task = None if task is None else decoded(task)
            place = admit(pipe, testset_id, shared_task, entry, name, digest, before)
            own = replaces if place.receipt is None else place.receipt.event == "replaced"
            spends = new and not back  # what comes back has its place: its pairs never left
            taken = int(submissions or 0)
            refusals = {
                "foreign": new and place.foreign,
                "taken": before and new and not own,
                "full": not before and count >= most,
                "spent": spends and int(capacity) - taken <= place.reserved,
            }
            if refusal := next((word for word, holds in refusals.items() if holds), ""):
                raise _refusals(system.name, entry, (most, limit), taken, int(capacity))[refusal]
            pipe.multi()
            if spends:
                pipe.hincrby(record, "submissions", 1)
            verdict = "again" if failed else "known"
            if failed:
                pipe.hdel(failures, digest)
                join = Task("join", testset_id, (digest, int(resamples or 0)))
                pipe.hdel(keys.key("attempts", testset_id), join.key)
            if new:
                verdict = "replaced" if before else "created"
                pipe.hset(systems, name, digest)
                pipe.hset(keys.key("testset-outputs", testset_id), digest, output)
            if before and new:
                self._leave(pipe, testset_id, name, before, shared)
            if verdict != "known":
                pipe.sadd(keys.JOINING, testset_id)
            for part, value in fields_of(notes).items():
                pipe.hset(envelopes, f"{part} {name}", value)
            if place.receipt is not None:
                pipe.rpush(keys.key("testset-receipts", testset_id), spelled(place.receipt))
            return verdict

        verdict = self._come_or_go(testset_id, caller, name, write, check, entry)
        return self.find(testset_id, caller).system(name), verdict

    def remove(
        self,
        testset_id: str,
        caller: str,
        name: str,
        check: Check = unseen,
        entry: Entry | None = None,
    ) -> None:
        """Delete a system with its texts; `check` and `entry` as for `put`.

        Raises:
            NotFoundError: There is none of this name.
        """
        _, systems, _, _, envelopes = (keys.key(part, testset_id) for part in _CHANGED)

        def write(pipe: Any) -> str:
            held, digests = pipe.hget(systems, name), list(map(decoded, pipe.hvals(systems)))
            receipts = receipts_of(pipe, testset_id)
            receipt = behind(receipts, name)
            if entry is not None:
                receipt = entry.receipt(pipe, receipts, decoded(held or b""), withdrawn=True)
            elif receipt is not None:
                receipt = replace(receipt, at=clock(pipe), event="removed")
            pipe.multi()
            if receipt is not None:
                pipe.rpush(keys.key("testset-receipts", testset_id), spelled(receipt))
            pipe.hdel(systems, name)
            pipe.hdel(envelopes, *(f"{part} {name}" for part in FIELDS))
            self._leave(pipe, testset_id, name, decoded(held), digests.count(decoded(held)) > 1)
            pipe.sadd(keys.JOINING, testset_id)
            return "removed"

        self._come_or_go(testset_id, caller, name, write, check, entry)
        with suppress(OutOfMemoryError):
            self.redis.set(keys.ERASE, 1)

    @staticmethod
    def _leave(pipe: Any, testset_id: str, name: str, digest: str, shared: bool) -> None:
        """Note that a system leaves; its content goes where no other brings the same."""
        pipe.sadd(keys.key("testset-left", testset_id), f"{digest} {name}")
        if not shared:
            pipe.hdel(keys.key("testset-outputs", testset_id), digest)
            pipe.hdel(keys.key("testset-failures", testset_id), digest)

    def _come_or_go(
        self,
        testset_id: str,
        caller: str,
        name: str,
        write: Callable[[Any], T],
        check: Check | None,
        entry: Entry | None,
    ) -> T:
        """Change the systems of a test set, under the rules of its task where a team does."""

        def checked() -> None:
            if check is not None:
                check(self.find(testset_id, caller).system(name).etag)

        watched = [keys.key(part, testset_id) for part in (*_CHANGED, "testset-receipts")]
        watched += [entry.record] if entry is not None else []
        return self.change(testset_id, caller, write, checked, watched=watched)

    def has(self, testset_id: str, digest: str) -> bool:
        """Whether a system of the test set has this content."""
        return bool(self.redis.hexists(keys.key("testset-outputs", testset_id), digest))

    def wants(self, testset_id: str, digest: str) -> bool:
        """Whether this content is to be measured: it is there, and did not fail."""
        failed = self.redis.hexists(keys.key("testset-failures", testset_id), digest)
        return not failed and self.has(testset_id, digest)

    def output(self, testset_id: str, digest: str) -> System | None:
        """What a system brought, under a name of no meaning; nothing where it was removed."""
        packed = self.redis.hget(keys.key("testset-outputs", testset_id), digest)
        if packed is None:
            return None
        return System.load("system", codec.unpack_json(packed))

    # what workers make of them

    def joining(self) -> list[str]:
        """Ids of the test sets whose systems have changed since they were last settled."""
        return sorted(decoded(testset_id) for testset_id in self.redis.smembers(keys.JOINING))

    def settle(self, testset_id: str, seen: TestSetRecord | None = None) -> None:
        """Nothing is left to do for a test set, unless it was changed since it was seen."""
        record = keys.key("testset", testset_id)

        def write(pipe: Any) -> None:
            mark = int(pipe.hget(record, "changed") or 0)
            pipe.multi()
            if seen is None or mark == seen.mark:
                pipe.srem(keys.JOINING, testset_id)
                pipe.delete(keys.key("attempts", testset_id))

        self.redis.transaction(write, record)

    def unsettle(self, testset_id: str) -> None:
        """Something is left to do: there are systems that another version measured."""
        self.redis.sadd(keys.JOINING, testset_id)

    def fail(self, testset_id: str, digest: str, message: str) -> None:
        """Note why a digest cannot be measured."""
        self._hold("testset-failures", testset_id, {digest: message.encode()})

    def rows(self, testset_id: str, names: Sequence[str]) -> list[bytes | None]:
        """Rows by their names."""
        found: list[bytes | None] = []
        if names:
            key = keys.key("testset-rows", testset_id)
            found = self.redis.hmget(key, names)
        return found

    def add_rows(self, testset_id: str, rows: Mapping[str, bytes]) -> None:
        """Keep rows, which follow from what their names say."""
        self._hold("testset-rows", testset_id, rows)

    def tidy(self, testset_id: str, state: TestSetRecord) -> None:
        """Drop totals of what no system brings any longer; rows, where they have become many."""
        current = set(state.digests.values())
        if unused := {digest for _, digest in state.left} - current:
            self._forget_totals(testset_id, unused)
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

    # claims

    def note_claims(
        self,
        testset_id: str,
        columns: Sequence[Column],
        pairs: Sequence[Pair],
        p_values: Array,
        significant: Flags,
    ) -> None:
        """Keep what a report says as long as its test set; the first time of a claim stays.

        Args:
            testset_id: The test set.
            columns: Its metrics and tests, always the same.
            pairs: Those of the report.
            p_values: (P, columns) of each.
            significant: (P, columns) whether the difference is claimed.
        """
        caller, expiry = self.holder(testset_id)
        if not expiry:
            return
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
            weigh(pipe, caller, "testset", testset_id)

        self.redis.transaction(write, name)

    def p_values_seen(self, testset_id: str) -> dict[Pair, Array]:
        """The p-values of every pair that a report ever had, by metric and test."""
        columns, rows = _read(self.redis, keys.key("testset-claims", testset_id))
        return {pair: row[: len(columns)] for pair, row in rows.items()}

    def times_of_claims(
        self, testset_id: str, column: Column, pairs: Sequence[Pair]
    ) -> list[float | None]:
        """When each claim was first made, in seconds since the epoch; nothing where it was not."""
        columns, rows = _read(self.redis, keys.key("testset-claims", testset_id))
        if column not in columns:
            return [None] * len(pairs)
        place = len(columns) + columns.index(column)
        found = [float(rows[pair][place]) if pair in rows else math.nan for pair in pairs]
        return [None if math.isnan(when) else when for when in found]

    # totals

    def totals(self, places: Sequence[str], names: Sequence[str]) -> list[dict[str, bytes]]:
        """Some parts of the totals under some keys; nothing of those that are gone."""
        with self.redis.pipeline(transaction=False) as pipe:
            for place in places:
                pipe.hmget(place, names)
            found = pipe.execute()
        return [
            {name: part for name, part in zip(names, parts, strict=True) if part is not None}
            for parts in found
        ]

    def keep(self, testset_id: str, resamples: int, digest: str, parts: Parts) -> None:
        """Keep a system's totals in the place of the oldest, at most as long as its test set."""
        name, (_, expiry) = keys.totals(testset_id, resamples, digest), self.holder(testset_id)
        size, most = sum(map(len, parts.values())), self.settings.most_totals
        if not expiry or size > most:
            return
        with self.redis.pipeline() as pipe:
            pipe.hset(name, mapping=parts)
            pipe.pexpireat(name, expiry)
            pipe.delete(*keys.OLDER)
            pipe.execute()
        lasts = self.settings.retention
        if old := newest(self.redis, keys.TOTALS, name, lasts, MOST_TOTALS, size, most):
            self.redis.delete(*old)

    def _forget_totals(self, testset_id: str, digests: Collection[str] | None = None) -> None:
        """Drop the totals of a test set, of all systems or of some digests."""
        members = map(decoded, self.redis.lrange(keys.TOTALS, 0, -1))
        with self.redis.pipeline(transaction=False) as pipe:
            for member in members:
                _, _, owner, *_, digest = member.split(":")
                if owner == testset_id and (digests is None or digest in digests):
                    pipe.lrem(keys.TOTALS, 0, member)
                    pipe.delete(member.partition(" ")[2])
            pipe.execute()

    # what leaderboards show

    def comparison_of(self, testset_id: str, choice: str) -> str | None:
        """Id of the comparison that was shown last."""
        found = self.redis.hget(keys.key("testset-shown", testset_id), choice)
        return None if found is None else decoded(found)

    def add_comparison(
        self,
        state: TestSetRecord,
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
        testset, expiry = state.id, int(state.expires_at * 1000)
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
            pipe.hset(name, mapping=facts)
            pipe.hsetnx(name, "created", repr(time.time()))
            pipe.pexpireat(name, expiry)
            packed = codec.pack_bytes(report)
            pipe.set(keys.key("report", question_id), packed, pxat=expiry)
            pipe.set(keys.key("gone", question_id), state.caller, pxat=remembered)
            reports = keys.key("testset-reports", testset)  # deleted with the test set
            pipe.sadd(reports, question_id)
            pipe.pexpireat(reports, expiry)
            pipe.publish(keys.key("news", testset), question_id)
            weigh(pipe, state.caller, "question", question_id)
            # not as long as it lasts: its own bytes say that, until it is deleted
            usual = self.settings.retention + self.settings.remembrance
            hold(pipe, state.caller, min(remembered, int((time.time() + usual) * 1000)))
            pipe.execute()

    def freeze(self, shown: Record, title: str, notes: Noted) -> tuple[str, bool]:
        """Store what a leaderboard shows once more, to stay as it is whatever becomes of the board.

        Args:
            shown: The comparison.
            title: What it is called where the notes do not say it.
            notes: What is written on it.

        Returns:
            Id of the frozen one, a function of test set and comparison; whether it is new.

        Raises:
            GoneError: The comparison is no longer there.
            BudgetError: The caller has too much that lasts.
        """
        frozen_id, now = keys.hashed("frozen", str(shown.testset), shown.id), time.time()
        name, place = keys.key("question", frozen_id), place_of(frozen_id, now)
        facts = dict(
            zip(FROZEN, self.redis.hmget(keys.key("question", shown.id), FROZEN), strict=True)
        )
        report = self.redis.get(keys.key("report", shown.id))
        if report is None or facts["caller"] is None:
            raise self.gone(str(shown.testset))
        size = len(report) + sum(map(len, filter(None, facts.values())))
        check_lasting(self.redis, self.settings, shown.caller, LAST, size, name)

        def write(pipe: Any) -> bool:
            new = not pipe.exists(name)
            pipe.multi()
            pipe.hset(name, mapping={**fields_of(notes), "frozen": 1, "expires": LAST})
            if new:
                own = {"created": repr(now), "place": place}
                pipe.hset(name, mapping={**facts, **own, **fields_of({"title": title, **notes})})
                pipe.set(keys.key("report", frozen_id), report)
                stay(pipe, self.settings, shown.caller, "question", frozen_id, shown.kind, LAST)
            return new

        return frozen_id, bool(self.redis.transaction(write, name, value_from_callable=True))

    def show(self, state: TestSetRecord, choice: Choice, question_id: str) -> None:
        """Note which comparison is to be shown; webhooks are told where it is another one.

        They are told of the choice that their test set makes, and of no other.
        """
        names = [keys.key(part, state.id) for part in ("testset-shown", "testset-reports")]
        shown, reports = names
        told = {"id": state.id, "name": state.name, "comparison": question_id}
        message = Message.of("leaderboard.refreshed", {**told, **vars(state.envelope)})

        def write(pipe: Any) -> None:
            expiry = pipe.hget(keys.key("testset", state.id), "expiry")
            before = decoded(pipe.hget(shown, choice.spelled) or b"")
            pipe.multi()
            if expiry is None:
                return
            pipe.hset(shown, choice.spelled, question_id)
            pipe.sadd(reports, question_id)
            for name in names:
                pipe.pexpireat(name, int(expiry))
            pipe.publish(keys.key("news", state.id), question_id)
            if choice == Choice() and before != question_id:
                announce(pipe, state.caller, message)

        self.redis.transaction(write, keys.key("testset", state.id), shown)
        if choice != Choice():
            chosen = " ".join((state.id, choice.spelled, question_id))
            group = keys.of_caller("choices", state.caller)
            for old in newest(self.redis, group, chosen, self.settings.retention, MOST_CHOICES):
                self._drop(state.caller, *old.split())

    def _drop(self, caller: str, testset_id: str, spelled: str, question_id: str) -> None:
        """Forget a comparison that only a reader chose."""
        shown, reports = (keys.key(f"testset-{part}", testset_id) for part in ("shown", "reports"))
        with self.redis.pipeline() as pipe:
            weigh(pipe, caller, "question", question_id, lasts=False)
            pipe.hdel(shown, spelled)
            pipe.srem(reports, question_id)
            pipe.delete(*(keys.key(part, question_id) for part in (*keys.OF_QUESTION, "gone")))
            pipe.execute()

    def _hold(self, part: str, testset_id: str, fields: Mapping[str, bytes]) -> None:
        """Keep something of a test set as long as it."""
        name, (caller, expiry) = keys.key(part, testset_id), self.holder(testset_id)
        if fields and expiry:
            with self.redis.pipeline() as pipe:
                pipe.hset(name, mapping=fields)
                pipe.pexpireat(name, expiry)
                weigh(pipe, caller, "testset", testset_id)
                pipe.execute()

    def holder(self, testset_id: str) -> tuple[str, int]:
        """Whose a test set is, and when it expires, in milliseconds; 0 where it is gone."""
        name = keys.key("testset", testset_id)
        caller, expiry = self.redis.hmget(name, ["caller", "expiry"])
        return decoded(caller or b""), int(expiry or 0)

    def revive(self, testset_id: str) -> None:
        """Let the systems of a test set that failed be measured as if never tried."""
        parts = ("testset-failures", "attempts")
        self.redis.delete(*(keys.key(part, testset_id) for part in parts))
        self.unsettle(testset_id)


def _refusals(
    name: str, entry: Entry | None, room: tuple[int, str], taken: int, capacity: int
) -> dict[str, SigtestError]:
    """Why a system is not taken, by reason.

    Args:
        name: Of the system.
        entry: Of a team of a shared task, where one submits it.
        room: How many systems there may be, and the setting that says so.
        taken: How many were, from first to last.
        capacity: How many of those there may be.
    """
    (most, limit), (team, _, _) = room, name.partition(".")
    place: dict[str, Any] = {"field": "name", "system": name}
    refusals: dict[str, SigtestError] = {
        "foreign": TakenError(
            f"{name!r} is a name of the team {team!r}, which submits with its token; take a name "
            "that does not begin so.",
            **place,
        ),
        "taken": TakenError(
            f"The test set has a system {name!r} with other content; replace it (?replace=true, "
            "--replace, or the box of the form), or take another name.",
            **place,
        ),
        "full": LimitError(
            f"The test set has {most:,} system{'' if most == 1 else 's'} already, the most that "
            f"{limit} allows with its replicas, metrics and resamples.",
            limit=limit,
            **place,
        ),
        "spent": CapacityError(
            f"The test set has taken {taken} systems, deleted and replaced ones among them, and "
            f"its capacity is {capacity}: its claims count with no more. Make a test set with a "
            "larger capacity.",
            **place,
        ),
    }
    if entry is not None:  # no numbers: they are other teams'
        words = "The test set has no more room for your team; ask its organiser."
        refusals |= dict.fromkeys(("full", "spent"), CapacityError(words, field="name"))
        words = f"A system that is not yours has the name {entry.system!r}; take another."
        refusals["taken"] = TakenError(words, field="name", system=entry.system)
    return refusals


MOST_TOTALS = 10_000
MOST_CHOICES = 8  # of a caller's boards, decided in another way than their test sets say
