"""Requests about people's judgements, and about metrics and tests that are held against them."""

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
from sigtest.files.formats.preferences import JUDGEMENTS
from sigtest.requests import model
from sigtest.requests.comparisons import COMPARED, NAMED
from sigtest.requests.recipe import DEFAULT_SEED, MAX_RESAMPLES, Seed
from sigtest.significance import ALONE, ALTERNATIVES

STANDARDISE = ("annotator", "annotator_no_refs", "none")
TESTS = ("rank_sum", "signed_rank", "approximate_randomization")
PREFERENCE_TEST = "bradley_terry"
UNITS = ("judgement", "item", "judge", "cluster")
ERRORS = ("bootstrap", "sandwich")
TIES = ("davidson", "half")
UNDETERMINED = ("bounds", "leave_out")
COMPARING = {  # what holds of comparisons where nothing is chosen
    "test": PREFERENCE_TEST, "ties": TIES[0], "errors": ERRORS[0], "undetermined": UNDETERMINED[0],
}  # fmt: skip
QUALITY_TESTS = ("paired_t", "signed_rank", "welch", "mann_whitney")
UNTESTABLE = ("drop", "keep")
AGGREGATES = ("segment", "document")
DOMAINS = ("micro",)
SEVERITIES = {"none": 0.0, "minor": 1.0, "major": 5.0}
COMBINED = "combined"  # what the combination of several criteria is called


class Quality(model.Request):
    """Which annotators count.

    Attributes:
        test: Gives each annotator's p-value.
        threshold: P-value below which an annotator is careful.
        min_pairs: Pairs that the test needs.
        untestable: What becomes of annotators with fewer pairs.
    """

    test: Annotated[str, model.OneOf(QUALITY_TESTS, "test of annotators")] = "paired_t"
    threshold: Annotated[float, model.Between(0, 1)] = 0.05
    min_pairs: Annotated[int, model.WholeNumber(2, 1_000_000)] = 3
    untestable: Annotated[str, model.OneOf(UNTESTABLE, "treatment of untestable annotators")] = (
        "drop"
    )

    @property
    def signature(self) -> str:
        """All four in one word."""
        return f"{self.test}<{self.threshold:g},{self.min_pairs},{self.untestable}"


class Longitudinal(model.Request):
    """Four systems of one language pair, as the judgements name them.

    Attributes:
        best_old: The best system of the old test set.
        best_new: The best system of the new one.
        current_old: One system of today on the old test set.
        current_new: The same on the new one.
    """

    best_old: model.Name
    best_new: model.Name
    current_old: model.Name
    current_new: model.Name

    @property
    def signature(self) -> str:
        """All four in one word."""
        return f"({self.best_old},{self.best_new},{self.current_old},{self.current_new})"


def _by_pair(value: object) -> object:
    """Four systems without the name of a language pair, as those of a pair without a name."""
    if isinstance(value, Mapping) and value:
        short = not all(isinstance(entry, Mapping | Longitudinal) for entry in value.values())
        return {"": value} if short else value
    raise model.wrong("must be an object with four systems")


def _without_combined(names: tuple[str, ...]) -> tuple[str, ...]:
    if COMBINED in names:
        raise model.wrong(f"may not name {COMBINED}, which is the name of their combination")
    return names


class Judging(model.Request):
    """What becomes of judgements; other requests say it, too, beside fields of their own.

    Attributes:
        input: Format of the files; recognised where none is named.
        languages: Language pair, where the files hold several.
        scale: Lowest and highest score.
        standardise: Whether scores are standardised by annotator; by default they are where that is
            possible.
        criteria: What was judged, in the order in which it decides; default all.
        aggregate: What counts as one observation in the test.
        aliases: Another name for a system of the files.
    """

    input: model.Name | None = None
    languages: model.Name | None = None
    scale: model.Span | None = None
    standardise: Annotated[str, model.OneOf(STANDARDISE, "standardisation")] | None = None
    quality: Quality | None = Field(
        default=None,
        description="quality control, which leaves careless annotators out: a test "
        f"({', '.join(QUALITY_TESTS)}), and threshold, min_pairs, untestable",
    )
    criteria: Annotated[model.Names, AfterValidator(_without_combined)] = Field(
        default=(), title="criterion"
    )
    aggregate: Annotated[str, model.OneOf(AGGREGATES, "unit of aggregation")] = "segment"
    aliases: model.Renames = Field(default={}, title="alias")


class HumanRequest(Judging):
    """What to compute from judgements; what judgements decide is none until they are there.

    Attributes:
        judgements: One each: scores of systems, or comparisons of two systems.
        test: What compares two systems; by default rank_sum, and bradley_terry where judgements are
            comparisons of two systems.
        ties: Of comparisons: ties have a probability of their own (davidson), or are two half wins.
        unit: Of comparisons: what is drawn anew; by default the clusters of the files, or items
            where they repeat, or else judgements.
        errors: Of comparisons: standard errors from resamples of units (bootstrap), or from a
            formula (sandwich), the default of more than 100 systems.
        undetermined: Of comparisons: systems whose strengths have no maximum, such as one that won
            everything, get bounds, or are left out.
        win_rate: Of comparisons: share of them, ties counting half, of which the report says how
            many comparisons of two systems would show it.
        lower: Criteria of which less is better, such as penalties; a column higher_is_better says
            so, too.
        undecided: As what an error of MQM counts whose severity is undecided.
        alpha: How often a claim may be false where nothing differs.
        correction: Of p-values, for the number of pairs that are compared; by default none, and
            holm for comparisons of two systems.
        domains: How segments of several domains are averaged.
        longitudinal: Gain over the years: best_old=A,best_new=B,current_old=C,current_new=D; in a
            request also several such objects by name.
        categories: How many classes scores are sorted into, to measure agreement.
        resamples: How many draws approximate randomization, gains and comparisons take.
        show_annotators: Name annotators in the report.
    """

    model_config = ConfigDict(json_schema_extra={"required": ["judgements"]})

    judgements: Annotated[Any, WithJsonSchema(JUDGEMENTS)] = None
    test: Annotated[str, model.OneOf((*TESTS, PREFERENCE_TEST), "significance test")] | None = None
    ties: Annotated[str, model.OneOf(TIES, "treatment of ties")] | None = None
    unit: Annotated[str, model.OneOf(UNITS, "unit")] | None = None
    errors: Annotated[str, model.OneOf(ERRORS, "kind of errors")] | None = None
    undetermined: Annotated[str, model.OneOf(UNDETERMINED, "treatment of systems")] | None = None
    win_rate: Annotated[float, model.Between(0.5, 1)] | None = None
    lower: model.Names = ()
    undecided: Annotated[str, model.OneOf(SEVERITIES, "severity")] = "none"
    alpha: Annotated[float, model.Between(0, 0.5)] = 0.05
    correction: Annotated[str, model.OneOf(ALONE, "correction")] | None = None
    domains: Annotated[str, model.OneOf(DOMAINS, "average over domains")] = "micro"
    longitudinal: Annotated[
        dict[str, Longitudinal],
        BeforeValidator(_by_pair, json_schema_input_type=Longitudinal | dict[str, Longitudinal]),
        model.Must("an object with four systems"),
    ] = {}
    categories: Annotated[int, model.WholeNumber(2, 100)] = 5
    resamples: Annotated[int, model.WholeNumber(1, 99_999)] = 9_999
    seed: Seed = DEFAULT_SEED
    show_annotators: model.Flag = False

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


def people_schema(**others: Any) -> dict[str, Any]:
    """JSON schema of the field of another kind's request that says what people judge.

    Args:
        **others: Schemas of the fields that human evaluations do not have.
    """
    fields = model.schema_of(HumanRequest)["properties"]
    return {
        "type": "object",
        "properties": {**others, "evaluation": EVALUATION, **fields},
        "additionalProperties": False,
        "minProperties": 1,
    }


# metric evaluations

STATISTICS = ("pearson", "spearman", "kendall", "accuracy", "soft_accuracy", "accuracy_ties")
METRIC_TESTS = ("williams", "perm_both")
Level = Literal["system", "segment"]
Group = Literal["none", "item", "system"]
Statistics = Annotated[
    tuple[Annotated[str, model.OneOf(STATISTICS, "statistic")], ...], model.Distinct()
]
MetricTests = Annotated[
    tuple[Annotated[str, model.OneOf(METRIC_TESTS, "significance test")], ...], model.Distinct()
]


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
Share = Annotated[float, Strict(), Ge(0), Le(1), model.Must("a number from 0 to 1", InputError)]
PAIRS = model.Must("a list of pairs, one at least", InputError)


def _named(what: str, value: object) -> str:
    try:
        return check_name(value, what)
    except InputError as error:
        why = error.message.removesuffix(".")
        raise model.wrong(f"must be the name of a {what}. {why}", error=InputError) from None


def _name(what: str) -> tuple[BeforeValidator, model.Must]:
    return BeforeValidator(partial(_named, what)), model.Must(f"the name of a {what}", InputError)


SystemName = Annotated[str, *_name("system")]


class Levels(model.Request):
    """Scores of systems, of segments, or both; numbers are checked where they are aligned."""

    model_config = ConfigDict(json_schema_extra={"minProperties": 1})

    system: BySystem = None
    segment: BySegment = None


class TestedSystems(model.Request):
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
            raise model.wrong(f"compares {self.a} with itself", error=InputError)
        return self


class JudgedPair(ClaimedPair):
    """What people say of two systems."""

    model_config = ConfigDict(extra="ignore")

    criterion: model.Name = "overall"


class JudgedPairsRequest(model.Request):
    """P-values of people, and what is done with them.

    Attributes:
        aliases: Another name for a system.
        criteria: In the order in which they decide; default all.
    """

    aliases: model.Renames = {}
    criteria: model.Names = ()
    pairs: Annotated[tuple[JudgedPair, ...], Len(1), FailFast(), PAIRS]


class TestedPair(ClaimedPair):
    """What a significance test says of two systems by a metric."""

    metric: Annotated[str, *_name("metric")]
    test: Annotated[str, *_name("test")]


class TestedPairsRequest(model.Request):
    """P-values of tests that were computed elsewhere."""

    pairs: Annotated[tuple[TestedPair, ...], Len(1), FailFast(), PAIRS]


class MetricRequest(Levels):
    """Scores of a metric.

    Attributes:
        higher: False for error rates.
        pairs: One-sided p-values of a significance test of corpus scores, for soft_accuracy;
            otherwise they come from means of segment scores.
    """

    model_config = ConfigDict(json_schema_extra={})

    higher: Annotated[bool, Strict(), model.Must("true or false", InputError)] = True
    pairs: Annotated[
        tuple[TestedSystems, ...], FailFast(), model.Must("a list of pairs", InputError)
    ] = ()


LEVELS, METRIC = model.schema_of(Levels), model.schema_of(MetricRequest)
HUMAN_OF_METRICS = people_schema(scores={"anyOf": [LEVELS, *LEVELS["properties"].values()]})
HUMAN = model.Must('an object with "scores"', InputError)
EACH = model.Must("an object with the scores of each metric", InputError)
SCORED = model.Must("an object with system or segment scores, and higher", InputError)
CONTENT = ("human", "metrics", "sets")  # what is asked about; all else is chosen
METRICS = {
    "type": "object",
    "properties": {"comparison": {"anyOf": [{"type": "string"}, METRIC]}},
    "additionalProperties": METRIC,
    "minProperties": 1,
}


class MetricSet(model.Request):
    """Scores of people and of metrics.

    Attributes:
        human: `scores` of systems, of segments, or both; or `judgements` and whatever else a
            request of /v1/human-evaluations has; or the id of one, as `evaluation`.
        metrics: Scores by label of the metric; or the id of a finished comparison, as `comparison`,
            for those of its metrics.
        exclude_systems: Systems to leave out.
    """

    model_config = ConfigDict(json_schema_extra={"required": ["human", "metrics"]})

    human: Annotated[dict[str, Any] | None, WithJsonSchema(HUMAN_OF_METRICS), HUMAN] = None
    metrics: Annotated[
        dict[str, Annotated[MetricRequest, SCORED]] | None, Len(1), WithJsonSchema(METRICS), EACH
    ] = None
    exclude_systems: model.Names = Field(default=(), title="exclude")


class MetricEvaluationRequest(MetricSet):
    """How metrics are held against people.

    Attributes:
        sets: Instead of human and metrics: both by name of the set, such as en-de.
        level: What has the scores that are compared with people's.
        group: Segment level: over all cells at once, or the mean over segments (item) or systems.
        statistics: What is reported of every metric; by default all that the scores allow.
        tests: What compares two metrics; by default all that apply.
        alternative: Two-sided, or one-sided with both claims of each pair.
        absolute: Correlations count without their sign.
        alpha: How often a claim may be false where nothing differs; intervals have level 1 - alpha.
        correction: For all pairs of one statistic and test, over all sets.
        resamples: How many exchanges are drawn where not all are counted; by default as many as the
            correction needs.
        baseline: The metric that others are asked to beat; by default BLEU where it is there.
    """

    model_config = ConfigDict(json_schema_extra={})

    sets: Annotated[
        dict[str, MetricSet] | None, Len(1), model.Must("an object of sets by name", InputError)
    ] = None
    level: Annotated[Level, model.OneOf(get_args(Level), "level")] = "system"
    group: Annotated[Group, model.OneOf(get_args(Group), "grouping")] = "none"
    statistics: Statistics | None = Field(default=None, title="statistic")
    tests: MetricTests | None = Field(default=None, title="test")
    alternative: Annotated[str, model.OneOf(ALTERNATIVES, "alternative")] = "greater"
    absolute: model.Flag = False
    alpha: Annotated[float, model.Between(0, 1)] = 0.05
    correction: Annotated[str, model.OneOf(ALONE, "correction")] = "holm"
    resamples: Annotated[int, model.WholeNumber(1, MAX_RESAMPLES)] | None = None
    seed: Seed = DEFAULT_SEED
    baseline: model.Name | None = None


# accuracy of tests

ALPHAS = (0.05, 0.01, 0.001)
SAME = "same"


JUDGED = people_schema(pairs=model.schema_of(JudgedPairsRequest)["properties"]["pairs"])
TESTED = {"anyOf": [COMPARED, NAMED, model.schema_of(TestedPairsRequest)]}


class AccuracyRequest(model.Request):
    """Conclusions of people and of tests, and levels.

    Attributes:
        human: A request of /v1/human-evaluations, or the id of one, as `evaluation`; or `pairs`
            with one-sided p-values of people, each perhaps with its criterion.
        comparison: A request of /v1/comparisons on one test set, or the id of one; or `pairs` with
            one-sided p-values that were computed elsewhere.
        alphas: Levels of the tests; by default .05, .01 and .001.
    """

    model_config = ConfigDict(json_schema_extra={"required": ["human", "comparison"]})

    human: Annotated[Any, WithJsonSchema(JUDGED)] = None
    comparison: Annotated[Any, WithJsonSchema(TESTED)] = None
    alphas: Annotated[
        tuple[Annotated[float, model.Between(0, 1)], ...],
        Len(1),
        model.Distinct(),
        model.Must("a list of levels, one at least"),
    ] = Field(default=ALPHAS, title="alpha")
    human_alpha: Annotated[
        Annotated[float, model.Between(0, 1)] | None,
        BeforeValidator(
            lambda value: None if value == SAME else value,
            json_schema_input_type=Literal["same"] | Annotated[float, model.Between(0, 1)] | None,
        ),
        model.Must(f'a number or "{SAME}"'),
    ] = Field(
        default=None,
        description=f"level of the conclusions of people: a number, or that of the tests; default "
        f"{SAME}",
    )
