"""A document for a terminal, in aligned tables, and in GitHub's Markdown, every name escaped."""

import re
import textwrap
from collections.abc import Iterator, Sequence

from sigtest.render import model
from sigtest.render.words import MINUS, printable, width

# For a terminal: at most a hundred columns wide where that can be --------------------------------

WIDE = 100  # columns of paragraphs, and of tables that can be parted
GAP = "  "
SPARE = 4  # columns by which a heading may be wider than what it is above
MARKS: dict[model.Mark, str] = {"significant": "*", "undecided": "?", "exact": "=", "baseline": "†"}
DECISIONS: tuple[model.Mark, ...] = ("undecided", "significant")  # what is open is not decided yet


def render(document: model.Document) -> str:
    """The whole document; its figures and the titles of its sections are not shown."""
    parts = [wrapped("; ".join(document.facts))]
    for block in document.stacked():
        parts += _table(block) if isinstance(block, model.ReportTable) else [wrapped(block.text)]
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


def _table(table: model.ReportTable) -> list[str]:
    """Caption, the table in as many parts as the width asks for, notes, and what is left out."""
    left_out = table.minor if table.folded else frozenset()
    shown = table.of_rows([row for row in range(table.size) if row not in left_out])
    parts = [wrapped(table.heading)]
    if shown.size:
        names = model.Group("", shown.names)
        room = WIDE - _width(names)
        for part in shown.part(room, lambda group: len(GAP) + _width(group)):
            parts.append(_side_by_side([names, *part.groups], part.breaks))
    parts.append("\n".join(map(wrapped, table.notes)))
    if left_out:
        many = f"{len(left_out)} of {table.size} {table.things}"
        parts.append(f"Not listed: {many}, {table.minor_words}")
    return parts


def _side_by_side(groups: Sequence[model.Group], breaks: frozenset[int]) -> str:
    height = max(len(_over(group)) for group in groups)
    drawn = [_lines(group, height) for group in groups]
    lines = [GAP.join(row).rstrip() for row in zip(*drawn, strict=True)]
    wide = max(map(width, lines))
    text = [*lines[: height + 1], "─" * wide]
    for row, line in enumerate(lines[height + 1 :]):
        text += ["╌" * wide, line] if row in breaks else [line]
    return "\n".join(line for line in text if line)


def _width(group: model.Group) -> int:
    return width(_lines(group, len(_over(group)))[0])


def _lines(group: model.Group, height: int) -> list[str]:
    """The group as lines, all equally wide, of which the heading takes `height` and one more."""
    over = _over(group)
    body = [GAP.join(row) for row in zip(*_columns(group), strict=True)]
    return _padded([*[""] * (height - len(over)), *over, *body])


def _over(group: model.Group) -> list[str]:
    """Its words, the last on a line of its own where all are much wider than the columns."""
    heading = printable(group.heading)
    lines = [heading] if heading else []
    first, space, last = heading.rpartition(" ")
    if space and width(heading) > width(GAP.join(row[0] for row in _columns(group))) + SPARE:
        lines = [first, last]
    return [*lines, f"({printable(group.remark)})"] if group.remark else lines


def _columns(group: model.Group) -> list[list[str]]:
    """The columns with their headings; an interval stands beside its number."""
    columns: list[list[str]] = []
    before, numbers = None, [""]
    for column in group.columns:
        signs, ends = _signs(column), column.holds(model.Interval)
        cells = [_plain(cell, signs) for cell in column.cells]
        if ends:  # [52.55, 58.68], both ends aligned
            pairs = [cell.plain[1:-1].split(", ") if cell else ["", ""] for cell in column.cells]
            low, high = (_padded([pair[end] for pair in pairs], right=True) for end in (0, 1))
            cells = [
                f"[{a}, {b}]" if cell else " " * (len(a) + len(b) + 4)
                for a, b, cell in zip(low, high, column.cells, strict=True)
            ]
        if ends and before is not None and before.holds(model.Number):
            joined = (f"{n} {i}" for n, i in zip(_padded(numbers, right=True), cells, strict=True))
            columns[-1] = _padded([f"{before.heading} and {column.heading}", *joined])
        else:
            spare = " " * len(signs) if column.numeric else ""
            heading = printable(column.heading) + spare
            columns.append(_padded([heading, *cells], column.numeric))
        before, numbers = column, cells
    return columns


def _plain(cell: model.Cell | None, signs: Sequence[Sequence[model.Mark]]) -> str:
    """A cell; one column each for the marks that stand in its column."""
    if cell is None:
        return ""
    shown = (next((MARKS[m] for m in marks if m in cell.marks), " ") for marks in signs)
    return printable(cell.plain) + "".join(shown)


def _signs(column: model.Column) -> list[Sequence[model.Mark]]:
    """What may stand behind the cells of a column."""
    held: list[Sequence[model.Mark]] = [DECISIONS] if column.decides else []
    found = frozenset[model.Mark]().union(*(cell.marks for cell in column.cells if cell))
    others: tuple[model.Mark, ...] = ("exact", "baseline", *(() if held else DECISIONS[:1]))
    return held + [(mark,) for mark in others if mark in found]


def _padded(lines: Sequence[str], right: bool = False) -> list[str]:
    """The lines, all as wide as the widest."""
    wide = max(map(width, lines), default=0)
    spaces = [" " * (wide - width(line)) for line in lines]
    return [s + line if right else line + s for line, s in zip(lines, spaces, strict=True)]


# Markdown ----------------------------------------------------------------------------------------

# What can begin emphasis, code, links, HTML, entities, mathematics, tables, lists or autolinks.
_SPECIAL = re.compile(r"""[\\`*_{}\[\]<>()#+!|~&$@^"']|:(?=\S)|(?<=[wW]{3})\.|^[-.=]""")
SUFFIXES: dict[model.Mark, str] = {"baseline": "†", "undecided": "?", "exact": "="}
LEGEND: dict[model.Mark, str] = {"best": "**Bold** score", "significant": "**Bold** p", **SUFFIXES}


def markdown(document: model.Document) -> str:
    """The whole document but for its figures."""
    parts = [f"{escape('; '.join(document.facts))}."]
    for block in document.blocks:
        parts += _block(block)
    parts += [f"{LEGEND[mark]}: {escape(words)}." for mark, words in document.marks.items()]
    parts += [f"{escape(note)}." for note in document.notes]
    parts += [f"> **Warning:** {escape(warning)}" for warning in document.warnings]
    parts += [f"Methods: {escape(document.methods.text)}"] if document.methods else []
    parts += [f"Signature: {escape(document.signature)}"] if document.signature else []
    return "\n\n".join(parts) + "\n"


def escape(text: str) -> str:
    """`text` so that Markdown shows it as it is."""
    return _SPECIAL.sub(r"\\\g<0>", printable(text))


def _block(block: model.Block) -> Iterator[str]:
    match block:
        case model.Section():
            yield f"### {escape(block.title)}"
            for inner in block.blocks:
                yield from _block(inner)
        case model.Paragraph():
            yield escape(block.text)
        case model.Abreast():
            for table in block.tables:
                yield from _pipes(table)
            yield from map(escape, block.notes)
        case model.ReportTable():
            yield from _pipes(block)
        case model.Figure():
            pass


def _pipes(table: model.ReportTable) -> Iterator[str]:
    """Caption, table and notes; clusters have numbers, as there can be no rules."""
    headings = []
    for group in (model.Group("", table.names), *table.groups):
        remark = f" ({escape(group.remark)})" if group.remark else ""
        of = f"{escape(group.heading)}{remark} " if group.heading and len(table.groups) > 1 else ""
        headings += [of + escape(c.heading.replace(" - ", f" {MINUS} ")) for c in group.columns]
    rules = ["--:" if column.numeric else ":--" for column in table.columns]
    rows = [[_cell(cell) for cell in row] for row in table.rows()]
    if table.clusters:
        headings, rules = [table.clusters, *headings], ["--:", *rules]
        for number, row in enumerate(rows):
            row.insert(0, str(1 + sum(number >= first for first in table.breaks)))
    yield f"{escape(table.heading)}:"
    yield "\n".join(f"| {' | '.join(row)} |" for row in (headings, rules, *rows))
    yield from map(escape, table.notes)


def _cell(cell: model.Cell | None) -> str:
    if cell is None:
        return ""
    shown = cell.plain if isinstance(cell, model.Number) else escape(cell.plain)
    shown += "".join(sign for mark, sign in SUFFIXES.items() if mark in cell.marks)
    return f"**{shown}**" if cell.marks & {"significant", "best"} else shown
