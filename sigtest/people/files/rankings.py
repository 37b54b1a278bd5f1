"""Rankings as WMT published them until 2016: some outputs of one segment, rank 1 best.

Ties are allowed; a rank of -1 says that the output was not ranked. Systems with one output share a
place, `A+B`, and places without an output are called PLACEHOLDER.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from sigtest.data.names import check_name, without_slash
from sigtest.errors import InputError
from sigtest.people.files.table import at_line, records, without
from sigtest.people.judgements import Names, Rankings

WIDEST = 25  # outputs of one ranking
_RANK = re.compile(r"-1|[1-9][0-9]{0,3}")
SEGMENT = ("srcIndex", "segmentId")
FILLER = "PLACEHOLDER"
FIVE = 5  # outputs of a ranking of WMT, whose pairs keep their ranks
JUDGE = ("judgeId", "judgeID")  # as Appraise and as WMT16 write it


def reads(first: str) -> bool:
    """Whether a header is that of a file of rankings."""
    names = set(first.split(","))
    return {"system1Id", "system1rank"} <= names and not names.isdisjoint(JUDGE)


def rankings(lines: Sequence[str], name: str) -> Rankings:
    """Every row is one ranking.

    Raises:
        InputError: A row with more or fewer fields than the header, a column missing, a rank that
            is no whole number.
    """
    rows, numbers = map(list, zip(*records(lines, name), strict=True))
    header = rows[0]
    place = {column: i for i, column in enumerate(header)}
    segment, judge = (_first(place, columns, name) for columns in (SEGMENT, JUDGE))
    for column in ("system2Id", "system2rank"):
        _first(place, (column,), name)
    width = 0
    while f"system{width + 1}Id" in place and f"system{width + 1}rank" in place:
        width += 1
    if width > WIDEST:
        raise InputError(
            f"{name}, line 1: rankings of {width} outputs; at most {WIDEST} are accepted.",
            field=name,
        )
    body = rows[1:]
    languages = None
    if {"srclang", "trglang"} <= set(place):
        languages = [f"{row[place['srclang']]}-{row[place['trglang']]}" for row in body]
    places = [(place[f"system{i + 1}Id"], place[f"system{i + 1}rank"]) for i in range(width)]
    ranks = [_ranks([row[rank] for _, rank in places], number, name)
             for row, number in zip(body, numbers[1:], strict=True)]  # fmt: skip
    sharing = _sharing({row[id_] for row in body for id_, _ in places})
    expanded = [
        [
            (system, rank)
            for (id_, _), rank in zip(places, own, strict=True)
            if (row[id_].upper(), rank) != (FILLER, -1)
            for system in sharing.get(row[id_], [row[id_]])
        ]
        for row, own in zip(body, ranks, strict=True)
    ]
    for own, number in zip(expanded, numbers[1:], strict=True):
        _require_once([system for system, rank in own if rank > 0], number, name)
    width = max(map(len, expanded), default=0)
    padded = [[*own, *[(None, -1)] * (width - len(own))] for own in expanded]
    systems = Names.of([system and without_slash(system) for own in padded for system, _ in own])
    for system in systems.names:
        check_name(system)
    return Rankings(
        annotator=Names.of([row[judge] for row in body]),
        segment=Names.of([row[segment] for row in body]),
        languages=Names.of(languages) if languages else Names.unknown(len(body)),
        names=systems.names,
        system=systems.codes.reshape(len(body), width),
        rank=np.array([rank for own in padded for _, rank in own], dtype=np.int64).reshape(
            len(body), width
        ),
        source=np.zeros(len(body), dtype=np.int64),
    )


def _first(place: Mapping[str, int], columns: Sequence[str], name: str) -> int:
    """Where the first of these columns stands that the header has."""
    found = next((place[column] for column in columns if column in place), None)
    if found is None:
        raise without(name, columns[0])
    return found


def _sharing(names: set[str]) -> dict[str, list[str]]:
    """The systems behind each joint name, all of which stand elsewhere, too."""
    parts = {name: name.split("+") for name in names}
    often = Counter(part for own in parts.values() for part in own)
    return {name: own for name, own in parts.items() if all(often[part] > 1 for part in own)}


def _require_once(systems: Sequence[str], number: int, name: str) -> None:
    twice = next((system for system in systems if systems.count(system) > 1), None)
    if twice is not None:
        raise at_line(name, number, f"system {twice!r} is ranked twice; leave one of its ranks.")


def _ranks(values: Sequence[str], number: int, name: str) -> list[int]:
    found = []
    for value in values:
        if not _RANK.fullmatch(value.strip()) or int(value) > max(FIVE, len(values)):
            raise at_line(
                name,
                number,
                f"{value[:20]!r} is no rank; ranks are whole numbers from "
                f"1 to {max(FIVE, len(values))}, or -1 for an output that was not ranked.",
            )
        found.append(int(value))
    return found
