"""Wire models of requests for comparisons, described for people and for code generators.

They are documented here and not validated: `sigtest` checks their meaning, and a model over every
segment of a test set costs seconds. A test gives generated bodies to both.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field

from app.schema.fragments import file_field, files_field
from sigtest.comparison.recipe import (
    DEFAULT_SEED,
    EXACT,
    INTERVALS,
    MAX_FAMILY,
    MAX_RESAMPLES,
    MAX_SEED,
    UNITS,
)
from sigtest.data.envelope import MAX_METADATA, MAX_TAG, MAX_TAGS, MAX_TITLE
from sigtest.metrics import METRICS
from sigtest.significance import ALTERNATIVES, TESTS
from sigtest.significance.corrections import CORRECTIONS


def _one_of(names: Any) -> dict[str, Any]:
    return {"enum": list(names)}


class Strict(BaseModel):
    """Has no fields but those named here."""

    model_config = ConfigDict(extra="forbid")


class EnvelopeRequest(Strict):
    """What is written on something to find it again: no part of what is asked.

    Where the thing exists, what is said is written over, and what is left out stays.
    """

    title: str = Field(
        default="", max_length=MAX_TITLE, description="One line, shown in listings; finds it."
    )
    tags: list[Annotated[str, Field(min_length=1, max_length=MAX_TAG, pattern="^[^,]+$")]] = Field(
        default=[], max_length=MAX_TAGS, description="Words to find it by, without commas."
    )
    metadata: dict[str, Any] = Field(
        default={},
        description=f"Anything that your programs want to find here again; {MAX_METADATA:,} bytes "
        "as JSON at most.",
    )


class OutputRequest(Strict):
    """What a system brings: hypotheses, or scores computed elsewhere, or both; or replicas."""

    hypotheses: list[str] | None = Field(
        default=None,
        description="One line a segment; a line has no line break and no NUL character.",
    )
    replicas: list[list[str]] | None = Field(
        default=None,
        description="Instead of hypotheses: the outputs of several training runs, as many for "
        "every system.",
    )
    scores: dict[str, list[float] | list[list[float]]] | None = Field(
        default=None,
        description="Numbers computed elsewhere, by label: one a segment, or a tuple a segment "
        "(score and weight; numerator and denominator; match, system and reference).",
    )


class SystemRequest(OutputRequest):
    """One system, and what it brings."""

    name: str = Field(
        min_length=1,
        max_length=200,
        description="Its name in the report. No quotes, angle brackets, slashes or control "
        "characters.",
    )


T = TypeVar("T")
Several = Annotated[list[T], Field(min_length=1)]
SeveralByName = Annotated[dict[str, T], Field(min_length=1)]
Brought = list[str] | list[list[str]] | OutputRequest  # hypotheses, replicas, or an object


class SubmissionRequest(EnvelopeRequest, OutputRequest):
    """What a system brings to a test set, and what is written on it."""


class MetricRequest(BaseModel):
    """A metric with options, which carry the names of its reference program."""

    model_config = ConfigDict(extra="allow")

    name: str = Field(
        description="However it is capitalised.", json_schema_extra={"examples": list(METRICS)}
    )


class BaselineRequest(Strict):
    """Compare every other system with this one."""

    baseline: str = Field(description="Name of a system.")


class SettingsRequest(Strict):
    """How systems are measured and compared; what is left out has its default."""

    metrics: list[str | MetricRequest] = Field(
        default=["bleu"],
        min_length=1,
        json_schema_extra={"uniqueItems": True},
        description=f"Names, spellings such as `bleu:tokenize=zh`, or objects. "
        f"Known: {', '.join(METRICS)}.",
    )
    tests: list[str] = Field(
        default=["approximate_randomization"],
        min_length=1,
        description="Significance tests.",
        json_schema_extra={"uniqueItems": True, "items": {"type": "string", **_one_of(TESTS)}},
    )
    alternative: str = Field(
        default="two-sided",
        description="`greater` claims that the first system of each pair is better, `less` that "
        "it is worse.",
        json_schema_extra=_one_of(ALTERNATIVES),
    )
    resamples: Annotated[int, Field(ge=1, le=MAX_RESAMPLES)] | Literal["auto"] = Field(
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
        default="segment",
        description="What is resampled; `cluster` is another name of `document`.",
        json_schema_extra=_one_of((*UNITS, "cluster")),
    )
    stratified: bool = Field(
        default=False, description="Whether the bootstrap draws within each label; needs labels."
    )


class RecipeRequest(SettingsRequest):
    """What to compute; what is left out has its default."""

    metrics: Annotated[list[str | MetricRequest], Field(min_length=1)] | None = Field(  # type: ignore[assignment]  # or null
        default=None,
        json_schema_extra={"uniqueItems": True},
        description="As for a test set; by default `bleu` where there are references and all "
        "systems have texts, and the scores of every label that all systems have.",
    )
    pairs: Literal["all"] | BaselineRequest = Field(
        default="all", description="Which pairs to compare."
    )
    interval: str = Field(
        default="percentile",
        description="How intervals follow from the bootstrap; `bootstrap_t` studentises every "
        "resample, which suits skewed differences.",
        json_schema_extra=_one_of(INTERVALS),
    )
    family: Annotated[int, Field(ge=2, le=MAX_FAMILY)] | Literal["present"] = Field(
        default="present",
        description="How many systems' pairs are corrected for: those `present`, or a number that "
        "counts systems to come; pairs not seen yet have p = 1.",
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

    references: list[str | None] | list[list[str | None]] = Field(
        default=[],
        description="One line a segment, or a list of such reference sets; null is a missing "
        "reference.",
    )
    documents: list[str] | None = Field(default=None, description="Document of each segment.")
    clusters: list[str] | None = Field(
        default=None, description="Another name of `documents`; one of them at most."
    )
    labels: list[str] | None = Field(
        default=None, description="Label of each segment, such as its domain."
    )
    source: list[str | None] | None = Field(
        default=None,
        description="Source of each segment, for health checks of outputs; null where not known.",
    )
    segments: int | None = Field(
        default=None, ge=1, description="Number of segments; needed only without references."
    )


class RunsRequest(Strict):
    """How several runs vary of one system in one metric, whose scores are the runs' means."""

    system: str = Field(description="Name of the system.")
    metric: str = Field(description="Label of its scores.")
    count: int = Field(ge=2, description="Number of runs.")
    item_variance: float = Field(ge=0, description="Variance of the score by choice of items.")
    run_variance: float = Field(ge=0, description="Variance of the score by choice of runs.")


class EntryRequest(TextsRequest):
    """The same, with what was noticed when it was read."""

    notes: list[str] | None = Field(
        default=None,
        max_length=100,
        description="Sentences about how the texts were read, which the report repeats.",
    )
    runs: list[RunsRequest] | None = Field(
        default=None,
        description="Where scores are means of several runs, how those vary; forms and files "
        "with runs say it themselves.",
    )


class ComparedRequest(NamedRequest, EntryRequest):
    """A test set, its systems, and what to compute, inside of another request."""

    systems: Several[SystemRequest] | SeveralByName[Brought] = Field(
        description="Two at least, or one that brings scores alone, in the order in which pairs "
        "are formed: a list of objects, or an object with what each brings by its name."
    )


class ComparisonRequest(EnvelopeRequest, ComparedRequest):
    """A test set, its systems, and what to compute."""


class FilesRequest(EnvelopeRequest, NamedRequest):
    """What to compute, and how files are put together."""

    missing: Literal["error", "drop"] = Field(
        default="error",
        description="About segments that not all files have, or without a score: refuse them, or "
        "leave them out for every system and say so.",
    )
    select: str | None = Field(
        default=None, description="One of the test sets in the files, where there are several."
    )


class FormRequest(BaseModel):
    """The same as files of any format, which their content says, perhaps `.gz`.

    A system's name is that in the file, or else the file's without `.gz` and the last suffix.
    """

    references: list[bytes] = files_field("Files with a reference set each.")
    systems: list[bytes] = files_field("Files with the hypotheses of a system each.")
    scores: list[bytes] = files_field(
        "Files of scores, called `[LABEL:]SYSTEM.tsv`: numbers, one line a segment, or any format."
    )
    documents: bytes | None = file_field("A file with the document of each segment.")
    labels: bytes | None = file_field("A file with the label of each segment.")
    source: bytes | None = file_field("A file with the source of each segment.")
    archive: list[bytes] = files_field(
        "Files of any format or archives of several, which say what they bring: a zip, tar or "
        "tar.gz with `reference*` and `systems/*`, WMT XML, tables, logs of evaluations."
    )
    request: FilesRequest | None = Field(default=None, description="The rest, as JSON.")


class UnnamedTestSetRequest(EntryRequest):
    """One test set of several, whose name stands outside, and what systems bring to it."""

    systems: Several[SystemRequest] | SeveralByName[Brought] = Field(
        description="The same on every test set, in the same order."
    )


class NamedTestSetRequest(UnnamedTestSetRequest):
    """The same with its name inside."""

    name: str = Field(
        min_length=1, max_length=200, description="What the report calls it; each its own."
    )


class SeveralRequest(EnvelopeRequest, RecipeRequest):
    """Several test sets, the same systems on each, and what to compute."""

    testsets: (
        Annotated[list[NamedTestSetRequest], Field(min_length=2)]
        | Annotated[dict[str, UnnamedTestSetRequest], Field(min_length=2)]
    ) = Field(description="Two at least, each under a name of its own.")
    pooled: bool = Field(
        default=False,
        description="Whether sums over all test sets mean something: they share a language and all "
        "else that a score depends on. Scores are averaged otherwise.",
    )
