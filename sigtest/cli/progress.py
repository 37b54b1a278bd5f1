"""A progress bar on a terminal; nothing at all elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from sigtest.progress import Progress

CELLS = 30


@contextmanager
def bar() -> Iterator[Progress | None]:
    """Draws on standard error while the block runs and leaves the line empty behind it."""
    if not sys.stderr.isatty():
        yield None
        return
    try:
        yield _draw
    finally:
        sys.stderr.write("\r\x1b[K")
        sys.stderr.flush()


def _draw(phase: str, done: int, total: int) -> None:
    share = done / total if total else 0.0
    full = round(CELLS * share)
    drawn = "━" * full + "╌" * (CELLS - full)
    sys.stderr.write(f"\r\x1b[K{phase:10} {drawn} {share:4.0%}")
    sys.stderr.flush()
