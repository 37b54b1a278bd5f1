"""Files on this machine: read with their names in every message, written whole or not at all."""

from __future__ import annotations

import io
import os
import re
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import BinaryIO

from sigtest.errors import LimitError
from sigtest.files.tree import GZIP, unpacking

STDIN = "-"
MAX_BYTES = 512 * 2**20
LONGEST = 60  # characters of a word in the name of a picture


def shown(path: str) -> str:
    """What messages call a file."""
    return "standard input" if path == STDIN else path


def read_bytes(path: str) -> bytes:
    """The content of a file, decompressed."""
    if path == STDIN:
        return _read(sys.stdin.buffer, path)
    with open(path, "rb") as file:
        return _read(file, path)


def check_output(path: str | None) -> None:
    """Complain before a long computation about a file that could not be written after it.

    Raises:
        OSError: There is no such folder, or the file is a folder.
    """
    if path is None:  # standard output
        return
    target = Path(path).resolve()
    if target.is_dir():
        raise IsADirectoryError(21, "Is a directory", path)
    if not target.parent.is_dir():
        raise FileNotFoundError(2, "No such file or directory", str(target.parent))


def write(content: bytes, path: str | None) -> None:
    """Write to a file atomically, or to standard output.

    Raises:
        OSError: It cannot be written; says which of the two.
    """
    file = None if path == STDIN else path
    try:
        _write(content, file)
    except OSError as error:
        error.filename = file or "standard output"
        raise


def _write(content: bytes, path: str | None) -> None:
    if path is None:
        sys.stdout.buffer.write(content)
        sys.stdout.buffer.flush()
        return
    target = Path(path).resolve()  # a link stays a link
    if target.exists() and not target.is_file():  # a device or pipe cannot be replaced
        target.write_bytes(content)
        return
    partial = target.with_name(f".{target.name[:200]}.{os.getpid()}.part")
    try:
        partial.write_bytes(content)
        partial.replace(target)
    finally:
        partial.unlink(missing_ok=True)


def write_pictures(pictures: Iterable[tuple[Sequence[str], bytes]], folder: str) -> None:
    """Write pictures that are called by what they show; a second of one name gets a number.

    Args:
        pictures: What each shows, in words, and the SVG.
        folder: Where they go.
    """
    taken: set[str] = set()
    for parts, svg in pictures:
        stem = "-".join(_plain(part) for part in parts)
        name, again = stem, 1
        while name.casefold() in taken:
            again += 1
            name = f"{stem}-{again}"
        taken.add(name.casefold())
        write(svg, str(Path(folder) / f"{name}.svg"))


def _plain(part: str) -> str:
    """What no shell, file system or LaTeX minds in the name of a file."""
    return re.sub(r"[^A-Za-z0-9+-]+", "_", part)[:LONGEST]


def _read(file: BinaryIO, path: str) -> bytes:
    data = file.read(MAX_BYTES + 1)
    if data.startswith(GZIP):
        with unpacking(io.BytesIO(data), shown(path)) as inner:
            data = inner.read(MAX_BYTES + 1)  # a gzip bomb stays small
    if len(data) > MAX_BYTES:
        raise LimitError(
            f"{shown(path)} has more than {MAX_BYTES // 2**20} MiB of text.", limit="max_text_bytes"
        )
    return data
