"""A table with a row for each data set and a column for each system, such as papers print."""

from __future__ import annotations

import csv
import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

from sigtest.cli.files import read_bytes, shown
from sigtest.data.names import check_name
from sigtest.data.text import parse_lines
from sigtest.errors import InputError, at_line


def read_wide(path: str) -> list[dict[str, Any]]:
    """The systems of a table, each with one score for every data set.

    The columns before the first that is mostly numbers say which data set it is.

    Raises:
        InputError: No header, fewer than two columns of numbers, a cell that is no number, a system
            or data set that stands there twice.
        OSError: The file cannot be read.
    """
    name = shown(path)
    lines = parse_lines(read_bytes(path), name)
    tab = "\t" in lines[0]
    header, *rows = csv.reader(lines, delimiter="\t" if tab else ",")
    if not rows:
        raise InputError(f"{name} has a header and no data sets.")
    for line, row in enumerate(rows, 2):
        if len(row) != len(header):
            raise at_line(name, line, f"{len(row)} columns, but the header has {len(header)}.")
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
    seen: dict[tuple[str, ...], int] = {}
    for line, row in enumerate(rows, 2):
        if (earlier := seen.setdefault(tuple(row[:first]), line)) != line:
            told = ", ".join(row[:first])
            raise at_line(name, line, f"data set {told[:60]!r} stands in line {earlier} already.")
    columns = [_numbers(own, name, systems[i]) for i, own in enumerate(cells[first:])]
    return [
        {"name": system, "scores": {"scores": column}}
        for system, column in zip(systems, columns, strict=True)
    ]


def _mostly_numbers(column: Sequence[str]) -> bool:
    return 2 * sum(_number(cell) is not None for cell in column) > len(column)


def _numbers(column: Sequence[str], name: str, system: str) -> list[float]:
    """The scores of one system.

    Raises:
        InputError: A cell that is no finite number.
    """
    numbers = []
    for line, cell in enumerate(column, 2):
        value = _number(cell)
        if value is None or not math.isfinite(value):
            raise InputError(
                f"{name}, line {line}: {system} has {cell[:40]!r}, which is no "
                f"{'' if value is None else 'finite '}number.",
                line=line,
                system=system,
            )
        numbers.append(value)
    return numbers


def _number(cell: str) -> float | None:
    try:
        return float(cell)
    except ValueError:
        return None
