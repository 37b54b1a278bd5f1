"""A report for programs: canonical JSON, and records for a spreadsheet or a data frame.

Every number is unrounded. JSON is the bytes that the service stores and the command line prints.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Mapping, Sequence
from csv import writer as csv_writer
from dataclasses import fields
from typing import TYPE_CHECKING, Any, Protocol

from sigtest.render.model import Sheet

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

# JSON ------------------------

ENCODE = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode
_PAIRS, _END, _NONE = b'\n "pairs": [\n', b"\n ]", b'\n "pairs": []'  # of a comparison's report


class FinishedReport(Protocol):
    """A report of any kind."""

    def as_json(self) -> dict[str, Any]:
        """All of it."""


def render_json(report: FinishedReport) -> str:
    """Every number unrounded; a line for each system and pair, and for each field of the report.

    The text is a function of the report alone.

    Raises:
        ValueError: A number is not finite, which JSON cannot say.
    """
    return _laid_out(report.as_json(), 1) + "\n"


def excerpt(report: bytes, metric: str, test: str) -> tuple[bytes, bytes]:
    """A comparison on one test set without its pairs, and the lines of those of a metric and test.

    Most of a large report is pairs, and those of no interest need not be parsed: each stands on a
    line of its own, as `render_json` wrote it, no text in it has an end of line or a bare quote,
    and those of a metric follow each other.

    Args:
        report: As it is stored.
        metric: Label of the metric.
        test: Name of the significance test.
    """
    start = report.find(_PAIRS)
    if start < 0:
        return report, b""
    end = report.find(_END, start)
    bare = report[:start] + _NONE + report[end + len(_END) :]
    of_metric = f'"metric": {ENCODE(metric)}, "test": '.encode()
    first, last = report.find(of_metric, start, end), report.rfind(of_metric, start, end)
    if first < 0:
        return bare, b""
    rows = report[report.rfind(b"\n", 0, first) + 1 : report.find(b"\n", last)].split(b",\n")
    wanted = of_metric + ENCODE(test).encode()
    return bare, b",\n".join([row.removesuffix(b",") for row in rows if wanted in row])


def with_pairs(report: bytes, pairs: bytes) -> bytes:
    """A comparison without its pairs with these lines as its pairs; see `excerpt`."""
    return report.replace(_NONE, _PAIRS + pairs + _END, 1) if pairs else report


def _laid_out(value: Any, level: int) -> str:
    """What holds rows, and the whole, takes a line for each entry; a row, and all else, one line.

    Whole rows go to the encoder, which is written in C as long as it is not asked to indent.
    """
    if level > 1 and not _holds_rows(value):
        return ENCODE(value)
    if isinstance(value, dict):
        opening, closing = "{}"
        parts = [f"{ENCODE(key)}: {_laid_out(entry, level + 1)}" for key, entry in value.items()]
    else:
        opening, closing = "[]"
        encode = ENCODE if not _holds_rows(value[0]) else lambda row: _laid_out(row, level + 1)
        parts = [encode(row) for row in value]
    line = "\n" + " " * level
    return f"{opening}{line}{f',{line}'.join(parts)}\n{' ' * (level - 1)}{closing}"


def _holds_rows(value: Any) -> bool:
    """Whether a value is, or has in it, a list of objects; all objects of a list are alike."""
    if isinstance(value, dict):
        return any(map(_holds_rows, value.values()))
    return isinstance(value, list) and bool(value) and isinstance(value[0], dict)


# Records: two numbers that belong together take two columns ------------------------

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
    values: list[object] = []
    for name in names:
        value = getattr(row, name)
        values += [value] if name not in TWO else value or (None, None)
    return values


def places(ranks: Mapping[str, PlacedRecord]) -> list[tuple[object, ...]]:
    """PLACE by each test; one of nothing where there are no ranks."""
    return [(test, own.cluster, *own.range) for test, own in ranks.items()] or [
        (None,) * len(PLACE)
    ]


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
