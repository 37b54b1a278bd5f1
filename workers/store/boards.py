"""Test sets, their systems and leaderboards in Redis, and what these claimed.

Claims stay when systems leave. Systems are told apart by name and content: what replaces a system
is another one. All pairs of a test set lie together, a number in eight bytes: as fields of their
own they took twenty times that.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import chain
from typing import Any

import numpy as np

from sigtest.arrays import Array
from sigtest.comparison.plan import Part, Plan
from sigtest.data.testset import System, TestSet
from sigtest.decide.summary import score_report
from sigtest.kinds.comparisons import about
from sigtest.metrics import Metric
from sigtest.report import Report, ScoreReport
from sigtest.requests.notes import PlainNotes
from sigtest.requests.recipe import parse_metric
from workers.errors import NotFoundError
from workers.store import codec, keys, totals
from workers.store.codec import decoded
from workers.store.keys import MAKE
from workers.store.lasting import COMMON, Shelf
from workers.store.questions import finish, finished
from workers.store.records import Lasting, Task, by_name
from workers.store.usage import hold, weigh
from workers.store.webhooks import Message, announce

JOIN_SECONDS = 0.5
REFRESH_SECONDS = 0.1


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
        return keys.hashed(repr(self))


@dataclass(frozen=True, kw_only=True)
class TestSetRecord(Lasting):
    """A test set.

    Attributes:
        name: What its caller calls it.
        content: Sizes and content hash, as reports have them.
        settings: The recipe as JSON, with the number of resamples that is in force, and how many
            replicas every system brings.
        metrics: Labels of the metrics.
        submissions: How many different systems have been taken, with those deleted or replaced.
        family: Of how many systems all pairs are corrected together.
        task: Id of the shared task that it belongs to, if it does.
        changed_at: Seconds since the epoch.
        digests: Content of each system, by name.
        failures: Why a digest cannot be measured.
        left: Names and digests of systems that were deleted or replaced and are not back.
        envelopes: What is written on systems, by name, where anything is.
        rows: The rows of all contents that are measured, by digest.
        mark: Moved by every change.
    """

    name: str
    content: Mapping[str, Any]
    settings: Mapping[str, Any]
    metrics: tuple[str, ...]
    submissions: int
    family: int
    task: str | None
    changed_at: float
    digests: Mapping[str, str]
    failures: Mapping[str, str]
    left: frozenset[tuple[str, str]] = field(repr=False)
    envelopes: Mapping[str, PlainNotes]
    rows: Mapping[str, bytes] = field(repr=False, compare=False)
    mark: int

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
        return keys.hashed(repr(self), *self.measured)

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

    @property
    def joins(self) -> list[Task]:
        """A task for everything that is to be measured."""
        digests = dict.fromkeys(self.digests[name] for name in self.pending)
        return [Task("join", self.id, (own, self.resamples), JOIN_SECONDS) for own in digests]

    def refreshing(self, question_id: str = "again") -> Task:
        """The task that writes what its leaderboard shows."""
        return Task("refresh", self.id, (question_id,), REFRESH_SECONDS)

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


SHOWN = b"[null, null]".hex()  # 0.3.0 had more: what readers chose to be decided in another way
FACTS = ("summary", "resamples", "capacity", "submissions", "changed", "family", "task")


class TestSetStore(Shelf[TestSetRecord]):
    """Reads and writes test sets and systems. Raises what redis raises."""

    kind, noun, listed, busy = "testset", "test set", "testsets", keys.JOINING
    body = "testset-text"

    # test sets

    def besides(self, pipe: Any, name: str) -> list[str]:
        """The comparisons that it shows or showed are deleted with a test set."""
        shown = self.shown(name)
        reports = {*map(decoded, pipe.smembers(keys.key("testset-reports", name)))}
        return [*filter(None, [shown]), *reports.difference([shown])]

    def stored(self, name: str) -> TestSetRecord | None:
        """A test set as it is now, unless it expired, was deleted or never was."""
        with self.redis.pipeline() as pipe:
            pipe.hmget(keys.key("testset", name), FACTS + COMMON)
            pipe.hgetall(keys.key("testset-systems", name))
            pipe.hgetall(keys.key("testset-failures", name))
            pipe.smembers(keys.key("testset-left", name))
            pipe.hgetall(keys.key("testset-envelopes", name))
            facts, systems, failures, left, envelopes = pipe.execute()
        summary, *counts, task = facts[: len(FACTS)]
        if summary is None:
            return None
        common = self.common(name, facts[len(FACTS) :])
        told = json.loads(summary)
        resamples, capacity, submissions, changed, family = (int(count or 0) for count in counts)
        digests = {decoded(system): decoded(digest) for system, digest in systems.items()}
        rows = self.rows(name, [row_name(resamples, digest) for digest in digests.values()])
        parts = (decoded(member).partition(" ") for member in left)
        return TestSetRecord(
            **common,
            name=told["name"],
            content=told["content"],
            settings={**told["settings"], "resamples": resamples, "capacity": capacity},
            metrics=tuple(told["metrics"]),
            submissions=submissions,
            family=family or capacity,
            task=decoded(task or b"") or None,
            # 0.2.0 noted no change; each put the end off
            changed_at=changed / 1000 or common["expires_at"] - self.settings.retention,
            digests=digests,
            failures={decoded(digest): decoded(why) for digest, why in failures.items()},
            left=frozenset((system, digest) for digest, _, system in parts) - digests.items(),
            envelopes=by_name(envelopes),
            rows={d: row for d, row in zip(digests.values(), rows, strict=True) if row is not None},
            mark=changed,
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

    # systems

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

    def settle(self, testset_id: str, seen: TestSetRecord | None = None) -> None:
        """Nothing is left to do for a test set, unless it was changed since it was seen."""
        record = keys.key("testset", testset_id)

        def write(pipe: Any) -> None:
            mark = int(pipe.hget(record, "changed") or 0)
            pipe.multi()
            if seen is None or mark == seen.mark:
                pipe.srem(keys.JOINING, testset_id)
                pipe.delete(keys.key("attempts", testset_id))

        if seen is not None:
            self._tidy(seen)
        self.redis.transaction(write, record)

    def unsettle(self, testset_id: str) -> None:
        """Something is left to do: there are systems that another version measured."""
        self.redis.sadd(keys.JOINING, testset_id)

    def fail(self, testset_id: str, digest: str, message: str) -> None:
        """Note why a digest cannot be measured."""
        self._hold("testset-failures", testset_id, {digest: message.encode()})

    def rows(self, testset_id: str, names: Sequence[str]) -> list[bytes | None]:
        """Rows by their names."""
        name = keys.key("testset-rows", testset_id)
        found: list[bytes | None] = self.redis.hmget(name, names) if names else []
        return found

    def add_rows(self, testset_id: str, rows: Mapping[str, bytes]) -> None:
        """Keep rows, which follow from what their names say."""
        self._hold("testset-rows", testset_id, rows)

    def _tidy(self, state: TestSetRecord) -> None:
        """Drop totals of what no system brings any longer; rows, where they have become many."""
        current, size = set(state.digests.values()), len(state.digests)
        if unused := {digest for _, digest in state.left} - current:
            totals.forget(self.redis, state.id, unused)
        name = keys.key("testset-rows", state.id)
        if self.redis.hlen(name) > 2 * (size * (size + 1) + 100):
            rows = map(decoded, self.redis.hkeys(name))
            if old := [row for row in rows if not current.issuperset(row.split(" ")[2:])]:
                self.redis.hdel(name, *old)

    # claims

    def claimed(self, testset_id: str, redis: Any = None) -> tuple[list[Column], dict[Pair, Array]]:
        """Metrics and tests, and what every pair had in a report: p-values, times of first claims.

        Times are in seconds since the epoch, NaN where nothing was claimed.
        """
        name = keys.key("testset-claims", testset_id)
        about, numbers = (redis or self.redis).hmget(name, ["about", "numbers"])
        if about is None:
            return [], {}
        told = codec.unpack_json(about)
        members = [(system, digest) for system, digest in told["members"]]
        pairs = [(members[a], members[b]) for a, b in told["pairs"]]
        rows = np.frombuffer(numbers).reshape(len(pairs), -1)
        columns = [(metric, test) for metric, test in told["columns"]]
        return columns, dict(zip(pairs, rows, strict=True))

    def note_claims(self, testset_id: str, part: Part, report: Report) -> None:
        """Keep what a report says as long as its test set; the first time of a claim stays."""
        members = list(zip(part.systems, part.digests, strict=True))
        pairs = [(members[a], members[b]) for a, b in part.pairs.tolist()]
        columns = [(label, test) for label in part.recipe.labels for test in part.recipe.tests]
        name = keys.key("testset-claims", testset_id)
        shape = len(columns), len(pairs)
        p_values = np.array([row.p_value for row in report.pairs]).reshape(shape).T
        significant = np.array([row.significant for row in report.pairs], bool).reshape(shape).T

        def write(pipe: Any) -> None:
            _, held = self.claimed(testset_id, pipe)
            none = np.full(2 * len(columns), np.nan)
            since = np.array([held.get(pair, none)[len(columns) :] for pair in pairs])
            since[np.isnan(since) & significant] = time.time()
            rows = held | dict(zip(pairs, np.hstack([p_values, since]), strict=True))
            place = {member: i for i, member in enumerate(dict.fromkeys(chain(*rows)))}
            told = {
                "columns": columns,
                "members": [*place],
                "pairs": [(place[a], place[b]) for a, b in rows],
            }
            numbers = np.stack([*rows.values()]).tobytes()
            pipe.multi()
            fields = {"about": codec.pack_json(told), "numbers": numbers}
            self._keep(pipe, "testset-claims", testset_id, fields)

        if pairs:
            self.redis.transaction(write, name)

    # what leaderboards show

    def shown(self, testset_id: str) -> str:
        """Id of the comparison that was shown last; empty before there is one."""
        return decoded(self.redis.hget(keys.key("testset-shown", testset_id), SHOWN) or b"")

    def show(
        self,
        state: TestSetRecord,
        question_id: str,
        plan: Plan,
        report: bytes = b"",
        pictures: Sequence[str] = (),
    ) -> None:
        """Show a comparison, as long as its test set is there; webhooks are told of another one.

        Args:
            state: The test set, which has the contents.
            question_id: Where the comparison is.
            plan: What is compared.
            report: Canonical JSON, where that is to be stored.
            pictures: Names of those that can be drawn of the report.
        """
        caller = state.caller
        record, shown, reports = (
            keys.key(part, state.id) for part in ("testset", "testset-shown", "testset-reports")
        )
        facts = finished("comparisons", about(plan), plan.as_json(), pictures)
        facts |= {"caller": caller, "testset": state.id}
        told = {"id": state.id, "name": state.name, "comparison": question_id}
        message = Message.of("leaderboard.refreshed", {**told, **vars(state.envelope)})

        def write(pipe: Any) -> None:
            lasts = int(pipe.hget(record, "expiry") or 0)
            before = decoded(pipe.hget(shown, SHOWN) or b"")
            pipe.multi()
            if not lasts:
                return
            if report:
                finish(pipe, self.settings, question_id, facts, report, lasts)
                # not as long as it lasts: its own bytes say that, until it is deleted
                usual = time.time() + self.settings.retention + self.settings.remembrance
                hold(pipe, caller, int(usual * 1000))
            pipe.hset(shown, SHOWN, question_id)
            pipe.sadd(reports, question_id)  # deleted with the test set
            for name in (shown, reports):
                pipe.pexpireat(name, lasts)
            pipe.publish(keys.key("news", state.id), question_id)
            if before != question_id:
                announce(pipe, caller, message)

        self.redis.transaction(write, record, shown)

    def _hold(self, part: str, testset_id: str, fields: Mapping[str, bytes]) -> None:
        with self.redis.pipeline() as pipe:
            self._keep(pipe, part, testset_id, fields)
            pipe.execute()

    def _keep(self, pipe: Any, part: str, testset_id: str, fields: Mapping[str, bytes]) -> None:
        """Let a pipeline write something of a test set, which lasts as long as it."""
        name = keys.key(part, testset_id)
        caller, expiry = self.holder(testset_id)
        if fields and expiry:
            pipe.hset(name, mapping=fields)
            pipe.pexpireat(name, expiry)
            weigh(pipe, caller, "testset", testset_id)

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
