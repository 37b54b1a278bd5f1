"""The finished answer over several test sets: each one's report, what they say together, wins."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from sigtest.report import PairReport, Report, SystemReport, pair_as_json, system_as_json

Average = Literal["macro", "pooled"]


@dataclass(frozen=True)
class TestSetResult:
    """One test set of a suite, under its name."""

    __test__ = False  # pytest: not a test class

    name: str
    report: Report


@dataclass(frozen=True)
class Overall:
    """What the test sets say together.

    Attributes:
        average: `macro`: scores are means of the test sets' scores; `pooled`: scores are those of
            all segments as one test set, stratified by test set.
        systems: In input order.
        pairs: By metric, then test, then pair, as in a report.
    """

    average: Average
    systems: tuple[SystemReport, ...]
    pairs: tuple[PairReport, ...]


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
class SuiteReport:
    """A finished suite: a function of input, recipe and version alone.

    Attributes:
        signature: The line that reproduces it.
        version: Of sigtest.
        alpha: Level of the decisions.
        correction: Correction for multiple comparisons.
        comparisons: Size of each family: the pairs of one metric and test, of every test set and of
            all together.
        testsets: Each one's report, in input order; its p-values are corrected in those families.
        overall: What they say together.
        wins: By metric, then pair.
        warnings: Sentences about the suite as a whole.
    """

    signature: str
    version: str
    alpha: float
    correction: str
    comparisons: int
    testsets: tuple[TestSetResult, ...]
    overall: Overall
    wins: tuple[WinsReport, ...]
    warnings: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        """The report as JSON has it (`docs/SUITES.md` describes every field)."""
        return {
            "signature": self.signature,
            "version": self.version,
            "alpha": self.alpha,
            "correction": self.correction,
            "comparisons": self.comparisons,
            "testsets": [
                {"name": result.name, "report": result.report.as_json()} for result in self.testsets
            ],
            "overall": {
                "average": self.overall.average,
                "systems": [system_as_json(system) for system in self.overall.systems],
                "pairs": [pair_as_json(pair) for pair in self.overall.pairs],
            },
            "wins": [_wins_as_json(wins) for wins in self.wins],
            "warnings": list(self.warnings),
        }

    @classmethod
    def from_json(cls, body: Mapping[str, Any]) -> SuiteReport:
        """The report that `as_json` wrote."""
        results = [
            TestSetResult(entry["name"], Report.from_json(entry["report"]))
            for entry in body["testsets"]
        ]
        overall = body["overall"]
        rows = {"systems": overall["systems"], "pairs": overall["pairs"]}
        whole = Report.from_json({**body["testsets"][0]["report"], **rows})
        return cls(
            signature=body["signature"],
            version=body["version"],
            alpha=body["alpha"],
            correction=body["correction"],
            comparisons=body["comparisons"],
            testsets=tuple(results),
            overall=Overall(overall["average"], whole.systems, whole.pairs),
            wins=tuple(_wins_from_json(wins) for wins in body["wins"]),
            warnings=tuple(body["warnings"]),
        )


def _wins_as_json(wins: WinsReport) -> Mapping[str, Any]:
    tests = {"sign_test": dict(vars(wins.sign_test)), "signed_rank": dict(vars(wins.signed_rank))}
    return {**vars(wins), "differences": list(wins.differences), **tests}


def _wins_from_json(body: Mapping[str, Any]) -> WinsReport:
    tests = {name: SmallTest(**body[name]) for name in ("sign_test", "signed_rank")}
    return WinsReport(**{**body, "differences": tuple(body["differences"]), **tests})
