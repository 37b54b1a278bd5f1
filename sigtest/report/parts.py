"""What a report says of one metric, one system and one pair."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, PlainSerializer

from sigtest.report.codec import together


def _written(ends: tuple[float, float]) -> tuple[float | None, float | None]:
    """Both ends as JSON has them, which has no infinite number."""
    low, high = ends
    return low if math.isfinite(low) else None, high if math.isfinite(high) else None


def _read(ends: Sequence[float | None]) -> tuple[float, float]:
    low, high = ends
    return -math.inf if low is None else low, math.inf if high is None else high


Ends = Annotated[  # infinite where there is no bound
    tuple[float, float],
    BeforeValidator(_read),
    PlainSerializer(_written, return_type=tuple[float | None, float | None]),
]


@dataclass(frozen=True)
class MetricReport:
    """One metric: what its numbers are and which way is up.

    Attributes:
        higher_is_better: False for error rates.
        signature: Options, number of references and version behind the numbers.
    """

    higher_is_better: bool
    signature: str


@dataclass(frozen=True)
class RunsReport:
    """How a score varies that is the mean over several runs of each item.

    Items and runs are crossed: each variance is a mean square of the two-way analysis of variance,
    over the number of scores; its root is a standard error.

    Attributes:
        count: Number of runs.
        item_variance: Variance of the score from the choice of items, these runs being given. Items
            count as independent also where clusters of them (documents) are the unit; the
            `clustered_stderr` of the score is that of the clusters.
        run_variance: Variance of the score from the choice of runs, these items being given.
    """

    count: int
    item_variance: float
    run_variance: float


@dataclass(frozen=True)
class ScoreReport:
    """A system's score for one metric, in the units of the reference program.

    Attributes:
        score: On the whole test set.
        ci: Bootstrap percentile interval, level 1 - alpha; an end that has no bound is null.
        stderr: Standard deviation over bootstrap resamples: what another test set would change.
        training_stderr: Standard deviation over the replicas' scores, with m - 1: what another
            training run would change. Nothing where there are no replicas.
        replicas: Score of each replica, if there are any.
        proportion_ci: Wilson's interval (1927), level 1 - alpha, where the score is a share of
            segments that are right: near 0 and 1 it holds where the bootstrap's does not.
        runs: How the score varies by items and by runs, where an item has several runs.
        clustered_stderr: Standard error of a mean over items in clusters (documents), where these
            are the unit: that of statsmodels and Inspect, with G / (G - 1) for G clusters.
    """

    score: float
    ci: Ends
    stderr: float
    training_stderr: float | None = None
    replicas: tuple[float, ...] = ()
    proportion_ci: tuple[float, float] | None = None
    runs: RunsReport | None = None
    clustered_stderr: float | None = None


@dataclass(frozen=True)
class FamilyReport:
    """What is corrected for where that is more than the systems present.

    Attributes:
        systems: How many there may be, present or not.
        comparisons: Size of each family: their pairs, for one metric and test.
    """

    systems: int
    comparisons: int


@dataclass(frozen=True)
class RankReport:
    """Where a system stands for one metric and test.

    Attributes:
        cluster: 1 the best; every system of a cluster is better than every one of those below.
        range: 1 + the number of systems significantly better, and all systems less the number
            significantly worse.
        may_be_best: Whether no system is significantly better.
    """

    cluster: int
    range: tuple[int, int]
    may_be_best: bool


@dataclass(frozen=True)
class SystemReport:
    """One system.

    Attributes:
        name: As it was given.
        scores: By metric.
        ranks: By metric and test; comparisons of all pairs only.
    """

    name: str
    scores: Mapping[str, ScoreReport]
    ranks: Mapping[str, Mapping[str, RankReport]] = field(default_factory=dict)


@dataclass(frozen=True)
class PairReport:
    """One pair of systems, one metric, one significance test; a report may have many thousands.

    Attributes:
        a: First system.
        b: Second system; the baseline where there is one.
        metric: Label of the metric.
        test: Name of the significance test.
        alternative: The claim; one-sided, all pairs stand in both orders, a claim each.
        score_a: Score of a.
        score_b: Score of b.
        difference: score_a - score_b, not oriented.
        ci: Bootstrap percentile interval of the difference, level 1 - alpha; an end that has no
            bound is null.
        stderr: Standard deviation of the difference over bootstrap resamples.
        count: Pseudo-statistics at least as extreme as the difference; nothing for an exact p-value
            from more than 40 differing units, and for a test that counts none.
        resamples: Pseudo-statistics in all; nothing as for `count`.
        p_value: (count + 1) / (resamples + 1), or count / resamples where exact; or that of a test
            that counts none.
        log10_p: Its decimal logarithm.
        p_interval: 95 % Clopper-Pearson interval of the p-value, which knows the error of a centre
            that is estimated; nothing for a test that counts none.
        p_adjusted: Corrected within all pairs of this metric and test.
        significant: Whether p_adjusted is at most alpha.
        undecided: Whether more resamples could turn that decision round.
        resamples_needed: How many would likely settle an undecided pair; nothing where that is
            more than can be asked for.
        exact: Whether the p-value is a probability under the null hypothesis, and neither an
            estimate from draws nor an approximation.
        calibrated: Whether the test keeps its promised level under its null hypothesis, with this
            many units and differences as skewed as these.
        detectable: Smallest true differences that the test set can show with 80 % power, in units
            of the metric: at the plain alpha, and at the strictest corrected one.
        verdict: One line in plain language.
        ahead: The system that the test finds ahead, where it is not the one with the better score:
            tests that look at units one by one need not agree with the score of all.
    """

    a: str
    b: str
    metric: str
    test: str
    alternative: str
    score_a: float
    score_b: float
    difference: float
    ci: Ends
    stderr: float
    count: int | None
    resamples: int | None
    p_value: float
    log10_p: float
    p_interval: tuple[float, float] | None
    p_adjusted: float
    significant: bool
    undecided: bool
    resamples_needed: int | None = field(default=None, kw_only=True)
    exact: bool
    calibrated: bool
    detectable: tuple[float, float]
    verdict: str
    ahead: str | None = None

    @property
    def claimed(self) -> str | None:
        """The system that is claimed to be better, where the test is one-sided."""
        return {"greater": self.a, "less": self.b}.get(self.alternative)

    def winner(self, higher_is_better: bool) -> str:
        """The system that is better if the pair is significant: by its claim, or by the test."""
        known = self.claimed or self.ahead
        if known is not None:
            return known
        return self.a if (self.difference > 0) == higher_is_better else self.b

    @property
    def varies(self) -> bool:
        """Whether the difference is not the same on every resample, but for rounding."""
        return self.stderr > 1e-9 * max(abs(self.score_a), abs(self.score_b))


# What the tests of a pair have in common stands near each other in JSON: halves what is compressed.
Pairs = Annotated[
    tuple[PairReport, ...],
    PlainSerializer(
        lambda pairs: together(pairs, ("metric", "a", "b")), return_type=tuple[PairReport, ...]
    ),
    AfterValidator(lambda pairs: together(pairs, ("metric", "test"))),
]
