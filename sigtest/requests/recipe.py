"""What to compute: metrics, significance tests, resamples, seed, correction."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self, get_args, get_type_hints

from annotated_types import GroupedMetadata, Len
from pydantic import (
    AfterValidator,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    WithJsonSchema,
    model_validator,
)

from sigtest.cached import cached_property
from sigtest.data.names import choose
from sigtest.data.text import whole
from sigtest.errors import RecipeError, quoted
from sigtest.metrics import METRICS
from sigtest.requests import model
from sigtest.significance import (
    ALTERNATIVES,
    CORRECTIONS,
    TESTS,
    Alternative,
    Design,
    swap_test,
    units_tests,
)

if TYPE_CHECKING:
    from sigtest.data.testset import MetricOptions, TestSet
    from sigtest.metrics import Measurable, Metric
    from sigtest.significance.corrections import Correction

    Measured = tuple[Metric, ...]
else:
    Measured = tuple[Any, ...]  # help does not wait for NumPy

Unit = Literal["auto", "segment", "document"]
Exact = Literal["auto", "never"]
Interval = Literal["percentile", "bootstrap_t"]
# Metrics that come from models; what their names begin with.
ELSEWHERE = (
    "bertscore", "bleurt", "comet", "gemba", "metricx", "unbabel", "wmt2", "xcomet", "yisi",
)  # fmt: skip
UNITS: tuple[Unit, ...] = get_args(Unit)
EXACT: tuple[Exact, ...] = get_args(Exact)
INTERVALS: tuple[Interval, ...] = get_args(Interval)

STEPS = (9_999, 19_999, 39_999, 79_999, 159_999, 319_999, 639_999, 999_999)
MAX_RESAMPLES = 999_999
MAX_SEED = 2**64 - 1
DEFAULT_SEED = 12345
MAX_FAMILY = 1_000  # systems: about half a million pairs
ANY_METRIC = "scores"  # goes with every test: where metrics follow from what systems bring
LEAST_ALPHA = 1e-100  # a double still holds it when corrected for any number of pairs


Seed = Annotated[
    int, model.WholeNumber(0, MAX_SEED), Field(description="number from which every draw follows")
]


@dataclass(frozen=True)
class Or(GroupedMetadata):
    """A whole number from one to another, or a word that stands for one."""

    word: str
    low: int
    high: int
    what: str

    def __iter__(self) -> Iterator[object]:
        number = {"type": "integer", "minimum": self.low, "maximum": self.high}
        yield BeforeValidator(self._check)
        yield WithJsonSchema({"anyOf": [number, {"const": self.word}]})

    def _check(self, value: object) -> object:
        """Refuse all else."""
        found = whole(value)
        if value == self.word:
            return value
        if found is None:
            raise model.wrong(f'must be {self.what} or "{self.word}", not {quoted(value)}')
        if not self.low <= found <= self.high:
            raise model.wrong(f"must be from {self.low:,} to {self.high:,}, not {found:,}")
        return found


def _named_or_number(value: Any) -> str | float:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number and not (isinstance(value, str) and value):
        raise model.wrong(f"must be the name of a system, or a number, not {quoted(value)}")
    return float(value) if number else value


ONE = {"type": ["string", "number"], "minLength": 1}  # JSON schema of a baseline
SOME = {"type": "array", "items": ONE, "minItems": 1, "uniqueItems": True}
Several = Annotated[
    tuple[Annotated[Any, AfterValidator(_named_or_number)], ...],
    Len(1),
    model.Distinct(),
    BeforeValidator(lambda given: given if isinstance(given, list | tuple) else [given]),
    PlainSerializer(lambda names: names[0] if len(names) == 1 else list(names)),
    WithJsonSchema({"anyOf": [ONE, SOME]}),
]


class Baseline(model.Request):
    """Compare every other system with this one, with each of several, or with a number.

    Attributes:
        baseline: Compare every other system with this one only, or with each of several; a number
            is what mean scores are held against.
    """

    baseline: Several


def _metrics(given: object) -> object:
    from sigtest.metrics import Metric

    if not isinstance(given, list | tuple):
        return given
    return tuple(one if isinstance(one, Metric) else parse_metric(one) for one in given)


def _pairs(value: object) -> object:
    if value == "all" or isinstance(value, Baseline):
        return value
    if not isinstance(value, Mapping) or [*value] != ["baseline"]:
        raise model.wrong('must be "all" or {"baseline": NAME}')
    return Baseline.of(value, place="pairs")


METRIC = {  # JSON schema of one metric
    "anyOf": [
        {"type": "string"},
        {
            "type": "object",
            "properties": {
                "name": {
                    "type": "string",
                    "description": "However it is capitalised.",
                    "examples": list(METRICS),
                }
            },
            "required": ["name"],
        },
    ]
}


Some = model.Must("a list that names at least one")
Spelled = Annotated[
    tuple[Any, ...],
    Len(1),
    Some,
    WithJsonSchema({"type": "array", "items": METRIC, "minItems": 1, "uniqueItems": True}),
]
Metrics = Annotated[Measured, BeforeValidator(_metrics), Len(1), Some]


class Settings(model.Request):
    """How systems are measured and compared; what is left out has its default.

    Attributes:
        metrics: What to score with: names, spellings such as `bleu:tokenize=zh`, or objects with
            options; by default bleu where there are references and all systems have texts, and the
            scores of every label that all systems have.
        tests: Significance test.
        alternative: The claim: `greater`, that the first system of a pair is better; `less`, that
            it is worse.
        resamples: How many; `auto` takes the smallest of 9,999, 19,999, 39,999 and so on, with
            which a corrected p-value can get as low as alpha / 4; in a family of a fixed size, as
            low as alpha; intervals take 9,999 where no test looks at bootstrap resamples.
        alpha: Level of decisions; intervals have level 1 - alpha.
        correction: For multiple comparisons, per metric and test.
        exact: `never` resamples even where an exact p-value could be had.
        unit: What is resampled; `auto` takes documents where they are given, as segments of one
            document are not independent; `cluster` is another name of `document`.
        stratified: Whether the bootstrap draws within each label; needs labels.
    """

    metrics: Spelled | None = Field(default=None, title="metric")
    tests: Annotated[
        tuple[Annotated[str, model.OneOf(TESTS, "significance test")], ...],
        Len(1),
        model.Distinct(),
        Some,
    ] = Field(default=("approximate_randomization",), title="test")
    alternative: Annotated[Alternative, model.OneOf(ALTERNATIVES, "alternative")] = "two-sided"
    resamples: Annotated[
        int | Literal["auto"],
        Or("auto", 1, MAX_RESAMPLES, "a whole number"),
    ] = "auto"
    seed: Seed = DEFAULT_SEED
    alpha: Annotated[float, model.Between(0, 1), AfterValidator(lambda a: check_alpha(a) or a)] = (
        0.05
    )
    correction: Annotated[str, model.OneOf(CORRECTIONS, "correction")] = "holm"
    exact: Annotated[Exact, model.OneOf(EXACT, "choice of exact p-values")] = "auto"
    unit: Annotated[
        Unit,
        model.OneOf((*UNITS, "cluster"), "unit of resampling"),
        BeforeValidator(lambda unit: "document" if unit == "cluster" else unit),
    ] = "auto"
    stratified: model.Flag = False

    def recipe(self, metrics: Sequence[Any] | None = None) -> Recipe:
        """The recipe with these metrics; where they are not known yet, any name may be a label."""
        if metrics is None:
            metrics = [ANY_METRIC] if self.metrics is None else of_labels(self.metrics, None)
        fields = {*type(self).model_fields} & {*Recipe.model_fields}
        chosen = {name: getattr(self, name) for name in fields}
        return Recipe.of({**chosen, "metrics": metrics})


class Choices(Settings):
    """What to compute; what is left out has its default.

    Attributes:
        pairs: Which pairs to compare.
        interval: How intervals follow from the bootstrap; `bootstrap_t` studentises every resample,
            which suits skewed differences.
        family: How many systems' pairs are corrected for: those `present`, or a number that counts
            systems to come; pairs not seen yet have p = 1.
        unpaired: Whether each system has items of its own: scores of other items than those of the
            others, in any number.
    """

    pairs: Annotated[Literal["all"] | Baseline, BeforeValidator(_pairs)] = "all"
    interval: Annotated[Interval, model.OneOf(INTERVALS, "kind of interval")] = "percentile"

    family: Annotated[
        int | Literal["present"], Or("present", 2, MAX_FAMILY, "a number of systems")
    ] = "present"

    unpaired: model.Flag = False

    hints = {"baseline": ' A baseline is asked for by pairs: {"baseline": NAME}.'}


class Recipe(Choices):
    """One way of comparing systems; validated when made.

    Attributes:
        metrics: What to score with.
    """

    model_config = ConfigDict(ignored_types=(cached_property,))

    metrics: Metrics = Field(default_factory=lambda: (METRICS["bleu"](),))

    @model_validator(mode="after")
    def _fitting(self) -> Self:
        _distinct([metric.spelling for metric in self.metrics], "metrics")
        _distinct(self.labels, "metrics")
        self._check_counted_runs()
        swap_test(self.tests)
        for own in units_tests(self.tests).values():
            for metric in self.metrics:
                own.check(metric)
        self._check_joint_correction()
        return self

    def check_design(self) -> None:
        """Check that tests and metrics fit common items, items of each system's own, or a number.

        Raises:
            RecipeError: They do not; the message lists the tests that do.
        """
        apart = self.design != "paired"
        odd = [metric.name for metric in self.metrics if apart and metric.name != ANY_METRIC]
        what = f"baseline {self.bar}" if self.design == "number" else self.design
        alone = self.bar is not None and (self.unpaired or len(self.baselines) > 1)
        if odd or alone or (apart and self.stratified):
            needs = f"means of scores, not {odd[0]}" if odd else "no other baseline and no strata"
            raise RecipeError(f"{what} goes with {needs}.", field="pairs")
        for test in self.tests:
            if self.design not in TESTS[test].designs:
                known = [name for name in TESTS if self.design in TESTS[name].designs]
                raise RecipeError(
                    f"{test} does not go with {what}{'' if apart else ' items'}; take one of "
                    f"{', '.join(known)}.",
                    field="tests",
                )
        if "binomial" in self.tests and not 0 < (self.bar or 0.0) < 1:
            raise RecipeError(
                f"binomial compares shares with a number between 0 and 1, not {self.bar or 0.0:g}.",
                field="pairs",
            )

    def _check_counted_runs(self) -> None:
        """Scores whose runs are counted are pairs of numbers, which other metrics misread."""
        from sigtest.metrics.scores import PassAtK, ScoreMetric

        scored = [metric for metric in self.metrics if isinstance(metric, ScoreMetric)]
        counted = {metric.of for metric in scored if isinstance(metric, PassAtK)}
        others = {metric.of for metric in scored if not isinstance(metric, PassAtK)}
        if counted and others and (counted & others or "" in counted | others):
            raise RecipeError(
                "pass@k and pass^k count the runs of an item that pass, and other metrics take "
                f"their mean, of {', '.join(sorted(filter(None, counted | others))) or 'scores'}; "
                "that mean is pass@k:k=1.",
                field="metrics",
            )

    def _check_joint_correction(self) -> None:
        """max_t and tukey go with one test each; tukey only with all pairs, two-sided."""
        test = CORRECTIONS[self.correction].joint
        if test and self.tests != (test,):
            raise RecipeError(
                f"correction {self.correction} goes with the test {test} only.", field="correction"
            )
        if test and self.family != "present":
            raise RecipeError(
                f"correction {self.correction} counts in the draws of the systems present; family "
                f'must be "present", not {self.family}, or the correction holm.',
                field="family",
            )
        if self.correction == "tukey" and (self.baselines or self.alternative != "two-sided"):
            raise RecipeError(
                "correction tukey compares all pairs, two-sided; use holm here.",
                field="correction",
            )

    @property
    def baselines(self) -> tuple[str, ...]:
        """The systems that every other is compared with; all pairs where there is none."""
        return () if self.pairs == "all" else tuple(map(str, self.pairs.baseline))

    @property
    def design(self) -> Design:
        """How systems meet: on common items, on items of their own, or one and a number."""
        return "unpaired" if self.unpaired else "paired" if self.bar is None else "number"

    @property
    def bar(self) -> float | None:
        """The number that every system is compared with, in the place of another."""
        given = () if self.pairs == "all" else self.pairs.baseline
        return next((float(own) for own in given if not isinstance(own, str)), None)

    def but(self, **changes: Any) -> Self:
        """The recipe with other choices, checked.

        Raises:
            RecipeError: A choice that is unknown, out of range or does not fit the others.
        """
        fields = {name: getattr(self, name) for name in type(self).model_fields}
        return self.of({**fields, **changes})

    def as_json(self) -> dict[str, Any]:
        """The fields of a JSON request that `of` turns into this recipe."""
        metrics = [{"name": m.name, **m.options} if m.options else m.name for m in self.metrics]
        plain = ("stratified", "unpaired", "family", "interval")
        usual = {name: type(self).model_fields[name].default for name in plain}
        body = {"metrics": metrics, **self.model_dump(mode="json", exclude={"metrics"})}
        return {k: v for k, v in body.items() if usual.get(k, ...) != v}

    def fitted(self, testsets: Sequence[TestSet]) -> Recipe:
        """The recipe with what test sets decide of its metrics and its unit."""
        metrics, unit = tuple(metric.fitted(testsets) for metric in self.metrics), self.unit
        if unit == "auto":
            known = all(len({*(testset.documents or ())}) > 1 for testset in testsets)
            alone = any(test.by_segment for test in units_tests(self.tests).values())
            unit = "document" if known and not alone else "segment"
        fits = (metrics, unit) == (self.metrics, self.unit)
        return self if fits else self.but(metrics=metrics, unit=unit)

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """What the report calls each metric: its name, or its spelling where that is shared."""
        names = Counter(metric.label for metric in self.metrics)
        return tuple(m.label if names[m.label] == 1 else m.spelling for m in self.metrics)

    @property
    def labelled(self) -> list[tuple[str, Metric]]:
        """The metrics with their labels."""
        return [*zip(self.labels, self.metrics, strict=True)]

    @cached_property
    def by_word(self) -> bool:
        """Whether a test looks at words."""
        return any(test.by_word for test in units_tests(self.tests).values())

    @cached_property
    def measured(self) -> tuple[Measurable, ...]:
        """What is measured of every output: by metric, and for tests that look at words, these."""
        words = (own.words for own in self.metrics if own.words and self.by_word)
        return (*self.metrics, *words)

    @property
    def studentised(self) -> bool:
        """Whether every resample needs standard errors of its own."""
        tests = any(TESTS[test].draws == "studentised" for test in self.tests)
        return tests or self.interval == "bootstrap_t"

    @property
    def both_claims(self) -> bool:
        """Whether every pair stands for two claims, one for each of its systems."""
        return self.alternative != "two-sided" and not self.baselines

    def comparisons(self, pairs: int, testsets: int = 1) -> int:
        """How many comparisons are corrected together, seen or not.

        Args:
            pairs: That are seen on each test set.
            testsets: How many, and one more for the whole of several.
        """
        if self.family == "present":
            return pairs * testsets
        size = self.family
        if known := len(self.baselines):  # two-sided, two of them are compared once
            again = known * (known - 1) // 2 if self.alternative == "two-sided" else 0
            return testsets * (known * (size - 1) - again)
        return testsets * size * (size - 1) // (1 if self.both_claims else 2)

    def resolved(self, pairs: int, testsets: int = 1) -> int:
        """R for so many pairs on each of so many test sets."""
        return self.needed(max(pairs, 1), testsets) if self.resamples == "auto" else self.resamples

    def needed(self, pairs: int, testsets: int = 1) -> int:
        """Smallest step at which corrected p-values can get low enough.

        At most alpha / 4 where all pairs are seen; at most alpha in a family of a fixed size, for
        its first pair, so that R does not depend on how many systems have come.
        """
        family, fixed = self.comparisons(pairs, testsets), self.family != "present"
        sides = max(TESTS[test].sides(self.alternative) for test in self.tests)
        correction = CORRECTIONS[self.correction]
        return resamples_needed(correction, self.alpha, sides, family, fixed)


@lru_cache(maxsize=256)
def resamples_needed(
    correction: Correction, alpha: float, sides: int, family: int, fixed: bool
) -> int:
    """Smallest step at which corrected p-values can get low enough; see `Recipe.needed`.

    Args:
        correction: For multiple comparisons.
        alpha: Level.
        sides: How many times the smallest p-value of a count is taken.
        family: Comparisons that are corrected together.
        fixed: Whether that is a number of comparisons of which some may come later.
    """
    from sigtest.significance.corrections import smallest_attainable

    seen, most = (1, alpha) if fixed else (family, alpha / 4)
    for step in STEPS:
        if smallest_attainable(correction.name, seen, sides / (step + 1), family) <= most:
            return step
    return STEPS[-1]


def check_alpha(alpha: float) -> None:
    """Check a level.

    Raises:
        RecipeError: It does not lie between 0 and 1, or is too small to be told from 0.
    """
    if not 0 < alpha < 1:
        raise RecipeError(f"alpha must lie between 0 and 1, not {alpha}.", field="alpha")
    if alpha < LEAST_ALPHA:
        raise RecipeError(f"alpha must be at least {LEAST_ALPHA:g}, not {alpha}.", field="alpha")


def of_labels(metrics: Any, told: MetricOptions | None) -> Any:
    """Metrics as a request names them; one that is called as scores at hand is the mean of these.

    Args:
        metrics: As a request has them.
        told: Labels of the scores, and what files say of the metric of each, without those that are
            names of metrics where there are texts; nothing where labels are not known yet, and
            every name that is no metric may be one.
    """
    if not isinstance(metrics, list | tuple):
        return metrics
    from sigtest.metrics.scores import ScoreMetric

    folded = {label.casefold(): label for label in told or ()}
    found: list[object] = []
    for asked in metrics:
        name, options = _options_of(asked)
        label = name if told is None or name in told else folded.get(name.casefold())
        metric = METRICS.get(name.lower())
        kept = metric is not None and (told is None or issubclass(metric, ScoreMetric))
        if label is not None and not kept:
            own = (told or {}).get(label, {})
            asked = {"name": ANY_METRIC, "of": label, **own, **options}
        found.append(asked)
    return found


def labels_needed(metrics: object) -> dict[str, int] | None:
    """Labels of scores that metrics are about, in small letters; "" where they name none.

    With each how many of an item's runs must be there to be counted; 0 where their mean is asked
    for.

    Args:
        metrics: As a request names them; nothing is known where it names none.

    Raises:
        RecipeError: See `parse_metric`.
    """
    from sigtest.metrics.scores import PassAtK, ScoreMetric

    if not isinstance(metrics, list | tuple) or not metrics:
        return None
    found: dict[str, int] = {}
    for own in map(parse_metric, of_labels(metrics, None)):
        if isinstance(own, ScoreMetric):
            label = own.of.casefold()
            found[label] = max(found.get(label, 0), own.k if isinstance(own, PassAtK) else 0)
    return found


def _options_of(asked: object) -> tuple[str, dict[str, Any]]:
    """The name of a metric and its options, from either spelling.

    Raises:
        RecipeError: An option without a value, or twice.
    """
    options: dict[str, Any] = {}
    if isinstance(asked, str):
        name, _, spelled = asked.partition(":")
        for part in filter(None, spelled.split(",")):
            key, equals, value = part.partition("=")
            if not equals and [*options][-1:] == ["of"]:  # labels may have commas
                options["of"] += f",{part}"
                continue
            if not equals:
                raise RecipeError(
                    f"Option {part!r} of metric {name!r} needs a value: {name}:{part}=VALUE.",
                    field="metrics",
                )
            if key in options:
                raise RecipeError(f"{asked} gives {key!r} twice.", field="metrics")
            options[key] = value
    elif isinstance(asked, Mapping) and isinstance(asked.get("name"), str):
        name = asked["name"]
        options = {str(key): value for key, value in asked.items() if key != "name"}
    else:
        raise RecipeError(
            'A metric is a name such as "bleu" or an object with a "name".', field="metrics"
        )
    return name, options


def parse_metric(asked: object) -> Metric:
    """A metric from its spelling (`ter:normalized=true`) or from {"name": "ter", ...}.

    Raises:
        RecipeError: Unknown metric or option, or a value of the wrong type.
    """
    name, options = _options_of(asked)
    kind = _metric_named(name)
    takes = _options(kind)
    for key, value in options.items():
        choose(key, takes, "metrics", f"option of {name}")
        options[key] = _convert(value, takes[key], f"{name}:{key}")
    return kind(**options)


@cache
def _options(kind: type[Metric]) -> dict[str, Any]:
    """The type of each option of a metric."""
    types = get_type_hints(kind)
    return {field.name: types[field.name] for field in fields(kind)}


def _metric_named(name: str) -> type[Metric]:
    """The metric of a name, however it is capitalised: its paper may write BLEU or chrF."""
    known = name if name in METRICS else name.lower()
    if known not in METRICS and known.startswith(ELSEWHERE):
        raise RecipeError(
            f"{name} is not computed here; bring its scores of every segment, which the metric "
            f"'scores' compares: sigtest compare --scores {known}:NAME=FILE, or the systems' "
            "scores in a request.",
            field="metrics",
        )
    elsewhere = " Scores computed elsewhere are the metric scores:of=LABEL."
    found = known if known in METRICS else choose(name, METRICS, "metrics", "metric", elsewhere)
    return METRICS[found]


def _convert(value: object, kind: type, what: str) -> object:
    """`value` as `kind`; text is read as the command line spells it."""
    if kind is bool and isinstance(value, str) and value.lower() in {"true", "false", "yes", "no"}:
        return value.lower() in {"true", "yes"}
    if kind in {int, float} and isinstance(value, str):
        with contextlib.suppress(ValueError):
            return kind(value)
    if kind is int and (number := whole(value)) is not None:
        return number
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        with contextlib.suppress(OverflowError):
            return float(value)
    if kind is not int and isinstance(value, kind):
        return value
    needs = {bool: "true or false", int: "a whole number", float: "a number", str: "text"}[kind]
    raise RecipeError(f"{what} must be {needs}, not {quoted(value)}.", field="metrics")


def _distinct(values: Sequence[str], field: str) -> None:
    for value, count in Counter(values).items():
        if count > 1:
            raise RecipeError(f"{field} names {value!r} {count} times.", field=field)


# what can be said of a recipe in words
OPTIONS = (*model.options(Choices, without=("pairs",)), *model.options(Baseline))
