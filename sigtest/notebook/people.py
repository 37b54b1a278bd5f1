"""What people judge, from a notebook: files, data frames and lists in, reports out."""

from __future__ import annotations

import io
import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

from sigtest.accuracy_of_tests.report import AccuracyReport
from sigtest.data.choices import choose
from sigtest.errors import InputError, readable
from sigtest.files.metric_scores import EvalSet, read_scores
from sigtest.files.tree import GZIP, unpacking
from sigtest.kinds import KINDS, FormFile
from sigtest.meta_evaluation.report import MetaReport
from sigtest.meta_evaluation.uploads import with_evalset
from sigtest.notebook.asking import made
from sigtest.notebook.content import Imports, request_of
from sigtest.notebook.frames import is_frame, once, table_of
from sigtest.people.report import HumanReport
from sigtest.progress import Progress
from sigtest.requests.people import Judging

Judgements = Any  # paths, a data frame, rows, or columns by name
Request = dict[str, Any]


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
    files, rows = _judgements(judgements)
    return _answer("human-evaluations", {**rows, **made(choices)}, files, progress)


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
    path = "metric-evaluations"
    if "human" in choices:
        raise InputError("What people say is judgements here; leave human out.", field="human")
    if "sets" in choices and judgements is None and metrics is None:
        return _answer(path, made(choices), (), progress)
    less = [lower] if isinstance(lower, str) else list(lower)
    if evalset is not None:
        if judgements is not None or less:
            raise InputError(
                "An EvalSet brings all scores, of which more is better; leave out judgements and "
                "lower.",
                field="judgements" if judgements is not None else "lower",
            )
        labels = [metrics] if isinstance(metrics, str) else metrics
        body = {**made(choices), **({} if labels is None else {"metrics": list(labels)})}
        where = Path(evalset)
        if where.is_dir():
            return _answer(path, with_evalset(body, EvalSet.of_folder(where)), (), progress)
        return _answer(path, body, [_file("evalset", where)], progress)
    if not isinstance(metrics, Mapping) or not metrics:
        raise InputError(
            "metrics must have the scores of each metric by label, such as "
            '{"bleu": {"A": 31.2, "B": 29.8, "C": 27.1}}.',
            field="metrics",
        )
    scores: dict[str, Request] = {label: _metric(own) for label, own in metrics.items()}
    for label in less:
        scores[choose(label, scores, "lower", "metric")]["higher"] = False
    people, own = _people(judgements)
    request = _of_people({**made(choices), "metrics": scores}, own)
    return _answer(path, request, people, progress)


def accuracy(
    judgements: Judgements,
    references: Any = None,
    systems: Any = MappingProxyType({}),
    *,
    scores: Any = None,
    documents: Any = None,
    labels: Any = None,
    source: Any = None,
    from_: object = (),
    missing: str = "error",
    select: str | None = None,
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
        references: As for `compare`, like the next eight.
        systems: What is compared.
        scores: Numbers computed elsewhere.
        documents: Document of each segment.
        labels: Label of each segment.
        source: Source of each segment.
        from_: Files that say themselves what they bring.
        missing: About segments that not all files have.
        select: One of the test sets in the files.
        alphas: Levels of the tests.
        human_alpha: Level of the conclusions of people, or `same`.
        progress: Called with phase, done and total.
        **choices: Of the comparison: `metrics`, `tests`, `resamples` and so on. Those that say what
            becomes of judgements, such as `quality`, are those of `human`.

    Returns:
        The report, as from `human`.

    Raises:
        SigtestError: Judgements, texts or choices that cannot be used.
    """
    files, rows = _judgements(judgements)
    imports = Imports(from_, missing, select, choices.get("metrics"))
    texts = request_of(references, systems, scores, documents, labels, source, imports)
    chosen = made(choices)
    levels = {
        "alphas": list(alphas) if isinstance(alphas, Iterable) else alphas,
        "human_alpha": human_alpha,
    }
    request = {
        "human": {**rows, **_judging(chosen)},
        "comparison": {**texts, **chosen},
        **made(levels),
    }
    return _answer("test-accuracy", request, files, progress)


def _answer(
    path: str, request: Mapping[str, Any], files: Sequence[FormFile], progress: Progress | None
) -> Any:
    kind = KINDS[path]
    return kind.compute(kind.parse(request, files), progress)


def _of_people(request: Request, people: Request) -> Request:
    """A request whose choices about judgements stand with what people bring."""
    body = {**people, **_judging(request)}
    return {**request, "human": body} if body else request


def _judging(choices: Request) -> Request:
    """The choices about judgements, which are taken out of all."""
    return {name: choices.pop(name) for name in tuple(Judging.model_fields) if name in choices}


def _people(brought: Any) -> tuple[list[FormFile], Request]:
    """Judgements, or scores by people."""
    if brought is None:
        raise InputError(
            "judgements is missing: judgements by people, or their scores, such as "
            '{"A": 0.31, "B": 0.12, "C": -0.05}.',
            field="judgements",
        )
    if not is_frame(brought) and (isinstance(brought, Mapping) or hasattr(brought, "to_dict")):
        scores = _scores(brought)
        if not {"system", "segment", "score"} & set(next(iter(scores.values()), ())):
            return [], {"scores": scores}
    return _judgements(brought)


def _judgements(brought: Judgements) -> tuple[list[FormFile], Request]:
    """Files of judgements, or rows for a request."""
    if _is_path(brought):
        return [_file("judgements", Path(brought))], {}
    if brought is None:
        raise InputError(
            "judgements is missing: paths of files, a data frame, rows or columns.",
            field="judgements",
        )
    if is_frame(brought):
        return [FormFile("judgements", "the data frame", table_of(brought, "judgements").data)], {}
    if isinstance(brought, Mapping):
        columns = {str(name): _plain(column) for name, column in brought.items()}
        lengths = {len(own) if isinstance(own, list) else None for own in columns.values()}
        if len(lengths) != 1 or None in lengths:
            raise InputError(
                "judgements must be columns, lists of equal lengths, by name: system, segment, "
                "score and more.",
                field="judgements",
            )
        rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
        return [], {"judgements": rows}
    if not isinstance(brought, Iterable):
        raise InputError(
            "judgements must be paths, a data frame, rows or columns.", field="judgements"
        )
    entries = list(brought)
    if entries and all(map(_is_path, entries)):
        return [_file("judgements", Path(entry)) for entry in entries], {}
    return [], {"judgements": [_plain(entry) for entry in entries]}


def _metric(brought: Any) -> Request:
    """Scores of one metric: a file's, or as `_scores`."""
    if not _is_path(brought):
        return _scores(brought)
    file = _file("scores", Path(brought))
    return read_scores(file.data, file.name)


def _scores(brought: Any) -> Request:
    """Scores of systems or of segments, as a request has them under their level."""
    for names in ("columns", "index"):
        if hasattr(brought, "to_dict") and hasattr(brought, names):
            once(getattr(brought, names), "scores")
    table = brought.to_dict() if hasattr(brought, "to_dict") else brought
    if not isinstance(table, Mapping):
        raise InputError("Scores must be a path, or numbers by system.", field="metrics")
    rows = {str(system): _plain(own) for system, own in table.items()}
    if rows and set(rows) <= {"system", "segment", "higher", "pairs"}:
        return rows
    several = any(isinstance(own, list | dict) for own in rows.values())
    return {"segment" if several else "system": rows}


def _plain(value: Any) -> Any:
    """Numbers, text, lists and objects as JSON has them; a missing number is none."""
    if isinstance(value, Mapping):
        return {str(name): _plain(own) for name, own in value.items()}
    for method in ("tolist", "to_list"):  # NumPy and pandas; polars
        if hasattr(value, method):
            value = getattr(value, method)()
    if isinstance(value, list | tuple):
        return [_plain(own) for own in value]
    return None if isinstance(value, float) and math.isnan(value) else value


def _is_path(value: object) -> bool:
    return isinstance(value, str | Path)


def _file(part: str, path: Path) -> FormFile:
    with readable():
        data = path.read_bytes()
    if data.startswith(GZIP) and part != "evalset":
        with unpacking(io.BytesIO(data), str(path)) as inner:
            data = inner.read()
    return FormFile(part, str(path).removesuffix(".gz"), data)
