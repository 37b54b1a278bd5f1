"""Files that are compressed with gzip."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO

from sigtest.errors import InputError

GZIP = b"\x1f\x8b"  # opens each; no UTF-8 text begins with these


@contextmanager
def unpacking(file: BinaryIO, name: str) -> Iterator[gzip.GzipFile]:
    """What a file holds, unpacked as far as it is read.

    Args:
        file: The compressed one.
        name: What messages call it.

    Raises:
        InputError: A damaged file, also where that shows while it is read.
    """
    try:
        with gzip.GzipFile(fileobj=file, mode="rb") as inner:
            yield inner
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise InputError(f"{name} is not a whole gzip file: {error}") from error
