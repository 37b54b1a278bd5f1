"""Human scores as mt-metrics-eval keeps them: `system<TAB>score`.

There is no segment number: the i-th line of a system is segment i.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from sigtest.errors import InputError
from sigtest.people.files.table import Table, filled, ragged

_SCORE = re.compile(r"None|[-+]?[0-9.]+(?:[eE][-+]?[0-9]+)?")


def reads(first: str) -> bool:
    """Whether a line is a system, a tab and a score or None."""
    fields = first.rstrip().split("\t")
    return len(fields) == 2 and _SCORE.fullmatch(fields[1].strip()) is not None


def reads_domains(first: str) -> bool:
    """Whether a line is a domain, a system and a score."""
    fields = first.rstrip().split("\t")
    return len(fields) == 3 and _SCORE.fullmatch(fields[2].strip()) is not None


def segments(lines: Sequence[str], name: str) -> Table:
    """Scores by segment; None is a segment that was not judged.

    Raises:
        InputError: A line of another form, systems with different numbers of lines, or one line a
            system: scores of whole systems.
    """
    kept, numbers = filled(lines)
    rows = [line.split("\t") for line in kept]
    for row, number in zip(rows, numbers, strict=True):
        if len(row) != 2:
            raise ragged(name, number, len(row), 2)
    sizes = Counter(row[0] for row in rows)
    _require_equal(sizes, name)
    places: Counter[str] = Counter()
    table = Table(name=name, input="mtme", rows=len(rows), line=[], system=[], segment=[], raw=[])
    judged = []
    for (system, score), number in zip(rows, numbers, strict=True):
        places[system] += 1
        if score.strip() != "None":
            judged.append((number, system, str(places[system]), score))
    table.dropped = {"not judged": len(rows) - len(judged)}
    if judged:
        table.line, table.system, table.segment, table.raw = map(list, zip(*judged, strict=True))
    return table


def _require_equal(sizes: Counter[str], name: str) -> None:
    (least, few), (most, many) = (
        pick(sizes.items(), key=lambda item: item[1]) for pick in (min, max)
    )
    if few != many:
        raise InputError(
            f"{name}: system {least!r} has {few} lines and system {most!r} {many}; every system "
            "needs one line a segment.",
            field=name,
            system=least,
        )
    if many == 1:
        raise InputError(
            f"{name} has one score a system; a human evaluation needs scores by segment "
            "(the file that ends in .seg.score).",
            field=name,
        )
