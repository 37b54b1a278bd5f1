"""A report as a page: which of its parts are shown, and where their links lead.

Words, tables and pictures are what the renderers make of the report.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import Depends, Query
from markupsafe import Markup

from app.questions import answers
from sigtest.data.choices import choose
from sigtest.errors import RecipeError
from sigtest.kinds import KINDS, Kind
from sigtest.render import html, tables
from sigtest.render.answer import answer
from sigtest.render.formats import FORMATS
from sigtest.render.model import Block, Document, Figure
from sigtest.render.plots import PICTURES
from sigtest.report import Report
from sigtest.report.selection import select
from workers.questions import Record

DENSE = 14  # columns above which p-values are shown by their marks


@dataclass(frozen=True)
class Choice:
    """What of a report is shown; all of it lives in the address.

    Attributes:
        metric: Label of a metric.
        test: Name of a significance test.
        beside: Whether all metrics are shown side by side.
        hide: Systems that are left out.
        a: First system of the pair that is opened.
        b: Second.
    """

    metric: str | None = None
    test: str | None = None
    beside: bool = False
    hide: tuple[str, ...] = ()
    a: str | None = None
    b: str | None = None

    @property
    def fields(self) -> list[tuple[str, str]]:
        """Names and values, as a form sends them."""
        told = [(name, getattr(self, name)) for name in ("metric", "test", "a", "b")]
        beside = [("beside", "1")] if self.beside else []
        hidden = [("hide", name) for name in self.hide]
        return [*((k, v) for k, v in told if v is not None), *beside, *hidden]

    def query(self, **changed: Any) -> str:
        """The same as part of an address, some of it changed."""
        return urlencode(replace(self, **changed).fields)


async def _choice(
    metric: Annotated[str | None, Query()] = None,
    test: Annotated[str | None, Query()] = None,
    beside: Annotated[bool, Query()] = False,
    hide: Annotated[list[str] | None, Query()] = None,
    a: Annotated[str | None, Query()] = None,
    b: Annotated[str | None, Query()] = None,
) -> Choice:
    return Choice(metric, test, beside, tuple(hide or ()), a, b)


Chosen = Annotated[Choice, Depends(_choice)]


@dataclass(frozen=True)
class Part:
    """A titled part of the page.

    Attributes:
        anchor: Its name in addresses.
        title: Above it.
        content: HTML.
        about: A sentence below the title.
    """

    anchor: str
    title: str
    content: Markup
    about: str = ""


@dataclass(frozen=True)
class Shown:
    """What the template of a report speaks of.

    Attributes:
        document: Title, facts, warnings, marks, signature and whatever else documents have.
        said: The answer in words.
        parts: From the top.
        metrics: Labels to choose from; none where there is no choice.
        tests: Names to choose from; likewise.
        systems: Names, those that are hidden too; none where none can be hidden.
        choice: What is chosen, defaults filled in.
        downloads: Name, title and address of each format.
        legend: Each sign of the tables with what it means.
        beside: Anchor of the part that pairs are opened beside; none where they are not.
    """

    document: Document
    said: tuple[str, ...]
    parts: tuple[Part, ...]
    metrics: tuple[str, ...]
    tests: tuple[str, ...]
    systems: tuple[str, ...]
    choice: Choice
    downloads: tuple[tuple[str, str, str], ...]
    legend: tuple[tuple[str, str], ...]
    beside: str | None = None


def shown(record: Record, stored: bytes, choice: Choice, here: str, opens: bool = True) -> Shown:
    """What to show of a report.

    Args:
        record: The question.
        stored: The report as it is stored.
        choice: What of it.
        here: Address of the page.
        opens: Whether pairs are opened, with the texts that were uploaded.

    Raises:
        RecipeError: The report does not have what was chosen.
    """
    kind, report = KINDS[record.kind], answers.read(stored, record)
    if isinstance(report, Report):
        return of_report(report, choice, here, opens)
    return _of_other(kind, report, choice, here)


def _of_other(kind: Kind[Any], report: Any, choice: Choice, here: str) -> Shown:
    """A kind's document, from the top."""
    document = kind.present(report).document()
    content = html.blocks(document.blocks, html.Look(drawn=True))
    return Shown(
        document=document,
        said=(),
        parts=(Part("report", "", Markup(content)),),
        metrics=(),
        tests=(),
        systems=(),
        choice=choice,
        downloads=_downloads(here),
        legend=_legend(document),
    )


def of_report(report: Report, choice: Choice, here: str, opens: bool) -> Shown:
    """What to show of a comparison: systems, who is better than whom, pictures, pairs.

    Of several test sets it is the document. See `shown`.
    """
    opens = opens and report.several is None
    choice = resolved(report, choice, opens)
    names = [system.name for system in report.systems]
    kept = [name for name in names if name not in choice.hide]
    if len(kept) < min(2, len(names)):
        raise RecipeError("Show at least two systems.", field="hide")
    part = select(report, test=choice.test, system=kept) if choice.hide or choice.test else report
    one = select(part, metric=choice.metric)
    document = KINDS["comparisons"].present(part if choice.beside else one).document()
    look = html.Look(
        link=(lambda pair: _of_pair(pair, choice, here)) if opens else None,
        current=frozenset(name for name in (choice.a, choice.b) if name is not None),
        drawn=True,
        dense=DENSE,
        figure=lambda figure: _figure(figure, choice, here),
    )
    parts = (
        [Part("report", "", _html(document.blocks, look))]
        if report.several is not None
        else _parts(part, one, choice, look)
    )
    return Shown(
        document=document,
        said=answer(report, choice.metric),
        parts=tuple(parts),
        metrics=tuple(report.metrics),
        tests=report.tests,
        systems=tuple(names) if len(names) > 2 and report.several is None else (),
        choice=choice,
        downloads=_downloads(here),
        legend=_legend(document),
        beside=_beside(parts) if opens else None,
    )


def _beside(parts: Sequence[Part]) -> str | None:
    """The matrix, or else the list of pairs."""
    anchors = [part.anchor for part in parts]
    return next((name for name in ("matrix", "pairs") if name in anchors), None)


def _parts(part: Report, one: Report, choice: Choice, look: html.Look) -> list[Part]:
    """Of a report on one test set."""
    metric = str(choice.metric)
    seen = part if choice.beside else one
    found = [Part("systems", "Systems", _html(tables.systems(seen), look))]
    if not one.pairs:
        return found
    if PICTURES["matrix"].fits(one):
        matrix = Part(
            "matrix",
            "Who is better than whom",
            _html([tables.matrix(one, metric)], look),
            "Each system against those that score below it, by number.",
        )
        found.append(matrix)
    pictures = [
        Figure(picture.title, lambda name=name: name)  # type: ignore[misc]
        for name, picture in PICTURES.items()
        if picture.needs == "report" and picture.fits(one)
    ]
    found.append(Part("pictures", "Pictures", _html(pictures, look)))
    found.append(Part("pairs", "Pairs", _html(tables.pairs_by(one, metric), look)))
    return found


def resolved(report: Report, choice: Choice, opens: bool) -> Choice:
    """The choice with its defaults: the first metric, and the only pair where there is one.

    Raises:
        RecipeError: A metric, test or system that the report does not have.
    """
    names = [system.name for system in report.systems]
    for name in choice.hide:
        choose(name, names, "hide", "system")
    metric = choose(choice.metric or next(iter(report.metrics)), report.metrics, "metric", "metric")
    test = choice.test
    if test is not None and report.pairs:
        choose(test, report.tests, "test", "significance test")
    if choice.a is None and len(names) == 2 and report.pairs and opens:
        choice = replace(choice, a=report.pairs[0].a, b=report.pairs[0].b)
    return replace(choice, metric=metric, test=test)


def _html(blocks: Iterable[Block], look: html.Look) -> Markup:
    return Markup(html.blocks(blocks, look))


def _of_pair(pair: tuple[str, str], choice: Choice, here: str) -> str:
    return f"{here}?{choice.query(a=pair[0], b=pair[1])}#pair"


def _figure(figure: Figure, choice: Choice, here: str) -> str:
    """A picture that is loaded when it comes into view."""
    named = {picture.title: name for name, picture in PICTURES.items()}
    chosen = choice.query(beside=False, hide=(), a=None, b=None)
    address = f"{here}/pictures/{named[figure.caption]}.svg?{chosen}"
    caption, source = html.escape(figure.caption), html.escape(address)
    return (
        f'<figure><a href="{source}"><img loading="lazy" src="{source}" alt="{caption}"></a>'
        f"<figcaption>{caption}</figcaption></figure>"
    )


def _downloads(here: str) -> tuple[tuple[str, str, str], ...]:
    return tuple(
        (form.name, form.title, f"{here}/report?format={form.name}") for form in FORMATS.values()
    )


def _legend(document: Document) -> tuple[tuple[str, str], ...]:
    """Each sign with what it means."""
    return tuple((html.MARKS.get(mark, "Bold"), words) for mark, words in document.marks.items())
