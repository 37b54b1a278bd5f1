"""Names and sentences from outside, made harmless for whatever shows them."""

from __future__ import annotations

import unicodedata

REPLACEMENT = "\N{REPLACEMENT CHARACTER}"
# They belong to many scripts and to emoji; looks that join letters keep them, a terminal may not.
JOINERS = "\N{ZERO WIDTH NON-JOINER}\N{ZERO WIDTH JOINER}"


def printable(text: str, replacement: str = REPLACEMENT, kept: str = "") -> str:
    """`text` without characters that could steer a terminal, break a line or reverse a script.

    Control, format, surrogate and unassigned characters (Unicode category C) and line and
    paragraph separators become `replacement`, but for those that are `kept`.
    """
    if text.isascii() and text.isprintable():  # most names and all numbers
        return text
    return "".join(replacement if _steers(c) and c not in kept else c for c in text)


def turns(text: str) -> bool:
    """Whether some of `text` is read from right to left, which turns round numbers beside it."""
    return not text.isascii() and any(unicodedata.bidirectional(c) in {"R", "AL"} for c in text)


def width(text: str) -> int:
    """Columns that `text` takes on a terminal: two for wide characters, none for accents."""
    return len(text) if text.isascii() else sum(_cell(c) for c in text)


def _steers(character: str) -> bool:
    category = unicodedata.category(character)
    return category[0] == "C" or category in {"Zl", "Zp"}


def _cell(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in {"W", "F"} else 1


def in_words(name: str | None) -> str:
    """What a test or correction is called in prose."""
    return (name or "").replace("_", " ")


def p_in_words(correction: str) -> str:
    """What p-values are, corrected in this way."""
    return "unadjusted p" if correction == "none" else f"p adjusted by {in_words(correction)}"
