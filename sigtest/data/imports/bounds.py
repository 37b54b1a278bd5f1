"""How much an import may unpack; counted while it is read, whatever its headers claim."""

from __future__ import annotations

import gzip
import io
from dataclasses import dataclass, field
from typing import BinaryIO

from sigtest.data.gzipped import GZIP, unpacking
from sigtest.errors import LimitError

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
