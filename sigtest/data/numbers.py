"""Files of numbers: one line a segment, with one number or a tuple of them."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import cast

from sigtest.errors import InputError

LABEL = "scores"  # of numbers that were given no other


def parse_numbers(lines: Sequence[str], name: str) -> list[list[float]]:
    """One number or several, equally many, for each line.

    Args:
        lines: Numbers between tabs or blanks, or a JSON list.
        name: What to call the file in messages.

    Raises:
        InputError: A line that is no finite number or list of them, or of another length.
    """
    rows: list[list[float]] = []
    for number, line in enumerate(lines, 1):
        where = f"{name}, line {number}"
        row = _numbers(line)
        if not row or not all(math.isfinite(value) for value in row):
            raise InputError(
                f"{where}: {line.strip()[:40]!r} is not a finite number or a list of them.",
                line=number,
            )
        if rows and len(row) != len(rows[0]):
            raise InputError(
                f"{where}: {len(row)} numbers, where the lines above have {len(rows[0])}.",
                line=number,
            )
        rows.append(row)
    return rows


def _numbers(line: str) -> list[float]:
    """Numbers of one line; nothing where it has something else."""
    try:
        if line.lstrip().startswith("["):
            values = cast("list[object]", json.loads(line))
            return [float(cast("float", value)) for value in values]
        return [float(part) for part in line.split()]
    except (TypeError, ValueError):
        return []
