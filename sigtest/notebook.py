"""The notebook's door to the engine: plain lists of strings in, a report out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypedDict, Unpack

from sigtest import engine
from sigtest.comparison.parse import named_systems, parse_comparison
from sigtest.engine import Progress
from sigtest.errors import InputError
from sigtest.render import html, text
from sigtest.render.comparison import document
from sigtest.report import Report


class NotebookReport(Report):
    """A report that shows itself: as tables when printed, with pictures in a notebook."""

    def __str__(self) -> str:
        return text.render(document(self))

    def _repr_html_(self) -> str:
        return html.fragment(document(self))


class Choices(TypedDict, total=False):
    """The recipe, by the names that the JSON request has (see `Recipe.of`)."""

    metrics: Sequence[str | Mapping[str, object]]
    tests: Sequence[str]
    alternative: str
    resamples: int | str
    seed: int
    alpha: float
    correction: str
    pairs: str | Mapping[str, str]
    exact: str
    unit: str
    stratified: bool


def compare(
    references: Sequence[str] | Sequence[Sequence[str | None]],
    systems: Mapping[str, Any] | Sequence[Mapping[str, Any]],
    *,
    scores: Mapping[str, Mapping[str, Sequence[float] | Sequence[Sequence[float]]]] | None = None,
    documents: Sequence[str] | None = None,
    labels: Sequence[str] | None = None,
    progress: Progress | None = None,
    **choices: Unpack[Choices],
) -> NotebookReport:
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
            missing reference. Empty where only `scores` are compared.
        systems: By name of the system, its hypotheses, one a segment; or the outputs of several
            training runs, a list of such lists; or an object of `hypotheses`, `replicas` and
            `scores`. A list of such objects, each with its `name`, means the same.
        scores: Numbers computed elsewhere, by name of the system and label; a number a segment,
            or a tuple. Metrics `scores`, `ratio` and `fscore` use them.
        documents: Document of each segment.
        labels: Label of each segment, such as its domain.
        progress: Called with phase, done and total.
        **choices: `metrics`, `tests`, `alternative`, `resamples`, `seed`, `alpha`, `correction`,
            `pairs` ("all" or {"baseline": name}), `exact`, `unit`, `stratified`; see
            docs/COMMAND_LINE.md.

    Returns:
        The report; `print(report)` shows it, and a notebook shows it as tables and pictures.

    Raises:
        SigtestError: Texts or choices that cannot be used.
    """
    if isinstance(references, str):
        raise InputError("references must be a list with one string a segment.", field="references")
    request: dict[str, Any] = {
        "references": references,
        "systems": _with_scores(systems, scores or {}),
        "documents": documents,
        "labels": labels,
        **choices,
    }
    return _computed(request, progress)


def suite(
    testsets: Mapping[str, Mapping[str, Any]],
    *,
    pooled: bool = False,
    progress: Progress | None = None,
    **choices: Unpack[Choices],
) -> NotebookReport:
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
        testsets: By name, what a request has of each: `references`, `systems`, `documents`,
            `labels`; the same systems on every one.
        pooled: Whether all together are one test set; their scores are averaged otherwise.
        progress: Called with phase, done and total.
        **choices: As for `compare`.

    Returns:
        The report, whose systems and pairs are those of all test sets together.

    Raises:
        SigtestError: Texts or choices that cannot be used.
    """
    return _computed({"testsets": testsets, "pooled": pooled, **choices}, progress)


def _computed(request: dict[str, Any], progress: Progress | None) -> NotebookReport:
    asked = {name: value for name, value in request.items() if value is not None}
    return NotebookReport(**vars(engine.compare(parse_comparison(asked), progress)))


def _with_scores(systems: Any, scores: Mapping[str, Mapping[str, Any]]) -> list[Any]:
    """What each system brings; numbers beside hypotheses where it has both."""
    brought = named_systems(systems)
    named = {entry.get("name"): i for i, entry in enumerate(brought) if isinstance(entry, Mapping)}
    for name, numbers in scores.items():
        if name in named:
            brought[named[name]] = {**brought[named[name]], "scores": numbers}
        else:
            brought.append({"name": name, "scores": numbers})
    return brought
