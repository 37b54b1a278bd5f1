"""A report as a page: its parts, where their links lead, how to say what it found.

Words, tables and pictures are what the renderers make of the report.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import quote_plus

from markupsafe import Markup

from app.answers import questions as answers
from app.answers.options import View
from sigtest.data.choices import choose
from sigtest.errors import RecipeError
from sigtest.kinds import KINDS, Kind
from sigtest.render import html, tables
from sigtest.render.digits import whole
from sigtest.render.formats import FORMATS, Layout
from sigtest.render.model import Block, Document, Figure, ReportTable
from sigtest.render.names import printable
from sigtest.render.pictures import PICTURES
from sigtest.render.standings import answer, leading_test, titled
from sigtest.report import Report, SystemReport
from sigtest.report.selection import select
from sigtest.significance import CORRECTIONS, TESTS
from workers.questions import Record
from workers.store.boards import Choice

MANY = 12  # systems, above which not all are named


@dataclass(frozen=True)
class Basis:
    """What one significance test of a report stands on.

    Attributes:
        name: In words.
        question: What it asks.
        null: Its null hypothesis.
        level: Whether it keeps its level here.
        draws: How its p-values came about.
    """

    name: str
    question: str
    null: str
    level: str
    draws: str


@dataclass(frozen=True)
class HowToSay:
    """What a paper takes from a report.

    Attributes:
        rows: The systems as rows of a LaTeX table; nothing of many.
        verify: What the command that computes the report again takes besides the report.
        bases: Of each test.
    """

    rows: str
    verify: str
    bases: tuple[Basis, ...]


def how_to_say(report: Report) -> HowToSay | None:
    """What a paper takes, of a report on one test set with pairs and all its metrics and tests."""
    if not report.pairs or report.several is not None:
        return None
    return HowToSay(
        rows=_rows(report),
        verify=_verify(report),
        bases=tuple(
            # the one that ranks and words follow first
            _basis(report, test)
            for test in sorted(report.tests, key=lambda test: test != leading_test(report))
        ),
    )


def _rows(report: Report) -> str:
    """Of a LaTeX table; those of many systems are a download only."""
    if len(report.systems) > MANY:
        return ""
    presented = KINDS["comparisons"].lay_out(report, Layout(table="row"))
    return FORMATS["latex"].render(presented).strip()


def _verify(report: Report) -> str:
    """What computes the report again: the reader's own files."""
    first = report.systems[:MANY]
    references = ["-r REFERENCE"] * report.testset.references
    documents = ["--documents DOCUMENTS"] if _of_documents(report) else []
    brought = [words for system in first for words in _files(report, system)]
    rest = ["..."] if len(report.systems) > MANY else []
    return " ".join([*references, *documents, *brought, *rest])


def _files(report: Report, system: SystemReport) -> Iterator[str]:
    """What a system brought, as the command takes it: a text, those of several runs, scores."""
    name = printable(system.name)
    supplied = {
        label: "|of:|" not in metric.signature
        for label, metric in report.metrics.items()
        if metric.signature.endswith("|supplied")
    }
    runs = max(len(score.replicas) for score in system.scores.values())
    if runs:
        yield f"--replicas {shlex.quote(f'{name}=' + ','.join(['OUTPUT'] * runs))}"
        return
    if len(supplied) < len(report.metrics):
        yield shlex.quote(name)
    for label, labelled in supplied.items():
        start = f"{printable(label)}:" if labelled else ""
        yield f"--scores {shlex.quote(f'{start}{name}=SCORES')}"


def _of_documents(report: Report) -> bool:
    """Whether documents are resampled."""
    return "|unit:document|" in report.signature


def _basis(report: Report, test: str) -> Basis:
    pairs = [pair for pair in report.pairs if pair.test == test]
    kept = sum(pair.calibrated for pair in pairs)
    unit = "document" if _of_documents(report) else "segment"
    if kept == len(pairs):
        level = (
            f"It keeps its level here as long as {unit}s are independent of each other: a true "
            "null hypothesis is rejected as often as alpha says."
        )
    elif kept == 0:
        level = "It does not keep its level here: it rejects true null hypotheses too often."
    else:
        level = (
            f"It keeps its level for {whole(kept)} of {whole(len(pairs))} decisions; the other "
            "differences are too skewed or the units too few."
        )
    exact = sum(pair.exact for pair in pairs)
    if TESTS[test].draws == "none":
        draws = "Its p-values are computed, not drawn."
    elif exact == len(pairs):
        draws = "All its p-values are exact: every exchange of two systems' outputs is counted."
    else:
        drawn = max(pair.resamples or 0 for pair in pairs if not pair.exact)
        draws = f"{whole(drawn)} resamples"
        draws += f"; {whole(exact)} of {whole(len(pairs))} p-values are exact." if exact else "."
    own = TESTS[test]
    return Basis(
        name=test.replace("_", " "),
        question=(own.__doc__ or "").strip().partition("\n")[0],
        null=report.nulls.get(test, own.null),
        level=level,
        draws=draws,
    )


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
class ReportView:
    """What the template of a report speaks of.

    Attributes:
        document: Title, facts, warnings, marks, signature and whatever else documents have.
        answer: In words.
        parts: From the top.
        view: What is chosen, defaults filled in.
        downloads: Name, title and address of each format.
        legend: Each sign of the tables with what it means.
        metrics: Labels to choose from; none where there is no choice.
        tests: Names to choose from; likewise.
        systems: Names, those that are hidden too; none where none can be hidden.
        beside: Anchor of the part that pairs are opened beside; none where they are not.
        corrections: Name and title of those that it can be decided with; none where it cannot.
        computed: How it is decided where nothing is chosen, where it can be decided anew.
        wording: What a paper takes, and what it stands on.
        below: Whether pairs are opened below all parts.
        testsets: Names of several.
    """

    document: Document
    answer: tuple[str, ...]
    parts: tuple[Part, ...]
    view: View
    downloads: tuple[tuple[str, str, str], ...]
    legend: tuple[tuple[str, str], ...]
    metrics: tuple[str, ...] = ()
    tests: tuple[str, ...] = ()
    systems: tuple[str, ...] = ()
    beside: str | None = None
    corrections: tuple[tuple[str, str], ...] = ()
    computed: Choice | None = None
    wording: HowToSay | None = None
    below: bool = False
    testsets: tuple[str, ...] = ()

    @property
    def linked(self) -> bool:
        """Whether some number of a table opens its pair."""
        return any('#pair"' in part.content for part in self.parts)


def view_of(record: Record, stored: bytes, view: View, here: str, opens: bool = True) -> ReportView:
    """What to show of a report.

    Args:
        record: The question.
        stored: The report as it is stored.
        view: What of it.
        here: Address of the page.
        opens: Whether pairs are opened, with the texts that were uploaded.

    Raises:
        RecipeError: The report does not have what was chosen.
    """
    kind, report = KINDS[record.kind], answers.read(stored, record, view.choice)
    if isinstance(report, Report):
        made = of_report(report, view, here, opens)
        if record.testset is not None or not report.pairs:
            return made
        computed: Report = answers.read(stored, record)
        return decidable(made, computed.alpha, computed.correction)
    return _of_other(kind, report, view, here)


def _of_other(kind: Kind[Any], report: Any, view: View, here: str) -> ReportView:
    """A kind's document, from the top."""
    document = kind.present(report).document()
    look = replace(_look(view), names=document.names())
    content = html.blocks(document.blocks, look)
    return ReportView(
        document=document,
        answer=kind.answer(report),
        parts=(Part("report", "", Markup(content)),),
        view=view,
        downloads=_downloads(here, view),
        legend=_legend(document),
    )


def _look(view: View) -> html.Look:
    """Tables with their intervals drawn, in the order that is chosen, so many rows at a time."""
    return html.Look(
        drawn=True,
        sort=lambda order: f"?{view.query(sort=order, first=0)}",
        order=view.sort,
        most=MOST,
        first=view.first,
        turn=lambda first: f"?{view.query(first=first)}#pairs",
        wraps=WRAPS,
    )


def of_report(
    report: Report, view: View, here: str, opens: bool, pairs_at: str | None = None
) -> ReportView:
    """What to show of a comparison: systems, who is better than whom, pictures, pairs.

    Of several test sets it is the document.

    Args:
        report: What to show.
        view: What of it.
        here: Address of its comparison.
        opens: Whether pairs are opened.
        pairs_at: Where they are, if not on this page.
    """
    view = resolved(report, view, opens)
    names = [system.name for system in report.systems]
    kept = [name for name in names if name not in view.hide]
    if len(kept) < min(2, len(names)):
        raise RecipeError("Show at least two systems.", field="hide")
    part = select(report, test=view.test, system=kept) if view.hide or view.test else report
    one = select(part, metric=view.metric)
    document = KINDS["comparisons"].present(one).document()
    look = replace(
        _look(view),
        link=_links(names, view, pairs_at or "") if opens else None,
        current=frozenset(name for name in (view.a, view.b) if name is not None),
        dense=DENSE,
        names=document.names(),
        figure=lambda figure: _figure(figure, view, here),
    )
    parts = (
        [Part("report", "", _html(document.blocks, look))]
        if report.several is not None
        else _parts(document, part if view.beside else one, one, look)
    )
    anchors = [part.anchor for part in parts]
    return ReportView(
        document=document,
        answer=answer(report, view.metric),
        parts=tuple(parts),
        metrics=tuple(report.metrics),
        tests=report.tests,
        systems=tuple(names) if len(names) > 2 and report.several is None else (),
        view=view,
        downloads=_downloads(here, view),
        legend=_legend(document),
        beside=next((own for own in ("matrix", "pairs") if own in anchors), None)
        if opens
        else None,
        below=opens and report.several is not None,
        testsets=tuple(name for name, _ in titled(report)[:-1]),
        wording=how_to_say(report),
    )


def decidable(made: ReportView, alpha: float, correction: str) -> ReportView:
    """The same where it can be decided anew: by corrections that need no draws, or as it was.

    Args:
        made: Of a report.
        alpha: With which it was computed.
        correction: With which it was.
    """
    corrections = tuple(
        (name, own.title)
        for name, own in CORRECTIONS.items()
        if own.joint is None or name == correction
    )
    return replace(made, corrections=corrections, computed=Choice(alpha, correction))


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
    pairs = [block for block in document.flat() if isinstance(block, ReportTable)]
    found.append(Part("pairs", "Pairs", _html(pairs, look)))
    return found


def resolved(report: Report, view: View, opens: bool) -> View:
    """The choice with its defaults: the first metric, and the only pair where there is one.

    Raises:
        RecipeError: A metric, test or system that the report does not have.
    """
    names = [system.name for system in report.systems]
    for name in view.hide:
        choose(name, names, "hide", "system")
    metric = choose(view.metric or next(iter(report.metrics)), report.metrics, "metric", "metric")
    test = view.test
    if test is not None and report.pairs:
        choose(test, report.tests, "test", "significance test")
    if view.a is None and len(names) == 2 and report.pairs and opens:
        view = replace(view, a=report.pairs[0].a, b=report.pairs[0].b)
    if report.several is not None and opens:
        known = [entry.name for entry in report.several.testsets]
        testset = choose(view.testset or known[0], known, "testset", "test set")
        view = replace(view, testset=testset)
    return replace(view, metric=metric, test=test)


def _html(blocks: Iterable[Block], look: html.Look) -> Markup:
    return Markup(html.blocks(blocks, look))


def _links(names: Iterable[str], view: View, page: str) -> Callable[[tuple[str, str]], str]:
    """Where pairs are opened: a report may have thousands, so their addresses share their parts."""
    rest = view.query(a=None, b=None)
    quoted = {name: quote_plus(name) for name in names}
    return lambda pair: f"{page}?{rest}&a={quoted[pair[0]]}&b={quoted[pair[1]]}#pair"


def _figure(figure: Figure, view: View, here: str) -> str:
    """A picture of the report that is shown."""
    named = {picture.title: name for name, picture in PICTURES.items()}
    chosen = view.query(beside=False, hide=(), a=None, b=None, testset=None, sort="", first=0)
    address = f"{here}/pictures/{named[figure.caption]}.svg?{chosen}"
    caption, source = html.escape(figure.caption), html.escape(address)
    return (
        f'<figure><a href="{source}"><img src="{source}" alt="{caption}"></a>'
        f"<figcaption>{caption}</figcaption></figure>"
    )


def _downloads(here: str, view: View) -> tuple[tuple[str, str, str], ...]:
    """Each format, decided like the page."""
    return tuple(
        (form.name, form.title, f"{here}/report?{view.downloaded(form.name)}")
        for form in FORMATS.values()
    )


def _legend(document: Document) -> tuple[tuple[str, str], ...]:
    """Each sign with what it means."""
    return tuple((html.MARKS.get(mark, "Bold"), words) for mark, words in document.marks.items())
