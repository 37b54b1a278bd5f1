"""Names of systems, test sets and scores: which are safe, and which a file stands for."""

from __future__ import annotations

import unicodedata

from sigtest.errors import InputError

MAX_NAME = 200
_FORBIDDEN = set("<>\"'`/")


def check_name(name: object, what: str = "system") -> str:
    """Return `name` if it can safely name a system in files, pages and tables.

    Raises:
        InputError: No text, empty, longer than 200 characters, a control character, a quotation
            mark, an angle bracket, a slash, only dots, or space at either end.
    """
    shown = ascii(name)[:60]
    if not isinstance(name, str):
        raise InputError(f"A {what}'s name must be a string, not {shown}.", field="name")
    if not name or len(name) > MAX_NAME:
        raise InputError(
            f"A {what}'s name must have 1 to {MAX_NAME} characters; {shown} has {len(name)}.",
            field="name",
        )
    bad = sorted({c for c in name if c in _FORBIDDEN or unicodedata.category(c)[0] == "C"})
    if bad or name.strip() != name or not name.strip("."):
        reason = f"contains {', '.join(ascii(c) for c in bad)}" if bad else "is blank at an end"
        if not name.strip("."):
            reason = "consists of dots"
        raise InputError(
            f"The {what} name {shown} {reason}; use letters, digits, spaces and marks other than "
            "quotes, angle brackets, slashes and control characters.",
            field="name",
        )
    return name


def system_name(filename: str) -> str:
    """The name of the system whose hypotheses a file holds: without `.gz` and the last suffix."""
    stem = filename.removesuffix(".gz")
    name, _, suffix = stem.rpartition(".")
    return name if name and "/" not in suffix else stem
