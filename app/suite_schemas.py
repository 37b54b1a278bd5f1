"""Wire models of comparisons over several test sets: what is asked for, and the report."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from app.schemas import (
    PairBody,
    RecipeRequest,
    ReportBody,
    Strict,
    SystemBody,
    SystemRequest,
    TextsRequest,
)


class SuiteTestSetRequest(TextsRequest):
    """One test set, and what the systems bring to it."""

    name: str = Field(
        min_length=1, max_length=200, description="What the report calls it; each its own."
    )
    systems: list[SystemRequest] = Field(
        min_length=2, description="The same on every test set, in the same order."
    )


class SuiteRequest(RecipeRequest):
    """Several test sets, the same systems on each, and what to compute."""

    testsets: list[SuiteTestSetRequest] = Field(min_length=2)
    pooled: bool = Field(
        default=False,
        description="Whether sums over all test sets mean something: they share a language and all "
        "else that a score depends on. Scores are averaged otherwise.",
    )


class SuiteResultBody(Strict):
    """What one test set says; its p-values are corrected over all test sets."""

    name: str
    report: ReportBody


class OverallBody(Strict):
    """What all test sets say together."""

    average: Literal["macro", "pooled"]
    systems: list[SystemBody] = Field(description="In input order.")
    pairs: list[PairBody] = Field(description="By metric, test and pair, in input order.")


class SmallTestBody(Strict):
    """An exact test whose units are the test sets."""

    p_value: float
    p_adjusted: float = Field(description="Corrected within all pairs of this metric.")
    significant: bool


class WinsBody(Strict):
    """One pair of systems and one metric over all test sets."""

    a: str
    b: str
    metric: str
    alternative: str
    differences: list[float] = Field(description="score_a - score_b on each test set.")
    won: int = Field(description="Test sets on which a is better.")
    lost: int
    tied: int
    rank_sum: float = Field(description="Sum of the ranks of the test sets that a wins.")
    sign_test: SmallTestBody
    signed_rank: SmallTestBody = Field(description="Wilcoxon's.")


class SuiteReportBody(Strict):
    """A finished comparison over several test sets."""

    signature: str = Field(description="The line that reproduces it.")
    version: str
    alpha: float
    correction: str
    comparisons: int = Field(
        description="Size of each family: the pairs of one metric and test, of every test set and "
        "of all together."
    )
    testsets: list[SuiteResultBody] = Field(description="In input order.")
    overall: OverallBody
    wins: list[WinsBody] = Field(description="By metric, then pair.")
    warnings: list[str] = Field(description="About the whole; each test set's report has its own.")
