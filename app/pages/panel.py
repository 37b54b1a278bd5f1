"""One pair beside the report: its numbers, its distribution, the segments behind its difference."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from urllib.parse import urlencode

from markupsafe import Markup

from app.answers.options import SegmentOptions
from app.answers.questions import Behind
from app.pages.site import segment
from sigtest.render import html, tables
from sigtest.render.digits import MINUS, signed
from sigtest.render.model import ReportTable
from sigtest.render.standings import metric_decimals
from sigtest.report import Report
from sigtest.report.selection import select
from sigtest.segments import METHOD, Row, Words, marked_words
from sigtest.significance import resampling_tests

NO_BREAK = "\N{NO-BREAK SPACE}"
HALF = 100  # of the width of the bars, in parts


@dataclass(frozen=True)
class SegmentRow:
    """One segment as the page shows it.

    Attributes:
        number: Its place, from 1.
        document: Where it is known.
        share: Its share in words.
        bar: A drawing of it.
        source: Where it is known.
        reference: Where there is one.
        a: Output of the first system, with words marked that the other lacks.
        b: Output of the second.
    """

    number: int
    document: str | None
    share: str
    bar: Markup
    source: Markup | None
    reference: Markup | None
    a: Markup
    b: Markup


@dataclass(frozen=True)
class Panel:
    """What the template of a pair speaks of.

    Attributes:
        a: First system.
        b: Second.
        metric: Label.
        verdict: In words.
        table: Numbers under every test.
        picture: Address of the distribution; none for a test that draws nothing.
        rows: Segments, with texts.
        carried: What these add up to, in words.
        method: How the difference is shared out.
        documents: To choose from.
        filters: As they are.
        count: How many pass the filters.
        first: Place of the first that is shown among these, from 1.
        before: Query of those before; none at the beginning.
        after: Query of those that follow; none at the end.
        fields: What the form of the filters sends along.
        testset: Of several, the one that is looked at.
        testsets: Names of several, with queries that lead to the pair on each.
    """

    a: str
    b: str
    metric: str
    verdict: str
    table: Markup
    picture: str | None
    rows: tuple[SegmentRow, ...]
    carried: str
    method: str
    documents: tuple[str, ...]
    filters: SegmentOptions
    count: int
    first: int
    before: str | None
    after: str | None
    fields: tuple[tuple[str, str], ...]
    testset: str | None
    testsets: tuple[tuple[str, str], ...]


def panel(
    behind: Behind, filters: SegmentOptions, fields: list[tuple[str, str]], here: str
) -> Panel:
    """What to show of a pair.

    Args:
        behind: The pair and its segments.
        filters: Which of them, and from where on.
        fields: What else the address of the page says.
        here: Address of the report.
    """
    asked, pair = behind.query, behind.pair
    report = select(behind.report, metric=asked.metric, system=[asked.a, asked.b])
    places = max(2, metric_decimals(behind.report, asked.metric))
    higher = behind.report.metrics[asked.metric].higher_is_better
    shown = behind.slice
    largest = max((abs(row.share) for row in shown.rows), default=0.0) or 1.0
    end = filters.start + len(shown.rows)
    pairs = [(name, value) for name, value in (*fields, *_filters(filters)) if value]
    return Panel(
        a=asked.a,
        b=asked.b,
        metric=asked.metric,
        verdict=pair.verdict,
        table=Markup(html.blocks(_numbers(report, asked.metric))),
        picture=_picture(behind, here),
        rows=tuple(_row(row, behind, places, largest, higher) for row in shown.rows),
        carried=_carried(behind, end, places),
        method=METHOD,
        documents=tuple(dict.fromkeys(behind.segments.documents or ())),
        filters=filters,
        count=shown.wanted,
        first=filters.start + 1,
        before=_page(pairs, filters.start - filters.limit) if filters.start else None,
        after=_page(pairs, end) if end < shown.wanted else None,
        fields=tuple(fields),
        testset=asked.testset,
        testsets=tuple(
            (name, urlencode([*(own for own in fields if own[0] != "testset"), ("testset", name)]))
            for name in behind.testsets
        ),
    )


def _numbers(report: Report, metric: str) -> Iterator[ReportTable]:
    """The pair under every test; its verdict is said in words above."""
    for table in tables.pairs_by(report, metric):
        told = [own for own in table.groups if own.columns[0].heading != "verdict"]
        yield replace(table, groups=tuple(told))


def _filters(filters: SegmentOptions) -> list[tuple[str, str]]:
    chosen = filters.filter
    told = vars(chosen) if chosen.order != "size" else {**vars(chosen), "order": None}
    return [(name, str(value)) for name, value in told.items() if value is not None]


def _page(pairs: list[tuple[str, str]], start: int) -> str:
    return urlencode([*pairs, *([("start", str(start))] if start > 0 else [])])


def _picture(behind: Behind, here: str) -> str | None:
    asked = behind.query
    if not resampling_tests([asked.test]):
        return None
    named = {"a": asked.a, "b": asked.b, "metric": asked.metric, "test": asked.test}
    if asked.testset is not None:
        named["testset"] = asked.testset
    return f"{here}/pictures/distribution.svg?{urlencode(named)}"


def _carried(behind: Behind, end: int, places: int) -> str:
    """What the segments so far carry of the difference."""
    shown, difference, metric = behind.slice, behind.pair.difference, behind.query.metric
    if not shown.rows:
        return "No segment passes these filters."
    of = f"of the difference of {signed(difference, places)} {metric}"
    so_far = "This segment carries" if end == 1 else f"The first {end} segments carry"
    if end == shown.wanted:
        so_far = "This one segment carries" if end == 1 else f"These {end} segments carry"
    carried = f"{so_far} {signed(shown.carried, places)}"
    share = shown.carried / difference if difference else 0.0
    part = f", {100 * share:.0f}{NO_BREAK}%," if 0 < share <= 1 else ""
    return f"{carried}{part} {of}.".replace("-", MINUS)


def _row(row: Row, behind: Behind, places: int, largest: float, higher: bool) -> SegmentRow:
    asked = behind.query
    gain = row.share if higher else -row.share
    winner = asked.a if gain > 0 else asked.b
    amount = signed(row.share, places).replace("-", MINUS)
    share = f"{amount}, for {winner}" if gain else f"{amount}, for neither"
    words_a, words_b = marked_words(row.a or "", row.b or "")
    return SegmentRow(
        number=row.number,
        document=row.document,
        share=share,
        bar=_bar(gain / largest),
        source=None if row.source is None else segment(row.source),
        reference=None if row.reference is None else segment(row.reference),
        a=_line(words_a, row.a),
        b=_line(words_b, row.b),
    )


def _line(words: Words, line: str | None) -> Markup:
    if line is None:
        return Markup('<span class="facts">scores alone</span>')
    if not line:
        return Markup('<span class="facts">empty</span>')
    return Markup("").join(_marked(part) if marked else segment(part) for part, marked in words)


def _marked(part: str) -> Markup:
    """Words with a mark, without the blanks around them; blanks alone have one, too."""
    own = part.strip(" ") or part
    before, _, after = part.partition(own)
    return Markup("{}<mark>{}</mark>{}").format(before, segment(own), after)


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
