"""The finished answer: everything that a renderer needs, and nothing that changes between runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from sigtest.significance.ranking import Rank


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
class ScoreReport:
    """A system's score for one metric, in the units of the reference program.

    Attributes:
        score: On the whole test set.
        ci: Bootstrap percentile interval, level 1 - alpha.
        stderr: Standard deviation over bootstrap resamples: what another test set would change.
        training_stderr: Standard deviation over the replicas' scores, with m - 1: what another
            training run would change. Nothing where there are no replicas.
        replicas: Score of each replica, if there are any.
    """

    score: float
    ci: tuple[float, float]
    stderr: float
    training_stderr: float | None = None
    replicas: tuple[float, ...] = ()


@dataclass(frozen=True)
class SystemReport:
    """One system: scores by metric, ranks by metric and test (two-sided, all pairs only)."""

    name: str
    scores: Mapping[str, ScoreReport]
    ranks: Mapping[str, Mapping[str, Rank]]


class PairReport(NamedTuple):
    """One pair of systems, one metric, one significance test; a report may have many thousands.

    Attributes:
        a: First system.
        b: Second system; the baseline where there is one.
        metric: Label of the metric.
        test: Name of the significance test.
        alternative: The claim.
        score_a: Score of a.
        score_b: Score of b.
        difference: score_a - score_b, not oriented.
        ci: Bootstrap percentile interval of the difference, level 1 - alpha.
        stderr: Standard deviation of the difference over bootstrap resamples.
        count: Pseudo-statistics at least as extreme as the difference; nothing for an exact p-value
            from more than 40 differing units, and for a test that counts none.
        resamples: Pseudo-statistics in all; nothing as for `count`.
        p_value: (count + 1) / (resamples + 1), or count / resamples where exact; or that of a test
            that counts none.
        log10_p: Its decimal logarithm.
        p_interval: 95 % Clopper-Pearson interval of the p-value; nothing for a test that counts
            none.
        p_adjusted: Corrected within all pairs of this metric and test.
        significant: Whether p_adjusted is at most alpha.
        undecided: Whether more resamples could turn that decision round.
        resamples_needed: How many would likely settle an undecided pair; nothing where that is
            more than can be asked for.
        exact: Whether the p-value is a probability under the null hypothesis, and neither an
            estimate from draws nor an approximation.
        calibrated: Whether the test keeps its promised level.
        detectable: Smallest true differences that the test set can show with 80 % power, in units
            of the metric: at the plain alpha, and at the strictest corrected one.
        verdict: One line in plain language.
    """

    a: str
    b: str
    metric: str
    test: str
    alternative: str
    score_a: float
    score_b: float
    difference: float
    ci: tuple[float, float]
    stderr: float
    count: int | None  # type: ignore[assignment]  # hides a method of tuples that nobody needs
    resamples: int | None
    p_value: float
    log10_p: float
    p_interval: tuple[float, float] | None
    p_adjusted: float
    significant: bool
    undecided: bool
    resamples_needed: int | None
    exact: bool
    calibrated: bool
    detectable: tuple[float, float]
    verdict: str


@dataclass(frozen=True)
class TestSetReport:
    """What was measured against: sizes and content hash."""

    __test__ = False  # pytest: not a test class

    segments: int
    references: int
    documents: int | None
    sha256: str


@dataclass(frozen=True)
class Report:
    """A finished comparison: a function of input, recipe and version alone.

    Attributes:
        signature: The line that reproduces it.
        version: Of sigtest.
        testset: What was measured against.
        alpha: Level of the decisions.
        correction: Correction for multiple comparisons.
        experimentwise_error: 1 - (1 - alpha)**m for the m pairs of a family: how likely at least
            one false claim would be without correction, were the pairs independent.
        metrics: By label, in the order of the recipe.
        systems: In input order.
        pairs: By metric, then test, then pair, each in input order.
        warnings: Sentences for the user.
    """

    signature: str
    version: str
    testset: TestSetReport
    alpha: float
    correction: str
    experimentwise_error: float
    metrics: Mapping[str, MetricReport]
    systems: tuple[SystemReport, ...]
    pairs: tuple[PairReport, ...]
    warnings: tuple[str, ...]

    @property
    def tests(self) -> tuple[str, ...]:
        """Names of the significance tests, in the order of the recipe."""
        return tuple(dict.fromkeys(pair.test for pair in self.pairs))

    def as_json(self) -> dict[str, Any]:
        """The report as JSON has it (`docs/REPORT.md` describes every field)."""
        testset: dict[str, Any] = {
            "segments": self.testset.segments,
            "references": self.testset.references,
        }
        if self.testset.documents is not None:
            testset["documents"] = self.testset.documents
        testset["sha256"] = self.testset.sha256
        return {
            "signature": self.signature,
            "version": self.version,
            "testset": testset,
            "alpha": self.alpha,
            "correction": self.correction,
            "experimentwise_error": self.experimentwise_error,
            "metrics": {label: dict(vars(metric)) for label, metric in self.metrics.items()},
            "systems": [system_as_json(system) for system in self.systems],
            "pairs": [pair_as_json(pair) for pair in self.pairs],
            "warnings": list(self.warnings),
        }

    @classmethod
    def from_json(cls, body: Mapping[str, Any]) -> Report:
        """The report that `as_json` wrote."""
        testset = body["testset"]
        return cls(
            signature=body["signature"],
            version=body["version"],
            testset=TestSetReport(
                testset["segments"],
                testset["references"],
                testset.get("documents"),
                testset["sha256"],
            ),
            alpha=body["alpha"],
            correction=body["correction"],
            experimentwise_error=body["experimentwise_error"],
            metrics={label: MetricReport(**m) for label, m in body["metrics"].items()},
            systems=tuple(_system_from_json(system) for system in body["systems"]),
            pairs=tuple(_pair_from_json(pair) for pair in body["pairs"]),
            warnings=tuple(body["warnings"]),
        )


def system_as_json(system: SystemReport) -> dict[str, Any]:
    """A system as JSON has it."""
    body: dict[str, Any] = {
        "name": system.name,
        "scores": {metric: _score_as_json(score) for metric, score in system.scores.items()},
    }
    if system.ranks:
        body["ranks"] = {
            metric: {
                test: {"cluster": r.cluster, "range": [r.lowest, r.highest]}
                for test, r in ranks.items()
            }
            for metric, ranks in system.ranks.items()
        }
    return body


def _score_as_json(score: ScoreReport) -> dict[str, Any]:
    body: dict[str, Any] = {"score": score.score, "ci": list(score.ci), "stderr": score.stderr}
    if score.replicas:
        body["training_stderr"] = score.training_stderr
        body["replicas"] = list(score.replicas)
    return body


def _system_from_json(body: Mapping[str, Any]) -> SystemReport:
    return SystemReport(
        body["name"],
        {
            metric: ScoreReport(
                s["score"],
                (s["ci"][0], s["ci"][1]),
                s["stderr"],
                s.get("training_stderr"),
                tuple(s.get("replicas", ())),
            )
            for metric, s in body["scores"].items()
        },
        {
            metric: {test: Rank(r["cluster"], *r["range"]) for test, r in ranks.items()}
            for metric, ranks in body.get("ranks", {}).items()
        },
    )


def pair_as_json(pair: PairReport) -> dict[str, Any]:
    """A pair as JSON has it."""
    body = pair._asdict()
    for field in ("ci", "p_interval", "detectable"):
        body[field] = list(body[field]) if body[field] is not None else None
    if pair.resamples_needed is None:
        del body["resamples_needed"]
    return body


def _pair_from_json(body: Mapping[str, Any]) -> PairReport:
    fields = {"resamples_needed": None, **body}
    for field in ("ci", "p_interval", "detectable"):
        fields[field] = tuple(body[field]) if body[field] is not None else None
    return PairReport(**fields)
