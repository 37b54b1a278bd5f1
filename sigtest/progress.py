"""How computations tell how far they are."""

from collections.abc import Callable

Progress = Callable[[str, int, int], None]
"""Called with the name of a phase, how much of it is done, and how much there is."""


def silent(phase: str, done: int, total: int) -> None:
    """Tell nobody."""
