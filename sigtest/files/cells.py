"""What a cell of a score file says: a number, that there is none, or something to be corrected."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from functools import cache

from sigtest.errors import InputError, quoted

MISSING = {
    "", "none", "nan", "-nan", "na", "n/a", "n.a.", "#n/a", "null", "nil", "<na>", "-", "--", "?",
}  # fmt: skip
TRUTH = {"true": 1.0, "false": 0.0}
TRUTHS = TRUTH | {"1": 1.0, "0": 0.0, "1.0": 1.0, "0.0": 0.0}
INFINITE = {"inf", "+inf", "-inf", "infinity", "+infinity", "-infinity"}
NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?")
FIXES = (
    (
        r"[+-]?[1-9]\d{0,2},\d{3}",
        "write the decimal mark as a point, and thousands without a comma",
    ),
    (r"[+-]?[1-9]\d{0,2}(,\d{3})+(\.\d+)?", "write it without commas"),
    (r"[+-]?\d*,\d+", "write the decimal mark as a point, 0.5 and not 0,5"),
    (
        r"[+-]?[1-9]\d{0,2}(\.\d{3})+,\d+",
        "write the decimal mark as a point, and thousands without one",
    ),
    (r"[+-]?\d[\d.,]*\s*%", "write it without the percent sign"),
    (r"[+-]?[\d.]+\s*(±|\+/-|\+-).*", "leave the interval out"),
    (r"\d+\s*/\s*\d+", "write a fraction as a decimal number"),
    (r"\d{1,4}[-./]\d{1,2}[-./]\d{1,4}", "a spreadsheet has made it a date"),
    (r"[+-]?\d+([_' \u00a0\u202f]\d{3})+", "write it without separators"),
    (r"[\u2212\u2013]\s*\d[\d.]*", "write the minus sign as -"),
    (r"#(REF|DIV/0|VALUE|NAME|NUM)[!?]", "a spreadsheet could not compute it"),
    (
        r"[A-Za-z_][\w.]*\([+-]?[\d.]+([eE][+-]?\d+)?(,[^()]*)?\)",
        "a program printed what it calls the number; write the number alone (float(score))",
    ),
    (r"\[[+-]?[\d.]+([eE][+-]?\d+)?\]", "write it without brackets"),
)
VERDICTS = (
    (
        r"(?i:yes|no|pass(ed)?|fail(ed)?|(in)?correct|right|wrong|[CI✓✗✔✘])",
        "write 1 for right and 0 for wrong",
    ),
    (
        r"(?i:missing|error|unknown|undefined|skipped|not available|timeout)",
        "leave the cell empty if there is no score",
    ),
)  # words, which are no numbers anywhere
OTHER = "a score is one number"


def number(cell: object, where: str, line: int | None = None) -> float | None:
    """The number in a cell; nothing where it says that there is none.

    Args:
        cell: What stands there: text, or what JSON says.
        where: File and place, for messages.
        line: The line of the file, where it has lines.

    Raises:
        InputError: Something else; the message says how to write it.
    """
    if cell is None:
        return None
    text = cell.strip() if isinstance(cell, str) else ""
    word = text.lower()
    if isinstance(cell, bool | int | float):
        value = float_of(cell)
    elif NUMBER.fullmatch(text):
        value = float(text)
    elif not isinstance(cell, str):
        kind = "a list" if isinstance(cell, list) else "an object"
        raise InputError(f"{where}: a score is one number, not {kind} ({quoted(cell, 40)}).")
    elif word in MISSING or word in TRUTH:
        return TRUTH.get(word)
    elif word in INFINITE:
        value = math.inf
    else:
        why = f"{text[:40]!a} is not a number; {advice(text) or OTHER}."
        raise InputError(f"{where}: {why}", line=line)
    if math.isinf(value):
        why = f"{str(cell).strip()[:40]!a} is not finite, so no mean exists"
        raise InputError(f"{where}: {why}; leave the cell empty if there is no score.", line=line)
    return None if math.isnan(value) else value


def advice(text: str) -> str | None:
    """How to write what is no number, where what was meant is known."""
    found = (fix for pattern, fix in _patterns(FIXES + VERDICTS) if pattern.fullmatch(text))
    return next(found, None)


def numbers(
    cells: Sequence[str], where: Callable[[int], tuple[str, int | None]]
) -> list[float | None]:
    """The numbers in many cells; `where` says what to call one of them, and its line.

    Raises:
        InputError: As `number`.
    """
    try:
        plain = [None if cell == "None" else float(cell) for cell in cells]
        known = sum(value for value in plain if value is not None)
        if math.isfinite(known) and not any("_" in cell for cell in cells):
            return plain
    except ValueError:
        pass
    found = []
    for i, cell in enumerate(cells):
        try:
            found.append(number(cell, ""))
        except InputError:  # only now is it looked up where the cell stands
            found.append(number(cell, *where(i)))
    return found


def numeric(cell: object) -> bool:
    """Whether a cell holds a number, or what was meant to be one."""
    if isinstance(cell, bool | int | float):
        return True
    if not isinstance(cell, str):
        return False
    text = cell.strip()
    known = NUMBER.fullmatch(text) or text.lower() in TRUTH or text.lower() in INFINITE
    return bool(known) or any(pattern.fullmatch(text) for pattern, _ in _patterns(FIXES))


@cache
def _patterns(fixes: tuple[tuple[str, str], ...]) -> list[tuple[re.Pattern[str], str]]:
    """Compiled when the first cell asks: most runs read no scores."""
    return [(re.compile(pattern), fix) for pattern, fix in fixes]


def truth(cell: object, where: str) -> bool | None:
    """Whether a cell says yes; nothing where it says nothing.

    Args:
        cell: What stands there.
        where: File and place, for messages.

    Raises:
        InputError: Something else than true, false, 1 or 0.
    """
    if blank(cell):
        return None
    word = str(cell).strip().lower()
    if word not in TRUTHS:
        raise InputError(f"{where}: {quoted(cell, 40)} is neither true nor false.")
    return bool(TRUTHS[word])


def float_of(cell: float) -> float:
    """A number of JSON, whose integers may be larger than any float; infinite where it is."""
    try:
        return float(cell)
    except OverflowError:
        return math.inf if cell > 0 else -math.inf


def blank(cell: object) -> bool:
    """Whether a cell says that there is nothing."""
    if isinstance(cell, float):
        return math.isnan(cell)
    return cell is None or (isinstance(cell, str) and cell.strip().lower() in MISSING)
