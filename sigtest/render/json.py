"""The report as canonical JSON: the bytes that the service stores and the command line prints."""

from __future__ import annotations

import json
from typing import Any, Protocol

ENCODE = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode


class Finished(Protocol):
    """A report of any kind."""

    def as_json(self) -> dict[str, Any]:
        """All of it."""


def render(report: Finished) -> str:
    """Every number unrounded; a line for each system and pair, and for each field of the report.

    The text is a function of the report alone.

    Raises:
        ValueError: A number is not finite, which JSON cannot say.
    """
    return _laid_out(report.as_json(), 1) + "\n"


def of_metric(report: bytes, metric: str) -> bytes:
    """The JSON of a comparison on one test set without the pairs of other metrics.

    Most of a large report is pairs, and those of no interest need not be parsed: each stands on a
    line of its own, as `render` wrote it, and no text in it has an end of line or a bare quote.

    Args:
        report: As it is stored.
        metric: Label of the one whose pairs stay.
    """
    start, opening, rest = report.partition(b'\n "pairs": [\n')
    rows, closing, end = rest.partition(b"\n ]")
    wanted = f'"metric": {ENCODE(metric)}, "test": '.encode()
    kept = b",\n".join([row for row in rows.split(b",\n") if wanted in row])
    return b"".join([start, opening, kept, closing, end])


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
