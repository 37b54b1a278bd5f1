"""Files in folders, on this machine or in an archive, each read when it is wanted, within bounds.

What is unpacked is counted while it is read, whatever headers claim.
"""

from __future__ import annotations

import gzip
import io
import os
import re
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from sigtest.data.text import parse_lines
from sigtest.errors import InputError, LimitError
from sigtest.files.file import File

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


CHUNK = 2**20
ZIP = (b"PK\x03\x04", b"PK\x05\x06")
TAR, TAR_MAGIC = b"ustar", slice(257, 262)
SMALL = 2**20  # what any archive may unpack to, whatever its ratio


@dataclass(frozen=True)
class Bounds:
    """Limits of one import.

    Attributes:
        files: Members of an archive, or entries of a directory.
        text_bytes: All together, decompressed.
        ratio: Decompressed bytes for each byte of the archive, above 1 MiB.
        characters: Of one line of text.
    """

    files: int = 1000
    text_bytes: int = 512 * 2**20
    ratio: int = 200
    characters: int = 100_000


@dataclass
class Meter:
    """Counts what one import unpacks.

    Attributes:
        name: What messages call the import.
        bounds: How much it may.
        packed: Bytes of the archive; nothing where there is none, and no ratio to keep.
        outer: Of what this is a part of.
        files: Counted so far.
        read: Bytes so far.
    """

    name: str
    bounds: Bounds
    packed: int | None = None
    outer: Meter | None = None
    files: int = field(default=0, init=False)
    read: int = field(default=0, init=False)

    def of_part(self, name: str, packed: int | None = None) -> Meter:
        """The meter of a file among several, or of an archive within one; bytes count for both."""
        return Meter(name, self.bounds, packed, outer=self)

    def add_file(self, count: int = 1) -> None:
        """Count members.

        Raises:
            LimitError: Too many.
        """
        self.files += count
        if self.files > self.bounds.files:
            raise LimitError(
                f"{self.name} has more than max_archive_files, {self.bounds.files:,} files.",
                limit="max_archive_files",
            )

    def add_bytes(self, count: int) -> None:
        """Count decompressed bytes.

        Raises:
            LimitError: Too many, or too many for so small an archive.
        """
        self.read += count
        if self.outer is not None:
            self.outer.add_bytes(count)
        if self.read > self.bounds.text_bytes:
            raise LimitError(
                f"{self.name} has more than max_text_bytes, {self.bounds.text_bytes:,} bytes "
                "after decompression.",
                limit="max_text_bytes",
            )
        if self.packed is not None and self.read > max(SMALL, self.bounds.ratio * self.packed):
            raise LimitError(
                f"{self.name} unpacks to more than max_archive_ratio, {self.bounds.ratio} times "
                "its size; no text is as repetitive.",
                limit="max_archive_ratio",
            )

    def drain(self, stream: BinaryIO | gzip.GzipFile) -> bytes:
        """The rest of a stream, counted chunk by chunk."""
        chunks = []
        while chunk := stream.read(CHUNK):
            self.add_bytes(len(chunk))
            chunks.append(chunk)
        return b"".join(chunks)

    def unzipped(self, data: bytes, name: str) -> bytes:
        """The content of a file, which may be compressed with gzip.

        Raises:
            InputError: A damaged gzip file.
        """
        if not data.startswith(GZIP):
            return data
        with unpacking(io.BytesIO(data), name) as inner:
            return self.drain(inner)


# what systems and editors leave in folders: .DS_Store, ._file, .~lock.file#, desktop.ini, file~
HIDDEN = re.compile(r"\..*|__MACOSX.*|(eh)?thumbs\.db|desktop\.ini|~\$.*|.*~", re.IGNORECASE)


def is_hidden(path: PurePosixPath) -> bool:
    """Whether a file was put where it is by no user."""
    return any(map(HIDDEN.fullmatch, path.parts))


class Tree:
    """Files by path, without `.gz` where that leaves paths apart.

    Args:
        readers: What reads each file, packed as it is.
        meter: Counts what is read, and has the name that messages call all of it.
        packed: Whether it is an archive.
    """

    def __init__(
        self,
        readers: Mapping[PurePosixPath, Callable[[], bytes]],
        meter: Meter,
        packed: bool = True,
    ) -> None:
        self.packed = packed
        packs = {p for p in readers if p.suffix == ".gz" and p.with_suffix("") not in readers}
        self._readers = {
            path.with_suffix("") if path in packs else path: readers[path]
            for path in sorted(readers)
        }
        self.meter = meter

    @property
    def name(self) -> str:
        """What messages call all of it."""
        return self.meter.name

    @property
    def paths(self) -> list[PurePosixPath]:
        """All files, sorted."""
        return [*self._readers]

    def under(self, folder: PurePosixPath) -> list[PurePosixPath]:
        """The files in a folder."""
        return [path for path in self._readers if path.parent == folder]

    def below(self, folder: PurePosixPath) -> list[PurePosixPath]:
        """The files in a folder and its folders."""
        return [path for path in self._readers if folder in path.parents]

    def named(self, path: PurePosixPath) -> str:
        """What messages call a file."""
        return f"{self.name}{': ' if self.packed else '/'}{path}"

    def read(self, path: PurePosixPath) -> bytes:
        """The content of a file, decompressed.

        Raises:
            InputError: A damaged gzip file.
            LimitError: More than the bounds of the import.
        """
        return self.meter.unzipped(self._readers[path](), self.named(path))

    def lines(self, path: PurePosixPath) -> tuple[str, ...]:
        """The lines of a file of text.

        Raises:
            InputError: Damaged, empty, or no UTF-8.
            LimitError: More than the bounds of the import.
        """
        return parse_lines(self.read(path), self.named(path))

    def file(self, path: PurePosixPath) -> File:
        """A file as readers see it."""

        def near(wanted: Callable[[str], bool]) -> Mapping[str, bytes]:
            beside = [p for p in self.under(path.parent) if p != path and wanted(p.name)]
            return {self.named(other): self.read(other) for other in beside}

        return File(self.named(path), self.read(path), near, str(path))


DEEPEST = 5  # folders below the one that was named
MOST = 20  # times as many entries are looked at as may be read


def folder_of(place: Path, meter: Meter) -> Tree:
    """The files in a folder of this machine and in its folders.

    Raises:
        LimitError: Far more than may be read.
    """
    readers: dict[PurePosixPath, Callable[[], bytes]] = {}
    looked = 0
    for folder, folders, names in os.walk(place):
        inner = PurePosixPath(*Path(folder).relative_to(place).parts)
        folders[:] = sorted(f for f in folders if f[0] != "." and len(inner.parts) < DEEPEST)
        looked += len(names)
        if looked > MOST * meter.bounds.files:
            raise LimitError(
                f"{place} has more than {MOST * meter.bounds.files:,} files; name a smaller one.",
                limit="max_archive_files",
            )
        for name in names:
            file = Path(folder, name)
            if not is_hidden(inner / name) and file.is_file():
                readers[inner / name] = reader_of(file, meter)
    return Tree(readers, meter, packed=False)


def reader_of(file: Path, meter: Meter) -> Callable[[], bytes]:
    """Reads a file of this machine, and counts it."""

    def read() -> bytes:
        meter.add_file()
        with file.open("rb") as opened:
            return meter.drain(opened)

    return read


def opened(data: bytes, meter: Meter) -> Tree | bytes:
    """The files of an archive, or what a single file holds, perhaps decompressed."""
    if data.startswith(ZIP):
        from sigtest.files.archives import open_zip  # late: most files are no archives

        return open_zip(data, meter)
    if data.startswith(GZIP):
        data = meter.unzipped(data, meter.name)
    else:
        meter.add_bytes(len(data))
    if data[TAR_MAGIC] != TAR:
        return data
    from sigtest.files.archives import open_tar  # late, too

    return open_tar(data, meter)
