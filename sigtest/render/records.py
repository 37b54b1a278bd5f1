"""Records of a report for a spreadsheet: two numbers that belong together take two columns.

Every number is unrounded.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from csv import writer as csv_writer
from dataclasses import fields
from typing import TYPE_CHECKING, Protocol

from sigtest.render.model import Sheet

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

# Fields that hold two numbers, or nothing, and what their columns are called.
TWO = {
    "ci": ("ci_low", "ci_high"),
    "p_interval": ("p_low", "p_high"),
    "detectable": ("detectable", "detectable_corrected"),
    "range": ("rank_low", "rank_high"),
}
PLACE = ("test", "cluster", "rank_low", "rank_high")


class PlacedRecord(Protocol):
    """What has a place in a ranking."""

    @property
    def cluster(self) -> int: ...

    @property
    def range(self) -> tuple[int, int]: ...


def fields_of(kind: type[DataclassInstance]) -> tuple[str, ...]:
    """Names of the fields of a row that is shown whole."""
    return tuple(field.name for field in fields(kind))


def sheet(names: Sequence[str], rows: Iterable[object]) -> Sheet:
    """Fields of some rows."""
    return Sheet(columns(names), (record(row, names) for row in rows))


def columns(names: Sequence[str]) -> tuple[str, ...]:
    """What the columns of some fields are called."""
    return tuple(column for name in names for column in TWO.get(name, (name,)))


def record(row: object, names: Sequence[str]) -> list[object]:
    """A value for each column."""
    return [value for name in names for value in _values(name, getattr(row, name))]


def places(ranks: Mapping[str, PlacedRecord]) -> list[tuple[object, ...]]:
    """PLACE by each test; one of nothing where there are no ranks."""
    return [(test, own.cluster, *own.range) for test, own in ranks.items()] or [
        (None,) * len(PLACE)
    ]


def _values(name: str, value: object) -> Iterator[object]:
    if name not in TWO:
        yield value
    elif isinstance(value, tuple):
        yield from value
    else:
        yield from (None, None)


FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")


def csv(sheet: Sheet) -> str:
    """The records in their order, below a line with the names of the columns (RFC 4180).

    Text that a spreadsheet would run as a formula, because it starts with = + - @, their full-width
    forms, a tab or a carriage return, gets a leading apostrophe, which spreadsheets take for
    "this is text". No system's name may contain an apostrophe, so it can always be taken off again.
    """
    text = io.StringIO()
    writer = csv_writer(text, lineterminator="\r\n")
    writer.writerow(sheet.columns)
    for row in sheet.rows:
        writer.writerow([_cell(value) for value in row])
    return text.getvalue()


def _cell(value: object) -> str:
    """Numbers as JSON has them, nothing for what is unknown, text made inert."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return f"'{value}" if value.startswith(FORMULA) else value
    return repr(value)
