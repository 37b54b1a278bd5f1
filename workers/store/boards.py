"""What a caller is told about a test set, its systems and its leaderboard; what that claimed.

Claims stay when systems leave. Systems are told apart by name and content: what replaces a system
is another one. All pairs of a test set lie together, a number in eight bytes: as fields of their
own they took twenty times that.
"""

from __future__ import annotations

import hashlib
import json
import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import numpy as np
from redis import Redis

from sigtest.arrays import Array, Flags
from sigtest.decide.summary import score_report
from sigtest.report import ScoreReport
from sigtest.requests.notes import Notes
from sigtest.requests.recipe import Recipe
from workers.store import codec, keys
from workers.store.keys import MAKE


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
    envelope: Notes = field(default_factory=Notes)

    @property
    def etag(self) -> str:
        """Changes whenever anything else does."""
        return hashlib.sha256(repr(self).encode()).hexdigest()[:32]


@dataclass(frozen=True)
class TestSetRecord:
    """A test set as its caller sees it.

    Attributes:
        id: 32 hexadecimal digits: a hash of caller, content, settings and versions.
        name: What its caller calls it.
        created_at: Seconds since the epoch.
        expires_at: When it will be forgotten unless something changes, seconds since the epoch.
        content: Sizes and content hash, as reports have them.
        settings: The recipe as JSON, with the number of resamples that is in force, and how many
            replicas every system brings.
        metrics: Labels of the metrics.
        systems: How many it has.
        pending: How many of them are still to be measured.
        measured: How many of them are measured.
        submissions: How many different ones have been taken, with those deleted or replaced.
        envelope: What is written on it.
    """

    id: str
    name: str
    created_at: float
    expires_at: float
    content: Mapping[str, Any]
    settings: Mapping[str, Any]
    metrics: tuple[str, ...]
    systems: int
    pending: int
    measured: int = 0
    submissions: int = 0
    envelope: Notes = field(default_factory=Notes)

    @property
    def capacity(self) -> int:
        """How many systems may be submitted: their pairs are what is corrected for."""
        return int(self.settings["capacity"])

    @property
    def tests(self) -> tuple[str, ...]:
        """Names of the significance tests."""
        return tuple(self.settings["tests"])

    @property
    def etag(self) -> str:
        """Changes whenever anything else does."""
        return hashlib.sha256(repr(self).encode()).hexdigest()[:32]


@dataclass(frozen=True)
class State:
    """A test set at one moment.

    Attributes:
        caller: Whose it is.
        record: What its caller is told.
        digests: Content of each system, by name.
        rows: The rows of all contents that are measured, by digest.
        failures: Why a digest cannot be measured.
        left: Names and digests of systems that were deleted or replaced and are not back.
        envelopes: What is written on systems, by name, where anything is.
    """

    caller: str
    record: TestSetRecord
    digests: Mapping[str, str]
    rows: Mapping[str, bytes]
    failures: Mapping[str, str]
    left: frozenset[tuple[str, str]] = frozenset()
    envelopes: Mapping[str, Notes] = field(default_factory=dict)

    @property
    def resamples(self) -> int:
        """R in force."""
        return int(self.record.settings["resamples"])

    @property
    def measured(self) -> tuple[str, ...]:
        """Names of the systems that are measured, sorted."""
        return tuple(name for name, digest in sorted(self.digests.items()) if digest in self.rows)

    @property
    def pending(self) -> tuple[str, ...]:
        """Names of the systems that are to be measured, sorted."""
        return tuple(
            name
            for name, digest in sorted(self.digests.items())
            if digest not in self.rows and digest not in self.failures
        )

    @property
    def failed(self) -> dict[str, str]:
        """Why systems could not be measured, by name."""
        return {
            name: self.failures[digest]
            for name, digest in sorted(self.digests.items())
            if digest not in self.rows and digest in self.failures
        }

    def system(self, name: str) -> SystemRecord:
        """What is told of one system."""
        digest = self.digests[name]
        standing = Standing.FAILED if digest in self.failures else Standing.PENDING
        scores = None
        if digest in self.rows:
            standing = Standing.MEASURED
            rows = np.frombuffer(self.rows[digest]).reshape(len(self.record.metrics), -1)
            scores = {
                label: score_of(row) for label, row in zip(self.record.metrics, rows, strict=True)
            }
        error = self.failures.get(digest) if scores is None else None
        envelope = self.envelopes.get(name, Notes())
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


@dataclass(frozen=True)
class Rows:
    """What rows are called under one number of resamples.

    Attributes:
        resamples: R.
    """

    resamples: int

    def system(self, digest: str) -> str:
        """The row of one system."""
        return f"{MAKE} {self.resamples} {digest}"

    def said(self, digest: str) -> str:
        """What is said of one system's content, whatever the resamples."""
        return f"{MAKE} said {digest}"

    def pair(self, a: str, b: str) -> str:
        """The row of a pair, from both digests."""
        return f"{MAKE} {self.resamples} {a} {b}"


def score_of(row: Array) -> ScoreReport:
    """What one row of a system says."""
    score, low, high, stderr, _, *replicas = row.tolist()
    return score_report(score, low, high, stderr, replicas)


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
