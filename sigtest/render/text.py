"""A document for a terminal: aligned tables, at most a hundred columns wide where they can be."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from sigtest.render.model import (
    Cell,
    Column,
    Document,
    Group,
    Interval,
    Mark,
    Number,
    PValue,
    Range,
    ReportTable,
)
from sigtest.render.names import printable, width

WIDE = 100  # columns of paragraphs, and of tables that can be parted
GAP = "  "
SPARE = 4  # columns by which a heading may be wider than what it is above
MARKS: dict[Mark, str] = {"significant": "*", "undecided": "?", "exact": "=", "baseline": "†"}
DECISIONS: tuple[Mark, ...] = ("undecided", "significant")  # what is undecided is not yet decided


def render(document: Document) -> str:
    """The whole document; its figures and the titles of its sections are not shown."""
    parts = [wrapped("; ".join(document.facts))]
    for block in document.stacked():
        parts += _table(block) if isinstance(block, ReportTable) else [wrapped(block.text)]
    legend = [f"{MARKS[mark]} {words}" for mark, words in document.marks.items() if mark in MARKS]
    parts.append("\n".join(map(wrapped, [*legend, *document.notes])))
    parts += [wrapped(f"Warning: {warning}") for warning in document.warnings]
    parts.append(wrapped(f"Methods: {document.methods.text}") if document.methods else "")
    parts.append(f"Signature: {printable(document.signature)}" if document.signature else "")
    return "\n\n".join(part for part in parts if part) + "\n"


def wrapped(text: str) -> str:
    """A paragraph as wide as tables may be, safe to print."""
    return textwrap.fill(
        printable(text),
        WIDE,
        break_long_words=False,
        break_on_hyphens=False,
        subsequent_indent=GAP,
    )


def _table(table: ReportTable) -> list[str]:
    """Caption, the table in as many parts as the width asks for, notes, and what is left out."""
    left_out = table.minor if table.folded else frozenset()
    shown = table.of_rows([row for row in range(table.size) if row not in left_out])
    parts = [wrapped(table.heading)]
    if shown.size:
        names = Group("", shown.names)
        room = WIDE - _width(names)
        for part in shown.part(room, lambda group: len(GAP) + _width(group)):
            parts.append(_side_by_side([names, *part.groups], part.breaks))
    parts.append("\n".join(map(wrapped, table.notes)))
    if left_out:
        many = f"{len(left_out)} of {table.size} {table.things}"
        parts.append(f"Not listed: {many}, {table.minor_words}")
    return parts


def _side_by_side(groups: Sequence[Group], breaks: frozenset[int]) -> str:
    height = max(len(_heading(group)) for group in groups)
    drawn = [_lines(group, height) for group in groups]
    lines = [GAP.join(row).rstrip() for row in zip(*drawn, strict=True)]
    wide = max(map(width, lines))
    head, body = lines[: height + 1], lines[height + 1 :]
    text = [*head, "─" * wide]
    for row, line in enumerate(body):
        text += ["╌" * wide, line] if row in breaks else [line]
    return "\n".join(line for line in text if line)


def _width(group: Group) -> int:
    return width(_lines(group, len(_heading(group)))[0])


def _lines(group: Group, height: int) -> list[str]:
    """The group as lines, all equally wide, of which the heading takes `height` and one more."""
    heading = _heading(group)
    body = [GAP.join(row) for row in zip(*_columns(group), strict=True)]
    return _padded([*[""] * (height - len(heading)), *heading, *body])


def _heading(group: Group) -> list[str]:
    """Its words, the last on a line of its own where all are much wider than the columns."""
    heading = printable(group.heading)
    lines = [heading] if heading else []
    first, space, last = heading.rpartition(" ")
    if space and width(heading) > width(GAP.join(row[0] for row in _columns(group))) + SPARE:
        lines = [first, last]
    return [*lines, f"({printable(group.remark)})"] if group.remark else lines


def _columns(group: Group) -> list[list[str]]:
    """The columns with their headings; an interval stands beside its number."""
    columns: list[list[str]] = []
    before: Column | None = None
    for column in group.columns:
        cells = _cells(column)
        if before is not None and before.holds(Number) and column.holds(Interval):
            heading = f"{before.heading} and {column.heading}"
            numbers = _padded(_cells(before), right=True)
            joined = (f"{n} {i}" for n, i in zip(numbers, cells, strict=True))
            columns[-1] = _padded([heading, *joined])
        else:
            right = column.holds(Number, Range, PValue)
            spare = " " * len(_suffixes(column)) if right else ""
            columns.append(_padded([printable(column.heading) + spare, *cells], right))
        before = column
    return columns


def _cells(column: Column) -> list[str]:
    if column.holds(Interval):
        return _intervals(column.cells)
    kept = _suffixes(column)
    return [_cell(cell, kept) for cell in column.cells]


def _cell(cell: Cell | None, kept: Sequence[Sequence[Mark]]) -> str:
    """A cell; one column each for the marks that stand in its column."""
    if cell is None:
        return ""
    signs = (next((MARKS[m] for m in marks if m in cell.marks), " ") for marks in kept)
    return printable(cell.plain) + "".join(signs)


def _suffixes(column: Column) -> list[Sequence[Mark]]:
    """What may stand behind the cells of a column."""
    kept: list[Sequence[Mark]] = []
    if any(isinstance(cell, PValue) and cell.alpha is not None for cell in column.cells):
        kept.append(DECISIONS)
    found = frozenset[Mark]().union(*(cell.marks for cell in column.cells if cell))
    others: tuple[Mark, ...] = ("exact", "baseline", *(() if kept else DECISIONS[:1]))
    return kept + [(mark,) for mark in others if mark in found]


def _intervals(cells: Sequence[Cell | None]) -> list[str]:
    """`[52.55, 58.68]`, both ends aligned."""
    ends = [cell.plain[1:-1].split(", ") if cell is not None else ["", ""] for cell in cells]
    low, high = (_padded([pair[end] for pair in ends], right=True) for end in (0, 1))
    known = [cell is not None for cell in cells]
    return [
        f"[{a}, {b}]" if there else " " * (len(a) + len(b) + 4)
        for a, b, there in zip(low, high, known, strict=True)
    ]


def _padded(lines: Sequence[str], right: bool = False) -> list[str]:
    """The lines, all as wide as the widest."""
    wide = max(map(width, lines), default=0)
    spaces = [" " * (wide - width(line)) for line in lines]
    return [s + line if right else line + s for line, s in zip(lines, spaces, strict=True)]
