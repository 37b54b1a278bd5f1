"""What a reader may turn out to be."""

from typing import Any


def endless(*args: Any) -> None:
    """Holds the interpreter's lock, for ever."""
    while True:
        _ = 7**100_000
