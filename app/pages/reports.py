"""A report as a page: which of its parts are shown, and where their links lead.

Words, tables and pictures are what the renderers make of the report.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import quote_plus

from markupsafe import Markup

from app.pages import saying
from app.pages.choice import Choice
from app.questions import answers
from sigtest.data.choices import choose
from sigtest.errors import RecipeError
from sigtest.kinds import KINDS, Kind
from sigtest.render import html, tables
from sigtest.render.answer import answer
from sigtest.render.formats import FORMATS
from sigtest.render.model import Block, Document, Figure, Table
from sigtest.render.pictures import PICTURES
from sigtest.render.standings import titled
from sigtest.report import Report
from sigtest.report.selection import select
from sigtest.significance import CORRECTIONS
from workers.questions import Record
from workers.store.boards import Choice as Decision

MOST = 300  # rows of a table at a time
WRAPS = 32  # characters of a name in one line
DENSE = 14  # columns above which p-values are shown by their marks


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
        choice: What is chosen, defaults filled in.
        downloads: Name, title and address of each format.
        legend: Each sign of the tables with what it means.
        metrics: Labels to choose from; none where there is no choice.
        tests: Names to choose from; likewise.
        systems: Names, those that are hidden too; none where none can be hidden.
        beside: Anchor of the part that pairs are opened beside; none where they are not.
        corrections: Name and title of those that it can be decided with; none where it cannot.
        asked: How it is decided where nothing is chosen, where it can be decided anew.
        said_how: What a paper takes, and what it stands on.
        below: Whether pairs are opened below all parts.
        testsets: Names of several.
    """

    document: Document
    said: tuple[str, ...]
    parts: tuple[Part, ...]
    choice: Choice
    downloads: tuple[tuple[str, str, str], ...]
    legend: tuple[tuple[str, str], ...]
    metrics: tuple[str, ...] = ()
    tests: tuple[str, ...] = ()
    systems: tuple[str, ...] = ()
    beside: str | None = None
    corrections: tuple[tuple[str, str], ...] = ()
    asked: Decision | None = None
    said_how: saying.HowToSay | None = None
    below: bool = False
    testsets: tuple[str, ...] = ()


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
    kind, report = KINDS[record.kind], answers.read(stored, record, choice.decided)
    if isinstance(report, Report):
        view = of_report(report, choice, here, opens)
        if record.testset is not None or not report.pairs:
            return view
        asked: Report = answers.read(stored, record)
        return decidable(view, asked.alpha, asked.correction)
    return _of_other(kind, report, choice, here)


def _of_other(kind: Kind[Any], report: Any, choice: Choice, here: str) -> Shown:
    """A kind's document, from the top."""
    document = kind.present(report).document()
    look = replace(_look(choice), names=document.names())
    content = html.blocks(document.blocks, look)
    return Shown(
        document=document,
        said=kind.answer(report),
        parts=(Part("report", "", Markup(content)),),
        choice=choice,
        downloads=_downloads(here, choice),
        legend=_legend(document),
    )


def _look(choice: Choice) -> html.Look:
    """Tables with their intervals drawn, in the order that is chosen, so many rows at a time."""
    return html.Look(
        drawn=True,
        sort=lambda order: f"?{choice.query(sort=order, first=0)}",
        order=choice.sort,
        most=MOST,
        first=choice.first,
        turn=lambda first: f"?{choice.query(first=first)}#pairs",
        wraps=WRAPS,
    )


def of_report(
    report: Report, choice: Choice, here: str, opens: bool, pairs_at: str | None = None
) -> Shown:
    """What to show of a comparison: systems, who is better than whom, pictures, pairs.

    Of several test sets it is the document.

    Args:
        report: What to show.
        choice: What of it.
        here: Address of its comparison.
        opens: Whether pairs are opened.
        pairs_at: Where they are, if not on this page.
    """
    choice = resolved(report, choice, opens)
    names = [system.name for system in report.systems]
    kept = [name for name in names if name not in choice.hide]
    if len(kept) < min(2, len(names)):
        raise RecipeError("Show at least two systems.", field="hide")
    part = select(report, test=choice.test, system=kept) if choice.hide or choice.test else report
    one = select(part, metric=choice.metric)
    document = KINDS["comparisons"].present(one).document()
    look = replace(
        _look(choice),
        link=_links(names, choice, pairs_at or "") if opens else None,
        current=frozenset(name for name in (choice.a, choice.b) if name is not None),
        dense=DENSE,
        names=document.names(),
        figure=lambda figure: _figure(figure, choice, here),
    )
    parts = (
        [Part("report", "", _html(document.blocks, look))]
        if report.several is not None
        else _parts(document, part if choice.beside else one, one, look)
    )
    return Shown(
        document=document,
        said=answer(report, choice.metric),
        parts=tuple(parts),
        metrics=tuple(report.metrics),
        tests=report.tests,
        systems=tuple(names) if len(names) > 2 and report.several is None else (),
        choice=choice,
        downloads=_downloads(here, choice),
        legend=_legend(document),
        beside=_beside(parts) if opens else None,
        below=opens and report.several is not None,
        testsets=tuple(name for name, _ in titled(report)[:-1]),
        said_how=saying.how_to_say(report),
    )


def decidable(view: Shown, alpha: float, correction: str) -> Shown:
    """The same where it can be decided anew: by corrections that need no draws, or as it was.

    Args:
        view: Of a report.
        alpha: With which it was computed.
        correction: With which it was.
    """
    corrections = tuple(
        (name, own.title)
        for name, own in CORRECTIONS.items()
        if own.joint is None or name == correction
    )
    return replace(view, corrections=corrections, asked=Decision(alpha, correction))


def _beside(parts: Sequence[Part]) -> str | None:
    """The matrix, or else the list of pairs."""
    anchors = [part.anchor for part in parts]
    return next((name for name in ("matrix", "pairs") if name in anchors), None)


def _parts(document: Document, seen: Report, one: Report, look: html.Look) -> list[Part]:
    """Of a report on one test set.

    Args:
        document: Of one metric.
        seen: Whose systems are shown.
        one: The report of one metric.
        look: Of the tables.
    """
    (metric,) = one.metrics
    systems = document.blocks[:1] if seen is one else tables.systems(seen)
    found = [Part("systems", "Systems", _html(systems, look))]
    if not one.pairs:
        return found
    if PICTURES["matrix"].fits(one):
        matrix = Part(
            "matrix",
            "Who is better than whom",
            _html([tables.matrix(one, metric)], look),
            "Each system against the others, by number.",
        )
        found.append(matrix)
    pictures = [
        Figure(picture.title, lambda name=name: name)  # type: ignore[misc]
        for name, picture in PICTURES.items()
        if picture.needs == "report" and picture.fits(one)
    ]
    found.append(Part("pictures", "Pictures", _html(pictures, look)))
    pairs = [block for block in document.flat() if isinstance(block, Table)]
    found.append(Part("pairs", "Pairs", _html(pairs, look)))
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
    if report.several is not None and opens:
        known = [entry.name for entry in report.several.testsets]
        testset = choose(choice.testset or known[0], known, "testset", "test set")
        choice = replace(choice, testset=testset)
    return replace(choice, metric=metric, test=test)


def _html(blocks: Iterable[Block], look: html.Look) -> Markup:
    return Markup(html.blocks(blocks, look))


def _links(names: Iterable[str], choice: Choice, page: str) -> Callable[[tuple[str, str]], str]:
    """Where pairs are opened: a report may have thousands, so their addresses share their parts."""
    rest = choice.query(a=None, b=None)
    quoted = {name: quote_plus(name) for name in names}
    return lambda pair: f"{page}?{rest}&a={quoted[pair[0]]}&b={quoted[pair[1]]}#pair"


def _figure(figure: Figure, choice: Choice, here: str) -> str:
    """A picture of the report that is shown."""
    named = {picture.title: name for name, picture in PICTURES.items()}
    chosen = choice.query(beside=False, hide=(), a=None, b=None, testset=None, sort="", first=0)
    address = f"{here}/pictures/{named[figure.caption]}.svg?{chosen}"
    caption, source = html.escape(figure.caption), html.escape(address)
    return (
        f'<figure><a href="{source}"><img src="{source}" alt="{caption}"></a>'
        f"<figcaption>{caption}</figcaption></figure>"
    )


def _downloads(here: str, choice: Choice) -> tuple[tuple[str, str, str], ...]:
    """Each format, decided like the page."""
    return tuple(
        (form.name, form.title, f"{here}/report?{choice.downloaded(form.name)}")
        for form in FORMATS.values()
    )


def _legend(document: Document) -> tuple[tuple[str, str], ...]:
    """Each sign with what it means."""
    return tuple((html.MARKS.get(mark, "Bold"), words) for mark, words in document.marks.items())
