"""Requests for metric evaluations."""

from __future__ import annotations

from typing import Annotated, Literal, get_args

from pydantic import Field

from sigtest.requests.model import Between, Distinct, Flag, Name, OneOf, Request, WholeNumber
from sigtest.requests.recipe import DEFAULT_SEED, MAX_RESAMPLES, MAX_SEED
from sigtest.significance import ALONE, ALTERNATIVES

STATISTICS = ("pearson", "spearman", "kendall", "accuracy", "soft_accuracy", "accuracy_ties")
TESTS = ("williams", "perm_both")
Level = Literal["system", "segment"]
Group = Literal["none", "item", "system"]


class Excluding(Request):
    """Which systems are left out."""

    exclude_systems: Annotated[tuple[Name, ...], Distinct()] = Field(
        default=(), title="exclude", description="systems to leave out"
    )


class MetricEvaluationRequest(Excluding):
    """How metrics are held against people; scores are read elsewhere."""

    level: Annotated[Level, OneOf(get_args(Level), "level")] = Field(
        default="system", description="what has the scores that are compared with people's"
    )
    group: Annotated[Group, OneOf(get_args(Group), "grouping")] = Field(
        default="none",
        description="segment level: over all cells at once, or the mean over segments (item) or "
        "systems",
    )
    statistics: Annotated[tuple[Annotated[str, OneOf(STATISTICS, "statistic")], ...],
                          Distinct()] | None = Field(
        default=None,
        title="statistic",
        description="what is reported of every metric; by default all that the scores allow",
    )  # fmt: skip
    tests: Annotated[tuple[Annotated[str, OneOf(TESTS, "significance test")], ...],
                     Distinct()] | None = Field(
        default=None,
        title="test",
        description="what compares two metrics; by default all that apply",
    )  # fmt: skip
    alternative: Annotated[str, OneOf(ALTERNATIVES, "alternative")] = Field(
        default="greater",
        description="two-sided, or one-sided with both claims of each pair",
    )
    absolute: Flag = Field(default=False, description="correlations count without their sign")
    alpha: Annotated[float, Between(0, 1)] = Field(
        default=0.05,
        description="how often a claim may be false where nothing differs; intervals have level "
        "1 - alpha",
    )
    correction: Annotated[str, OneOf(ALONE, "correction")] = Field(
        default="holm", description="for all pairs of one statistic and test, over all sets"
    )
    resamples: Annotated[int, WholeNumber(1, MAX_RESAMPLES)] | None = Field(
        default=None,
        description="how many exchanges are drawn where not all are counted; by default as many "
        "as the correction needs",
    )
    seed: Annotated[int, WholeNumber(0, MAX_SEED)] = Field(
        default=DEFAULT_SEED, description="number from which every draw follows"
    )
    baseline: Name | None = Field(
        default=None,
        description="the metric that others are asked to beat; by default BLEU where it is there",
    )
