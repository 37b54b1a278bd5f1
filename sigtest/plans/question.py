"""What is asked of a plan, validated."""

from __future__ import annotations

from dataclasses import dataclass

from sigtest.cached import cached_property
from sigtest.comparison.parse import StoredComparison
from sigtest.kinds.base import About
from sigtest.kinds.comparisons import ComparisonQuestion
from sigtest.kinds.whole import WholeQuestion
from sigtest.report import digest, encode
from sigtest.version import __version__


@dataclass(frozen=True)
class PlanQuestion(WholeQuestion):
    """A pilot and what to plan from it, validated when parsed.

    Attributes:
        pilot: A comparison on one test set by one metric.
        pair: Names of the two systems to plan for, or nothing for all pairs.
        difference: True difference that is to show, or nothing.
        units: A number of units to plan for besides the usual ones, or nothing.
        corrected: Whether the level is the strictest one of the correction.
    """

    pilot: StoredComparison
    pair: tuple[str, str] | None
    difference: float | None
    units: int | None
    corrected: bool

    @cached_property
    def key(self) -> str:
        """Hash of everything that the report is a function of."""
        return digest(["plan", __version__, {**encode(self), "pilot": self.pilot.plan.key}])

    @property
    def about(self) -> About:
        """That of the pilot."""
        return ComparisonQuestion(self.pilot).about

    @property
    def seconds(self) -> float:
        """The pilot's, mostly."""
        return 0.2 + ComparisonQuestion(self.pilot).seconds
