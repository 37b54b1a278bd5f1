"""The notebook's door to the engine: plain lists of strings in, a report out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypedDict, Unpack, cast

from sigtest import engine
from sigtest.comparison.parse import parse_comparison
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
    systems: Mapping[str, Sequence[str] | Sequence[Sequence[str]]],
    *,
    scores: Mapping[str, Mapping[str, Sequence[float] | Sequence[Sequence[float]]]] | None = None,
    documents: Sequence[str] | None = None,
    labels: Sequence[str] | None = None,
    progress: Progress | None = None,
    **choices: Unpack[Choices],
) -> NotebookReport:
    """Compare systems on a test set, in this process.

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
        systems: Hypotheses by name of the system, one a segment; or the outputs of several training
            runs, a list of such lists.
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
    sets = references if references and not isinstance(references[0], str) else [references]
    brought = scores or {}
    request: dict[str, Any] = {
        "references": [list(cast("Sequence[str | None]", lines)) for lines in sets if lines],
        "systems": [
            {"name": name, **_output(systems.get(name)), "scores": brought.get(name)}
            for name in dict.fromkeys([*systems, *brought])
        ],
        **choices,
    }
    if documents is not None:
        request["documents"] = list(documents)
    if labels is not None:
        request["labels"] = list(labels)
    report = engine.compare(parse_comparison(request), progress)
    return NotebookReport(**vars(report))


def _output(given: Sequence[str] | Sequence[Sequence[str]] | None) -> dict[str, object]:
    """One system's hypotheses or replicas; what is neither is left for the engine to refuse."""
    if isinstance(given, list | tuple) and given and isinstance(given[0], list | tuple):
        return {"replicas": given}
    return {"hypotheses": given}
