"""Requests about people's judgements."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Self

from pydantic import AfterValidator, BeforeValidator, Field

from sigtest.requests.model import (
    Between,
    Distinct,
    Flag,
    Must,
    Name,
    OneOf,
    Renames,
    Request,
    Span,
    WholeNumber,
    schema_of,
    wrong,
)
from sigtest.requests.recipe import DEFAULT_SEED, MAX_SEED
from sigtest.significance import ALONE

STANDARDISE = ("annotator", "annotator_no_refs", "none")
TESTS = ("rank_sum", "signed_rank", "approximate_randomization")
RANKING_TEST = "sign"
QUALITY_TESTS = ("paired_t", "signed_rank", "welch", "mann_whitney")
UNTESTABLE = ("drop", "keep")
AGGREGATES = ("segment", "document")
DOMAINS = ("micro",)
SEVERITIES = {"none": 0.0, "minor": 1.0, "major": 5.0}
MAX_RESAMPLES = 99_999
MAX_CATEGORIES = 100
COMBINED = "combined"  # what the combination of several criteria is called


class Quality(Request):
    """Which annotators count."""

    test: Annotated[str, OneOf(QUALITY_TESTS, "test of annotators")] = Field(
        default="paired_t", description="gives each annotator's p-value"
    )
    threshold: Annotated[float, Between(0, 1)] = Field(
        default=0.05, description="p-value below which an annotator is careful"
    )
    min_pairs: Annotated[int, WholeNumber(2, 1_000_000)] = Field(
        default=3, description="pairs that the test needs"
    )
    untestable: Annotated[str, OneOf(UNTESTABLE, "treatment of untestable annotators")] = Field(
        default="drop", description="what becomes of annotators with fewer pairs"
    )

    @property
    def signature(self) -> str:
        """All four in one word."""
        return f"{self.test}<{self.threshold:g},{self.min_pairs},{self.untestable}"


class Longitudinal(Request):
    """Four systems of one language pair, as the judgements name them."""

    best_old: Name = Field(description="the best system of the old test set")
    best_new: Name = Field(description="the best system of the new one")
    current_old: Name = Field(description="one system of today on the old test set")
    current_new: Name = Field(description="the same on the new one")

    @property
    def signature(self) -> str:
        """All four in one word."""
        return f"({self.best_old},{self.best_new},{self.current_old},{self.current_new})"


def _by_pair(value: object) -> object:
    """Four systems without the name of a language pair, as those of a pair without a name."""
    if isinstance(value, Mapping) and value:
        short = not all(isinstance(entry, Mapping | Longitudinal) for entry in value.values())
        return {"": value} if short else value
    raise wrong("must be an object with four systems")


def _without_combined(names: tuple[str, ...]) -> tuple[str, ...]:
    if COMBINED in names:
        raise wrong(f"may not name {COMBINED}, which is the name of their combination")
    return names


class Judging(Request):
    """What becomes of judgements; other requests say it, too, beside fields of their own."""

    input: Name | None = Field(
        default=None, description="format of the files; recognised where none is named"
    )
    languages: Name | None = Field(
        default=None, description="language pair, where the files hold several"
    )
    scale: Span | None = Field(default=None, description="lowest and highest score")
    standardise: Annotated[str, OneOf(STANDARDISE, "standardisation")] | None = Field(
        default=None,
        description="whether scores are standardised by annotator; by default they are where that "
        "is possible",
    )
    quality: Quality | None = Field(
        default=None,
        description="quality control, which leaves careless annotators out: a test "
        f"({', '.join(QUALITY_TESTS)}), and threshold, min_pairs, untestable",
    )
    criteria: Annotated[tuple[Name, ...], Distinct(),
                        AfterValidator(_without_combined)] = Field(
        default=(),
        title="criterion",
        description="what was judged, in the order in which it decides; default all",
    )  # fmt: skip
    aggregate: Annotated[str, OneOf(AGGREGATES, "unit of aggregation")] = Field(
        default="segment", description="what counts as one observation in the test"
    )
    aliases: Renames = Field(
        default={}, title="alias", description="another name for a system of the files"
    )


class HumanRequest(Judging):
    """What to compute from judgements; what judgements decide is none until they are there."""

    test: Annotated[str, OneOf((*TESTS, RANKING_TEST), "significance test")] | None = Field(
        default=None,
        description="what compares two systems; by default rank_sum, for rankings sign",
    )
    lower: Annotated[tuple[Name, ...], Distinct()] = Field(
        default=(),
        description="criteria of which less is better, such as penalties; a column "
        "higher_is_better says so, too",
    )
    undecided: Annotated[str, OneOf(SEVERITIES, "severity")] = Field(
        default="none", description="as what an error of MQM counts whose severity is undecided"
    )
    alpha: Annotated[float, Between(0, 0.5)] = Field(
        default=0.05, description="how often a claim may be false where nothing differs"
    )
    correction: Annotated[str, OneOf(ALONE, "correction")] = Field(
        default="none", description="of p-values, for the number of pairs that are compared"
    )
    domains: Annotated[str, OneOf(DOMAINS, "average over domains")] = Field(
        default="micro", description="how segments of several domains are averaged"
    )
    longitudinal: Annotated[
        dict[str, Longitudinal],
        BeforeValidator(_by_pair, json_schema_input_type=Longitudinal | dict[str, Longitudinal]),
        Must("an object with four systems"),
    ] = Field(
        default={},
        description="gain over the years: best_old=A,best_new=B,current_old=C,current_new=D; in a "
        "request also several such objects by name",
    )
    categories: Annotated[int, WholeNumber(2, MAX_CATEGORIES)] = Field(
        default=5, description="how many classes scores are sorted into, to measure agreement"
    )
    resamples: Annotated[int, WholeNumber(1, MAX_RESAMPLES)] = Field(
        default=9_999, description="how many draws approximate randomization and gains take"
    )
    seed: Annotated[int, WholeNumber(0, MAX_SEED)] = Field(
        default=DEFAULT_SEED, description="number from which every draw follows"
    )
    show_annotators: Flag = Field(default=False, description="name annotators in the report")

    @property
    def higher_is_better(self) -> dict[str, bool]:
        """Direction of each criterion."""
        return {name: name not in self.lower for name in self.criteria}

    def but(self, **decided: Any) -> Self:
        """The choices with what judgements decide."""
        return self.model_copy(update=decided)

    def stored(self) -> dict[str, Any]:
        """What was said, as JSON has it."""
        return self.model_dump(mode="json", exclude_defaults=True)


EVALUATION = {"type": "string", "description": "Id of a finished human evaluation, for all else."}


def people_schema(
    description: str, judgements: Mapping[str, Any], others: Mapping[str, Any]
) -> dict[str, Any]:
    """JSON schema of the field of another kind's request that says what people judge.

    Args:
        description: What it says.
        judgements: Schema of judgements.
        others: Schemas of the fields that human evaluations do not have, by name.
    """
    fields = schema_of(HumanRequest)["properties"]
    return {
        "type": "object",
        "description": description,
        "properties": {
            **others, "judgements": judgements, "evaluation": EVALUATION, **fields,
        },
        "additionalProperties": False,
        "minProperties": 1,
    }  # fmt: skip
