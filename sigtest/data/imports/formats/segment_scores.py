"""A line a segment and system, no header: mt-metrics-eval's `.seg.score`, METEOR's `.scr`."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence

from sigtest.data.imports.assembly import ONLY_RUN, Assembly
from sigtest.data.imports.file import File
from sigtest.data.imports.formats.cells import blank, number, numbers, numeric
from sigtest.data.imports.material import Material, Scores
from sigtest.data.names import check_name, without_slash
from sigtest.errors import InputError, at_line

PAIR = re.compile(r"^[a-z]{2,3}(_[A-Za-z]{2,4})?-[a-z]{2,3}(_[A-Za-z]{2,4})?\.")
SUFFIX = re.compile(r"\.(seg|sys|domain)\.score(\.txt)?$|\.scr$|\.(txt|tsv)$", re.IGNORECASE)
PAIRS = re.compile(r"(?:[^\t\n]+\t[^\t\n]*\n)*")  # a cell, a tab, a cell on every line
NAMED = re.compile(r"\.seg\.score$", re.IGNORECASE)
FRACTION = re.compile(r"[.,]\d+([eE][-+]?\d+)?\s*$")
LEVEL = re.compile(r"\.(sys|domain)\.score$", re.IGNORECASE)


def sniff(file: File) -> bool:
    """`system<TAB>score`: a name that is no number, then a number or a word for none.

    Where no tab and not the file's name say it, `aspen 0.5` is a score and `Chapter 1` is text.
    """
    if not _rows_are(file, 2) or LEVEL.search(file.base):
        return False
    said = NAMED.search(file.base) is not None or "\t" in file.first_lines[0]
    return said or file.matches(FRACTION, 0.5)


def read(file: File) -> Material:
    """Read scores of several systems by one metric, which the file's name names.

    The i-th line of a system is segment i; higher is better, as mt-metrics-eval stores all.

    Raises:
        InputError: A line of other columns, systems with unequal numbers of lines, no number.
    """
    cells = _cells(file)
    _require_equal(cells, file)
    label = label_of(file.base)
    scores = []
    for system, column in cells.items():
        name = check_name(without_slash(system))
        values = numbers(column, lambda k, system=system: _where(file, system, k))  # type: ignore[misc]
        scores.append(Scores(name, label, (tuple(values),), higher_is_better=True))
    return Material(scores=tuple(scores), name=file.name)


def _cells(file: File) -> dict[str, list[str]]:
    """The cells of each system, in order."""
    cells: defaultdict[str, list[str]] = defaultdict(list)
    if PAIRS.fullmatch(file.text):
        flat = file.text.replace("\t", "\n").split("\n")
        for system, cell in zip(flat[0:-1:2], flat[1::2], strict=True):
            cells[system].append(cell)
        return {system.strip(): column for system, column in cells.items()}
    for i, line in enumerate(file.lines, 1):
        parts = _split(line)
        if line.strip() and len(parts) != 2:
            raise at_line(
                file.name,
                i,
                f"{len(parts)} column{'' if len(parts) == 1 else 's'}; "
                "system and score are expected.",
            )
        if line.strip():
            cells[parts[0].strip()].append(parts[1])
    return cells


def _split(line: str) -> list[str]:
    """Cells between tabs, or between plain blanks; other spaces are part of a cell."""
    return line.split("\t") if "\t" in line else [cell for cell in line.split(" ") if cell]


def _where(file: File, system: str, k: int) -> str:
    """The place of the k-th score of a system."""
    lines = [i for i, line in enumerate(file.lines, 1) if _split(line)[:1] == [system]]
    return f"{file.name}, line {lines[k]}" if k < len(lines) else file.name


def _require_equal(cells: Mapping[str, Sequence[str]], file: File) -> None:
    """Check that every system has as many lines as the first, and more than one."""
    (first, column), *others = cells.items()
    for system, other in others:
        if len(other) != len(column):
            raise InputError(
                f"{file.name}: system {system!r} has {len(other):,} lines, {first!r} has "
                f"{len(column):,}; the i-th line of each is segment i, so all need equally many "
                "(None where there is no score)."
            )
    if len(column) == 1:
        raise InputError(
            f"{file.name} has one score a system, as for whole outputs; a comparison needs one "
            "score a segment: give the .seg.score file."
        )


def label_of(base: str) -> str:
    """The metric that a file's name names: without the pair of languages and suffixes."""
    name = SUFFIX.sub("", base.removesuffix(".gz"))
    return PAIR.sub("", name) or name


def sniff_meteor(file: File) -> bool:
    """`set<TAB>system<TAB>document<TAB>segment<TAB>score`."""
    rows = [_split(line) for line in file.first_lines]
    return (
        _rows_are(file, 5)
        and "\t" in file.first_lines[0]
        and len({row[0] for row in rows}) == 1
        and all(row[3].strip().isdecimal() for row in rows if len(row) == 5)
    )


def read_meteor(file: File) -> Material:
    """Read METEOR's or mteval's scores of segments.

    Raises:
        InputError: A line of other columns or without a number, a segment twice.
    """
    assembly = Assembly(file.name)
    label = file.base.split("-")[0].split(".")[0]
    for i, line in enumerate(file.lines, 1):
        cells = line.split("\t")
        if len(cells) != 5:
            raise at_line(
                file.name,
                i,
                f"{len(cells)} columns; set, system, document, segment and score are expected.",
            )
        testset, system, document, segment, score = (cell.strip() for cell in cells)
        place = assembly.place_of(f"{document}#{segment}", f"line {i}")
        assembly.about(place, "document", document, f"line {i}")
        assembly.about(place, "testset", testset, f"line {i}")
        value = number(score, f"{file.name}, line {i}")
        assembly.score(place, (system, label, ONLY_RUN), value, f"line {i}")
    return assembly.material()


def _rows_are(file: File, columns: int) -> bool:
    """Whether nearly all lines have so many cells, the last a number and the first a word.

    The first line must have as many, or it is a header. The first cell may be a number where the
    file's name says what the lines are.
    """
    if file.kind or not file.first_lines:
        return False
    rows = [_split(line) for line in file.first_lines]
    fitting = [
        row
        for row in rows
        if len(row) == columns
        and (NAMED.search(file.base) is not None or not numeric(row[0]))
        and not blank(row[0])
        and not row[0].rstrip().endswith((":", "="))
        and (numeric(row[-1]) or blank(row[-1]))
    ]
    return len(rows[0]) == columns and len(fitting) >= 0.9 * len(rows)
