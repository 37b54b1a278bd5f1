"""Records with every number unrounded (RFC 4180).

Text that a spreadsheet would run as a formula, because it starts with = + - @, their full-width
forms, a tab or a carriage return, gets a leading apostrophe, which spreadsheets take for
"this is text". No system's name may contain an apostrophe, so it can always be taken off again.
"""

from __future__ import annotations

import csv
import io

from sigtest.render.model import Sheet

FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")


def render(sheet: Sheet) -> str:
    """The records in their order, below a line with the names of the columns."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\r\n")
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
