"""A table with a row for each data set and a column for each system, such as papers print."""

from __future__ import annotations

import csv
from typing import Any

from sigtest.cli.files import read_bytes, shown
from sigtest.data.names import check_name
from sigtest.data.text import parse_lines
from sigtest.errors import InputError, at_line


def read_wide(path: str) -> list[dict[str, Any]]:
    """The systems of a table, each with one score for every data set.

    The columns before the first that has a number in the first row say which data set it is.

    Raises:
        InputError: No header, fewer than two columns of numbers, a cell that is no number.
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
    first = next((i for i, cell in enumerate(rows[0]) if _number(cell) is not None), len(header))
    if first == 0 or len(header) - first < 2:
        raise InputError(
            f"{name} needs a header, a first column that names data sets, and a column of numbers "
            f"for each of two systems or more; its columns are {', '.join(header)[:120]}."
        )
    columns: list[list[float]] = [[] for _ in header[first:]]
    for line, row in enumerate(rows, 2):
        for column, cell, system in zip(columns, row[first:], header[first:], strict=True):
            value = _number(cell)
            if value is None:
                raise InputError(
                    f"{name}, line {line}: {system} has {cell[:40]!r}, which is no number.",
                    line=line,
                    system=system,
                )
            column.append(value)
    return [
        {"name": check_name(system.strip()), "scores": {"scores": column}}
        for system, column in zip(header[first:], columns, strict=True)
    ]


def _number(cell: str) -> float | None:
    try:
        return float(cell)
    except ValueError:
        return None
