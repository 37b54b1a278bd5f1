"""What to compute: metrics, significance tests, resamples, seed, correction."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cache, lru_cache
from typing import Any, Literal, TypeVar, get_args, get_type_hints

from sigtest.cached import cached_property
from sigtest.data.choices import choose
from sigtest.data.fields import whole
from sigtest.data.inferred import Told
from sigtest.data.testset import TestSet
from sigtest.errors import RecipeError, quoted
from sigtest.metrics import METRICS, Metric
from sigtest.metrics.scores import Supplied
from sigtest.significance import ALTERNATIVES, TESTS, Alternative, own_tests, swap_test
from sigtest.significance.corrections import CORRECTIONS, Correction
from sigtest.significance.levels import smallest_attainable

Unit = Literal["segment", "document"]
Exact = Literal["auto", "never"]
Family = int | Literal["present"]
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

Name = TypeVar("Name", bound=str)


@dataclass(frozen=True)
class Recipe:
    """One way of comparing systems. Validated when made.

    Attributes:
        metrics: What to score with.
        tests: Names of significance tests.
        alternative: `two-sided`, or the claim that the first system of each pair is better
            (`greater`) or worse (`less`).
        resamples: R, or `auto`: the smallest of 9,999, 19,999, 39,999 and so on, doubling, with
            which a corrected p-value can get as low as alpha / 4; in a family of a fixed size, as
            low as alpha.
        seed: 0 to 2**64 - 1; every draw is a function of it.
        alpha: Level of decisions; intervals have level 1 - alpha.
        correction: Correction for multiple comparisons, per metric and test.
        family: Systems whose pairs are corrected for: those `present`, or a number of them. Pairs
            of systems not seen yet have p = 1, so that adjusted p-values only fall when they come.
        baseline: Compare every other system with this one; all pairs where none is named.
        exact: `never` resamples even where an exact p-value could be had.
        unit: What is resampled: segments or documents.
        interval: How intervals follow from the bootstrap: `percentile`, or `bootstrap_t`, which
            studentises every resample.
        stratified: Whether the bootstrap draws within each stratum, units with the same label.
    """

    metrics: tuple[Metric, ...]
    tests: tuple[str, ...] = ("approximate_randomization",)
    alternative: Alternative = "two-sided"
    resamples: int | Literal["auto"] = "auto"
    seed: int = DEFAULT_SEED
    alpha: float = 0.05
    correction: str = "holm"
    family: Family = "present"
    baseline: str | None = None
    exact: Exact = "auto"
    unit: Unit = "segment"
    stratified: bool = False
    interval: Interval = "percentile"

    def __post_init__(self) -> None:
        """Check every choice.

        Raises:
            RecipeError: An unknown name, a repeated metric or test, a number out of range.
        """
        _some(self.metrics, "metrics")
        _some(self.tests, "tests")
        for test in self.tests:
            choose(test, TESTS, "tests", "significance test")
        choose(self.alternative, ALTERNATIVES, "alternative", "alternative")
        choose(self.correction, CORRECTIONS, "correction", "correction")
        choose(self.exact, EXACT, "exact", "choice of exact p-values")
        choose(self.unit, UNITS, "unit", "unit of resampling")
        choose(self.interval, INTERVALS, "interval", "kind of interval")
        _distinct([metric.spelling for metric in self.metrics], "metrics")
        _distinct(self.labels, "metrics")
        _distinct(self.tests, "tests")
        swap_test(self.tests)
        for own in own_tests(self.tests).values():
            for metric in self.metrics:
                own.check(metric)
        if self.family != "present":
            _in_range(self.family, 2, MAX_FAMILY, "family")
        self._check_joint_correction()
        if self.resamples != "auto":
            _in_range(self.resamples, 1, MAX_RESAMPLES, "resamples")
        _in_range(self.seed, 0, MAX_SEED, "seed")
        check_alpha(self.alpha)

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
        if self.correction == "tukey" and (self.baseline or self.alternative != "two-sided"):
            raise RecipeError(
                "correction tukey compares all pairs, two-sided; use holm here.",
                field="correction",
            )

    @classmethod
    def of(cls, choices: Mapping[str, Any]) -> Recipe:
        """Build a recipe from the fields of a JSON request; what is left out has its default.

        Args:
            choices: `metrics`, `tests`, `alternative`, `resamples`, `seed`, `alpha`,
                `correction`, `family`, `pairs` ("all" or {"baseline": name}), `exact`, `unit`,
                `stratified`, `interval`.

        Raises:
            RecipeError: A field that is unknown, of the wrong type or out of range.
        """
        for field in choices:
            choose(field, sorted(CHOICES), field, "field")
        kept: dict[str, Any] = {k: v for k, v in choices.items() if k != "pairs"}
        if kept.get("unit") == "cluster":  # what evaluations of language models call a document
            kept["unit"] = "document"
        kept["metrics"] = tuple(parse_metric(m) for m in _listed(choices, "metrics", ["bleu"]))
        if "tests" in kept:
            kept["tests"] = tuple(_listed(choices, "tests", []))
        kept |= _numbers(kept)
        if not isinstance(kept.get("stratified", False), bool):
            raise RecipeError("stratified must be true or false.", field="stratified")
        return cls(**kept, baseline=_parse_pairs(choices.get("pairs", "all")))

    def as_json(self) -> dict[str, Any]:
        """The fields of a JSON request that `of` turns into this recipe."""
        choices = {
            "metrics": [
                {"name": m.name, **m.options} if m.options else m.name for m in self.metrics
            ],
            "tests": list(self.tests),
            "alternative": self.alternative,
            "resamples": self.resamples,
            "seed": self.seed,
            "alpha": self.alpha,
            "correction": self.correction,
            "pairs": "all" if self.baseline is None else {"baseline": self.baseline},
            "exact": self.exact,
            "unit": self.unit,
        }
        stratified = {"stratified": True} if self.stratified else {}
        family = {"family": self.family} if self.family != "present" else {}
        interval = {"interval": self.interval} if self.interval != "percentile" else {}
        return {**choices, **stratified, **family, **interval}

    def fitted(self, testsets: Sequence[TestSet]) -> Recipe:
        """The recipe with what test sets decide of its metrics."""
        metrics = tuple(metric.fitted(testsets) for metric in self.metrics)
        return self if metrics == self.metrics else replace(self, metrics=metrics)

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """What the report calls each metric: its name, or its spelling where that is shared."""
        names = Counter(metric.label for metric in self.metrics)
        return tuple(m.label if names[m.label] == 1 else m.spelling for m in self.metrics)

    @property
    def studentised(self) -> bool:
        """Whether every resample needs standard errors of its own."""
        tests = any(TESTS[test].draws == "studentised" for test in self.tests)
        return tests or self.interval == "bootstrap_t"

    @property
    def both_claims(self) -> bool:
        """Whether every pair stands for two claims, one for each of its systems."""
        return self.alternative != "two-sided" and self.baseline is None

    def comparisons(self, pairs: int, testsets: int = 1) -> int:
        """How many comparisons are corrected together, seen or not.

        Args:
            pairs: That are seen on each test set.
            testsets: How many, and one more for the whole of several.
        """
        if self.family == "present":
            return pairs * testsets
        size = self.family
        if self.baseline is not None:
            return testsets * (size - 1)
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


# the fields of a JSON request
CHOICES = tuple("pairs" if f.name == "baseline" else f.name for f in fields(Recipe))


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


def of_labels(metrics: Any, told: Told | None) -> Any:
    """Metrics as a request names them; one that is called as scores at hand is the mean of these.

    Args:
        metrics: As a request has them.
        told: Labels of the scores, and what files say of the metric of each; nothing where labels
            are not known yet, and every name that is no metric may be one.
    """
    if not isinstance(metrics, list | tuple):
        return metrics
    folded = {label.casefold(): label for label in told or ()}
    found: list[object] = []
    for asked in metrics:
        name, options = _options_of(asked)
        label = name if told is None or name in told else folded.get(name.casefold())
        if label is not None and name.lower() not in METRICS:
            own = (told or {}).get(label, {})
            asked = {"name": ANY_METRIC, "of": label, **own, **options}
        found.append(asked)
    return found


def labels_asked(metrics: object) -> frozenset[str] | None:
    """Labels of scores that metrics are about, in small letters; "" where they name none.

    Args:
        metrics: As a request names them; nothing is known where it names none.

    Raises:
        RecipeError: See `parse_metric`.
    """
    if not isinstance(metrics, list | tuple) or not metrics:
        return None
    asked = map(parse_metric, of_labels(metrics, None))
    return frozenset(own.of.casefold() for own in asked if isinstance(own, Supplied))


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


def _numbers(choices: Mapping[str, Any]) -> dict[str, object]:
    """Those of the choices that are numbers, or a word in the place of one."""
    found: dict[str, object] = {}
    for field, word, what in (
        ("resamples", "auto", 'a whole number or "auto"'),
        ("family", "present", 'a number of systems or "present"'),
        ("seed", None, "a whole number"),
    ):
        value = choices.get(field, 1)
        number = value if isinstance(value, str) and value == word else whole(value)
        if number is None:
            raise RecipeError(f"{field} must be {what}, not {quoted(value)}.", field=field)
        if field in choices:
            found[field] = number
    alpha = choices.get("alpha", 1)
    if not isinstance(alpha, int | float) or isinstance(alpha, bool):
        raise RecipeError(f"alpha must be a number, not {quoted(alpha)}.", field="alpha")
    return found


def _listed(choices: Mapping[str, Any], field: str, default: Sequence[Any]) -> Sequence[Any]:
    value = choices.get(field, default)
    if not isinstance(value, list | tuple):
        raise RecipeError(f"{field} must be a list, not {quoted(value)}.", field=field)
    return value


def _parse_pairs(pairs: object) -> str | None:
    if pairs == "all":
        return None
    if isinstance(pairs, Mapping) and isinstance(pairs.get("baseline"), str) and len(pairs) == 1:
        return str(pairs["baseline"])
    raise RecipeError('pairs must be "all" or {"baseline": NAME}.', field="pairs")


def _some(values: Sequence[object], field: str) -> None:
    if not values:
        raise RecipeError(f"{field} must name at least one.", field=field)


def _distinct(values: Sequence[str], field: str) -> None:
    for value, count in Counter(values).items():
        if count > 1:
            raise RecipeError(f"{field} names {value!r} {count} times.", field=field)


def _in_range(value: int, low: int, high: int, field: str) -> None:
    if not low <= value <= high:
        raise RecipeError(f"{field} must be from {low:,} to {high:,}, not {value:,}.", field=field)
