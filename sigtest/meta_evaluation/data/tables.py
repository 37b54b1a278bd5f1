"""Files of scores that people bring: two columns, a table with a header, or JSON."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from sigtest.data.text import decode, lines_of
from sigtest.errors import InputError, at_line
from sigtest.files.assembly import SUMMARIES
from sigtest.files.cells import advice, blank, truth
from sigtest.files.file import loads
from sigtest.files.tables import Role, role_of

COLUMNS = {
    "metric": "metric", "lp": "lp", "testset": "testset", "system": "system", "sys": "system",
    "segment": "segment", "sid": "segment", "segid": "segment", "score": "score",
    "higher_is_better": "higher",
}  # fmt: skip
ONE_OF = (("lp", "pair of languages"), ("testset", "test set"), ("metric", "metric"))
NUMBER = re.compile(r"none|na|[-+]?[0-9.]+(?:e[-+]?[0-9]+)?")  # in lower case
NO_SCORE = "write None for no score"
QUOTED = re.compile(r'^"([^"]*)"$')  # as R and others write names


def reads_scores(data: bytes, name: str) -> bool:
    """Whether a file has scores of systems or segments, rather than judgements."""
    text = decode(data, name)
    first = next((line for line in lines_of(text, name) if line.strip()), "")
    parts = [part.strip().lower() for part in _fields(first)]
    if {"score"} < set(parts):
        return set(parts) <= set(COLUMNS)
    return len(parts) == 2 and NUMBER.fullmatch(parts[1]) is not None


def read_scores(data: bytes, name: str) -> dict[str, Any]:
    """Scores of one metric or of people, by level and system, as a request has them.

    Args:
        data: Lines of system and score, a system once or once for each segment; or a table with a
            header of METRIC, LP, SYSTEM, SEGMENT, SCORE and HIGHER_IS_BETTER, as far as it has
            them; or JSON, in which numbers without a level are of systems.
        name: What to call the file in messages.

    Raises:
        InputError: A line that is malformed, or several metrics, test sets or pairs of languages.
    """
    text = decode(data, name)
    if text.lstrip().startswith("{"):
        return _of_json(loads(text, name))
    rows = _rows(text, name)
    for column, what in ONE_OF:
        known = sorted({row[column] for row in rows if column in row})
        if len(known) > 1:
            raise InputError(f"{name} has more than one {what}, {', '.join(known)}; leave one.")
    lower = _lower(rows, name)
    return _by_level(rows, name) | ({"higher": False} if lower else {})


def _of_json(body: object) -> dict[str, Any]:
    """Scores as a request has them; what names no level is of systems."""
    named = dict(body) if isinstance(body, dict) else {}
    return named if {"system", "segment"} & set(named) else {"system": named}


def _lower(rows: Sequence[Mapping[str, Any]], name: str) -> bool:
    """Whether the rows say that less is better."""
    ways: dict[bool, int] = {}
    for row in rows:
        way = truth(row.get("higher"), f"{name}, line {row['line']}")
        if way is not None:
            ways.setdefault(way, row["line"])
    if len(ways) > 1:
        line = max(ways.values())
        raise at_line(name, line, "another direction (higher_is_better) than above; leave one.")
    return False in ways


def _rows(text: str, name: str) -> list[dict[str, Any]]:
    lines = [(number, line) for number, line in enumerate(lines_of(text, name), 1) if line.strip()]
    header = _columns(_fields(lines[0][1])) if lines else []
    titled = "system" in header and "score" in header
    twice = [c for c in dict.fromkeys(header) if c and header.count(c) > 1]
    if titled and twice:
        raise at_line(name, lines[0][0], f"more than one column for the {twice[0]}; leave one.")
    columns = header if titled else ["system", "score"]
    rows = []
    for number, line in lines[1:] if titled else lines:
        parts = _fields(line)
        row: dict[str, Any] = {c: p.strip() for c, p in zip(columns, parts, strict=False) if c}
        try:
            if len(parts) != len(columns) or "_" in row["score"]:  # 1_000 is a number in Python
                raise ValueError
            row["score"] = None if row["score"] in {"None", "NA"} else float(row["score"])
        except ValueError:
            what = ", ".join(column or "?" for column in columns)
            score = str(row.get("score", ""))
            fix = NO_SCORE if blank(score) and "score" in row else advice(score)
            raise at_line(
                name,
                number,
                f"{line.strip()[:60]!r} is not {what}, with tabs, commas or blanks between them"
                f"{f'; {fix}' if fix else ''}.",
            ) from None
        if row["score"] is not None and not math.isfinite(row["score"]):
            raise at_line(
                name,
                number,
                f"the score of system {row['system']!r} is not finite; {NO_SCORE}.",
            )
        rows.append({**row, "line": number})
    if not rows:
        raise InputError(f"{name} has no scores.")
    return rows


def _columns(cells: Sequence[str]) -> list[str | None]:
    """What the columns of a header are; ids of another name than segment count if none has it."""
    header = [COLUMNS.get(cell.strip().lower()) for cell in cells]
    roles = [role_of(cell) if header[i] is None else None for i, cell in enumerate(cells)]
    wanted: tuple[Role, ...] = ("id", "run", "domain", "testset")
    for role in wanted[int("segment" in header) :]:
        if role in roles and role not in header:
            header[roles.index(role)] = role
    return header


def _fields(line: str) -> list[str]:
    """What tabs part; or commas, where blanks only follow those; or blanks: without its quotes."""
    listed = re.split(r",\s*", line.strip())
    plain = len(listed) > 1 and not re.search(r"[\s;]", "".join(listed))
    parts = line.split("\t") if "\t" in line else listed if plain else line.split()
    return [QUOTED.sub(r"\1", part.strip()) for part in parts]


def _by_level(rows: list[dict[str, Any]], name: str) -> dict[str, Any]:
    """Scores of systems, or of segments where a system has several or segments are named."""
    found: dict[str, Any] = {}
    known = "segment" if "segment" in rows[0] else "id"
    # an id that no two lines share counts lines
    if known in rows[0] and (known == "segment" or len({row["id"] for row in rows}) < len(rows)):
        for row in rows:
            own = found.setdefault(row["system"], {})
            if row[known] in own:
                raise at_line(
                    name,
                    row["line"],
                    f"system {row['system']!r} has segment {row[known]!r} twice.",
                )
            if row[known].lower() in SUMMARIES:
                raise at_line(
                    name,
                    row["line"],
                    f"segment {row[known]!r} sums others up by its name; take such rows out.",
                )
            own[row[known]] = row["score"]
        return {"segment": found}
    for row in rows:
        found.setdefault(row["system"], []).append(row["score"])
    if all(len(scores) == 1 for scores in found.values()):
        return {"system": {system: scores[0] for system, scores in found.items()}}
    for role in ("run", "domain"):
        if role in rows[0]:
            raise InputError(
                f"{name} has several scores of a system, each of a {role} and none of a segment; "
                "give their mean, one score a system, or name segments in a column segment."
            )
    return {"segment": found}
