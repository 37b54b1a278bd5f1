"""What is asked about the accuracy of tests, validated."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from sigtest.arrays import Array
from sigtest.cached import cached_property
from sigtest.comparison.comparison import Comparison
from sigtest.comparison.parse import StoredComparison
from sigtest.kinds.base import About
from sigtest.kinds.comparisons import ComparisonQuestion
from sigtest.kinds.whole import WholeQuestion
from sigtest.people import HumanQuestion
from sigtest.report import ByClass, digest, encode
from sigtest.version import __version__


@dataclass(frozen=True)
class Judged:
    """What people say of all pairs of systems.

    Attributes:
        criteria: In the order in which they decide.
        p_greater: (C, P) one-sided p-values of the first system being better.
        p_less: (C, P) of the second.
        notes: What the report should warn of.
        signature: How they came about.
    """

    criteria: tuple[str, ...]
    p_greater: Array
    p_less: Array
    notes: tuple[str, ...] = ()
    signature: str = "p-values:given"


@dataclass(frozen=True)
class Tested:
    """What significance tests say of all pairs of systems, by several metrics.

    Attributes:
        systems: Names.
        pairs: (P,) names of the two systems of each pair.
        metrics: Labels, M.
        tests: Names, T.
        p_greater: (M, T, P) one-sided p-values of the first system being better.
        p_less: (M, T, P) of the second.
        signature: How they came about.
    """

    systems: tuple[str, ...]
    pairs: tuple[tuple[str, str], ...]
    metrics: tuple[str, ...]
    tests: tuple[str, ...]
    p_greater: Array
    p_less: Array
    signature: str


@dataclass(frozen=True)
class AccuracyQuestion(WholeQuestion):
    """Tests held against people, validated when parsed.

    Attributes:
        people: P-values of people, for the pairs of the comparison in their order; or judgements
            that they are to come from.
        comparison: What to compare; or p-values that were computed elsewhere.
        alphas: Levels of the tests.
        human_alpha: Level of the conclusions of people; that of the tests where there is none.
        notes: What the report should warn of.
    """

    people: Annotated[Judged | HumanQuestion, ByClass({"Asked": HumanQuestion})]
    comparison: Annotated[StoredComparison | Tested, ByClass()]
    alphas: tuple[float, ...]
    human_alpha: float | None
    notes: tuple[str, ...] = ()

    @cached_property
    def key(self) -> str:
        """Hash of everything that the report is a function of."""
        content = encode(self)
        if isinstance(self.comparison, Comparison):
            content["comparison"] = self.comparison.plan.key
        return digest(["accuracy", __version__, content])

    @property
    def about(self) -> About:
        """What is compared."""
        compared = self.comparison
        if isinstance(compared, Comparison):
            return ComparisonQuestion(compared).about
        return About(compared.systems, compared.metrics, compared.tests)

    @property
    def seconds(self) -> float:
        """The comparison for two claims, and what people say."""
        if isinstance(self.comparison, Comparison):
            return 0.2 + 2 * ComparisonQuestion(self.comparison).seconds
        return 0.2
