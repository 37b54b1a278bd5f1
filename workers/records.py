"""What a caller is told about a comparison while it is computed and afterwards."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from enum import StrEnum

from sigtest.errors import RecipeError


class Status(StrEnum):
    """Where a comparison stands."""

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
    """A comparison as its caller sees it.

    Attributes:
        id: 32 hexadecimal digits: a hash of caller, content, recipe and versions.
        status: Where it stands.
        progress: How far it is.
        created_at: Seconds since the epoch.
        expires_at: When it will be forgotten, seconds since the epoch.
        systems: Names, in input order.
        metrics: Labels of the metrics.
        tests: Names of the significance tests.
        testsets: Names of the test sets where there are several.
        error: Why it failed, if it did.
    """

    id: str
    status: Status
    progress: Progress
    created_at: float
    expires_at: float
    systems: tuple[str, ...]
    metrics: tuple[str, ...]
    tests: tuple[str, ...]
    testsets: tuple[str, ...]
    error: str | None

    def require_one_testset(self) -> None:
        """Check that there is one test set of which distributions and plots can be made.

        Raises:
            RecipeError: There are several.
        """
        if self.testsets:
            raise RecipeError(
                "Distributions and plots are made of comparisons on one test set; this one is over "
                f"{len(self.testsets)} ({', '.join(self.testsets)}). Submit a comparison on the "
                "test set that you want to see.",
                field="testsets",
            )

    @property
    def etag(self) -> str:
        """Changes whenever anything else does."""
        seen = f"{self.id} {self.created_at} {self.status} {self.progress} {self.error}"
        return hashlib.sha256(seen.encode()).hexdigest()[:32]
