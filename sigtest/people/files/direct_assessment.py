"""Direct assessment as the WMT organisers publish it: judgements, and means by segment.

Fields lie between blanks and tabs, both in one line; text may stand in quotes; NA is unknown.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from sigtest.errors import InputError
from sigtest.people.files.table import Table, filled, optional, ragged, without
from sigtest.people.judgements import Names, groups

CRITERIA = {"ad": "adequacy", "fl": "fluency"}
SCALE = (0.0, 100.0)
STANDARDISED = 20.0  # no z-score is further from 0, and raw scores are not negative

_FIELD = re.compile(r'"[^"]*"|\S+')


def reads_judgements(first: str) -> bool:
    """Whether a header is that of `ad-good-raw` or `ad-...-stnd`."""
    return {"workerid", "sys_id", "sid", "score"} <= _header(first)


def reads_segments(first: str) -> bool:
    """Whether a header is that of means by segment: `SYS SID RAW.SCR Z.SCR N`, `... SID HUMAN`."""
    names = _header(first)
    return "sid" in names and bool({"raw.scr", "z.scr", "human"} & names) and "," not in first


def judgements(lines: Sequence[str], name: str) -> Table:
    """One row a judgement: HITId WorkerId Input.src ... type sid score time.

    Scores of a standardised file (some negative, none beyond 20) are z already.

    Raises:
        InputError: A row with more or fewer fields than the header, or a column missing.
    """
    columns, numbers = _columns(lines, name, ("workerid", "sys_id", "type", "sid", "score"))
    scores = columns["score"]
    standard = _standardised(scores)
    criterion = columns.get("input.item")
    return Table(
        name=name,
        input="wmt_da",
        named="adequacy",
        rows=len(numbers),
        line=numbers,
        system=columns["sys_id"],
        segment=columns["sid"],
        raw=None if standard else scores,
        z=scores if standard else None,
        annotator=columns["workerid"],
        kind=columns["type"],
        criterion=criterion and [CRITERIA.get(item.lower(), item) for item in criterion],
        hit=optional(columns["hitid"]) if "hitid" in columns else None,
        languages=_languages(columns),
        seconds=_seconds(columns),
        scale=None if standard else SCALE,
    )


def segments(lines: Sequence[str], name: str) -> Table:
    """One row a segment of a system: mean scores and how many judgements are in them.

    Raises:
        InputError: A row with more or fewer fields than the header, or a column missing.
    """
    columns, numbers = _columns(lines, name, ("sid",))
    system = columns.get("sys", columns.get("system"))
    if system is None:
        raise InputError(f"{name}, line 1: the header has neither SYS nor SYSTEM.", field=name)
    raw, z = columns.get("raw.scr"), columns.get("z.scr")
    if "human" in columns:
        standard = _standardised(columns["human"])
        raw, z = (None, columns["human"]) if standard else (columns["human"], None)
    return Table(
        name=name,
        input="wmt_da_segments",
        named="adequacy",
        rows=len(numbers),
        line=numbers,
        system=system,
        segment=columns["sid"],
        raw=raw,
        z=z,
        languages=columns.get("lp"),
        judged=columns.get("n"),
        scale=SCALE if raw is not None else None,
    )


def _header(first: str) -> set[str]:
    return {field.strip('"').lower() for field in first.split()}


def _columns(
    lines: Sequence[str], name: str, needed: Sequence[str]
) -> tuple[dict[str, list[str]], list[int]]:
    """Columns by lower-case name, and the line of each row."""
    header = [field.strip('"').lower() for field in lines[0].split()]
    for column in needed:
        if column not in header:
            raise without(name, column)
    kept, numbers = filled(lines, 1)
    rows = [line.split() for line in kept]
    for place, row in enumerate(rows):
        if len(row) != len(header):  # blanks inside quotes
            rows[place] = row = _FIELD.findall(kept[place])
        if len(row) != len(header):
            raise ragged(name, numbers[place], len(row), len(header))
    columns = zip(*rows, strict=True) if rows else ([] for _ in header)
    quoted = any('"' in line for line in lines)
    return {
        column: [value.strip('"') for value in values] if quoted else list(values)
        for column, values in zip(header, columns, strict=True)
    }, numbers


def _standardised(scores: Sequence[str]) -> bool:
    """Whether these are z-scores; what is no number is left for the check of scores."""
    try:
        values = [float(score) for score in scores]
    except ValueError:
        return False
    return bool(values) and min(values) < 0 and max(map(abs, values)) <= STANDARDISED


def _languages(columns: dict[str, list[str]]) -> list[str] | None:
    source, target = columns.get("input.src"), columns.get("input.trg")
    if source is None or target is None:
        return None
    return [f"{s}-{t}" for s, t in zip(source, target, strict=True)]


def _seconds(columns: dict[str, list[str]]) -> list[float | None] | None:
    """Seconds a judgement; the published files repeat the time of the whole batch in its rows."""
    if "time" not in columns or "hitid" not in columns:
        return None
    try:
        times = np.array(["0" if t == "NA" else t for t in columns["time"]], dtype=np.float64)
    except ValueError:
        return None
    batch, first = groups(*(Names.of(columns[c]).codes for c in ("workerid", "hitid")))
    sizes = np.bincount(batch)
    if bool((sizes > 1).any()) and np.array_equal(times, times[first][batch]):
        times = times / sizes[batch]
    return [time if time > 0 else None for time in times.tolist()]
