"""One row a pair, metric and test, every number unrounded (RFC 4180).

Text that a spreadsheet would run as a formula, because it starts with = + - @, their full-width
forms, a tab or a carriage return, gets a leading apostrophe, which spreadsheets take for
"this is text". No system's name may contain an apostrophe, so it can always be taken off again.
"""

from __future__ import annotations

import csv
import io

from sigtest.report import PairReport, Report

FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")
ENDS = {
    "ci": ("ci_low", "ci_high"),
    "p_interval": ("p_low", "p_high"),
    "detectable": ("detectable", "detectable_corrected"),
}
COLUMNS = tuple(column for field in PairReport._fields for column in ENDS.get(field, (field,)))


def render(report: Report) -> str:
    """The pairs of the report, in its order, below a line with the names of the columns."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerow(COLUMNS)
    for pair in report.pairs:
        writer.writerow([_cell(value) for value in _values(pair)])
    return text.getvalue()


def _values(pair: PairReport) -> list[object]:
    values: list[object] = []
    for name, value in pair._asdict().items():
        values += (value or (None, None)) if name in ENDS else [value]
    return values


def _cell(value: object) -> str:
    """Numbers as JSON has them, nothing for what is unknown, text made inert."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return f"'{value}" if value.startswith(FORMULA) else value
    return repr(value)
