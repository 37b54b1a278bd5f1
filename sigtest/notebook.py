"""The engine from a notebook: data of Python in, a report that shows itself out."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Protocol, TypedDict, TypeVar, Unpack

from sigtest import engine, values
from sigtest.comparison.comparison import parse_comparison
from sigtest.data.names import choose
from sigtest.errors import InputError, RecipeError
from sigtest.files.folders import EvalSet
from sigtest.gates import GateReport, check_choices
from sigtest.gates import gate as decide
from sigtest.kinds import KINDS, FormFile
from sigtest.kinds.comparisons import ComparisonReport
from sigtest.progress import Progress

if TYPE_CHECKING:  # each kind is loaded when it is first asked
    from sigtest.accuracy_of_tests.compute import AccuracyReport
    from sigtest.meta_evaluation.report import MetaReport
    from sigtest.people.report import HumanReport
    from sigtest.plans.compute import PlanReport

__all__ = ["ComparisonReport", "accuracy", "compare", "gate", "human", "meta", "plan", "suite"]

Request = dict[str, Any]
Judgements = Any  # paths, a data frame, rows, or columns by name
Door = TypeVar("Door", bound=Callable[..., Any])


class Frame(Protocol):
    """A data frame, of pandas, polars or anything like them."""

    @property
    def columns(self) -> Any:
        """Names of its columns."""

    def __getitem__(self, name: Any, /) -> Any:
        """One of its columns."""


Lines = Iterable[str | None] | os.PathLike[str]


class RecipeOptions(TypedDict, total=False):
    """The recipe, by the names that the JSON request has (see `Recipe.of`)."""

    metrics: Sequence[str | Mapping[str, object]]
    tests: Sequence[str]
    alternative: str
    resamples: int | str
    seed: int
    alpha: float
    correction: str
    family: int | str
    pairs: str | Mapping[str, str]
    exact: str
    unit: str
    stratified: bool
    interval: str


class Options(RecipeOptions, total=False):
    """What is compared besides texts, and how; see `compare`."""

    scores: Mapping[str, Any] | Frame | None
    documents: Lines | None
    labels: Lines | None
    source: Lines | None
    from_: object
    missing: str
    columns: str | None
    select: str | None
    progress: Progress | None


References = Lines | Iterable[Lines] | Frame | None
Systems = Mapping[str, Any] | Iterable[Mapping[str, Any]] | Frame
DEFAULTS: Mapping[str, object] = {"from_": (), "missing": "error"}  # of others, None
NO_SYSTEMS: Mapping[str, Any] = MappingProxyType({})


def _signed(options: Any) -> Callable[[Door], Door]:
    """Names each option in the signature of a function, for help and completion."""

    def sign(door: Door) -> Door:
        known = inspect.signature(door)
        named = [p for p in known.parameters.values() if p.kind is not p.VAR_KEYWORD]
        named += [
            inspect.Parameter(
                name, inspect.Parameter.KEYWORD_ONLY, default=DEFAULTS.get(name), annotation=kind
            )
            for name, kind in options.items()
            if name not in known.parameters
        ]
        vars(door)["__signature__"] = known.replace(parameters=named)
        return door

    return sign


@_signed(Options.__annotations__)
def compare(
    references: References = None, systems: Systems = NO_SYSTEMS, **options: Unpack[Options]
) -> ComparisonReport:
    """Compare systems on a test set, in this process.

    For every metric and pair of systems the report says whether the difference could be chance:
    approximate randomization exchanges the outputs of two systems segment by segment and counts
    how often they then differ at least as much (Riezler & Maxwell 2005, section 3.2; Graham,
    Mathur & Baldwin 2014, Figure 2). p-values are corrected for the number of pairs; intervals come
    from resampled test sets.

        >>> import sigtest
        >>> report = sigtest.compare(
        ...     references=["the cat sat on the mat", "it is raining", "we go home now"],
        ...     systems={
        ...         "new": ["the cat sat on the mat", "it rains", "we go home now"],
        ...         "old": ["a cat was on a mat", "it is raining", "we are home now"],
        ...     },
        ...     metrics=["chrf", {"name": "ter", "normalized": True}],
        ... )
        >>> pair = report.pairs[0]
        >>> pair.a, pair.b, round(pair.difference, 2), pair.p_value, pair.exact
        ('new', 'old', 31.3, 0.75, True)

    Args:
        references: One reference a segment, or several reference sets of that kind; None is a
            missing reference. Nothing where only `scores` are compared.
        systems: By name of the system, its hypotheses, one a segment; or the outputs of several
            training runs, a list of such lists; or an object of `hypotheses`, `replicas` and
            `scores`. A list of such objects, each with its `name`, means the same, and so does a
            data frame with a column for each system.
        scores: Numbers computed elsewhere, by name of the system and label, a number a segment, or
            a tuple; a single label may be left out. Or data frames with a column for each system,
            by label, or one of them. Metrics `scores`, `ratio` and `fscore` use them.
        documents: Name of each segment's document.
        labels: Label of each segment, such as its domain.
        source: Source of each segment, for health checks of outputs.
        from_: Paths of files, folders or archives of any format in docs/FORMATS.md, which say
            themselves what they bring: `sigtest.compare(from_=["a.jsonl", "b.jsonl"])`; or data
            frames of pandas or polars with such columns as tables have.
        missing: About segments that not all files have: `error`, or `drop` them and say so.
        columns: What columns of numbers are in tables of files that do not say it: `systems` or
            `metrics`.
        select: One of the test sets in the files, where there are several.
        progress: Called with phase, done and total.
        **options: `metrics` (by default BLEU where there are texts, and every label of `scores`),
            `tests`, `alternative`, `resamples`, `seed`, `alpha`, `correction`, `family`, `pairs`
            ("all" or {"baseline": name}), `exact`, `unit`, `stratified`, `interval`; see
            docs/GUIDE.md.

    A column of lines may be any sequence, series, array or iterator, or a `pathlib.Path` to a file
    of any format that the command line reads.

    Returns:
        The report; `print(report)` shows it, and a notebook shows it as tables and pictures.

    Raises:
        SigtestError: Texts or choices that cannot be used.
    """
    progress = options.pop("progress", None)
    return _compared(_comparison(references, systems, options), progress)


@_signed(Options.__annotations__)
def gate(
    references: References = None,
    systems: Systems = NO_SYSTEMS,
    *,
    baseline: str | float,
    margin: float | None = None,
    claim: str = "not_worse",
    **options: Unpack[Options],
) -> GateReport:
    """Decide which systems may take the place of a baseline, in this process.

        >>> import sigtest
        >>> old, new = [0.1 * (i % 7) for i in range(60)], [0.1 * (i % 5) for i in range(60)]
        >>> report = sigtest.gate(
        ...     scores={"old": old, "new": new}, baseline="old", margin=0.3, resamples=999
        ... )
        >>> report.outcome, report.systems[0].system
        ('pass', 'new')

    Args:
        references: As for `compare`.
        systems: As for `compare`.
        baseline: Name of the system that the others are held against, or a number that scores of 0
            to 1 and other means must reach.
        margin: How much worse a system may be, in units of the metric; none for `same`.
        claim: What lets a system pass: `not_worse` by the margin, `equivalent` within it, or, for
            runs of one system, `same`: no significant difference.
        **options: As for `compare`; one metric, and neither tests, interval nor alternative.

    Returns:
        The report: `outcome` is `pass`, `fail` or `undecided`, and `systems` has that of each.

    Raises:
        SigtestError: Texts or choices that cannot be used.
    """
    check_choices(options)
    if "pairs" in options:
        raise RecipeError("A gate compares all with the baseline; leave out pairs.", field="pairs")
    progress = options.pop("progress", None)
    body = _comparison(references, systems, options) | {"pairs": {"baseline": baseline}}
    return decide(parse_comparison(body), margin, claim, progress)


@_signed({"missing": str, "columns": str | None, **RecipeOptions.__annotations__})
def suite(
    testsets: Mapping[str, Mapping[str, Any] | str | os.PathLike[str] | Frame],
    *,
    pooled: bool = False,
    progress: Progress | None = None,
    **choices: Any,
) -> ComparisonReport:
    """Compare systems on several test sets, one by one and together, in this process.

        >>> import sigtest
        >>> report = sigtest.suite(
        ...     {
        ...         "news": {
        ...             "references": ["the cat sat on the mat", "it is raining"],
        ...             "systems": {
        ...                 "new": ["the cat sat on the mat", "it rains"],
        ...                 "old": ["a cat was on a mat", "it is raining"],
        ...             },
        ...         },
        ...         "talks": {
        ...             "references": ["we go home now", "so I said go"],
        ...             "systems": {
        ...                 "new": ["we go home now", "I said go"],
        ...                 "old": ["we are home now", "so I told them to go"],
        ...             },
        ...         },
        ...     },
        ...     metrics=["chrf"],
        ...     resamples=999,
        ... )
        >>> [entry.name for entry in report.several.testsets], len(report.pairs)
        (['news', 'talks'], 1)

    Args:
        testsets: By name, what `compare` takes of each: `references`, `systems`, `scores`,
            `documents`, `labels`, `source`, `from_`, `select`; or what `from_` has alone, such as
            a folder. The same systems on every one.
        pooled: Whether all together are one test set; their scores are averaged otherwise.
        progress: Called with phase, done and total.
        **choices: As for `compare`, `missing` and `columns` among them.

    Returns:
        The report, whose systems and pairs are those of all test sets together.

    Raises:
        SigtestError: Texts or choices that cannot be used.
    """
    if not isinstance(testsets, Mapping):
        raise InputError(
            f"testsets must be an object of test sets by name, not {type(testsets).__name__}.",
            field="testsets",
        )
    how = {name: choices.pop(name) for name in values.JOINING if name in choices}
    how["metrics"] = choices.get("metrics")
    bodies = {name: _testset(name, body, how) for name, body in testsets.items()}
    inferred = [body.pop("metrics", None) for body in bodies.values()]
    recipe = {**_choices({"metrics": next(iter(inferred), None)}), **_choices(choices)}
    return _compared({"testsets": bodies, "pooled": pooled, **recipe}, progress)


@_signed(Options.__annotations__)
def plan(
    references: References = None,
    systems: Systems = NO_SYSTEMS,
    *,
    difference: float | None = None,
    units: int | None = None,
    corrected: bool = False,
    **options: Unpack[Options],
) -> PlanReport:
    """What test sets of other sizes would show, from a pilot, computed in this process.

        >>> import sigtest
        >>> old, new = [0.1 * (i % 7) for i in range(60)], [0.1 * (i % 5) for i in range(60)]
        >>> report = sigtest.plan(scores={"old": old, "new": new}, difference=0.05)
        >>> report.pairs[0].needed > 60
        True

    Args:
        references: Of the pilot, as for `compare`, like the next and the last ones.
        systems: Two or more, which are compared.
        difference: True difference that is to show, in units of the metric: how many units does it
            need?
        units: A number of segments, or of documents where these are resampled, to plan for besides
            the usual ones.
        corrected: Plan for the strictest level of the correction instead of alpha.
        **options: As for `compare`; the first metric is planned for.

    Returns:
        The report; `print(report)` shows it, and a notebook shows it as tables and pictures.

    Raises:
        SigtestError: Texts or choices that cannot be used.
    """
    progress = options.pop("progress", None)
    wanted = {"difference": difference, "units": units, "corrected": corrected or None}
    pilot = _comparison(references, systems, options)
    report: PlanReport = _answer("plans", {"comparison": pilot, **_choices(wanted)}, (), progress)
    return report


def human(
    judgements: Judgements, *, progress: Progress | None = None, **choices: Any
) -> HumanReport:
    """What people's judgements say of systems, computed in this process.

        >>> import sigtest
        >>> rows = [
        ...     {"annotator": who, "system": system, "segment": segment, "score": score + shift}
        ...     for who, shift in (("w1", 0), ("w2", -12))
        ...     for system, scores in (("A", (81, 64, 90)), ("B", (55, 60, 71)))
        ...     for segment, score in enumerate(scores, 1)
        ... ]
        >>> report = sigtest.human(rows)
        >>> [(system.name, system.raw) for system in report.systems]
        [('A', 72.33333333333333), ('B', 56.0)]

    Args:
        judgements: Files of any known format, by path, one or several; or a data frame, or rows or
            columns, with `system`, `segment`, `score` and more.
        progress: Called with phase, done and total.
        **choices: The other fields of POST /v1/human-evaluations, such as `quality`,
            `standardise`, `criteria`, `test`, `aliases`; see docs/PEOPLE.md.

    Returns:
        The report; `print(report)` shows it, and a notebook shows it as tables and pictures.

    Raises:
        SigtestError: Judgements or choices that cannot be used.
    """
    files, rows = values.judgements_of(judgements)
    report: HumanReport = _answer(
        "human-evaluations", {**rows, **_choices(choices)}, files, progress
    )
    return report


def meta(
    judgements: Judgements = None,
    metrics: Mapping[str, Any] | Sequence[str] | None = None,
    *,
    lower: Iterable[str] = (),
    evalset: str | Path | None = None,
    progress: Progress | None = None,
    **choices: Any,
) -> MetaReport:
    """Which metrics agree with people, and which better than others, computed in this process.

        >>> import sigtest
        >>> people = {"A": 0.31, "B": 0.12, "C": -0.05, "D": -0.4}
        >>> comet = {"A": 0.84, "B": 0.82, "C": 0.79, "D": 0.7}
        >>> report = sigtest.meta(people, {"comet": comet}, statistics=["pearson"])
        >>> round(report.metrics[0].pearson.value, 4)
        0.9837

    Args:
        judgements: As for `human`; or scores by people, as those of a metric.
        metrics: Scores by label of the metric: a path, or a mapping or pandas Series from systems
            to numbers, or a mapping from systems to the numbers of their segments. With `evalset`
            a list of labels, all where there is none.
        lower: Labels of metrics for which less is better.
        evalset: Directory or archive of mt-metrics-eval, in the place of `judgements`; `lp` and
            `gold` say what of it.
        progress: Called with phase, done and total.
        **choices: The other fields of POST /v1/metric-evaluations, such as `level`; `sets` stands
            in the place of judgements and metrics. Those that say what becomes of judgements, such
            as `quality`, are those of `human`.

    Returns:
        The report, as from `human`.

    Raises:
        SigtestError: Scores or choices that cannot be used.
    """
    from sigtest.meta_evaluation.question import with_evalset  # late: as the kinds of questions

    if "human" in choices:
        raise InputError("What people say is judgements here; leave human out.", field="human")
    request, files = _choices(choices), list[FormFile]()
    less = values.labels_of(lower, "lower")
    if evalset is not None:
        if judgements is not None or less:
            raise InputError(
                "An EvalSet brings all scores, of which more is better; leave out judgements and "
                "lower.",
                field="judgements" if judgements is not None else "lower",
            )
        if metrics is not None:
            request["metrics"] = values.labels_of(metrics, "metrics")
        path = values.path_of(evalset, "evalset")
        if path.is_dir():
            request = with_evalset(request, EvalSet.of_folder(path))
        else:
            files = [values.file_of("evalset", path)]
    elif not ("sets" in choices and judgements is None and metrics is None):
        if not isinstance(metrics, Mapping) or not metrics:
            raise InputError(
                "metrics must have the scores of each metric by label, such as "
                '{"bleu": {"A": 31.2, "B": 29.8, "C": 27.1}}.',
                field="metrics",
            )
        request["metrics"] = {label: values.metric_of(scores) for label, scores in metrics.items()}
        for label in less:
            request["metrics"][choose(label, metrics, "lower", "metric")]["higher"] = False
        files, rows = values.people_of(judgements)
        if people := {**rows, **_judging(request)}:
            request["human"] = people
    report: MetaReport = _answer("metric-evaluations", request, files, progress)
    return report


@_signed(Options.__annotations__)
def accuracy(
    judgements: Judgements,
    references: Any = None,
    systems: Any = NO_SYSTEMS,
    *,
    alphas: Sequence[float] = (0.05, 0.01, 0.001),
    human_alpha: float | str = "same",
    progress: Progress | None = None,
    **choices: Any,
) -> AccuracyReport:
    """How often metrics and significance tests conclude what people do, computed in this process.

        >>> import sigtest
        >>> rows = [
        ...     {"annotator": who, "system": system, "segment": segment, "score": score + shift}
        ...     for who, shift in (("w1", 0), ("w2", -12))
        ...     for system, score in (("A", 81), ("B", 55), ("C", 70))
        ...     for segment in range(1, 9)
        ... ]
        >>> outputs = {"A": ["a b c d"] * 8, "B": ["a x c y"] * 8, "C": ["a b c y"] * 8}
        >>> reference = ["a b c d"] * 8
        >>> report = sigtest.accuracy(rows, reference, outputs, metrics=["ter"], alphas=[0.05])
        >>> [(row.metric, row.test, row.correct, row.n) for row in report.rows]
        [('ter', 'approximate_randomization', 3, 3)]

    Args:
        judgements: As for `human`.
        references: As for `compare`.
        systems: As for `compare`.
        alphas: Levels of the tests.
        human_alpha: Level of the conclusions of people, or `same`.
        progress: Called with phase, done and total.
        **choices: Of the comparison, as for `compare`. Those that say what becomes of judgements,
            such as `quality`, are those of `human`.

    Returns:
        The report, as from `human`.

    Raises:
        SigtestError: Judgements, texts or choices that cannot be used.
    """
    files, rows = values.judgements_of(judgements)
    people = {**rows, **_judging(choices)}
    levels = {
        "alphas": list(alphas) if isinstance(alphas, Iterable) else alphas,
        "human_alpha": human_alpha,
    }
    request = {
        "human": people,
        "comparison": _comparison(references, systems, choices),
        **_choices(levels),
    }
    report: AccuracyReport = _answer("test-accuracy", request, files, progress)
    return report


def _comparison(references: Any, systems: Any, options: Mapping[str, Any]) -> Request:
    """The request of a comparison."""
    content = values.content_of({**options, "references": references, "systems": systems})
    rest = {k: v for k, v in options.items() if k not in {*values.CONTENT, *values.JOINING}}
    return {**content, **_choices(rest)}


def _compared(request: Request, progress: Progress | None) -> ComparisonReport:
    return ComparisonReport(**vars(engine.compare(parse_comparison(request), progress)))


def _testset(name: str, body: object, how: Mapping[str, Any]) -> Request:
    """One of several test sets."""
    if isinstance(body, str | os.PathLike) or values.is_frame(body):
        body = {"from_": body}
    if not isinstance(body, Mapping):
        raise InputError(
            f"The test set {name!r} must be an object with references and systems.",
            field="testsets",
        )
    for field in body:
        choose(field, values.CONTENT, f"testsets[{name!r}].{field}", "field of a test set")
    return values.content_of({**how, **body})


def _choices(choices: Mapping[str, Any]) -> Request:
    """The choices that are made, with arrays and numbers of NumPy as JSON has them."""
    return {
        name: value.tolist() if hasattr(value, "tolist") else value
        for name, value in choices.items()
        if value is not None
    }


def _judging(choices: Request) -> Request:
    """The choices about judgements, which are taken out of all."""
    from sigtest.requests.people import Judging  # late: comparisons have none

    return _choices({k: choices.pop(k) for k in tuple(Judging.model_fields) if k in choices})


def _answer(
    path: str, request: Request, files: Sequence[FormFile], progress: Progress | None
) -> Any:
    kind = KINDS[path]
    return kind.compute(kind.parse(request, files), progress)
