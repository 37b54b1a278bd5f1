"""A document as a page that stands alone: no scripts, nothing loaded, light and dark."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from html import escape as escape_html
from itertools import groupby
from math import isfinite

from sigtest.render.digits import MINUS, whole
from sigtest.render.drawing import COLUMN, darkening
from sigtest.render.model import (
    Abreast,
    Block,
    Cell,
    Column,
    Document,
    Figure,
    Group,
    Interval,
    Mark,
    Name,
    Number,
    Paragraph,
    PValue,
    Range,
    ReportTable,
    Section,
    Words,
)
from sigtest.render.names import JOINERS, printable, turns
from sigtest.report import Methods

WIDE = 1.5 * COLUMN
MARKS: dict[Mark, str] = {"baseline": "†", "significant": "*", "undecided": "?", "exact": "="}


@dataclass(frozen=True)
class Look:
    """What a page with more room and with addresses of its own makes of a document.

    Attributes:
        link: Where more about a pair is to be read.
        current: The pair that is read at the moment.
        drawn: Whether intervals are drawn in their rows, too.
        dense: Number of columns above which p-values of pairs are shown by their marks alone.
        figure: How a picture is shown; its SVG, as it is, where nothing is said.
        sort: Where the tables are in another order: that of a column's heading, falling where a
            hyphen stands before it.
        order: The order that they are in; their own where nothing is said.
        most: Rows that are shown at a time; all where nothing is said.
        first: Rows that are passed over, of tables with more than that.
        turn: Where as many rows are passed over.
        wraps: Characters above which a name may go on in a further line; none does where nothing
            is said.
        names: What is kept apart from the words beside it, where it is read from the right.
    """

    link: Callable[[tuple[str, str]], str] | None = None
    current: frozenset[str] = frozenset()
    drawn: bool = False
    dense: int | None = None
    figure: Callable[[Figure], str] | None = None
    sort: Callable[[str], str] | None = None
    order: str = ""
    most: int | None = None
    first: int = 0
    turn: Callable[[int], str] | None = None
    wraps: int | None = None
    names: tuple[str, ...] = ()


PLAIN = Look()


@dataclass(frozen=True)
class _Bar(Cell):
    """An interval and what it is around, as shares of the width of its column."""

    low: float
    at: float
    high: float
    zero: float | None


def render(document: Document) -> str:
    """The document as an HTML document."""
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta http-equiv="Content-Security-Policy" '
        "content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"<title>{escape(document.title)}</title>\n"
        "<style>@media screen and (prefers-color-scheme: dark) { body { background: #16191d; } }"
        "</style>\n"
        f"</head>\n<body>\n{fragment(document)}</body>\n</html>\n"
    )


def fragment(document: Document) -> str:
    """The document as one element, for a notebook or another page; its style stays inside it."""
    legend = [
        f"{_superscript(MARKS[mark]) if mark in MARKS else '<b>Bold</b> score:'} {escape(words)}."
        for mark, words in document.marks.items()
    ]
    look = Look(names=document.names())
    parts = [
        f"<h1>{isolated(document.title, look.names)}</h1>",
        _facts(f"{isolated('; '.join(document.facts), look.names)}."),
        f'<p class="answer">{isolated(" ".join(document.answer), look.names)}</p>'
        if document.answer
        else "",
        _warnings(document.warnings, look),
        blocks(document.blocks, look),
        *(_facts(line) for line in legend),
        *(_facts(f"{escape(note)}.") for note in document.notes),
    ]
    if document.methods:
        parts.append(_methods(document.methods))
    if document.signature:
        parts.append(f"<h2>Signature</h2>\n<p><code>{escape(document.signature)}</code></p>")
    body = "\n".join(part for part in parts if part)
    return f'<main class="sigtest">\n<style>{style_sheet()}</style>\n{body}\n</main>\n'


def blocks(given: Iterable[Block], look: Look = PLAIN) -> str:
    """Blocks of a document, figures that follow each other side by side."""
    parts = []
    for pictures, run in groupby(given, lambda block: isinstance(block, Figure)):
        made = [_block(block, look) for block in run]
        parts += ['<div class="figures">', *made, "</div>"] if pictures else made
    return "\n".join(parts)


def escape(text: str) -> str:
    """`text` as HTML shows it, in content and in attributes."""
    return escape_html(printable(text, kept=JOINERS), quote=True)


def isolated(text: str, names: tuple[str, ...]) -> str:
    """`text` as HTML shows it in content; names turn round nothing that stands beside them."""
    turning = _turning(names)
    if turning is None:
        return escape(text)
    parts = map(escape, turning.split(text))
    return "".join(f"<bdi>{part}</bdi>" if i % 2 else part for i, part in enumerate(parts))


@lru_cache
def _turning(names: tuple[str, ...]) -> re.Pattern[str] | None:
    """Where one of these stands that is read from the right; of two, the longer one."""
    found = sorted(filter(turns, names), key=len, reverse=True)
    return re.compile(rf"(?<!\w)({'|'.join(map(re.escape, found))})(?!\w)") if found else None


def _warnings(warnings: Sequence[str], look: Look) -> str:
    if not warnings:
        return ""
    items = "\n".join(f"<li>{isolated(warning, look.names)}</li>" for warning in warnings)
    return f'<ul class="warnings" aria-label="Warnings">\n{items}\n</ul>'


def _methods(methods: Methods) -> str:
    lines = "\n\n".join(own.bibtex for own in methods.references).split("\n")
    entries = "\n".join(map(escape, lines))
    return (
        f"<h2>Methods</h2>\n<p>{escape(methods.text)}</p>\n"
        f"<details>\n<summary>BibTeX</summary>\n<pre>{entries}</pre>\n</details>"
    )


def _block(block: Block, look: Look) -> str:
    match block:
        case Section():
            inner = blocks(block.blocks, look)
            return f"<section>\n<h2>{escape(block.title)}</h2>\n{inner}\n</section>"
        case Paragraph():
            return f"<p>{isolated(block.text, look.names)}</p>"
        case Figure():
            return look.figure(block) if look.figure else _figure(block.draw())
        case Abreast():
            made = (_table(table, look) for table in block.tables)
            return "\n".join(['<div class="abreast">', *made, "</div>", *_notes(block.notes, look)])
        case ReportTable():
            return _table(block, look)


def _figure(svg: str) -> str:
    """A picture; one that is wider than a paper's column has the whole width."""
    width = re.search(r'width="([\d.]+)pt"', svg)
    wide = ' class="wide" tabindex="0"' if width is not None and float(width[1]) > WIDE else ""
    return f"<figure{wide}>\n{svg}</figure>"


def _table(table: ReportTable, look: Look) -> str:
    """One body of rows a cluster; folded where there are many rows."""
    table = ordered(table, look.order)
    if look.drawn:
        table = replace(table, groups=tuple(map(_with_bars, table.groups)))
    dense = look.dense is not None and len(table.columns) > look.dense
    size = table.size
    table, pages = _paged(table, look)
    bodies: list[list[str]] = [[]]
    for number, row in enumerate(table.rows()):
        if number in table.breaks:
            bodies.append([])
        cells = (_cell(cell, look, dense) for cell in row)
        bodies[-1].append(f"<tr>{''.join(cells)}</tr>")
    rows = "\n".join("<tbody>\n" + "\n".join(body) + "\n</tbody>" for body in bodies)
    made = (
        f'<div class="scroll" tabindex="0" role="group" aria-label="{escape(table.caption)}">\n'
        f"<table{' class=dense' if dense else ''}>\n"
        f"<caption>{isolated(table.heading, look.names)}</caption>\n"
        f"<thead>{_groups(table)}{_headings(table, look)}</thead>\n{rows}\n</table>\n</div>"
    )
    if table.folded_over is not None and size > table.folded_over:
        told = table.caption.lower().startswith(table.things)
        which = table.caption[len(table.things) :] if told else ""
        summary = f"<summary>All {whole(size)} {escape(table.things + which)}</summary>"
        opened = " open" if pages and look.first else ""
        made = f"<details{opened}>\n{summary}\n{made}\n{pages}</details>"
    return "\n".join([made, *_notes(table.notes, look)])


def _paged(table: ReportTable, look: Look) -> tuple[ReportTable, str]:
    """The rows that are shown, and links to those before and after."""
    size, most = table.size, look.most
    if most is None or look.turn is None or size <= most:
        return table, ""
    first = min(look.first, size - 1)
    last = min(first + most, size)
    ways = [("before", max(0, first - most), first > 0), ("after", last, last < size)]
    links = [
        f'<a href="{escape(look.turn(start))}">Those {where}</a>'
        for where, start, there in ways
        if there
    ]
    said = f"{whole(first + 1)} to {whole(last)} of {whole(size)}."
    pages = f'<p class="pages"><span>{said}</span> {" ".join(links)}</p>\n'
    return table.of_rows(range(first, last)), pages


def _with_bars(group: Group) -> Group:
    """The same with a drawing behind each column of intervals, around the numbers before it."""
    columns: list[Column] = []
    for column in group.columns:
        columns.append(column)
        if len(columns) > 1 and column.holds(Interval):
            columns.append(_bars(columns[-2], column))
    return replace(group, columns=tuple(columns))


def _bars(numbers: Column, intervals: Column) -> Column:
    """Intervals on one scale, which has a zero where they may lie on both sides of it."""
    ends = [end for i in intervals.cells if isinstance(i, Interval) for end in (i.low, i.high)]
    ends += [number.value for number in numbers.cells if isinstance(number, Number)]
    low, high = min(filter(isfinite, ends)), max(filter(isfinite, ends))
    if any(isinstance(number, Number) and number.signed for number in numbers.cells):
        low, high = min(low, 0.0), max(high, 0.0)
    span = (high - low) or 1.0
    zero = -low / span if low < 0 < high else None

    def place(value: float) -> float:
        return (min(max(value, low), high) - low) / span

    cells = (
        _Bar(place(i.low), place(number.value), place(i.high), zero)
        if isinstance(number, Number) and isinstance(i, Interval)
        else None
        for number, i in zip(numbers.cells, intervals.cells, strict=True)
    )
    return Column("", tuple(cells))


def _groups(table: ReportTable) -> str:
    """The line of headings above several columns; a lone group is what the caption speaks of."""
    if len(table.groups) < 2 or not any(group.heading for group in table.groups):
        return ""
    cells = [f'<td colspan="{len(table.names)}"></td>']
    for group in table.groups:
        span = f'colspan="{len(group.columns)}"'
        said = f"{group.heading} ({group.remark})" if group.remark else group.heading
        heading = f'<th scope="colgroup" {span}>{escape(said)}</th>'
        cells.append(heading if said else f"<td {span}></td>")
    return f"<tr>{''.join(cells)}</tr>"


def _headings(table: ReportTable, look: Look) -> str:
    sort = look.sort if sortable(table) else None
    cells = (_heading(key, own, sort, look.order) for key, own in keyed(table))
    return f"<tr>{''.join(cells)}</tr>"


def _heading(key: str, column: Column, sort: Callable[[str], str] | None, order: str) -> str:
    """A column's heading; a screen reader has nothing to read of one that is empty."""
    shown = escape(column.heading.replace(" - ", f" {MINUS} "))
    if not shown:
        return "<td></td>"
    told = ""
    if sort is not None:
        if order.removeprefix("-") == key:
            told = f' aria-sort="{"descending" if order.startswith("-") else "ascending"}"'
        address = sort(other(order, key, column))
        shown = f'<a href="{escape(address)}">{shown}</a>'
    return f'<th scope="col"{_side(column)}{told}>{shown}</th>'


def _side(column: Column) -> str:
    return ' class="number"' if column.holds(Number, Range, PValue) else ""


def _cell(cell: Cell | None, look: Look, dense: bool) -> str:
    match cell:
        case None:
            return "<td></td>"
        case Name():
            long = look.wraps is not None and len(cell.text) > look.wraps
            told = ' class="long"' if long else ""
            return f'<th scope="row"{told}>{isolated(cell.text, look.names)}</th>'
        case Words():
            return f"<td>{isolated(cell.text, look.names)}</td>"
        case Range():
            shown = cell.plain.replace("-", "–") + _superscript(_signs(cell))
            return f'<td class="number">{shown}</td>'
        case _Bar():
            return f'<td class="bar">{_bar(cell)}</td>'
        case Number() | PValue():
            named = ["number", *(mark for mark in ("best", "significant") if mark in cell.marks)]
            if dense and cell.pair is not None and look.link is not None:
                named[0] = "sign"
            return f'<td class="{" ".join(named)}">{_value(cell, look, dense)}</td>'
    return f"<td>{escape(cell.plain).replace('-', MINUS)}</td>"


def _value(cell: Number | PValue, look: Look, dense: bool) -> str:
    """A number with its signs; one about a pair leads to it."""
    if isinstance(cell, PValue):
        cell = replace(cell, short=False)  # a page shows the same p elsewhere
    signs = _signs(cell)
    shown = escape(cell.plain).replace("-", MINUS) + _superscript(signs)
    if cell.pair is None or look.link is None:
        return shown
    told = f'href="{escape(look.link(cell.pair))}"'
    if look.current == frozenset(cell.pair):
        told += ' aria-current="true"'
    if dense or isinstance(cell, PValue):  # of a matrix, where a row is about many pairs
        words = escape(f"{' and '.join(cell.pair)}: {cell.plain} {signs}".strip())
        told += f' aria-label="{words}"'
    if dense:
        shown = signs or "·"
    return f"<a {told}>{shown}</a>"


def _bar(bar: _Bar) -> str:
    """A line from end to end with a dot, in 120 parts."""

    def place(share: float) -> str:
        return f"{4 + 112 * share:.1f}"

    zero = ""
    if bar.zero is not None:
        x = place(bar.zero)
        zero = f'<line class="zero" x1="{x}" x2="{x}" y1="0" y2="14"/>'
    return (
        '<svg aria-hidden="true" width="120" height="14" viewBox="0 0 120 14">'
        f'{zero}<line x1="{place(bar.low)}" x2="{place(bar.high)}" y1="7" y2="7"/>'
        f'<circle cx="{place(bar.at)}" cy="7" r="3"/></svg>'
    )


def _signs(cell: Cell) -> str:
    return "".join(sign for mark, sign in MARKS.items() if mark in cell.marks)


def _superscript(signs: str) -> str:
    return f"<sup>{signs}</sup>" if signs else ""


def _facts(words: str) -> str:
    return f'<p class="facts">{words}</p>'


def _notes(notes: Iterable[str], look: Look) -> list[str]:
    return [_facts(isolated(note, look.names)) for note in notes]


# Rows in another order: a column's, falling where a hyphen stands before it -----------


def keyed(table: ReportTable) -> list[tuple[str, Column]]:
    """Each column with what an order calls it: its heading, after that of its group if need be."""
    several = len(table.groups) > 1
    found = [(column.heading, column) for column in table.names]
    for group in table.groups:
        above = group.heading if several else ""
        found += [(f"{above} {column.heading}".strip(), column) for column in group.columns]
    return found


def sortable(table: ReportTable) -> bool:
    """Whether rows may stand in another order: not where they are numbered in their own."""
    return table.size > 1 and all(column.heading for column in table.names)


def other(order: str, key: str, column: Column) -> str:
    """The order that a column leads to: the reverse if it is that one; names rise, numbers fall."""
    if order.removeprefix("-") == key:
        return key if order.startswith("-") else f"-{key}"
    return key if column.holds(Name, Words) else f"-{key}"


def ordered(table: ReportTable, order: str) -> ReportTable:
    """The table in this order, without clusters; as it is where it has no such column."""
    column = dict(keyed(table)).get(order.removeprefix("-")) if sortable(table) else None
    if column is None or not order:
        return table
    empty = [row for row, cell in enumerate(column.cells) if cell is None]
    known = [(_place(cell), row) for row, cell in enumerate(column.cells) if cell is not None]
    known.sort(key=lambda own: own[0], reverse=order.startswith("-"))
    rows = [*(row for _, row in known), *empty]
    return replace(table.of_rows(rows), breaks=frozenset())


def _place(cell: Cell) -> tuple[float, float, str]:
    """What tells which of two cells of a column comes first."""
    match cell:
        case Number():
            return cell.value, 0, ""
        case PValue():
            return cell.p, 0, ""
        case Interval():
            return cell.low, cell.high, ""
        case Range():
            return cell.first, cell.last, ""
    return 0, 0, cell.plain.casefold()


# The style sheet ------------------------

STRONG = ".sigtest.sigtest.sigtest.sigtest"  # as specific as four classes
_STYLE = """
.sigtest { --ink: #161616; --muted: #555; --rule: #c4c4c4; --paper: #fff; --mark: #1d4f91;
  --note: #fff6dd; color: var(--ink); background: var(--paper); color-scheme: light dark;
  font: 16px/1.5 system-ui, "Helvetica Neue", Arial, sans-serif; margin: 0 auto;
  max-width: 72rem; padding: 1rem 1.25rem; }
.sigtest :is(h1, h2, p, li) { overflow-wrap: anywhere; }
.sigtest h1 { font-size: 1.5rem; margin: 0 0 .25rem; }
.sigtest h2 { font-size: 1.2rem; margin: 2.25rem 0 .5rem; }
.sigtest p { margin: .25rem 0 .75rem; }
.sigtest .answer { font-size: 1.15rem; margin: 1rem 0; }
.sigtest .facts, .sigtest caption, .sigtest figcaption { color: var(--muted); }
.sigtest .warnings { background: var(--note); border-left: 4px solid #c98a00; list-style: none;
  margin: 1rem 0; padding: .5rem 1rem; }
.sigtest .scroll { container-type: inline-size; overflow-x: auto; }
.sigtest table { border: 0; border-bottom: 2px solid var(--ink); border-collapse: collapse;
  border-top: 2px solid var(--ink); color: inherit; font-size: 1rem;
  font-variant-numeric: tabular-nums; margin: .5rem 0 1.5rem; table-layout: auto; }
.sigtest caption { caption-side: top; left: 0; max-width: 100cqi; padding: .25rem 0;
  position: sticky; text-align: left; width: max-content; }
.sigtest thead th[scope=colgroup] { text-align: center; }
.sigtest tr, .sigtest thead { background: none; border: 0; line-height: 1.5; padding: 0;
  text-align: left; vertical-align: baseline; white-space: nowrap; }
.sigtest th, .sigtest td { background: none; border: 0; color: inherit; line-height: 1.5;
  max-width: none; padding: .2rem .7rem; text-align: left; vertical-align: baseline;
  white-space: nowrap; }
.sigtest thead th { border-bottom: 1px solid var(--ink); font-weight: 600; }
.sigtest tbody th { font-weight: 400; }
.sigtest tbody tr:hover { background: color-mix(in srgb, var(--mark) 9%, transparent); }
.sigtest tbody + tbody { border-top: 1px solid var(--muted); }
.sigtest .number { text-align: right; }
.sigtest .best { font-weight: 600; }
.sigtest .significant { color: var(--mark); font-weight: 600; }
.sigtest .figures { align-items: flex-start; display: flex; flex-wrap: wrap; gap: 1.5rem; }
.sigtest .abreast { column-gap: 2rem; display: grid;
  grid-template-columns: repeat(auto-fit, minmax(min(100%, 32rem), 1fr)); }
.sigtest figure { margin: 0; max-width: 100%; }
.sigtest figure svg { height: auto; max-width: 100%; width: 30rem; }
.sigtest .wide { flex-basis: 100%; overflow-x: auto; }
.sigtest .wide svg { max-width: none; width: max(100%, 56rem); }
.sigtest sup { line-height: 0; }
.sigtest summary { cursor: pointer; }
.sigtest code { font-size: .85em; overflow-wrap: anywhere; }
.sigtest details { margin: .25rem 0 .75rem; }
.sigtest pre { font-size: .8rem; overflow-x: auto; }
@media screen and (prefers-color-scheme: dark) {
.sigtest { --ink: #ececec; --muted: #b4b4b4; --rule: #4a4f57; --paper: #16191d; --mark: #7fb2f0;
  --note: #33290f; }
@DARK@
}
@media print {
.sigtest { padding: 0; }
.sigtest .scroll { container-type: normal; overflow: visible; }
.sigtest .abreast { display: block; }
.sigtest table { font-size: 8pt; }
.sigtest caption { max-width: none; }
.sigtest th, .sigtest td { padding: .15rem .4rem; white-space: normal; }
.sigtest tbody th { overflow-wrap: anywhere; }
.sigtest :is(h2, caption, thead) { break-after: avoid; }
.sigtest figure, .sigtest tr { break-inside: avoid; }
.sigtest figure svg { max-height: 23cm; }
.sigtest .wide svg { width: 100%; }
}
"""


def style_sheet() -> str:
    """The style sheet, each rule stronger than any that a notebook has for its outputs."""
    style = _STYLE.replace("@DARK@", darkening(".sigtest svg "))
    return style.replace(".sigtest", STRONG)
