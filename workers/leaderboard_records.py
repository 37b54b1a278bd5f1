"""What a caller is told about a test set, its systems and its leaderboard."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Any

import numpy as np

from sigtest.decide.rows import score_of
from sigtest.report import ScoreReport
from workers.codec import unpack_bytes


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
    """

    name: str
    digest: str
    standing: Standing
    scores: Mapping[str, ScoreReport] | None
    error: str | None


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
    """

    __test__ = False  # pytest: not a test class

    id: str
    name: str
    created_at: float
    expires_at: float
    content: Mapping[str, Any]
    settings: Mapping[str, Any]
    metrics: tuple[str, ...]
    systems: int
    pending: int

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
        era: Another one whenever something was replaced, deleted or raised.
        revision: Another one whenever the measured systems are others.
        showing: The last revision whose default leaderboard somebody puts together unasked.
        digests: Content of each system, by name.
        measured: Names of the systems whose rows all exist.
        failures: Why a digest cannot be measured.
    """

    caller: str
    record: TestSetRecord
    era: str
    revision: str
    showing: str
    digests: Mapping[str, str]
    measured: frozenset[str]
    failures: Mapping[str, str]

    @property
    def resamples(self) -> int:
        """R in force."""
        return int(self.record.settings["resamples"])

    @property
    def pending(self) -> tuple[str, ...]:
        """Names of the systems that are to be measured, sorted."""
        done = self.measured
        return tuple(
            name
            for name, digest in sorted(self.digests.items())
            if name not in done and digest not in self.failures
        )

    @property
    def failed(self) -> dict[str, str]:
        """Why systems could not be measured, by name."""
        return {
            name: self.failures[digest]
            for name, digest in sorted(self.digests.items())
            if name not in self.measured and digest in self.failures
        }


@dataclass(frozen=True)
class Choice:
    """What a leaderboard shows of its test set.

    Attributes:
        metric: Label of the metric.
        test: Name of the significance test.
        alpha: Level of decisions and intervals.
        correction: Correction for multiple comparisons.
    """

    metric: str
    test: str
    alpha: float
    correction: str

    @property
    def field(self) -> str:
        """What tells it from others."""
        return json.dumps([self.metric, self.test, self.alpha, self.correction])


@dataclass(frozen=True)
class Leaderboard:
    """A leaderboard as it is shown.

    Attributes:
        testset: Id of its test set.
        name: Of the test set.
        choice: What it shows.
        packed: The report of all systems that are measured, compressed.
        systems: Their names, sorted.
        pending: Names of systems that are still to be measured.
        failed: Why systems could not be measured, by name.
        fresh: Whether every measured system is in the report.
        era: Another one whenever something was replaced, deleted or raised since it was read.
    """

    testset: str
    name: str
    choice: Choice
    packed: bytes
    systems: tuple[str, ...]
    pending: tuple[str, ...]
    failed: Mapping[str, str]
    fresh: bool
    era: str

    @cached_property
    def report(self) -> bytes:
        """Canonical JSON of the report."""
        return unpack_bytes(self.packed)

    @property
    def head(self) -> dict[str, Any]:
        """What it says besides the report."""
        return {
            "id": self.testset,
            "name": self.name,
            "metric": self.choice.metric,
            "test": self.choice.test,
            "pending": list(self.pending),
            "failed": dict(self.failed),
        }

    @property
    def etag(self) -> str:
        """Changes whenever anything else does."""
        head = json.dumps(self.head).encode("utf-8", "backslashreplace")
        return hashlib.sha256(head + self.packed).hexdigest()[:32]


def system_record(state: State, name: str, row: bytes | None) -> SystemRecord:
    """What is told of a system, `row` being what its rows in all metrics say."""
    digest = state.digests[name]
    measured = name in state.measured and row is not None
    scores = None
    if measured and row is not None:
        labels = state.record.metrics
        rows = np.frombuffer(row).reshape(len(labels), -1)
        scores = {label: score_of(row) for label, row in zip(labels, rows, strict=True)}
    failed = digest in state.failures and not measured
    standing = Standing.FAILED if failed else Standing.PENDING
    return SystemRecord(
        name,
        digest,
        Standing.MEASURED if measured else standing,
        scores,
        state.failures[digest] if failed else None,
    )
