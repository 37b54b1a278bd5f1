r"""A document's tables for a paper: booktabs, clusters as rules, stars with a legend.

The output is a fragment to \input; it needs \usepackage{booktabs} and nothing else. Every name is
escaped.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from sigtest.render.model import (
    Abreast,
    Cell,
    Column,
    Document,
    Group,
    Interval,
    Mark,
    Name,
    Paragraph,
    PValue,
    Range,
    Table,
    Words,
)
from sigtest.render.names import printable

ROWS = 40  # of one table; LaTeX does not break a table over pages
COLUMNS = 9  # of one table, besides the names
LETTERS = 14  # of a heading for each column below it; longer ones take two lines
LEVELS = (0.05, 0.01, 0.001)  # below alpha, that stars tell apart
STARS = 3
MARKS: dict[Mark, str] = {"undecided": "?", "exact": "="}

_ESCAPES = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\char34{}",
    "'": r"\textquoteright{}",
    "`": r"\textquoteleft{}",
    # ligatures, and what \\ and \toprule would take for their arguments
    "-": r"{-}",
    "[": r"{[}",
    "]": r"{]}",
    "*": r"{*}",
}


def render(document: Document) -> str:
    """All tables, as many as there are pages for, and what else is known as comments."""
    parts = [
        "% Needs \\usepackage{booktabs}; names beyond Latin scripts need LuaLaTeX or XeLaTeX.",
        *(f"% Warning: {printable(warning, '?')}" for warning in document.warnings),
        f"% Signature: {printable(document.signature, '?')}",
    ]
    for block in document.flat():
        if isinstance(block, Paragraph):
            parts.append(f"{escape(block.text)}\n")
        elif isinstance(block, Abreast):
            parts += _floats(block.joined(), document)
        elif isinstance(block, Table):
            parts += _floats(block, document)
    return "\n".join(parts) + "\n"


def escape(text: str) -> str:
    """`text` so that LaTeX prints it as it is."""
    return "".join(_ESCAPES.get(c, c) for c in printable(text, "?"))


def _floats(table: Table, document: Document) -> Iterable[str]:
    """The table without details, parted where it is too wide or too long for a page."""
    continued = False
    for wide in table.part(COLUMNS, lambda group: len(_visible(group))):
        for first in range(0, max(1, wide.size), ROWS):
            part = wide.of_rows(range(first, min(wide.size, first + ROWS)))
            yield _float(part, _caption(part, document, continued))
            continued = True


def _float(table: Table, caption: str) -> str:
    groups = [Group("", table.names), *table.groups]
    shown = [column for group in groups for column in _visible(group)]
    lines = [
        r"\begin{table*}",
        r"\centering\footnotesize",
        rf"\begin{{tabular}}{{@{{}}{''.join(map(_side, shown))}@{{}}}}",
        r"\toprule",
        *_heads(groups),
        _row(_symbols(column.heading) for column in shown),
        r"\midrule",
    ]
    for number, row in enumerate(zip(*(column.cells for column in shown), strict=True)):
        lines += [r"\midrule"] if number in table.breaks else []
        lines.append(_row(map(_cell, row)))
    ends = [r"\bottomrule", r"\end{tabular}", rf"\caption{{{caption}}}", r"\end{table*}"]
    return "\n".join([*lines, *ends])


def _visible(group: Group) -> list[Column]:
    return [column for column in group.columns if not column.detail]


def _heads(groups: Sequence[Group]) -> list[str]:
    """Headings of groups over all their columns, long ones over two lines, with rules below."""
    headings = [(len(_visible(group)), _heading(group)) for group in groups if _visible(group)]
    height = max(len(lines) for _, lines in headings)
    rows = []
    for line in range(height):
        padded = [(span, [""] * (height - len(lines)) + lines) for span, lines in headings]
        rows.append(_row(_spanning(span, lines[line]) for span, lines in padded))
    rules, first = [], 1
    for span, lines in headings:
        rules += [rf"\cmidrule(lr){{{first}-{first + span - 1}}}"] if lines else []
        first += span
    return [*rows, " ".join(rules)] if rules else rows


def _heading(group: Group) -> list[str]:
    first, space, last = group.heading.rpartition(" ")
    long = space and len(group.heading) > LETTERS * len(_visible(group))
    lines = [escape(line) for line in ((first, last) if long else (group.heading,)) if line]
    if group.remark and lines:
        lines[-1] += r"$^{\dagger}$"
    return lines


def _spanning(span: int, heading: str) -> str:
    if not heading:
        return " & " * (span - 1)
    return rf"\multicolumn{{{span}}}{{c}}{{{heading}}}"


def _side(column: Column) -> str:
    """Names and what has marks behind it go to the left, other numbers to the right."""
    if column.holds(Interval):
        return "c"
    marked = any(isinstance(cell, PValue) and cell.alpha is not None for cell in column.cells)
    return "l" if marked or column.holds(Name, Words) else "r"


def _caption(table: Table, document: Document, continued: bool) -> str:
    caption = f"{table.caption}{' (continued)' if continued else ''}"
    about = "; ".join(escape(part) for part in (caption, table.facts) if part)
    notes = [escape(note).removesuffix(".") for note in table.notes]
    legend = "; ".join(_legend(table, document))
    return f"{'. '.join(part for part in (about, *notes, legend) if part)}."


def _legend(table: Table, document: Document) -> list[str]:
    """What the marks of this table mean."""
    cells = [cell for group in table.groups for column in _visible(group) for cell in column.cells]
    values = [cell for cell in cells if isinstance(cell, PValue)]
    levels = {_stars(cell): _level(cell) for cell in values if _stars(cell)}
    said = [rf"$^{{{mark}}}$ significant at ${levels[mark]:g}$" for mark in sorted(levels)]
    for mark, words in document.marks.items():
        if mark in MARKS and any(mark in cell.marks for cell in values):
            said.append(rf"$^{{{MARKS[mark]}}}$ {escape(words)}")
    remarks = dict.fromkeys(group.remark for group in table.groups if group.remark)
    return said + [rf"$^{{\dagger}}$ {escape(remark)}" for remark in remarks]


def _row(cells: Iterable[str]) -> str:
    return " & ".join(cells) + r" \\"


def _cell(cell: Cell | None) -> str:
    match cell:
        case None:
            return ""
        case Name() | Words():
            return escape(cell.shown)
        case Range():
            return cell.shown.replace("-", "--")
        case PValue():
            marks = _stars(cell) + "".join(MARKS[m] for m in MARKS if m in cell.marks)
            return f"{_math(cell.shown)}$^{{{marks}}}$" if marks else _math(cell.shown)
    return _math(cell.shown)


def _stars(cell: PValue) -> str:
    """One star for a significant p-value, more for one below stricter levels."""
    if cell.alpha is None or "significant" not in cell.marks:
        return ""
    return "*" * sum(cell.p <= level for level in _levels(cell.alpha)) or "*"


def _level(cell: PValue) -> float:
    assert cell.alpha is not None
    return _levels(cell.alpha)[len(_stars(cell)) - 1]


def _levels(alpha: float) -> tuple[float, ...]:
    return (alpha, *(level for level in LEVELS if level < alpha))[:STARS]


def _math(number: str) -> str:
    """A number or interval in mathematics, where a hyphen is a minus sign."""
    power = re.fullmatch(r"(<?)([\d.]+)e([+-]\d+)", number)
    if power:
        sign, mantissa, exponent = power.groups()
        return rf"${sign}{mantissa}\times10^{{{int(exponent)}}}$"
    return f"${number}$"


def _symbols(heading: str) -> str:
    """A heading whose single letters are symbols, such as `a - b`."""
    return re.sub(r"\b(\w( \{-\} \w)?)\b", _symbol, escape(heading))


def _symbol(found: re.Match[str]) -> str:
    return f"${found[1].replace('{-}', '-')}$"
