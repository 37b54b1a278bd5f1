"""Plain text: a segment a line, or the scores of segments, a number or a tuple of them a line."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence

from sigtest.data.testset import LABEL
from sigtest.errors import InputError, at_line
from sigtest.files.cells import blank, number, numeric
from sigtest.files.file import File, entries_of, loads
from sigtest.files.material import Material, SystemScores, Value
from sigtest.files.tables import is_metric, require_header, role_of

# anchored: searched from every place of a long line, it would take the square of its length
TAG_ONLY = re.compile(r"^\s*</?[A-Za-z][^<>]*>\s*$|</(seg|tr|td|p|div|row|tu|target)>\s*$", re.I)
TAGGED = re.compile(r"^\s*<[A-Za-z][\w-]*(\s[^<>]*)?>")
RECORD = re.compile(r'^\s*\{"[^"]*":[^\r]*\},?\s*$')
# of numbers and what stands for none, perhaps cut; not `[1] Smith said`
ARRAY = re.compile(
    r"\[\s*(?=[-\dnNtf])([\s\d.,eE+-]|null|[Nn]a[Nn]|true|false|-?Infinity)*+\w*+\s*\]?"
)
NUMBERS_SHARE = 0.5
MARKUP_SHARE = 0.3
PRECISE = 4  # decimals with which a number is hardly ever a mean by chance
TABULAR = 3  # lines that have as many tabs each before they are columns


def sniff_numbers(file: File) -> bool:
    """Numbers, or words for missing ones, on most lines."""
    lines = file.first_lines
    if not lines or file.kind:
        return False
    if lines[0].lstrip().startswith("["):
        return all(_is_list(line) for line in lines) or _is_number_array(file)
    good = [line for line in lines if all(numeric(c) or blank(c) for c in _cells(line))]
    real = [line for line in good if any(numeric(c) for c in _cells(line))]
    return len(good) >= NUMBERS_SHARE * len(lines) and (len(real) > 0 or len(good) == len(lines))


def read_numbers(file: File) -> Material:
    """Scores of one system, named by its file, and perhaps by a name in the first line.

    Raises:
        InputError: A line that is no number, nothing or one line only, unequal tuples, lines that
            are numbered.
    """
    filled = max((i for i, line in enumerate(file.lines, 1) if line.strip()), default=0)
    lines = file.lines[:filled]
    label = _label(lines)
    if _is_number_array(file):
        entries = enumerate(entries_of(loads(file.text, file.name)), 1)
        values: list[Value | None] = [
            number(entry, f"{file.name}, entry {i}") for i, entry in entries
        ]
    else:
        skipped = int(label is not None)
        values = [_value(line, file.name, i) for i, line in enumerate(lines[skipped:], skipped + 1)]
    if len(values) < 2:
        raise InputError(
            f"{file.name} has one line of numbers, as for the score of a whole output; give one "
            "line a segment."
        )
    _require_equal_tuples(values, file.name)
    _require_unnumbered(values, file.name)
    scores = SystemScores(file.stem, label or LABEL, (tuple(values),))
    return Material(scores=(scores,), name=file.name, notes=tuple(_summaries(values, file.name)))


def sniff_columns(file: File) -> bool:
    """Columns of text between tabs, without a header: as many tabs on every line."""
    lines = file.first_lines
    tabs = {line.count("\t") for line in lines}
    return len(lines) >= TABULAR and len(tabs) == 1 and 0 not in tabs and not file.kind


def read_columns(file: File) -> Material:
    """Several texts side by side, as sacreBLEU takes systems or references.

    Raises:
        InputError: A line with more or fewer columns, a table of numbers without a header.
    """
    require_header(file)
    rows = [line.split("\t") for line in file.lines]
    for i, row in enumerate(rows, 1):
        if len(row) != len(rows[0]):
            raise at_line(
                file.name,
                i,
                f"{len(row)} columns, line 1 has {len(rows[0])}; every segment needs all of them.",
            )
    return Material(texts=tuple(zip(*rows, strict=True)), name=file.name)


def is_json(file: File) -> bool:
    """JSON that no reader of a format has recognised, perhaps below other lines."""
    unseen = not file.kind and file.matches(RECORD, MARKUP_SHARE)
    return unseen or file.kind in {"object", "array", "lines"}


def is_markup(file: File) -> bool:
    """Lines that are nothing but tags, or end with one; or nearly all begin with one."""
    return file.matches(TAG_ONLY, MARKUP_SHARE) or file.matches(TAGGED)


def sniff_text(file: File) -> bool:
    """Anything else, if it is text."""
    return True


def read_text(file: File) -> Material:
    """The lines of a text.

    Raises:
        InputError: Nothing in it, not UTF-8, damaged JSON, a table without a header, lines that end
            as no line does.
    """
    lines = file.lines
    if not lines:
        raise InputError(f"{file.name} is empty; one line a segment is expected.", field=file.name)
    if file.kind == "broken":
        loads(file.text, file.name)
    require_header(file)
    return Material(texts=(lines,), name=file.name)


def _cells(line: str) -> list[str]:
    """Cells between tabs, else between blanks, where R quotes the names of rows."""
    if "\t" in line:
        return line.split("\t")
    return [part.strip('"') for part in line.split()] or [""]


def _value(line: str, name: str, i: int) -> Value | None:
    """The number or numbers of a line; nothing where it says that there is none."""
    where = f"{name}, line {i}"
    if line.lstrip().startswith("["):
        values = [number(entry, where) for entry in entries_of(loads(line, name, i))]
    else:
        cells = _cells(line)
        alone = "\t" in line or all(numeric(cell) or blank(cell) for cell in cells)
        # a line that reads as one number with blanks inside stays whole
        values = [number(cell, where) for cell in (cells if alone else [line])]
    numbers = [value for value in values if value is not None]
    if len(numbers) < len(values):
        if numbers:
            raise InputError(f"{where}: some of its {len(values)} numbers are missing.")
        return None
    return numbers[0] if len(numbers) == 1 else tuple(numbers)


def _require_equal_tuples(values: Sequence[Value | None], name: str) -> None:
    sizes = [
        (i, len(value) if isinstance(value, tuple) else 1)
        for i, value in enumerate(values, 1)
        if value is not None
    ]
    if not sizes:
        raise InputError(f"{name} has no score at all: every line says that it is missing.")
    for i, size in sizes:
        if size != sizes[0][1]:
            raise at_line(
                name,
                i,
                f"{size} number{'' if size == 1 else 's'}, where the lines "
                f"above have {sizes[0][1]}.",
            )


def _require_unnumbered(values: Sequence[Value | None], name: str) -> None:
    """Check that tuples do not begin with the number of their line."""
    firsts = [value[0] for value in values if isinstance(value, tuple)]
    if len(firsts) >= TABULAR and firsts in (
        [*range(len(firsts))],
        [*range(1, len(firsts) + 1)],
    ):
        raise InputError(
            f"{name} is a table without a header: the first numbers of its lines count them. Name "
            "the columns in a first line, such as id, score, or leave these numbers out."
        )


def _summaries(values: Sequence[Value | None], name: str) -> Iterator[str]:
    """Whether the first or last number is the mean of the others, to the digits that it has."""
    known = [value for value in values if isinstance(value, float)]
    if len(known) < len(values):
        return
    for where, own, others in (("first", known[0], known[1:]), ("last", known[-1], known[:-1])):
        decimals = len(str(own).partition(".")[2])
        gap = abs(sum(others) / len(others) - own)
        rounded = gap < 0.51 * 10.0**-decimals + 1e-12 * abs(own)
        if decimals >= PRECISE and rounded and min(others) < max(others):
            yield (
                f"{name}: the {where} number is the mean of the others; if it is the score of the "
                "whole output, take it out."
            )


def _label(lines: Sequence[str]) -> str | None:
    """The name that the first line gives to the numbers below; nothing where it is a score."""
    if len(lines) < 2 or not all(numeric(line) or blank(line) for line in lines[1:]):
        return None
    name = lines[0].strip().strip('"')
    if numeric(name) or blank(name):
        return None
    if role_of(name) == "score":
        return LABEL
    return name if is_metric(name) else None


def _is_list(line: str) -> bool:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return False
    return isinstance(found, list) and bool(found) and all(map(numeric, found))


def _is_number_array(file: File) -> bool:
    """Whether all of the file is one JSON array of numbers."""
    text = file.head.strip()
    if not ARRAY.fullmatch(text):
        return False
    return sum(line.count("[") for line in file.first_lines) == 1
