r"""A document's tables for a paper: booktabs, clusters as rules, stars with a legend.

The output is a fragment to \input; it needs \usepackage{booktabs}, and another engine for names in
other scripts than Latin, which its first lines say. Every name is escaped.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

from sigtest.render.model import (
    Cell,
    Column,
    Document,
    Group,
    Interval,
    Mark,
    Name,
    PValue,
    Range,
    ReportTable,
    Words,
)
from sigtest.render.names import printable, width
from sigtest.report import Methods

ROWS = 40  # of one table; LaTeX does not break a table over pages
HELD = 16  # tables that LaTeX surely holds back until a page has room for them
LETTERS = 14  # of a heading for each column below it; longer ones take two lines
LEVELS = (0.05, 0.01, 0.001)  # below alpha, that stars tell apart
STARS = 3
LATIN_ENDS = "\u0180"  # letters before it are in T1, but for these
UNKNOWN = "ĦħĸĿŀŉŦŧſ"
MARKS: dict[Mark, str] = {"baseline": r"\dagger", "undecided": "?", "exact": "="}
REMARK = "\N{DOUBLE DAGGER}"


class TableArea(NamedTuple):
    """Where a table may stand; all in points.

    Attributes:
        kind: Of float: within one column of a page, or over both.
        room: Width.
        size: Of letters.
        gap: Between columns; twice as much between groups.
    """

    kind: str
    room: float
    size: int
    gap: float


class Extent(NamedTuple):
    """How wide a group is, in units of the size of its letters.

    Attributes:
        columns: Each of them.
        heading: The longest line of what stands above them.
    """

    columns: list[float]
    heading: float


PLACES = (  # 7.7 cm and 16 cm; the first that is wide enough
    TableArea("table", 219, 8, 5),
    TableArea("table", 219, 7, 5),
    TableArea("table", 219, 7, 2.2),
    TableArea("table*", 455, 8, 5),
    TableArea("table*", 455, 7, 5),
    TableArea("table*", 455, 7, 2.2),
)
# classes with one column only, such as beamer, have none
STARRED = r"\ifcsname table*\endcsname\else\newenvironment{table*}{\begin{table}}{\end{table}}\fi"
# Computer Modern's widths of ASCII 32 to 126 in 1/1000 em: cmr7, which is wider than other fonts.
_WIDTHS = (
    "377 323 569 938 569 938 877 323 446 446 569 877 323 385 323 569 569 569 569 569 569 569 569 "
    "569 569 569 323 323 323 877 539 539 877 843 799 815 860 768 737 884 843 413 583 874 706 1028 "
    "843 877 768 877 829 631 815 843 843 1151 843 843 692 323 569 323 569 323 323 569 631 508 631 "
    "508 354 569 631 323 354 600 323 938 631 569 631 600 446 453 446 631 600 815 600 600 508 569 "
    "1139 569 569"
)
_EM = [0.0] * 32 + [int(width) / 1000 for width in _WIDTHS.split()] + [0.0]
SIZED = {7: 1.0, 8: 0.94}  # what cmr8 takes of it
BOLD = 1.15
_UNSEEN = str.maketrans("", "", "${}^_")

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

# Prose may have ligatures; only what LaTeX would take for a command is escaped.
_PROSE = {c: shown for c, shown in _ESCAPES.items() if c not in "-[]*'`"}


def render(document: Document) -> str:
    """All tables, as many as there are pages for, and what else is known as comments."""
    parts = [
        *(f"% Warning: {printable(warning, '?')}" for warning in document.warnings),
        f"% Signature: {printable(document.signature, '?')}",
    ]
    if document.methods:
        parts.append(f"% Methods (the format bibtex has what it cites): {cited(document.methods)}")
    floats = 0
    for block in document.stacked():
        if isinstance(block, ReportTable):
            for one in _floats(block, document):
                parts += [r"\clearpage"] if floats and floats % HELD == 0 else []
                parts.append(one)
                floats += not block.bare
        else:
            parts.append(f"{escape(block.text)}\n")
    made = "\n".join(parts) + "\n"
    for given in document.verbatim:
        made = made.replace(escape(given), given).replace(_prose(given), given)
    return _needs(made) + (f"{STARRED}\n" if r"\begin{table*}" in made else "") + made


def _needs(latex: str) -> str:
    """The first line of a fragment, and more where pdfLaTeX's fonts have not all of its letters."""
    letters = {c for line in latex.splitlines() if line[:1] != "%" for c in line if c.isalpha()}
    if all(c < LATIN_ENDS and c not in UNKNOWN for c in letters):
        encoding = "" if all(map(str.isascii, letters)) else " and \\usepackage[T1]{fontenc}"
        return f"% Needs \\usepackage{{booktabs}}{encoding}.\n"
    return (
        "% Needs \\usepackage{booktabs}, and XeLaTeX or LuaLaTeX with a font that has its letters: "
        "pdfLaTeX\n% stops at them, and a font that lacks letters leaves them out. Most are in\n"
        "% \\usepackage{fontspec}\\setmainfont{Noto Serif}, Chinese, Japanese and Korean ones in\n"
        "% \\usepackage{fontspec}\\setmainfont{Noto Serif CJK SC}.\n"
    )


def escape(text: str) -> str:
    """`text` so that LaTeX prints it as it is."""
    return "".join(_ESCAPES.get(c, c) for c in printable(text, "?"))


def cited(methods: Methods) -> str:
    r"""A methods paragraph as LaTeX has it, with \citep for what it cites."""
    keys = {own.cited: own.key for own in methods.references}
    authors = "|".join(re.escape(cited) for cited in keys)
    return re.sub(
        rf" \(((?:{authors})(?:; (?:{authors}))*)\)",
        lambda found: rf"~\citep{{{','.join(keys[own] for own in found[1].split('; '))}}}",
        # signatures have no blank at which LaTeX could end a line
        re.sub(r"(?<=\S)(\\textbar\{\}|:)(?=\S)", r"\1\\allowbreak{}", _prose(methods.text)),
    )


def _prose(text: str) -> str:
    """Sentences as LaTeX has them, with their dashes and quotation marks, and 95 % on one line."""
    return "".join(_PROSE.get(c, c) for c in printable(text, "?")).replace(r" \%", r"~\%")


def _floats(table: ReportTable, document: Document) -> Iterable[str]:
    """The table without details, parted where it is too wide or too long for a page."""
    visible = (
        replace(group, columns=tuple(column for column in group.columns if not column.detail))
        for group in table.groups
    )
    table = replace(table, groups=tuple(group for group in visible if group.columns))
    if table.bare:
        yield "\n".join(_row(map(_cell, row)) for row in table.rows())
        return
    page = next(place for place in PLACES if place.kind == "table*")
    room = page.room - _width(_extents(replace(table, groups=())), page)
    if _width(_extents(table), PLACES[-1]) > page.room:
        table = replace(table, parted=True, groups=_halved(table.groups, room))
    continued = False
    for wide in table.part(room, lambda group: _width([_extent(group)], page) + 2 * page.gap):
        for first in range(0, max(1, wide.size), ROWS):
            part = wide.of_rows(range(first, min(wide.size, first + ROWS)))
            part = replace(part, label="" if continued else table.label)
            yield _float(part, _caption(part, document, continued))
            continued = True


def _halved(groups: Sequence[Group], room: float) -> tuple[Group, ...]:
    """The groups, one that is wider than a page in two, and so on."""
    halves: list[Group] = []
    for group in groups:
        middle = (len(group.columns) + 1) // 2
        fits = _width([_extent(group)], PLACES[-1]) <= room
        parts = (group.columns[:middle], group.columns[middle:])
        split = [] if fits or middle < 2 else [replace(group, columns=own) for own in parts]
        halves += _halved(split, room) if split else [group]
    return tuple(halves)


def _float(table: ReportTable, caption: str) -> str:
    extents = _extents(table)
    place = next((p for p in PLACES if _width(extents, p) <= p.room), PLACES[-1])
    lines = [
        rf"\begin{{{place.kind}}}",
        rf"\centering\fontsize{{{place.size}}}{{{1.2 * place.size:g}}}\selectfont",
        rf"\setlength\tabcolsep{{{place.gap / 2:g}pt}}",
        rf"\begin{{tabular}}{{@{{}}{_sides(table, place.gap)}@{{}}}}",
        r"\toprule",
        *_heads(table, place.gap),
        _row(_symbols(column.heading) for column in table.columns),
        r"\midrule",
    ]
    for number, row in enumerate(table.rows()):
        lines += [r"\midrule"] if number in table.breaks else []
        lines.append(_row(map(_cell, row)))
    lines += [r"\bottomrule", r"\end{tabular}", rf"\caption{{{caption}}}"]
    lines += [rf"\label{{{table.label}}}"] if table.label else []
    return "\n".join([*lines, rf"\end{{{place.kind}}}"])


def _extents(table: ReportTable) -> list[Extent]:
    return [_extent(Group("", table.names)), *map(_extent, table.groups)]


def _extent(group: Group) -> Extent:
    return Extent(
        [max(map(_em, [column.heading, *column.cells])) for column in group.columns],
        max(map(_em, _heading(group))),
    )


def _width(extents: Sequence[Extent], place: TableArea) -> float:
    """About how many points groups take side by side."""
    em = SIZED[place.size] * place.size
    groups = (
        max(em * sum(own.columns) + place.gap * (len(own.columns) - 1), em * own.heading)
        for own in extents
    )
    return sum(groups) + 2 * place.gap * (len(extents) - 1)


def _em(shown: Cell | str | None) -> float:
    """How wide a cell or a line of text is, in units of the size of its letters."""
    if shown is None:
        return 0.0
    if isinstance(shown, Cell):
        return (BOLD if _bold(shown) else 1.0) * _em(_plain(shown))
    shown = _set(shown)
    if shown.isascii():
        return sum(map(_EM.__getitem__, shown.encode()))
    return sum(_EM[ord(c)] if c.isascii() else 0.6 * width(c) for c in shown)


def _set(text: str) -> str:
    """About what LaTeX makes of a name that is LaTeX: a sign for each command."""
    return re.sub(r"\\[A-Za-z]+|\\.", "x", text).translate(_UNSEEN) if "\\" in text else text


def _plain(cell: Cell) -> str:
    """What of a cell is seen, but for symbols with names; a minus, a `<` and a plus are as wide."""
    if isinstance(cell, Name):
        return cell.text
    if isinstance(cell, Range):
        return cell.plain.replace("-", "0")
    seen = re.sub(r"\\[a-z]+|[\\${}^]", "", _cell(cell).replace(r"\times", "x"))
    if isinstance(cell, Words):
        return seen
    return seen.replace("--", "0").replace("-", "+").replace("<", "+")


def _sides(table: ReportTable, gap: float) -> str:
    """On which side the cells of each column stand, with larger gaps between groups."""
    groups = ["".join(map(_side, group.columns)) for group in table.groups]
    return rf"@{{\hskip {2 * gap:g}pt}}".join(["".join(map(_side, table.names)), *groups])


def _heads(table: ReportTable, gap: float) -> list[str]:
    """Headings of groups over all their columns, long ones over two lines, with rules below."""
    spans = [(len(group.columns), list(map(escape, _heading(group)))) for group in table.groups]
    height = max(len(lines) for _, lines in spans)
    rows = [["&" * (len(table.names) - 1)] for _ in range(height)]
    rules, first = [], len(table.names) + 1
    for span, lines in spans:
        last = first + span - 1
        sides = "@{}c@{}" if last == len(table.columns) else rf"@{{}}c@{{\hskip {2 * gap:g}pt}}"
        for row, line in zip(rows, [""] * (height - len(lines)) + lines, strict=True):
            row.append(rf"\multicolumn{{{span}}}{{{sides}}}{{{line}}}")
        rules += [rf"\cmidrule(lr){{{first}-{last}}}"] if any(lines) else []
        first = last + 1
    return [*map(_row, rows), " ".join(rules)] if rules else []


def _heading(group: Group) -> list[str]:
    """Its words, over two lines where they are long."""
    first, space, last = group.heading.rpartition(" ")
    latex = "\\" in group.heading or "$" in group.heading  # whose parts are none
    long = space and len(group.heading) > LETTERS * len(group.columns) and not latex
    remark = REMARK if group.remark else ""
    return [first, last + remark] if long else [group.heading + remark]


def _side(column: Column) -> str:
    """Names and what has marks behind it go to the left, other numbers to the right."""
    if column.holds(Interval):
        return "c"
    marked = any(isinstance(cell, PValue) and cell.alpha is not None for cell in column.cells)
    return "l" if marked or column.holds(Name, Words) else "r"


def _caption(table: ReportTable, document: Document, continued: bool) -> str:
    caption = f"{table.heading}{' (continued)' if continued else ''}"
    about = "; ".join(_prose(part) for part in (caption, table.facts) if part)
    notes = [_prose(note).removesuffix(".") for note in table.notes]
    legend = "; ".join(_legend(table, document))
    return f"{'. '.join(part for part in (about, *notes, legend) if part)}."


def _legend(table: ReportTable, document: Document) -> list[str]:
    """What the marks of this table mean."""
    cells = [cell for column in table.columns for cell in column.cells if cell]
    values = [cell for cell in cells if isinstance(cell, PValue)]
    levels = {_stars(cell): cell.alpha for cell in values if _stars(cell)}
    said = [
        rf"$^{{{stars}}}$ significant at ${_levels(alpha or 1)[len(stars) - 1]:g}$"
        for stars, alpha in sorted(levels.items())
    ]
    for mark, words in document.marks.items():
        if mark in MARKS and any(mark in cell.marks for cell in cells):
            said.append(rf"$^{{{MARKS[mark]}}}$ {escape(words)}")
        elif any(_bold(cell) and mark in cell.marks for cell in cells):
            said.append(rf"\textbf{{Bold}}: {escape(words)}")
    remarks = dict.fromkeys(group.remark for group in table.groups if group.remark)
    return said + [rf"{escape(REMARK)} {escape(remark)}" for remark in remarks]


def _row(cells: Iterable[str]) -> str:
    return " & ".join(cells) + r" \\"


def _cell(cell: Cell | None) -> str:
    match cell:
        case None:
            return ""
        case Name() | Words():
            return escape(cell.plain)
        case Interval(low=low) if cell.short and low >= 0:
            return cell.plain[1:-1].replace(", ", "--").replace("inf", r"$\infty$")
    signs = f"$^{{{signs}}}$" if (signs := "".join(_signs(cell))) else ""
    if isinstance(cell, Range):  # its mark takes no room, so that places stay below each other
        return cell.plain.replace("-", "--") + (rf"\rlap{{{signs}}}" if signs else "")
    return _math(cell.plain, _bold(cell)) + signs


def _bold(cell: Cell) -> bool:
    significant = isinstance(cell, PValue) and cell.short and "significant" in cell.marks
    return "best" in cell.marks or significant


def _signs(cell: Cell) -> list[str]:
    stars = _stars(cell) if isinstance(cell, PValue) else ""
    return [*stars, *(sign for mark, sign in MARKS.items() if mark in cell.marks)]


def _stars(cell: PValue) -> str:
    """One star for a significant p-value, more for one below stricter levels."""
    if cell.alpha is None or cell.short or "significant" not in cell.marks:
        return ""
    return "*" * sum(cell.p <= level for level in _levels(cell.alpha)) or "*"


def _levels(alpha: float) -> tuple[float, ...]:
    return (alpha, *(level for level in LEVELS if level < alpha))[:STARS]


def _math(number: str, bold: bool = False) -> str:
    """A number or interval in mathematics, where a hyphen is a minus sign."""
    power = re.fullmatch(r"(<?)([\d.]+)e([+-]\d+)", number)
    if power:
        sign, mantissa, exponent = power.groups()
        return rf"${sign}{mantissa}\times10^{{{int(exponent)}}}$"
    number = re.sub(r",(?=\d)", "{,}", number.replace("inf", r"\infty").replace("<", "{<}"))
    return rf"$\mathbf{{{number}}}$" if bold else f"${number}$"


def _symbols(heading: str) -> str:
    """A heading whose single letters are symbols, such as `a - b`."""
    return re.sub(r"\b([^\W\d]( \{-\} \w)?)\b", _symbol, escape(heading))


def _symbol(found: re.Match[str]) -> str:
    return f"${found[1].replace('{-}', '-')}$"


def bibliography(document: Document) -> str:
    """What the methods cite as BibTeX has it, and above it the methods as a comment."""
    if document.methods is None:
        return f"% {_inert(document.title)}: nothing to cite.\n"
    entries = [own.bibtex for own in document.methods.references]
    return "\n\n".join([f"% {_inert(document.methods.text)}", *entries]) + "\n"


def _inert(text: str) -> str:
    """A comment: BibTeX skips what stands outside entries, but for the sign that opens one."""
    return printable(text, "?").replace("@", "(at)")
