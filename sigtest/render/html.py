"""A document as a page that stands alone: no scripts, nothing loaded, light and dark."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from html import escape as escape_html
from itertools import groupby
from math import isfinite
from pathlib import Path

from sigtest.render import model
from sigtest.render.drawing import COLUMN, darkening
from sigtest.render.words import JOINERS, MINUS, printable, turns, whole

WIDE = 1.5 * COLUMN
MARKS: dict[model.Mark, str] = {"baseline": "†", "significant": "*", "undecided": "?", "exact": "="}
STRONG = ".sigtest.sigtest.sigtest.sigtest"  # as specific as four classes: more than any notebook's
STYLE = Path(__file__).with_name("page.css").read_text("utf-8")


@dataclass(frozen=True)
class Look:
    """What a page with more room and with addresses of its own makes of a document.

    Attributes:
        link: Where more about a pair is to be read.
        current: The pair that is read at the moment.
        intervals: Whether rows show them as pictures, too.
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
    intervals: bool = False
    dense: int | None = None
    figure: Callable[[model.Figure], str] | None = None
    sort: Callable[[str], str] | None = None
    order: str = ""
    most: int | None = None
    first: int = 0
    turn: Callable[[int], str] | None = None
    wraps: int | None = None
    names: tuple[str, ...] = ()


PLAIN = Look()


class _Bar(model.Words):
    """An interval, drawn: SVG as it is."""


def render(document: model.Document) -> str:
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


def fragment(document: model.Document) -> str:
    """The document as one element, for a notebook or another page; its style stays inside it."""
    names, methods = document.names(), document.methods
    parts = [
        f"<h1>{isolated(document.title, names)}</h1>",
        _facts(f"{isolated('; '.join(document.facts), names)}."),
    ]
    if document.answer:
        parts.append(f'<p class="answer">{isolated(" ".join(document.answer), names)}</p>')
    if document.warnings:
        items = "\n".join(f"<li>{isolated(own, names)}</li>" for own in document.warnings)
        parts.append(f'<ul class="warnings" aria-label="Warnings">\n{items}\n</ul>')
    parts.append(blocks(document.blocks, Look(names=names)))
    for mark, words in document.marks.items():
        sign = _superscript(MARKS[mark]) if mark in MARKS else "<b>Bold</b> score:"
        parts.append(_facts(f"{sign} {escape(words)}."))
    parts += [_facts(f"{escape(note)}.") for note in document.notes]
    if methods:
        entries = escape_html("\n\n".join(own.bibtex for own in methods.references), quote=True)
        parts.append(
            f"<h2>Methods</h2>\n<p>{escape(methods.text)}</p>\n"
            f"<details>\n<summary>BibTeX</summary>\n<pre>{entries}</pre>\n</details>"
        )
    if document.signature:
        parts.append(f"<h2>Signature</h2>\n<p><code>{escape(document.signature)}</code></p>")
    body = "\n".join(part for part in parts if part)
    style = STYLE.replace("@DARK@", darkening(".sigtest svg ")).replace(".sigtest", STRONG)
    return f'<main class="sigtest">\n<style>{style}</style>\n{body}\n</main>\n'


def blocks(given: Iterable[model.Block], look: Look = PLAIN) -> str:
    """Blocks of a document, figures that follow each other side by side."""
    parts = []
    for pictures, run in groupby(given, lambda block: isinstance(block, model.Figure)):
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


def _block(block: model.Block, look: Look) -> str:
    match block:
        case model.Section():
            inner = blocks(block.blocks, look)
            return f"<section>\n<h2>{escape(block.title)}</h2>\n{inner}\n</section>"
        case model.Paragraph():
            return f"<p>{isolated(block.text, look.names)}</p>"
        case model.Figure():
            return look.figure(block) if look.figure else _figure(block.draw())
        case model.Abreast():
            made = (_table(table, look) for table in block.tables)
            return "\n".join(['<div class="abreast">', *made, "</div>", *_notes(block.notes, look)])
        case model.ReportTable():
            return _table(block, look)


def _figure(svg: str) -> str:
    """A picture; one that is wider than a paper's column has the whole width."""
    width = re.search(r'width="([\d.]+)pt"', svg)
    wide = ' class="wide" tabindex="0"' if width is not None and float(width[1]) > WIDE else ""
    return f"<figure{wide}>\n{svg}</figure>"


def _facts(words: str) -> str:
    return f'<p class="facts">{words}</p>'


def _notes(notes: Iterable[str], look: Look) -> list[str]:
    return [_facts(isolated(note, look.names)) for note in notes]


# Tables ------------------------------------------------------------------------------------------


def _table(table: model.ReportTable, look: Look) -> str:
    """One body of rows a cluster; folded where there are many rows."""
    table = ordered(table, look.order)
    if look.intervals:
        groups = (replace(g, columns=tuple(_with_bars(g.columns))) for g in table.groups)
        table = replace(table, groups=tuple(groups))
    dense = look.dense is not None and len(table.columns) > look.dense
    size, folded = table.size, table.folded
    table, pages = _paged(table, look)
    bodies: list[list[str]] = [[]]
    for number, row in enumerate(table.rows()):
        if number in table.breaks:
            bodies.append([])
        bodies[-1].append(f"<tr>{''.join(_cell(cell, look, dense) for cell in row)}</tr>")
    rows = "\n".join("<tbody>\n" + "\n".join(body) + "\n</tbody>" for body in bodies)
    made = (
        f'<div class="scroll" tabindex="0" role="group" aria-label="{escape(table.caption)}">\n'
        f"<table{' class=dense' if dense else ''}>\n"
        f"<caption>{isolated(table.heading, look.names)}</caption>\n"
        f"<thead>{_over(table)}{_headings(table, look)}</thead>\n{rows}\n</table>\n</div>"
    )
    if folded:
        named = table.caption.lower().startswith(table.things)
        which = table.things + (table.caption[len(table.things) :] if named else "")
        summary = f"<summary>All {whole(size)} {escape(which)}</summary>"
        opened = " open" if pages and look.first else ""
        made = f"<details{opened}>\n{summary}\n{made}\n{pages}</details>"
    return "\n".join([made, *_notes(table.notes, look)])


def _paged(table: model.ReportTable, look: Look) -> tuple[model.ReportTable, str]:
    """The rows that are shown, and links to those before and after."""
    size, most = table.size, look.most
    if most is None or look.turn is None or size <= most:
        return table, ""
    first = min(look.first, size - 1)
    last = min(first + most, size)
    ways = [("before", max(0, first - most), first > 0), ("after", last, last < size)]
    links = " ".join(
        f'<a href="{escape(look.turn(start))}">Those {where}</a>'
        for where, start, there in ways
        if there
    )
    words = f"{whole(first + 1)} to {whole(last)} of {whole(size)}."
    pages = f'<p class="pages"><span>{words}</span> {links}</p>\n'
    return table.of_rows(range(first, last)), pages


def _over(table: model.ReportTable) -> str:
    """The line of headings above several columns; a lone group is what the caption speaks of."""
    if len(table.groups) < 2 or not any(group.heading for group in table.groups):
        return ""
    cells = [f'<td colspan="{len(table.names)}"></td>']
    for group in table.groups:
        span = f'colspan="{len(group.columns)}"'
        words = f"{group.heading} ({group.remark})" if group.remark else group.heading
        heading = f'<th scope="colgroup" {span}>{escape(words)}</th>'
        cells.append(heading if words else f"<td {span}></td>")
    return f"<tr>{''.join(cells)}</tr>"


def _headings(table: model.ReportTable, look: Look) -> str:
    """A heading each; a screen reader has nothing to read of one that is empty."""
    cells = []
    for key, column in keyed(table):
        shown, sorting = escape(column.heading.replace(" - ", f" {MINUS} ")), ""
        if shown and look.sort is not None and sortable(table):
            if look.order.removeprefix("-") == key:
                way = "descending" if look.order.startswith("-") else "ascending"
                sorting = f' aria-sort="{way}"'
            shown = f'<a href="{escape(look.sort(other(look.order, key, column)))}">{shown}</a>'
        side = ' class="number"' if column.numeric else ""
        cells.append(f'<th scope="col"{side}{sorting}>{shown}</th>' if shown else "<td></td>")
    return f"<tr>{''.join(cells)}</tr>"


def _cell(cell: model.Cell | None, look: Look, dense: bool) -> str:
    match cell:
        case None:
            return "<td></td>"
        case model.Name():
            long = look.wraps is not None and len(cell.text) > look.wraps
            wraps = ' class="long"' if long else ""
            return f'<th scope="row"{wraps}>{isolated(cell.text, look.names)}</th>'
        case _Bar():
            return f'<td class="bar">{cell.text}</td>'
        case model.Words():
            return f"<td>{isolated(cell.text, look.names)}</td>"
        case model.Range():
            shown = cell.plain.replace("-", "–") + _superscript(_signs(cell))
            return f'<td class="number">{shown}</td>'
        case model.Number() | model.PValue():
            classes = [mark for mark in ("best", "significant") if mark in cell.marks]
            short = dense and cell.pair is not None and look.link is not None
            kind = " ".join(["sign" if short else "number", *classes])
            return f'<td class="{kind}">{_value(cell, look, dense)}</td>'
    return f"<td>{escape(cell.plain).replace('-', MINUS)}</td>"


def _value(cell: model.Number | model.PValue, look: Look, dense: bool) -> str:
    """A number with its signs; one about a pair leads to it."""
    if isinstance(cell, model.PValue):
        cell = replace(cell, short=False)  # a page shows the same p elsewhere
    signs = _signs(cell)
    shown = escape(cell.plain).replace("-", MINUS) + _superscript(signs)
    if cell.pair is None or look.link is None:
        return shown
    attributes = f'href="{escape(look.link(cell.pair))}"'
    if look.current == frozenset(cell.pair):
        attributes += ' aria-current="true"'
    if dense or isinstance(cell, model.PValue):  # of a matrix, where a row is about many pairs
        words = escape(f"{' and '.join(cell.pair)}: {cell.plain} {signs}".strip())
        attributes += f' aria-label="{words}"'
    return f"<a {attributes}>{(signs or '·') if dense else shown}</a>"


def _signs(cell: model.Cell) -> str:
    return "".join(sign for mark, sign in MARKS.items() if mark in cell.marks)


def _superscript(signs: str) -> str:
    return f"<sup>{signs}</sup>" if signs else ""


def _with_bars(columns: Sequence[model.Column]) -> Iterator[model.Column]:
    """The same with a drawing behind each column of intervals, around the numbers before it."""
    for before, column in zip((None, *columns), columns, strict=False):
        yield column
        if before is not None and column.holds(model.Interval):
            yield _bars(before.cells, column.cells)


def _bars(
    numbers: Sequence[model.Cell | None], intervals: Sequence[model.Cell | None]
) -> model.Column:
    """Lines from end to end with a dot, in 120 parts, on one scale.

    The scale has a zero where intervals may lie on both sides of it.
    """
    rows = [
        (i.low, number.value, i.high)
        if isinstance(number, model.Number) and isinstance(i, model.Interval)
        else None
        for number, i in zip(numbers, intervals, strict=True)
    ]
    known = [n.value for n in numbers if isinstance(n, model.Number)]
    known += [end for i in intervals if isinstance(i, model.Interval) for end in (i.low, i.high)]
    low, high = min(filter(isfinite, known)), max(filter(isfinite, known))
    if any(isinstance(number, model.Number) and number.signed for number in numbers):
        low, high = min(low, 0.0), max(high, 0.0)

    def place(value: float) -> str:
        return f"{4 + 112 * (min(max(value, low), high) - low) / ((high - low) or 1.0):.1f}"

    zero = ""
    if low < 0 < high:
        zero = f'<line class="zero" x1="{place(0)}" x2="{place(0)}" y1="0" y2="14"/>'
    return model.Column("", tuple(
        None if row is None else _Bar(
            '<svg aria-hidden="true" width="120" height="14" viewBox="0 0 120 14">'
            f'{zero}<line x1="{place(row[0])}" x2="{place(row[2])}" y1="7" y2="7"/>'
            f'<circle cx="{place(row[1])}" cy="7" r="3"/></svg>'
        )
        for row in rows
    ))  # fmt: skip


# Rows in another order: a column's, falling where a hyphen stands before it -----------


def keyed(table: model.ReportTable) -> list[tuple[str, model.Column]]:
    """Each column with what an order calls it: its heading, after that of its group if need be."""
    several = len(table.groups) > 1
    found = [(column.heading, column) for column in table.names]
    for group in table.groups:
        above = group.heading if several else ""
        found += [(f"{above} {column.heading}".strip(), column) for column in group.columns]
    return found


def sortable(table: model.ReportTable) -> bool:
    """Whether rows may stand in another order: not where they are numbered in their own."""
    return table.size > 1 and all(column.heading for column in table.names)


def other(order: str, key: str, column: model.Column) -> str:
    """The order that a column leads to: the reverse if it is that one; names rise, numbers fall."""
    if order.removeprefix("-") == key:
        return key if order.startswith("-") else f"-{key}"
    return key if column.holds(model.Words) else f"-{key}"


def ordered(table: model.ReportTable, order: str) -> model.ReportTable:
    """The table in this order, without clusters; as it is where it has no such column."""
    column = dict(keyed(table)).get(order.removeprefix("-")) if sortable(table) else None
    if column is None or not order:
        return table
    empty = [row for row, cell in enumerate(column.cells) if cell is None]
    known = [(cell.order, row) for row, cell in enumerate(column.cells) if cell is not None]
    known.sort(key=lambda own: own[0], reverse=order.startswith("-"))
    rows = [*(row for _, row in known), *empty]
    return replace(table.of_rows(rows), breaks=frozenset())
