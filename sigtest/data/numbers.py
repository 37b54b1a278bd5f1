"""Whole numbers, however JSON writes them."""

from __future__ import annotations

MOST_DIGITS = 308  # of a whole number in words: no float has more


def whole(value: object) -> int | None:
    """A whole number, however JSON writes it (1000, 1e3, 1000.0); nothing where it is none."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def in_digits(text: str) -> bool:
    """Whether an id is a number in digits, no more than MOST_DIGITS."""
    return text.isdecimal() and len(text) <= MOST_DIGITS
