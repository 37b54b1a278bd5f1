r"""A document's tables for a paper: booktabs, clusters as rules, stars with a legend.

The output is a fragment to \input; it needs \usepackage{booktabs}, graphicx where a table is to be
scaled down to its column, and another engine for names in other scripts than Latin, which its first
lines say. Every name is escaped.
"""

import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from sigtest.render import model
from sigtest.render.words import printable, width
from sigtest.report import Methods

ROWS = 40  # of one table; LaTeX does not break a table over pages
HELD = 16  # tables that LaTeX surely holds back until a page has room for them
LETTERS = 14  # of a heading for each column below it; longer ones take two lines
COLUMN, PAGE = 68, 130  # letters that a column of a page holds, and both, at about 7 points
SIZE, GAP = 8, 5  # points: of letters, and between columns; twice as much between groups
LEVELS = (0.05, 0.01, 0.001)  # below alpha, that stars tell apart
STARS = 3
SYMBOL = re.compile(r"\b([^\W\d]( \{-\} \w)?)\b")  # single letters of a heading, `a - b`
LATIN_ENDS = "\u0180"  # letters before it are in T1, but for these
UNKNOWN = "ĦħĸĿŀŉŦŧſ"
MARKS: dict[model.Mark, str] = {"baseline": r"\dagger", "undecided": "?", "exact": "="}
REMARK = "\N{DOUBLE DAGGER}"
# What TeX finds wider than its column is scaled down, where graphicx is there.
FITTING = r"\providecommand\resizebox[3]{#3}"
FIT = r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%"
# classes with one column only, such as beamer, have none
STARRED = r"\ifcsname table*\endcsname\else\newenvironment{table*}{\begin{table}}{\end{table}}\fi"

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


def render(document: model.Document) -> str:
    """All tables, as many as there are pages for, and what else is known as comments."""
    parts = [
        *(f"% Warning: {printable(warning, '?')}" for warning in document.warnings),
        f"% Signature: {printable(document.signature, '?')}",
    ]
    if document.methods:
        parts.append(f"% Methods (the format bibtex has what it cites): {cited(document.methods)}")
    floats = 0
    for block in document.stacked():
        if isinstance(block, model.ReportTable):
            for one in _floats(block, document):
                parts += [r"\clearpage"] if floats and floats % HELD == 0 else []
                parts.append(one)
                floats += not block.bare
        else:
            parts.append(f"{escape(block.text)}\n")
    made = "\n".join(parts) + "\n"
    for given in document.verbatim:
        made = made.replace(escape(given), given).replace(_prose(given), given)
    starred = f"{STARRED}\n" if r"\begin{table*}" in made else ""
    return f"{_needs(made)}{FITTING}\n{starred}{made}" if floats else _needs(made) + made


def _needs(latex: str) -> str:
    """The first line of a fragment, and more where pdfLaTeX's fonts have not all of its letters."""
    letters = {c for line in latex.splitlines() if line[:1] != "%" for c in line if c.isalpha()}
    if all(c < LATIN_ENDS and c not in UNKNOWN for c in letters):
        encoding = "" if all(map(str.isascii, letters)) else " and \\usepackage[T1]{fontenc}"
        return f"% Needs \\usepackage{{booktabs}}, \\usepackage{{graphicx}}{encoding}.\n"
    return (
        "% Needs \\usepackage{booktabs}, \\usepackage{graphicx}, and XeLaTeX or LuaLaTeX with a\n"
        "% font that has its letters: pdfLaTeX stops at them, and a font lacking some leaves them\n"
        "% out. Most are in \\usepackage{fontspec}\\setmainfont{Noto Serif}; Chinese ones, and\n"
        "% of Japan and Korea, in \\usepackage{fontspec}\\setmainfont{Noto Serif CJK SC}.\n"
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


def _floats(table: model.ReportTable, document: model.Document) -> Iterator[str]:
    """The table without details, parted where it is too wide or too long for a page."""
    visible = (
        replace(group, columns=tuple(column for column in group.columns if not column.detail))
        for group in table.groups
    )
    table = replace(table, groups=tuple(group for group in visible if group.columns))
    if table.bare:
        yield "\n".join(_row(map(_cell, row)) for row in table.rows())
        return
    room = max(COLUMN / 2, PAGE - _width([model.Group("", table.names)]))
    if _width(table.groups) > room:
        table = replace(table, parted=True, groups=tuple(_narrow(table.groups, room)))
    parts = (
        wide.of_rows(range(first, min(wide.size, first + ROWS)))
        for wide in table.part(room, lambda group: _width([group]))
        for first in range(0, max(1, wide.size), ROWS)
    )
    for number, part in enumerate(parts):
        yield _float(replace(part, label="" if number else table.label), document, number > 0)


def _narrow(groups: Iterable[model.Group], room: float) -> Iterator[model.Group]:
    """The groups, one that is wider than a page in several."""
    for group in groups:
        parts = math.ceil(_width([group]) / room)
        size = math.ceil(len(group.columns) / parts)
        for first in range(0, len(group.columns), size):
            yield replace(group, columns=group.columns[first : first + size])


def _width(groups: Iterable[model.Group]) -> float:
    """About how many letters groups take side by side; TeX measures how many they do."""
    total = 0.0
    for group in groups:
        shown = (
            [
                column.heading,
                *(f"{cell.plain}{''.join(_signs(cell))}" for cell in column.cells if cell),
            ]
            for column in group.columns
        )
        columns = sum(max(map(_letters, texts)) + 1 for texts in shown)
        total += max(columns, *map(_letters, _heading(group))) + 1
    return total


def _letters(text: str) -> int:
    """How many letters are seen of a text, which may be LaTeX."""
    return width(re.sub(r"\\[A-Za-z]+|[{}$_^]", "", text) if "\\" in text else text)


def _float(table: model.ReportTable, document: model.Document, continued: bool) -> str:
    named = [model.Group("", table.names), *table.groups]
    kind = "table" if _width(named) <= COLUMN else "table*"
    sides = ["".join(map(_side, group.columns)) for group in named]  # larger gaps between groups
    gap = rf"@{{\hskip {2 * GAP:g}pt}}"
    lines = [
        rf"\begin{{{kind}}}",
        rf"\centering\fontsize{{{SIZE}}}{{{1.2 * SIZE:g}}}\selectfont",
        rf"\setlength\tabcolsep{{{GAP / 2:g}pt}}",
        FIT,
        rf"\begin{{tabular}}{{@{{}}{gap.join(sides)}@{{}}}}",
        r"\toprule",
        *_heads(table),
        _row(
            SYMBOL.sub(lambda found: f"${found[1].replace('{-}', '-')}$", escape(column.heading))
            for column in table.columns
        ),
        r"\midrule",
    ]
    for number, row in enumerate(table.rows()):
        lines += [r"\midrule"] if number in table.breaks else []
        lines.append(_row(map(_cell, row)))
    heading = f"{table.heading}{' (continued)' if continued else ''}"
    about = "; ".join(_prose(part) for part in (heading, table.facts) if part)
    notes = [_prose(note).removesuffix(".") for note in table.notes]
    legend = "; ".join(_legend(table, document))
    caption = f"{'. '.join(part for part in (about, *notes, legend) if part)}."
    lines += [r"\bottomrule", r"\end{tabular}}", rf"\caption{{{caption}}}"]
    lines += [rf"\label{{{table.label}}}"] if table.label else []
    return "\n".join([*lines, rf"\end{{{kind}}}"])


def _heads(table: model.ReportTable) -> list[str]:
    """Headings of groups over all their columns, long ones over two lines, with rules below."""
    spans = [(len(group.columns), list(map(escape, _heading(group)))) for group in table.groups]
    height = max(len(lines) for _, lines in spans)
    rows = [["&" * (len(table.names) - 1)] for _ in range(height)]
    rules, first = [], len(table.names) + 1
    for span, lines in spans:
        last = first + span - 1
        sides = "@{}c@{}" if last == len(table.columns) else rf"@{{}}c@{{\hskip {2 * GAP:g}pt}}"
        for row, line in zip(rows, [""] * (height - len(lines)) + lines, strict=True):
            row.append(rf"\multicolumn{{{span}}}{{{sides}}}{{{line}}}")
        rules += [rf"\cmidrule(lr){{{first}-{last}}}"] if any(lines) else []
        first = last + 1
    return [*map(_row, rows), " ".join(rules)] if rules else []


def _heading(group: model.Group) -> list[str]:
    """Its words, over two lines where they are long."""
    first, space, last = group.heading.rpartition(" ")
    latex = "\\" in group.heading or "$" in group.heading  # whose parts are none
    long = space and len(group.heading) > LETTERS * len(group.columns) and not latex
    remark = REMARK if group.remark else ""
    return [first, last + remark] if long else [group.heading + remark]


def _side(column: model.Column) -> str:
    """Names and what has marks behind it go to the left, other numbers to the right."""
    if column.holds(model.Interval):
        return "c"
    return "l" if column.decides or column.holds(model.Words) else "r"


def _legend(table: model.ReportTable, document: model.Document) -> list[str]:
    """What the marks of this table mean."""
    cells = [cell for column in table.columns for cell in column.cells if cell]
    values = [cell for cell in cells if isinstance(cell, model.PValue)]
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


def _cell(cell: model.Cell | None) -> str:
    match cell:
        case None:
            return ""
        case model.Words():
            return escape(cell.plain)
        case model.Interval(low=low) if cell.short and low >= 0:
            return cell.plain[1:-1].replace(", ", "--").replace("inf", r"$\infty$")
    signs = f"$^{{{signs}}}$" if (signs := "".join(_signs(cell))) else ""
    if isinstance(cell, model.Range):  # its mark takes no room, so that places stay aligned
        return cell.plain.replace("-", "--") + (rf"\rlap{{{signs}}}" if signs else "")
    return _math(cell.plain, _bold(cell)) + signs


def _bold(cell: model.Cell) -> bool:
    significant = isinstance(cell, model.PValue) and cell.short and "significant" in cell.marks
    return "best" in cell.marks or significant


def _signs(cell: model.Cell) -> list[str]:
    stars = _stars(cell) if isinstance(cell, model.PValue) else ""
    return [*stars, *(sign for mark, sign in MARKS.items() if mark in cell.marks)]


def _stars(cell: model.PValue) -> str:
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


def bibliography(document: model.Document) -> str:
    """What the methods cite as BibTeX has it, and above it the methods as a comment."""
    if document.methods is None:
        return f"% {_inert(document.title)}: nothing to cite.\n"
    entries = [own.bibtex for own in document.methods.references]
    return "\n\n".join([f"% {_inert(document.methods.text)}", *entries]) + "\n"


def _inert(text: str) -> str:
    """A comment: BibTeX skips what stands outside entries, but for the sign that opens one."""
    return printable(text, "?").replace("@", "(at)")
