"""A document as a page that stands alone: no scripts, nothing loaded, light and dark."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from html import escape as escape_html
from itertools import groupby

from sigtest.render.digits import MINUS
from sigtest.render.model import (
    Abreast,
    Block,
    Cell,
    Column,
    Document,
    Figure,
    Mark,
    Name,
    Number,
    Paragraph,
    PValue,
    Range,
    Section,
    Table,
    Words,
)
from sigtest.render.names import printable
from sigtest.render.plots.drawing import COLOURS, COLUMN, Colour
from sigtest.report import Methods

WIDE = 1.5 * COLUMN
MARKS: dict[Mark, str] = {"baseline": "†", "significant": "*", "undecided": "?", "exact": "="}

# Pictures are drawn for paper; on a dark screen each of their colours has a counterpart.
_DARK: dict[Colour, str] = {
    "ink": "#ececec",
    "muted": "#b4b4b4",
    "rule": "#4a4f57",
    "paper": "#16191d",
    "light": "#3a4757",
    "strong": "#7fb2f0",
    "one": "#2c4a6e",
    "two": "#5b8fc7",
    "three": "#b7d3f2",
    "none": "#22262c",
}

_STYLE = """
.sigtest { --ink: #161616; --muted: #555; --rule: #c4c4c4; --paper: #fff; --mark: #1d4f91;
  --note: #fff6dd; color: var(--ink); background: var(--paper); color-scheme: light dark;
  font: 16px/1.5 system-ui, "Helvetica Neue", Arial, sans-serif; margin: 0 auto;
  max-width: 72rem; padding: 1rem 1.25rem; }
.sigtest h1 { font-size: 1.5rem; margin: 0 0 .25rem; }
.sigtest h2 { font-size: 1.2rem; margin: 2.25rem 0 .5rem; }
.sigtest p { margin: .25rem 0 .75rem; }
.sigtest .facts, .sigtest caption, .sigtest figcaption { color: var(--muted); }
.sigtest .warnings { background: var(--note); border-left: 4px solid #c98a00; list-style: none;
  margin: 1rem 0; padding: .5rem 1rem; }
.sigtest .scroll { container-type: inline-size; overflow-x: auto; }
.sigtest table { border-collapse: collapse; border-bottom: 2px solid var(--ink);
  border-top: 2px solid var(--ink); font-variant-numeric: tabular-nums; margin: .5rem 0 1.5rem; }
.sigtest caption { caption-side: top; left: 0; max-width: 100cqi; padding: .25rem 0;
  position: sticky; text-align: left; width: max-content; }
.sigtest thead th[scope=colgroup] { text-align: center; }
.sigtest th, .sigtest td { background: none; border: 0; color: inherit; padding: .2rem .7rem;
  text-align: left; vertical-align: baseline; white-space: nowrap; }
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
@media (prefers-color-scheme: dark) {
.sigtest { --ink: #ececec; --muted: #b4b4b4; --rule: #4a4f57; --paper: #16191d; --mark: #7fb2f0;
  --note: #33290f; }
@DARK@
}
"""


def render(document: Document) -> str:
    """The document as an HTML document."""
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta http-equiv="Content-Security-Policy" '
        "content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"<title>{escape(document.title)}</title>\n"
        "<style>@media (prefers-color-scheme: dark) { body { background: #16191d; } }</style>\n"
        f"</head>\n<body>\n{fragment(document)}</body>\n</html>\n"
    )


def fragment(document: Document) -> str:
    """The document as one element, for a notebook or another page; its style stays inside it."""
    legend = [
        f"{_superscript(MARKS[mark]) if mark in MARKS else '<b>Bold</b> score:'} {escape(words)}."
        for mark, words in document.marks.items()
    ]
    parts = [
        f"<h1>{escape(document.title)}</h1>",
        _facts(f"{escape('; '.join(document.facts))}."),
        _warnings(document.warnings),
        blocks(document.blocks),
        *(_facts(line) for line in legend),
        *(_facts(f"{escape(note)}.") for note in document.notes),
    ]
    if document.methods:
        parts.append(_methods(document.methods))
    if document.signature:
        parts.append(f"<h2>Signature</h2>\n<p><code>{escape(document.signature)}</code></p>")
    body = "\n".join(part for part in parts if part)
    return f'<main class="sigtest">\n<style>{_style()}</style>\n{body}\n</main>\n'


def blocks(given: Iterable[Block]) -> str:
    """Blocks of a document, figures that follow each other side by side."""
    parts = []
    for pictures, run in groupby(given, lambda block: isinstance(block, Figure)):
        made = [_block(block) for block in run]
        parts += ['<div class="figures">', *made, "</div>"] if pictures else made
    return "\n".join(parts)


def escape(text: str) -> str:
    """`text` as HTML shows it, in content and in attributes."""
    return escape_html(printable(text), quote=True)


def _style() -> str:
    dark = [
        f'.sigtest svg [{what}="{COLOURS[name]}"] {{ {what}: {shade}; }}'
        for name, shade in _DARK.items()
        for what in ("fill", "stroke")
    ]
    return _STYLE.replace("@DARK@", "\n".join(dark))


def _warnings(warnings: Sequence[str]) -> str:
    if not warnings:
        return ""
    items = "\n".join(f"<li>{escape(warning)}</li>" for warning in warnings)
    return f'<ul class="warnings" aria-label="Warnings">\n{items}\n</ul>'


def _methods(methods: Methods) -> str:
    lines = "\n\n".join(own.bibtex for own in methods.references).split("\n")
    entries = "\n".join(map(escape, lines))
    return (
        f"<h2>Methods</h2>\n<p>{escape(methods.text)}</p>\n"
        f"<details>\n<summary>BibTeX</summary>\n<pre>{entries}</pre>\n</details>"
    )


def _block(block: Block) -> str:
    match block:
        case Section():
            return f"<section>\n<h2>{escape(block.title)}</h2>\n{blocks(block.blocks)}\n</section>"
        case Paragraph():
            return f"<p>{escape(block.text)}</p>"
        case Figure():
            return _figure(block.draw())
        case Abreast():
            tables = ['<div class="abreast">', *map(_table, block.tables), "</div>"]
            return "\n".join([*tables, *_notes(block.notes)])
        case Table():
            return _table(block)


def _figure(svg: str) -> str:
    """A picture; one that is wider than a paper's column has the whole width."""
    width = re.search(r'width="([\d.]+)pt"', svg)
    wide = ' class="wide"' if width is not None and float(width[1]) > WIDE else ""
    return f"<figure{wide}>\n{svg}</figure>"


def _table(table: Table) -> str:
    """One body of rows a cluster; folded where there are many rows."""
    bodies: list[list[str]] = [[]]
    for number, row in enumerate(table.rows()):
        if number in table.breaks:
            bodies.append([])
        bodies[-1].append(f"<tr>{''.join(map(_cell, row))}</tr>")
    rows = "\n".join("<tbody>\n" + "\n".join(body) + "\n</tbody>" for body in bodies)
    made = (
        f'<div class="scroll">\n<table>\n<caption>{escape(table.caption)}</caption>\n'
        f"<thead>{_groups(table)}{_headings(table.columns)}</thead>\n{rows}\n</table>\n</div>"
    )
    if table.folded:
        summary = f"<summary>All {table.size} {escape(table.things)}</summary>"
        made = f"<details>\n{summary}\n{made}\n</details>"
    return "\n".join([made, *_notes(table.notes)])


def _groups(table: Table) -> str:
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


def _headings(columns: Iterable[Column]) -> str:
    cells = (
        f'<th scope="col"{_side(column)}>{escape(column.heading.replace(" - ", f" {MINUS} "))}</th>'
        for column in columns
    )
    return f"<tr>{''.join(cells)}</tr>"


def _side(column: Column) -> str:
    return ' class="number"' if column.holds(Number, Range, PValue) else ""


def _cell(cell: Cell | None) -> str:
    match cell:
        case None:
            return "<td></td>"
        case Name():
            return f'<th scope="row">{escape(cell.text)}</th>'
        case Words():
            return f"<td>{escape(cell.text)}</td>"
        case Range():
            return f'<td class="number">{cell.shown.replace("-", "–")}</td>'
        case Number() | PValue():
            strong = [mark for mark in ("best", "significant") if mark in cell.marks]
            signs = "".join(sign for mark, sign in MARKS.items() if mark in cell.marks)
            shown = escape(cell.shown).replace("-", MINUS) + _superscript(signs)
            return f'<td class="{" ".join(["number", *strong])}">{shown}</td>'
    return f"<td>{escape(cell.shown).replace('-', MINUS)}</td>"


def _superscript(signs: str) -> str:
    return f"<sup>{signs}</sup>" if signs else ""


def _facts(words: str) -> str:
    return f'<p class="facts">{words}</p>'


def _notes(notes: Iterable[str]) -> list[str]:
    return [_facts(escape(note)) for note in notes]
