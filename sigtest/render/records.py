"""Records of a report for a spreadsheet: two numbers that belong together take two columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING

from sigtest.render.model import Sheet

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

# Fields that hold two numbers, or nothing, and what their columns are called.
TWO = {
    "ci": ("ci_low", "ci_high"),
    "p_interval": ("p_low", "p_high"),
    "detectable": ("detectable", "detectable_corrected"),
}


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


def _values(name: str, value: object) -> Iterator[object]:
    if name not in TWO:
        yield value
    elif isinstance(value, tuple):
        yield from value
    else:
        yield from (None, None)
