"""A table with a row for each data set and a column for each system, such as papers print."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

from sigtest.cli.files import read_bytes, shown
from sigtest.data.names import check_name
from sigtest.data.text import parse_lines
from sigtest.errors import InputError, at_line
from sigtest.files.assembly import SUMMARIES
from sigtest.files.cells import advice
from sigtest.files.tables import Row, parsed


def read_wide(path: str) -> list[dict[str, Any]]:
    """The systems of a table, each with one score for every data set.

    The columns before the first that is mostly numbers say which data set it is.

    Raises:
        InputError: No header, fewer than two columns of numbers, a cell that is no number, a system
            or data set that stands there twice, a mean of data sets among them.
        OSError: The file cannot be read.
    """
    name = shown(path)
    text = "\n".join(parse_lines(read_bytes(path), name))
    found = [*parsed(text, _separator(text.partition("\n")[0]), name)]
    if len(found) < 2:
        raise InputError(f"{name} needs a header and a line for each data set.")
    (_, header), *placed = found
    for line, row in placed:
        if len(row) != len(header):
            raise at_line(name, line, f"{len(row)} columns, but the header has {len(header)}.")
    places, rows = zip(*placed, strict=True)
    cells = [*zip(*rows, strict=True)]
    first = next((i for i, column in enumerate(cells) if _mostly_numbers(column)), len(header))
    if first == 0 or len(header) - first < 2:
        raise InputError(
            f"{name} needs a header, a first column that names data sets, and a column of numbers "
            f"for each of two systems or more; its columns are {', '.join(header)[:120]}."
        )
    systems = [check_name(system.strip()) for system in header[first:]]
    for system, count in Counter(systems).items():
        if count > 1:
            raise at_line(name, 1, f"{count} columns are called {system!r}.")
    _check_data_sets([(line, row[:first]) for line, row in placed], name)
    columns = [_numbers(own, places, name, systems[i]) for i, own in enumerate(cells[first:])]
    return [
        {"name": system, "scores": {"scores": column}}
        for system, column in zip(systems, columns, strict=True)
    ]


def _separator(header: str) -> str:
    """What stands between the names of columns."""
    return "\t" if "\t" in header else max(",;", key=header.count)


def _check_data_sets(names: Sequence[Row], file: str) -> None:
    """Check that no data set stands there twice, and no mean of them as one.

    Raises:
        InputError: One does.
    """
    seen: dict[tuple[str, ...], int] = {}
    for line, cells in names:
        told = ", ".join(cells)[:60]
        if (earlier := seen.setdefault(tuple(cells), line)) != line:
            raise at_line(file, line, f"data set {told!r} stands in line {earlier} already.")
        words = set(re.findall(r"\w+", cells[0].lower()))
        if words and words <= SUMMARIES:
            raise at_line(
                file,
                line,
                f"{told!r} sums others up by its name; take it out of the data sets.",
            )


def _mostly_numbers(column: Sequence[str]) -> bool:
    """Whether most cells are numbers, or would be with a point for a comma."""
    meant = (cell.replace(",", ".") for cell in column)
    return 2 * sum(_number(cell) is not None for cell in meant) > len(column)


def _numbers(column: Sequence[str], places: Sequence[int], name: str, system: str) -> list[float]:
    """The scores of one system.

    Raises:
        InputError: A cell that is no finite number.
    """
    numbers = []
    for line, cell in zip(places, column, strict=True):
        value = _number(cell)
        if value is None or not math.isfinite(value):
            fix = advice(cell.strip())
            raise InputError(
                f"{name}, line {line}: {system} has {cell[:40]!r}, which is no "
                f"{'' if value is None else 'finite '}number{f'; {fix}' if fix else ''}.",
                line=line,
                system=system,
            )
        numbers.append(value)
    return numbers


def _number(cell: str) -> float | None:
    try:
        return None if "_" in cell else float(cell)
    except ValueError:
        return None
