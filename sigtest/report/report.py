"""The finished answer: everything that a renderer needs, and nothing that changes between runs."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from sigtest.cached import cached_property
from sigtest.report.codec import decode, encode
from sigtest.report.methods import Methods
from sigtest.report.parts import FamilyReport, MetricReport, Pairs, SystemReport

Power = Mapping[str, Mapping[str, float]]  # by metric, then test


@dataclass(frozen=True)
class TestSetReport:
    """What was measured against.

    Attributes:
        segments: How many.
        references: Reference sets.
        documents: How many, where they are known.
        sha256: Content hash.
    """

    __test__ = False  # pytest: not a test class

    segments: int
    references: int
    documents: int | None = field(default=None, kw_only=True)
    sha256: str


@dataclass(frozen=True)
class SmallTest:
    """An exact test whose units are the test sets.

    Attributes:
        p_value: Of the recipe's alternative.
        p_adjusted: Corrected within all pairs of this metric and test.
        significant: Whether p_adjusted is at most alpha.
    """

    p_value: float
    p_adjusted: float
    significant: bool


@dataclass(frozen=True)
class WinsReport:
    """One pair of systems and one metric over all test sets.

    Attributes:
        a: First system.
        b: Second system; the baseline where there is one.
        metric: Label of the metric.
        alternative: The claim.
        differences: score_a - score_b on each test set, not oriented.
        won: Test sets on which a is better.
        lost: On which b is.
        tied: On which neither is.
        rank_sum: Sum of the ranks of those that a wins, by size of the difference.
        sign_test: Over won and lost.
        signed_rank: Wilcoxon's, over the differences.
    """

    a: str
    b: str
    metric: str
    alternative: str
    differences: tuple[float, ...]
    won: int
    lost: int
    tied: int
    rank_sum: float
    sign_test: SmallTest
    signed_rank: SmallTest


@dataclass(frozen=True)
class NamedReport:
    """One test set of several.

    Attributes:
        name: Of the test set.
        report: Of that test set; p-values are corrected over all test sets and their whole.
    """

    name: str
    report: Report


@dataclass(frozen=True)
class Several:
    """What a report on several test sets has besides systems and pairs of all together.

    Attributes:
        average: `macro`: scores are means of the test sets' scores; `pooled`: scores are those of
            all segments as one test set, stratified by test set.
        comparisons: Size of each family: the pairs of one metric and test, of every test set and
            of all together.
        testsets: Each one's report, in input order.
        wins: By metric, then pair.
    """

    average: Literal["macro", "pooled"]
    comparisons: int
    testsets: tuple[NamedReport, ...]
    wins: tuple[WinsReport, ...]


@dataclass(frozen=True)
class Overall:
    """What several test sets say together.

    Attributes:
        average: `macro`: scores are means of the test sets' scores; `pooled`: scores are those of
            all segments as one test set, stratified by test set.
        systems: In input order.
        pairs: By metric, then test, then pair; in JSON by metric, then pair, then test.
        discriminative_power: As of a report on one test set.
    """

    average: Literal["macro", "pooled"]
    systems: tuple[SystemReport, ...]
    pairs: Pairs
    discriminative_power: Power | None = None


@dataclass(frozen=True)
class ReportOnSeveral:
    """A finished comparison on several test sets, as JSON has it.

    Attributes:
        signature: The line that reproduces it.
        version: Of sigtest.
        alpha: Level of the decisions.
        correction: Correction for multiple comparisons.
        comparisons: Size of each family: the pairs of one metric and test, of every test set and
            of all together.
        testsets: Each one's report, in input order.
        overall: What they say together.
        wins: By metric, then pair.
        warnings: Sentences about all test sets together; each one's own are in its report.
        methods: How the numbers came about, for a paper.
    """

    signature: str
    version: str
    alpha: float
    correction: str
    comparisons: int
    testsets: tuple[NamedReport, ...]
    overall: Overall
    wins: tuple[WinsReport, ...]
    warnings: tuple[str, ...]
    methods: Methods | None = None


@dataclass(frozen=True)
class Report:
    """A finished comparison: a function of input, recipe and version alone.

    On several test sets, systems and pairs are those of all together.

    Attributes:
        signature: The line that reproduces it.
        version: Of sigtest.
        testset: What was measured against.
        alpha: Level of the decisions.
        correction: Correction for multiple comparisons.
        experimentwise_error: 1 - (1 - alpha)**m for the m pairs of a family: how likely at least
            one false claim would be without correction, were the pairs independent.
        comparisons: Size of a family, m; one-sided, all pairs count twice.
        metrics: By label, in the order of the recipe.
        systems: In input order.
        pairs: By metric, then test, then pair, each in input order; in JSON by metric, then pair,
            then test.
        warnings: Sentences for the user.
        methods: How the numbers came about, for a paper; absent in the report of one of several.
        several: What several test sets add; nothing for one.
        family: What is corrected for, where that is more than the systems present.
        interval_alpha: Intervals have level 1 - this, where that is not alpha: a report that is
            decided anew keeps the intervals that were drawn.
        rank_confidence: How likely all rank ranges together hold the true ranks, where the
            correction controls the family-wise error and nothing is doubtful; nothing where it does
            not or there are none.
        rank_doubt: Why rank ranges may miss the ranks of expected scores, where a test is about
            another hypothesis and the data do not show that the two agree.
        interval: How intervals follow from the bootstrap, where not as percentiles.
        nulls: The null hypothesis of each test, in words.
        discriminative_power: Of several metrics, the share of pairs that each finds significantly
            different, by metric and test.
    """

    signature: str
    version: str
    testset: TestSetReport
    alpha: float
    correction: str
    experimentwise_error: float
    comparisons: int
    metrics: Mapping[str, MetricReport]
    systems: tuple[SystemReport, ...]
    pairs: Pairs
    warnings: tuple[str, ...]
    methods: Methods | None = None
    several: Several | None = None
    family: FamilyReport | None = None
    rank_confidence: float | None = None
    rank_doubt: str | None = None
    interval_alpha: float | None = None
    interval: str = "percentile"
    nulls: Mapping[str, str] = field(default_factory=dict)
    discriminative_power: Power | None = None

    @property
    def interval_level(self) -> float:
        """Level of the intervals, 0 to 1."""
        return 1 - (self.alpha if self.interval_alpha is None else self.interval_alpha)

    @cached_property
    def tests(self) -> tuple[str, ...]:
        """Names of the significance tests, in the order of the recipe."""
        return tuple(dict.fromkeys(pair.test for pair in self.pairs))

    def as_json(self) -> dict[str, Any]:
        """The report as JSON has it (`docs/SERVICE.md` describes every field)."""
        body: dict[str, Any] = encode(self if self.several is None else self._on_several())
        return body

    def _on_several(self) -> ReportOnSeveral:
        assert self.several is not None
        return ReportOnSeveral(
            signature=self.signature,
            version=self.version,
            alpha=self.alpha,
            correction=self.correction,
            comparisons=self.several.comparisons,
            testsets=self.several.testsets,
            overall=Overall(
                self.several.average, self.systems, self.pairs, self.discriminative_power
            ),
            wins=self.several.wins,
            warnings=self.warnings,
            methods=self.methods,
        )

    @classmethod
    def from_json(cls, body: Mapping[str, Any]) -> Report:
        """The report that `as_json` wrote."""
        if "overall" not in body:
            return decode(cls, body)
        told = decode(ReportOnSeveral, body)
        first = told.testsets[0].report
        sizes = [entry.report.testset for entry in told.testsets]
        return replace(
            first,
            signature=told.signature,
            testset=TestSetReport(
                segments=sum(size.segments for size in sizes),
                references=first.testset.references,
                documents=_sum([size.documents for size in sizes]),
                sha256=joined([size.sha256 for size in sizes]),
            ),
            systems=told.overall.systems,
            pairs=told.overall.pairs,
            discriminative_power=told.overall.discriminative_power,
            warnings=told.warnings,
            methods=told.methods,
            several=Several(told.overall.average, told.comparisons, told.testsets, told.wins),
        )


def joined(digests: Iterable[str]) -> str:
    """One content hash for several."""
    return hashlib.sha256("\n".join(digests).encode()).hexdigest()


def _sum(counts: Sequence[int | None]) -> int | None:
    """The sum of counts that are all known."""
    known = [count for count in counts if count is not None]
    return sum(known) if len(known) == len(counts) else None
