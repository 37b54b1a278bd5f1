"""A report as a page: its parts, where their links lead, how to say what it found; one pair of it.

Words, tables and pictures are what the renderers make of the report.
"""

import shlex
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from urllib.parse import quote_plus, urlencode

from markupsafe import Markup

from app import answers
from app.answers import DecisionOptions, PairView, View
from app.pages.site import segment
from sigtest.data.names import choose
from sigtest.errors import RecipeError
from sigtest.kinds import KINDS
from sigtest.render import comparison, html
from sigtest.render.formats import FORMATS, Layout
from sigtest.render.model import Block, Document, Figure, ReportTable
from sigtest.render.pictures import PICTURES
from sigtest.render.standings import answer, leading_test, metric_decimals
from sigtest.render.words import MINUS, printable, signed, whole
from sigtest.report import Report, SystemReport, select
from sigtest.segments import METHOD, Row, Words, marked_words
from sigtest.significance import CORRECTIONS, TESTS, resampling_tests
from workers.questions import Record

MANY = 12  # systems, above which not all are named
MOST = 300  # rows of a table at a time
WRAPS = 32  # characters of a name in one line
DENSE = 14  # columns above which p-values are shown by their marks
HALF = 100  # of the width of the bars of segments, in parts
NO_BREAK = "\N{NO-BREAK SPACE}"


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
class Wording:
    """What a paper takes from a report on one test set, with pairs and all its metrics and tests.

    Attributes:
        rows: The systems as rows of a LaTeX table; nothing of many.
        verify: What the command that computes the report again takes besides the report.
        bases: Of each test, the one that ranks and words follow first.
    """

    rows: str
    verify: str
    bases: tuple[Basis, ...]


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
        downloads: Name, title and address of each format, decided like the page.
        metrics: Labels to choose from; none where there is no choice.
        tests: Names to choose from; likewise.
        systems: Names, those that are hidden too; none where none can be hidden.
        beside: Anchor of the part that pairs are opened beside; none where they are not.
        corrections: Name and title of those that it can be decided with; none where it cannot.
        computed: How it is decided where nothing is chosen, where it can be decided anew.
        wording: What a paper takes, and what it stands on.
        below: Whether pairs are opened below all parts.
    """

    document: Document
    answer: tuple[str, ...]
    parts: tuple[Part, ...]
    view: View
    downloads: tuple[tuple[str, str, str], ...]
    metrics: tuple[str, ...] = ()
    tests: tuple[str, ...] = ()
    systems: tuple[str, ...] = ()
    beside: str | None = None
    corrections: tuple[tuple[str, str], ...] = ()
    computed: DecisionOptions | None = None
    wording: Wording | None = None
    below: bool = False

    @property
    def linked(self) -> bool:
        """Whether some number of a table opens its pair."""
        return any('#pair"' in part.content for part in self.parts)

    @property
    def legend(self) -> list[tuple[str, str]]:
        """Each sign of the tables with what it means."""
        return [
            (html.MARKS.get(sign, "Bold"), words) for sign, words in self.document.marks.items()
        ]


def view_of(
    record: Record,
    stored: bytes,
    view: View,
    here: str,
    opens: bool = True,
    pairs_at: str | None = None,
) -> ReportView:
    """What to show of a report.

    Args:
        record: The question.
        stored: The report as it is stored.
        view: What of it.
        here: Address of the page.
        opens: Whether pairs are opened, with the texts that were uploaded.
        pairs_at: Where they are, if not on this page.

    Raises:
        RecipeError: The report does not have what was chosen.
    """
    kind, report = KINDS[record.kind], answers.read(stored, record, view.choice)
    if not isinstance(report, Report):
        document = kind.present(report).document()
        look = replace(_look(view), names=document.names())
        parts = (Part("report", "", _html(document.blocks, look)),)
        return ReportView(document, document.answer, parts, view, _downloads(here, view))
    made = of_report(report, view, here, opens, pairs_at)
    if not report.pairs:
        return made
    computed: Report = answers.read(stored, record)
    corrections = tuple(
        (name, own.title)
        for name, own in CORRECTIONS.items()
        if own.joint is None or name == computed.correction
    )
    own = DecisionOptions(computed.alpha, computed.correction)
    return replace(made, corrections=corrections, computed=own)


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
    document, several = KINDS["comparisons"].present(one).document(), report.several is not None
    # a report may have thousands of pairs, so their addresses share their parts
    rest, quoted = view.query(a=None, b=None), {name: quote_plus(name) for name in names}
    start = f"{pairs_at or ''}?{rest}"
    look = replace(
        _look(view),
        link=(lambda pair: f"{start}&a={quoted[pair[0]]}&b={quoted[pair[1]]}#pair")
        if opens
        else None,
        current=frozenset(name for name in (view.a, view.b) if name is not None),
        dense=DENSE,
        names=document.names(),
        figure=lambda figure: _figure(figure, view, here),
    )
    parts = (
        [Part("report", "", _html(document.blocks, look))]
        if several
        else [*_parts(document, part if view.beside else one, one, look)]
    )
    anchors = [part.anchor for part in parts]
    beside = next((own for own in ("matrix", "pairs") if own in anchors), None)
    return ReportView(
        document=document,
        answer=answer(report, view.metric),
        parts=tuple(parts),
        view=view,
        downloads=_downloads(here, view),
        metrics=tuple(report.metrics),
        tests=report.tests,
        systems=tuple(names) if len(names) > 2 and not several else (),
        beside=beside if opens else None,
        below=opens and several,
        wording=_wording(report) if report.pairs and not several else None,
    )


def resolved(report: Report, view: View, opens: bool) -> View:
    """The choice with its defaults: the first metric, and the only pair where there is one.

    Raises:
        RecipeError: A metric, test or system that the report does not have.
    """
    names = [system.name for system in report.systems]
    for name in view.hide:
        choose(name, names, "hide", "system")
    metric = choose(view.metric or next(iter(report.metrics)), report.metrics, "metric", "metric")
    if view.test is not None and report.pairs:
        choose(view.test, report.tests, "test", "significance test")
    if view.a is None and len(names) == 2 and report.pairs and opens:
        holding = (pair for pair in report.pairs if pair.significant and pair.metric == metric)
        first = next(holding, report.pairs[0])  # one-sided, both orders are claims
        view = replace(view, a=first.a, b=first.b)
    if report.several is not None and opens:
        known = [entry.name for entry in report.several.testsets]
        testset = choose(view.testset or known[0], known, "testset", "test set")
        view = replace(view, testset=testset)
    return replace(view, metric=metric)


def _parts(document: Document, seen: Report, one: Report, look: html.Look) -> Iterator[Part]:
    """Of a report on one test set.

    Args:
        document: Of one metric.
        seen: Whose systems are shown.
        one: The report of one metric.
        look: Of the tables.
    """
    (metric,) = one.metrics
    systems = document.blocks[:1] if seen is one else comparison.systems(seen)
    yield Part("systems", "Systems", _html(systems, look))
    if not one.pairs:
        return
    if PICTURES["matrix"].fits(one):
        content = _html([comparison.matrix(one, metric)], look)
        about = "Each system against the others, by number."
        yield Part("matrix", "Who is better than whom", content, about)
    pictures = [
        Figure(picture.title, lambda name=name: name)  # type: ignore[misc]
        for name, picture in PICTURES.items()
        if picture.needs == "report" and picture.fits(one)
    ]
    yield Part("pictures", "Pictures", _html(pictures, look))
    pairs = [block for block in document.flat() if isinstance(block, ReportTable)]
    yield Part("pairs", "Pairs", _html(pairs, look))


def _html(blocks: Iterable[Block], look: html.Look) -> Markup:
    return Markup(html.blocks(blocks, look))


def _look(view: View) -> html.Look:
    """Tables with their intervals drawn, in the order that is chosen, so many rows at a time."""
    return html.Look(
        intervals=True,
        sort=lambda order: f"?{view.query(sort=order, first=0)}",
        order=view.sort,
        most=MOST,
        first=view.first,
        turn=lambda first: f"?{view.query(first=first)}#pairs",
        wraps=WRAPS,
    )


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
    return tuple(
        (form.name, form.title, f"{here}/report?{view.downloaded(form.name)}")
        for form in FORMATS.values()
    )


# what a paper takes


def _wording(report: Report) -> Wording:
    first, rows = report.systems[:MANY], ""
    references = ["-r REFERENCE"] * report.testset.references
    documents = ["--documents DOCUMENTS"] if report.unit == "document" else []
    files = [words for system in first for words in _files(report, system)]
    rest = ["..."] if len(report.systems) > MANY else []
    if not rest:
        presented = KINDS["comparisons"].lay_out(report, Layout(table="row"))
        rows = FORMATS["latex"].render(presented).strip()
    leading = leading_test(report)
    bases = [_basis(report, test) for test in sorted(report.tests, key=lambda own: own != leading)]
    return Wording(rows, " ".join([*references, *documents, *files, *rest]), tuple(bases))


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


def _basis(report: Report, test: str) -> Basis:
    pairs = [pair for pair in report.pairs if pair.test == test]
    count = whole(len(pairs))
    calibrated, exact = sum(p.calibrated for p in pairs), sum(p.exact for p in pairs)
    if calibrated == len(pairs):
        level = (
            f"It keeps its level here as long as {report.unit}s are independent of each other: a "
            "true null hypothesis is rejected as often as alpha says."
        )
    elif calibrated == 0:
        level = "It does not keep its level here: it rejects true null hypotheses too often."
    else:
        level = (
            f"It keeps its level for {whole(calibrated)} of {count} decisions; the other "
            "differences are too skewed or the units too few."
        )
    if TESTS[test].draws == "none":
        draws = "Its p-values are computed, not drawn."
    elif exact == len(pairs):
        draws = "All its p-values are exact: every exchange of two systems' outputs is counted."
    else:
        drawn = max(pair.resamples or 0 for pair in pairs if not pair.exact)
        draws = f"{whole(drawn)} resamples"
        draws += f"; {whole(exact)} of {count} p-values are exact." if exact else "."
    return Basis(
        name=test.replace("_", " "),
        question=(TESTS[test].__doc__ or "").strip().partition("\n")[0],
        null=report.nulls.get(test, TESTS[test].null),
        level=level,
        draws=draws,
    )


# one pair


@dataclass(frozen=True)
class SegmentRow:
    """One segment as the page shows it.

    Attributes:
        row: Its place, document and texts.
        share: Its share in words.
        bar: A drawing of it.
        texts: Source and reference, where they are known, and the output of each system, with words
            marked that the other lacks; each with what it is called.
    """

    row: Row
    share: str
    bar: Markup
    texts: tuple[tuple[str, Markup], ...]


@dataclass(frozen=True)
class Panel:
    """What the template of a pair speaks of.

    Attributes:
        part: The pair with its segments.
        table: Numbers under every test.
        picture: Address of the distribution; none for a test that draws nothing.
        rows: Segments, with texts.
        carried: What these add up to, in words.
        before: Query of those before; none at the beginning.
        after: Query of those that follow; none at the end.
        fields: What the form of the filters sends along.
        testsets: Names of several, with queries that lead to the pair on each.
        method: How the difference is shared out.
    """

    part: PairView
    table: Markup
    picture: str | None
    rows: tuple[SegmentRow, ...]
    carried: str
    before: str | None
    after: str | None
    fields: tuple[tuple[str, str], ...]
    testsets: tuple[tuple[str, str], ...]
    method: str = METHOD

    @property
    def documents(self) -> tuple[str, ...]:
        """To choose from."""
        return tuple(dict.fromkeys(self.part.segments.documents or ()))


def panel(shown: PairView, fields: list[tuple[str, str]], here: str) -> Panel:
    """What to show of a pair.

    Args:
        shown: The pair and its segments.
        fields: What else the address of the page says.
        here: Address of the report.
    """
    query, wanted, rows = shown.query, shown.wanted, shown.slice.rows
    report = select(shown.report, metric=query.metric, system=[query.a, query.b])
    places = max(2, metric_decimals(shown.report, query.metric))
    largest = max((abs(row.share) for row in rows), default=0.0) or 1.0
    end = wanted.start + len(rows)
    usual = {"order": None} if wanted.order == "size" else {}
    filters = {**vars(wanted.filter), **usual}
    pairs = [(k, str(v)) for k, v in (*fields, *filters.items()) if v not in (None, "")]

    def page(start: int) -> str:
        return urlencode([*pairs, *([("start", str(start))] if start > 0 else [])])

    elsewhere = [own for own in fields if own[0] != "testset"]
    named = {k: v for k, v in vars(query).items() if v is not None}
    drawn = bool(resampling_tests([query.test]))
    return Panel(
        part=shown,
        table=Markup(html.blocks(_numbers(report, query.metric))),
        picture=f"{here}/pictures/distribution.svg?{urlencode(named)}" if drawn else None,
        rows=tuple(_row(row, shown, places, largest) for row in rows),
        carried=_carried(shown, end, places),
        before=page(wanted.start - wanted.limit) if wanted.start else None,
        after=page(end) if end < shown.slice.wanted else None,
        fields=tuple(fields),
        testsets=tuple(
            (name, urlencode([*elsewhere, ("testset", name)])) for name in shown.testsets
        ),
    )


def _numbers(report: Report, metric: str) -> Iterator[ReportTable]:
    """The pair under every test; its verdict is said in words above."""
    for table in comparison.pairs_by(report, metric):
        groups = [own for own in table.groups if own.columns[0].heading != "verdict"]
        yield replace(table, groups=tuple(groups))


def _carried(shown: PairView, end: int, places: int) -> str:
    """What the segments so far carry of the difference."""
    difference, carried = shown.pair.difference, shown.slice.carried
    if not shown.slice.rows:
        return "No segment passes these filters."
    so_far = "This segment carries" if end == 1 else f"The first {end} segments carry"
    if end == shown.slice.wanted:
        so_far = "This one segment carries" if end == 1 else f"These {end} segments carry"
    share = carried / difference if difference else 0.0
    part = f", {100 * share:.0f}{NO_BREAK}%," if 0 < share <= 1 else ""
    of = f"of the difference of {signed(difference, places)} {shown.query.metric}"
    return f"{so_far} {signed(carried, places)}{part} {of}.".replace("-", MINUS)


def _row(row: Row, shown: PairView, places: int, largest: float) -> SegmentRow:
    query = shown.query
    gain = row.share if shown.report.metrics[query.metric].higher_is_better else -row.share
    amount = signed(row.share, places).replace("-", MINUS)
    winner = (query.a if gain > 0 else query.b) if gain else "neither"
    words_a, words_b = marked_words(row.a or "", row.b or "")
    known = {"source": row.source, "reference": row.reference}
    texts = [(name, segment(text)) for name, text in known.items() if text is not None]
    texts += [(query.a, _line(words_a, row.a)), (query.b, _line(words_b, row.b))]
    return SegmentRow(row, f"{amount}, for {winner}", _bar(gain / largest), tuple(texts))


def _line(words: Words, line: str | None) -> Markup:
    """An output; marks stand around words without the blanks around them, but for blanks alone."""
    if not line:
        about = "scores alone" if line is None else "empty"
        return Markup('<span class="facts">{}</span>').format(about)
    parts = []
    for part, marked in words:
        inner = (part.strip(" ") or part) if marked else ""
        before, _, after = part.partition(inner) if marked else (part, "", "")
        mark = Markup("{}<mark>{}</mark>{}").format(before, segment(inner), after)
        parts.append(mark if marked else segment(part))
    return Markup("").join(parts)


def _bar(share: float) -> Markup:
    """To the right for the first system, to the left for the second."""
    width = max(1.0, abs(share) * HALF)
    x = HALF if share >= 0 else HALF - width
    side = "first" if share >= 0 else "second"
    return Markup(
        f'<svg class="share" aria-hidden="true" width="{2 * HALF}" height="8" '
        f'viewBox="0 0 {2 * HALF} 8"><line x1="{HALF}" x2="{HALF}" y1="0" y2="8"/>'
        f'<rect class="{side}" x="{x:.1f}" y="1" width="{width:.1f}" height="6"/></svg>'
    )
