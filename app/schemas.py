"""Wire models: what goes over HTTP, described for people and for code generators.

Requests and reports are documented here and not validated: `sigtest` checks their meaning, and a
model over every segment of a test set costs seconds.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from app.fragments import file_field, files_field
from sigtest.comparison.recipe import DEFAULT_SEED, EXACT, MAX_RESAMPLES, MAX_SEED, UNITS
from sigtest.draws.distribution import Distribution
from sigtest.metrics import METRICS
from sigtest.report import ScoreReport
from sigtest.significance import ALTERNATIVES, TESTS
from sigtest.significance.corrections import CORRECTIONS
from sigtest.version import __version__


def _one_of(names: Any) -> dict[str, Any]:
    return {"enum": list(names)}


def absent(value: object) -> bool:
    """Whether a field that only some resources have is left out."""
    return value is None


class Strict(BaseModel):
    """Has no fields but those named here."""

    model_config = ConfigDict(extra="forbid")


class SystemRequest(Strict):
    """One system: hypotheses, or scores computed elsewhere, or both."""

    name: str = Field(
        min_length=1,
        max_length=200,
        description="Its name in the report. No quotes, angle brackets, slashes or control "
        "characters.",
    )
    hypotheses: list[str] | None = Field(
        default=None,
        description="One line a segment; a line has no line break and no NUL character.",
    )
    replicas: list[list[str]] | None = Field(
        default=None,
        description="Instead of hypotheses: the outputs of several training runs of the system, "
        "as many for every system.",
    )
    scores: dict[str, list[float] | list[list[float]]] | None = Field(
        default=None,
        description="Numbers computed elsewhere, by label: one a segment, or a tuple a segment "
        "(score and weight; numerator and denominator; match, system and reference).",
    )


class MetricRequest(BaseModel):
    """A metric with options, which carry the names of its reference program."""

    model_config = ConfigDict(extra="allow")

    name: str = Field(json_schema_extra=_one_of(METRICS))


class BaselineRequest(Strict):
    """Compare every other system with this one."""

    baseline: str = Field(description="Name of a system.")


class SettingsRequest(Strict):
    """How systems are measured and compared; what is left out has its default."""

    metrics: list[str | MetricRequest] = Field(
        default=["bleu"],
        description=f"Names, spellings such as `bleu:tokenize=zh`, or objects. "
        f"Known: {', '.join(METRICS)}.",
    )
    tests: list[str] = Field(
        default=["approximate_randomization"],
        description="Significance tests.",
        json_schema_extra={"items": {"type": "string", **_one_of(TESTS)}},
    )
    alternative: str = Field(
        default="two-sided",
        description="`greater` claims that the first system of each pair is better, `less` that "
        "it is worse.",
        json_schema_extra=_one_of(ALTERNATIVES),
    )
    resamples: int | Literal["auto"] = Field(
        default="auto",
        description=f"1 to {MAX_RESAMPLES:,}; `auto` takes as many as corrected p-values need.",
    )
    seed: int = Field(
        default=DEFAULT_SEED, ge=0, le=MAX_SEED, description="Every draw follows from it."
    )
    alpha: float = Field(default=0.05, gt=0, lt=1, description="Level of decisions.")
    correction: str = Field(
        default="holm",
        description="Correction for multiple comparisons, per metric and test.",
        json_schema_extra=_one_of(CORRECTIONS),
    )
    exact: str = Field(
        default="auto",
        description="`never` resamples even where an exact p-value could be had.",
        json_schema_extra=_one_of(EXACT),
    )
    unit: str = Field(
        default="segment", description="What is resampled.", json_schema_extra=_one_of(UNITS)
    )
    stratified: bool = Field(
        default=False, description="Whether the bootstrap draws within each label; needs labels."
    )


class RecipeRequest(SettingsRequest):
    """What to compute; what is left out has its default."""

    pairs: Literal["all"] | BaselineRequest = Field(
        default="all", description="Which pairs to compare."
    )


class NamedRequest(RecipeRequest):
    """What to compute, perhaps on a test set that is there already."""

    builtin: str | None = Field(
        default=None,
        description="Instead of references: a test set that sacreBLEU knows, such as "
        "`wmt17/en-de`. The operator must have it or allow downloads.",
    )
    testset: str | None = Field(
        default=None,
        description="Instead of references, documents and labels: the id of a test set of the "
        "caller's, which has them.",
    )


class TextsRequest(Strict):
    """What systems are measured against."""

    references: list[list[str | None]] = Field(
        default=[],
        description="Reference sets, each with one line a segment; null is a missing reference.",
    )
    documents: list[str] | None = Field(default=None, description="Document of each segment.")
    labels: list[str] | None = Field(
        default=None, description="Label of each segment, such as its domain."
    )
    segments: int | None = Field(
        default=None, ge=1, description="Number of segments; needed only without references."
    )


class ComparisonRequest(NamedRequest, TextsRequest):
    """A test set, its systems, and what to compute."""

    systems: list[SystemRequest] = Field(
        min_length=2, description="In the order in which pairs are formed."
    )


class FormRequest(BaseModel):
    """The same as files, or as one archive: UTF-8 text with one line a segment, perhaps `.gz`.

    A system's name is its file's name without `.gz` and the last suffix.
    """

    references: list[bytes] = files_field("Files with a reference set each.")
    systems: list[bytes] = files_field("Files with the hypotheses of a system each.")
    scores: list[bytes] = files_field(
        "Files of numbers, called `[LABEL:]SYSTEM.tsv`: one number or a tuple a line."
    )
    documents: bytes | None = file_field("A file with the document of each segment.")
    labels: bytes | None = file_field("A file with the label of each segment.")
    archive: bytes | None = file_field(
        "Instead of the other files: a zip, tar or tar.gz with `reference*`, `systems/*` and "
        "perhaps `documents*` and `labels*`, or WMT XML, alone or in one of these."
    )
    request: NamedRequest | None = Field(default=None, description="The rest, as JSON.")


class DistributionBody(BaseModel):
    """Pseudo-statistics of one pair, which its observed difference is held against."""

    a: str
    b: str
    metric: str
    test: str
    observed: float = Field(description="score_a - score_b, in units of the metric.")
    bins: list[float] = Field(description="51 edges.")
    counts: list[int] = Field(description="Pseudo-statistics in each of 50 bins.")
    values: list[float] | None = Field(default=None, description="All of them, by resample.")

    @classmethod
    def of(cls, drawn: Distribution, values: bool) -> DistributionBody:
        """What is told of a distribution."""
        edges, counts = drawn.histogram()
        return cls.model_construct(  # numbers of our own need no validation, and are many
            a=drawn.a,
            b=drawn.b,
            metric=drawn.metric,
            test=drawn.test,
            observed=drawn.observed,
            bins=edges.tolist(),
            counts=counts.tolist(),
            values=drawn.values.tolist() if values else None,
        )


class ScoreBody(Strict):
    """A system's score for one metric, in the units of the metric's reference program."""

    score: float
    ci: tuple[float, float] = Field(description="Bootstrap interval, level 1 - alpha.")
    stderr: float
    training_stderr: float | None = Field(
        default=None,
        exclude_if=absent,
        description="Standard deviation over the replicas' scores, if there are any.",
    )
    replicas: list[float] | None = Field(
        default=None, exclude_if=absent, description="Score of each replica."
    )

    @classmethod
    def of(cls, score: ScoreReport) -> ScoreBody:
        """What is told of a score."""
        return cls(**{**vars(score), "replicas": list(score.replicas) or None})


class RankBody(Strict):
    """A system among all others."""

    cluster: int = Field(description="Everyone in a cluster beats everyone in later ones.")
    range: tuple[int, int] = Field(
        description="1 + number significantly better, k - number significantly worse."
    )


class SystemBody(Strict):
    """One system of a report."""

    name: str
    scores: dict[str, ScoreBody] = Field(description="By metric.")
    ranks: dict[str, dict[str, RankBody]] | None = Field(
        default=None, description="By metric and test; for two-sided comparisons of all pairs."
    )


class PairBody(Strict):
    """One pair of systems, one metric, one significance test."""

    a: str
    b: str
    metric: str
    test: str
    alternative: str
    score_a: float
    score_b: float
    difference: float = Field(description="score_a - score_b, not oriented.")
    ci: tuple[float, float] = Field(description="Bootstrap interval of the difference.")
    stderr: float
    count: int | None = Field(
        description="Pseudo-statistics at least as extreme; null for an exact p of over 40 units "
        "and for a test that counts none."
    )
    resamples: int | None = Field(description="In all; null as for `count`.")
    p_value: float = Field(description="(count + 1) / (resamples + 1); exact: count / resamples.")
    log10_p: float
    p_interval: tuple[float, float] | None = Field(
        description="95 % Clopper-Pearson interval; null for a test that counts no draws."
    )
    p_adjusted: float = Field(description="Corrected within this metric and test.")
    significant: bool
    undecided: bool = Field(description="Whether more resamples could turn the decision round.")
    resamples_needed: int | None = Field(
        default=None,
        description="How many would likely settle it; absent where more than can be asked for.",
    )
    exact: bool
    calibrated: bool = Field(description="Whether the test keeps its promised level.")
    detectable: tuple[float, float] = Field(
        description="Smallest true differences that the test set shows with 80 % power, at the "
        "plain alpha and at the strictest corrected one."
    )
    verdict: str = Field(description="One line in plain language.")


class TestSetBody(Strict):
    """What was measured against."""

    __test__ = False  # pytest: not a test class

    segments: int
    references: int
    documents: int | None = None
    sha256: str


class MetricBody(Strict):
    """What a metric's numbers are."""

    higher_is_better: bool
    signature: str = Field(description="Options and version of the program it agrees with.")


class ReportBody(Strict):
    """A finished comparison; a function of input, recipe and version alone."""

    signature: str = Field(description="The line that reproduces it.")
    version: str
    testset: TestSetBody
    alpha: float
    correction: str
    experimentwise_error: float = Field(
        description="Chance of a false claim without correction, were the pairs independent."
    )
    metrics: dict[str, MetricBody] = Field(description="By label, in the order of the recipe.")
    systems: list[SystemBody] = Field(description="In input order.")
    pairs: list[PairBody] = Field(description="By metric, test and pair, in input order.")
    warnings: list[str]


class EntryBody(BaseModel):
    """Where everything else is."""

    version: str = Field(default=__version__, description="Of sigtest.")
    openapi: str = Field(default="/openapi.json", description="All requests and answers.")
    comparisons: str = "/v1/comparisons"
    testsets: str = "/v1/testsets"


class HealthBody(BaseModel):
    """The process is alive."""

    status: Literal["ok"] = "ok"


class ReadyBody(BaseModel):
    """The service can do its work."""

    status: Literal["ready"] = "ready"
    workers: int = Field(description="Worker processes that are alive.")


class ProblemError(BaseModel):
    """One flaw of a request."""

    field: str | None = Field(
        default=None, description="Path of the field, or name of the parameter."
    )
    system: str | None = None
    line: int | None = Field(default=None, description="1-based line, or segment.")
    message: str


class Problem(BaseModel):
    """Problem details (RFC 9457)."""

    type: str = Field(description="Stable name of this kind of problem.")
    title: str
    status: int
    detail: str
    errors: list[ProblemError] | None = None
    limit: str | None = Field(default=None, description="Name of the setting that was exceeded.")
    id: str | None = Field(default=None, description="Of the entry in the service's log (500).")
