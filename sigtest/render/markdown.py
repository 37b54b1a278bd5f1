"""A document in GitHub's Markdown, every name escaped."""

from __future__ import annotations

import re
from collections.abc import Iterator

from sigtest.render.digits import MINUS
from sigtest.render.model import (
    Abreast,
    Block,
    Cell,
    Document,
    Figure,
    Mark,
    Number,
    Paragraph,
    PValue,
    Range,
    ReportTable,
    Section,
)
from sigtest.render.names import printable

# What can begin emphasis, code, links, HTML, entities, mathematics, tables, lists or autolinks.
_SPECIAL = re.compile(r"""[\\`*_{}\[\]<>()#+!|~&$@^"']|:(?=\S)|(?<=[wW]{3})\.|^[-.=]""")
SUFFIXES: dict[Mark, str] = {"baseline": "†", "undecided": "?", "exact": "="}
LEGEND: dict[Mark, str] = {"best": "**Bold** score", "significant": "**Bold** p", **SUFFIXES}


def render(document: Document) -> str:
    """The whole document but for its figures."""
    parts = [f"{escape('; '.join(document.facts))}."]
    for block in document.blocks:
        parts += _block(block)
    parts += [f"{LEGEND[mark]}: {escape(words)}." for mark, words in document.marks.items()]
    parts += [f"{escape(note)}." for note in document.notes]
    parts += [f"> **Warning:** {escape(warning)}" for warning in document.warnings]
    if document.methods:
        parts.append(f"Methods: {escape(document.methods.text)}")
    if document.signature:
        parts.append(f"Signature: {escape(document.signature)}")
    return "\n\n".join(parts) + "\n"


def escape(text: str) -> str:
    """`text` so that Markdown shows it as it is."""
    return _SPECIAL.sub(r"\\\g<0>", printable(text))


def _block(block: Block) -> Iterator[str]:
    match block:
        case Section():
            yield f"### {escape(block.title)}"
            for inner in block.blocks:
                yield from _block(inner)
        case Paragraph():
            yield escape(block.text)
        case Abreast():
            for table in block.tables:
                yield from _table(table)
            yield from map(escape, block.notes)
        case ReportTable():
            yield from _table(block)
        case Figure():
            pass


def _table(table: ReportTable) -> Iterator[str]:
    """Caption, table and notes; clusters have numbers, as there can be no rules."""
    headings = [_heading(column.heading) for column in table.names]
    for group in table.groups:
        remark = f" ({escape(group.remark)})" if group.remark else ""
        of = f"{escape(group.heading)}{remark} " if group.heading and len(table.groups) > 1 else ""
        headings += [of + _heading(column.heading) for column in group.columns]
    numbers = [column.holds(Number, Range, PValue) for column in table.columns]
    rows = [[_cell(cell) for cell in row] for row in table.rows()]
    if table.clusters:
        headings, numbers = [table.clusters, *headings], [True, *numbers]
        cluster = 1
        for number, row in enumerate(rows):
            cluster += number in table.breaks
            row.insert(0, str(cluster))
    rules = ["--:" if number else ":--" for number in numbers]
    yield f"{escape(table.heading)}:"
    yield "\n".join(f"| {' | '.join(row)} |" for row in (headings, rules, *rows))
    yield from map(escape, table.notes)


def _heading(words: str) -> str:
    return escape(words.replace(" - ", f" {MINUS} "))


def _cell(cell: Cell | None) -> str:
    if cell is None:
        return ""
    shown = cell.plain if isinstance(cell, Number) else escape(cell.plain)
    shown += "".join(sign for mark, sign in SUFFIXES.items() if mark in cell.marks)
    return f"**{shown}**" if cell.marks & {"significant", "best"} else shown
