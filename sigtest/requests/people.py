"""Requests about people's judgements, and about metrics and tests that are held against them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Annotated, Any, Literal, Self, get_args

from annotated_types import Ge, Le, Len
from pydantic import (
    AfterValidator,
    BeforeValidator,
    ConfigDict,
    FailFast,
    Field,
    Strict,
    WithJsonSchema,
    model_validator,
)

from sigtest.data.names import check_name
from sigtest.errors import InputError
from sigtest.requests.model import (
    Between,
    Distinct,
    Flag,
    Must,
    Name,
    Names,
    OneOf,
    Renames,
    Request,
    Span,
    WholeNumber,
    schema_of,
    wrong,
)
from sigtest.requests.recipe import DEFAULT_SEED, MAX_RESAMPLES, Seed
from sigtest.significance import ALONE, ALTERNATIVES

STANDARDISE = ("annotator", "annotator_no_refs", "none")
TESTS = ("rank_sum", "signed_rank", "approximate_randomization")
PREFERENCE_TEST = "bradley_terry"
UNITS = ("judgement", "item", "judge", "cluster")
ERRORS = ("bootstrap", "sandwich")
TIES = ("davidson", "half")
UNDETERMINED = ("bounds", "leave_out")
QUALITY_TESTS = ("paired_t", "signed_rank", "welch", "mann_whitney")
UNTESTABLE = ("drop", "keep")
AGGREGATES = ("segment", "document")
DOMAINS = ("micro",)
SEVERITIES = {"none": 0.0, "minor": 1.0, "major": 5.0}
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
    criteria: Annotated[Names, AfterValidator(_without_combined)] = Field(
        default=(),
        title="criterion",
        description="what was judged, in the order in which it decides; default all",
    )
    aggregate: Annotated[str, OneOf(AGGREGATES, "unit of aggregation")] = Field(
        default="segment", description="what counts as one observation in the test"
    )
    aliases: Renames = Field(
        default={}, title="alias", description="another name for a system of the files"
    )


class HumanRequest(Judging):
    """What to compute from judgements; what judgements decide is none until they are there."""

    test: Annotated[str, OneOf((*TESTS, PREFERENCE_TEST), "significance test")] | None = Field(
        default=None,
        description="what compares two systems; by default rank_sum, and bradley_terry where "
        "judgements are comparisons of two systems",
    )
    ties: Annotated[str, OneOf(TIES, "treatment of ties")] | None = Field(
        default=None,
        description="of comparisons: ties have a probability of their own (davidson), or are two "
        "half wins",
    )
    unit: Annotated[str, OneOf(UNITS, "unit")] | None = Field(
        default=None,
        description="of comparisons: what is drawn anew; by default the clusters of the files, or "
        "items where they repeat, or else judgements",
    )
    errors: Annotated[str, OneOf(ERRORS, "kind of errors")] | None = Field(
        default=None,
        description="of comparisons: standard errors from resamples of units (bootstrap), or from "
        "a formula (sandwich), the default of more than 100 systems",
    )
    undetermined: Annotated[str, OneOf(UNDETERMINED, "treatment of systems")] | None = Field(
        default=None,
        description="of comparisons: systems whose strengths have no maximum, such as one that won "
        "everything, get bounds, or are left out",
    )
    win_rate: Annotated[float, Between(0.5, 1)] | None = Field(
        default=None,
        description="of comparisons: share of them, ties counting half, of which the report says "
        "how many comparisons of two systems would show it",
    )
    lower: Names = Field(
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
    correction: Annotated[str, OneOf(ALONE, "correction")] | None = Field(
        default=None,
        description="of p-values, for the number of pairs that are compared; by default none, and "
        "holm for comparisons of two systems",
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
    categories: Annotated[int, WholeNumber(2, 100)] = Field(
        default=5, description="how many classes scores are sorted into, to measure agreement"
    )
    resamples: Annotated[int, WholeNumber(1, 99_999)] = Field(
        default=9_999,
        description="how many draws approximate randomization, gains and comparisons take",
    )
    seed: Seed = DEFAULT_SEED
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


# accuracy of tests

ALPHAS = (0.05, 0.01, 0.001)
SAME = "same"


class AccuracyRequest(Request):
    """Levels; texts and judgements are read elsewhere."""

    alphas: Annotated[
        tuple[Annotated[float, Between(0, 1)], ...],
        Len(1),
        Distinct(),
        Must("a list of levels, one at least"),
    ] = Field(
        default=ALPHAS,
        title="alpha",
        description="levels of the tests; by default .05, .01 and .001",
    )
    human_alpha: Annotated[
        Annotated[float, Between(0, 1)] | None,
        BeforeValidator(
            lambda value: None if value == SAME else value,
            json_schema_input_type=Literal["same"] | Annotated[float, Between(0, 1)] | None,
        ),
        Must(f'a number or "{SAME}"'),
    ] = Field(
        default=None,
        description=f"level of the conclusions of people: a number, or that of the tests; default "
        f"{SAME}",
    )


# metric evaluations

STATISTICS = ("pearson", "spearman", "kendall", "accuracy", "soft_accuracy", "accuracy_ties")
METRIC_TESTS = ("williams", "perm_both")
Level = Literal["system", "segment"]
Group = Literal["none", "item", "system"]


NUMBER = {"type": ["number", "null"]}
BySystem = Annotated[
    Any,
    WithJsonSchema({
        "type": "object",
        "minProperties": 1,
        "additionalProperties": NUMBER,
        "description": "A score by name of the system.",
    }),
]  # fmt: skip
BySegment = Annotated[
    Any,
    WithJsonSchema({
        "type": "object",
        "minProperties": 1,
        "additionalProperties": {
            "anyOf": [
                {"type": "array", "items": NUMBER},
                {"type": "object", "additionalProperties": NUMBER},
            ]
        },
        "description": "Scores of segments by name of the system: a list, or an object by the "
        "number of the segment, from 1; null is a missing score.",
    }),
]  # fmt: skip
Share = Annotated[float, Strict(), Ge(0), Le(1), Must("a number from 0 to 1", InputError)]
PAIRS = Must("a list of pairs, one at least", InputError)


def _named(what: str, value: object) -> str:
    try:
        return check_name(value, what)
    except InputError as error:
        why = error.message.removesuffix(".")
        raise wrong(f"must be the name of a {what}. {why}", error=InputError) from None


def _name(what: str) -> tuple[BeforeValidator, Must]:
    return BeforeValidator(partial(_named, what)), Must(f"the name of a {what}", InputError)


SystemName = Annotated[str, *_name("system")]


class Levels(Request):
    """Scores of systems, of segments, or both; numbers are checked where they are aligned."""

    model_config = ConfigDict(json_schema_extra={"minProperties": 1})

    system: BySystem = None
    segment: BySegment = None


class TestedSystems(Request):
    """What a significance test of corpus scores says of two systems."""

    a: SystemName
    b: SystemName
    p_greater: Share
    p_less: Share | None = None


class ClaimedPair(TestedSystems):
    """Both one-sided p-values of two systems."""

    p_less: Share

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.a == self.b:
            raise wrong(f"compares {self.a} with itself", error=InputError)
        return self


class JudgedPair(ClaimedPair):
    """What people say of two systems."""

    model_config = ConfigDict(extra="ignore")

    criterion: Name = "overall"


class JudgedPairsRequest(Request):
    """P-values of people, and what is done with them."""

    aliases: Renames = Field(default={}, description="another name for a system")
    criteria: Names = Field(
        default=(), description="in the order in which they decide; default all"
    )
    pairs: Annotated[tuple[JudgedPair, ...], Len(1), FailFast(), PAIRS]


class TestedPair(ClaimedPair):
    """What a significance test says of two systems by a metric."""

    metric: Annotated[str, *_name("metric")]
    test: Annotated[str, *_name("test")]


class TestedPairsRequest(Request):
    """P-values of tests that were computed elsewhere."""

    pairs: Annotated[tuple[TestedPair, ...], Len(1), FailFast(), PAIRS]


class MetricRequest(Levels):
    """Scores of a metric."""

    model_config = ConfigDict(json_schema_extra={})

    higher: Annotated[bool, Strict(), Must("true or false", InputError)] = Field(
        default=True, description="False for error rates."
    )
    pairs: Annotated[tuple[TestedSystems, ...], FailFast(), Must("a list of pairs", InputError)] = (
        Field(
            default=(),
            description="One-sided p-values of a significance test of corpus scores, for "
            "soft_accuracy; otherwise they come from means of segment scores.",
        )
    )


class Excluding(Request):
    """Which systems are left out."""

    exclude_systems: Names = Field(default=(), title="exclude", description="systems to leave out")


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
    tests: Annotated[tuple[Annotated[str, OneOf(METRIC_TESTS, "significance test")], ...],
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
    seed: Seed = DEFAULT_SEED
    baseline: Name | None = Field(
        default=None,
        description="the metric that others are asked to beat; by default BLEU where it is there",
    )
