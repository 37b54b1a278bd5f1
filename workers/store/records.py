"""What a caller is told about a question while it is computed and afterwards."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum

from sigtest.kinds import About
from sigtest.requests.notes import Notes

Check = Callable[[str], None]  # of an ETag; raises where it is not the one that is meant


class Status(StrEnum):
    """Where a question stands."""

    QUEUED = "queued"
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELLED = "cancelled"

    @property
    def finished(self) -> bool:
        """Whether it stays as it is."""
        return self not in {Status.QUEUED, Status.RUNNING}


@dataclass(frozen=True)
class Progress:
    """How much of the current phase exists.

    Attributes:
        phase: `statistics` (arrays), `resampling` (resamples) or `report`.
        done: How many of them exist.
        total: How many there will be.
    """

    phase: str
    done: int
    total: int


@dataclass(frozen=True)
class Record:
    """A question as its caller sees it.

    Attributes:
        id: 32 hexadecimal digits: a hash of caller, content, choices and versions.
        kind: Path of its kind.
        status: Where it stands.
        progress: How far it is.
        created_at: Seconds since the epoch.
        expires_at: When it will be forgotten, seconds since the epoch.
        size: Bytes that what was brought takes in the store.
        about: Names and labels of what it is about.
        testset: Id of the test set that it shows the leaderboard of, if it does.
        computed_with: Version of sigtest that computed it, once it has succeeded.
        pictures: Names of those that can be drawn of its report.
        error: Why it failed, if it did.
        envelope: What its caller wrote on it.
    """

    id: str
    kind: str
    status: Status
    progress: Progress
    created_at: float
    expires_at: float
    size: int
    about: About
    testset: str | None = None
    computed_with: str | None = None
    pictures: tuple[str, ...] = ()
    error: str | None = None
    envelope: Notes = field(default_factory=Notes)

    @property
    def etag(self) -> str:
        """Changes whenever anything else does."""
        told = f"{self.created_at} {self.status} {self.progress} {self.error} {self.envelope}"
        seen = f"{self.id} {told}"
        return hashlib.sha256(seen.encode()).hexdigest()[:32]


@dataclass(frozen=True)
class Place:
    """Where an unfinished question stands among its caller's; other callers' are served in turn.

    Attributes:
        seconds: Of one core, predicted for it.
        smaller: How many questions of its caller are smaller and come first.
        before: Seconds of one core predicted for those.
    """

    seconds: float
    smaller: int
    before: float
