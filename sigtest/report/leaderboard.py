"""The JSON of a leaderboard: the report of one metric and test, and what stands before it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sigtest.report.report import Report

# what a leaderboard says besides its report
ENVELOPE = (
    "id", "name", "metric", "test", "comparison", "capacity", "submissions", "claims", "pending",
    "failed",
)  # fmt: skip


@dataclass(frozen=True)
class LeaderboardReport:
    """A report with what a leaderboard says besides.

    Attributes:
        envelope: What it says besides, by the names of `ENVELOPE`.
        report: Of one metric and test.
    """

    envelope: Mapping[str, Any]
    report: Report

    def as_json(self) -> dict[str, Any]:
        """Both, the envelope first."""
        return {**self.envelope, **self.report.as_json()}
