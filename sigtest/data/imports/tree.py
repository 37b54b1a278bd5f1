"""Files in folders, on this machine or in an archive, each read when it is asked for."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import PurePosixPath

from sigtest.data.imports.bounds import Meter
from sigtest.data.imports.file import File

# what systems and editors leave in folders: .DS_Store, ._file, .~lock.file#, desktop.ini, file~
HIDDEN = re.compile(r"\..*|__MACOSX.*|(eh)?thumbs\.db|desktop\.ini|~\$.*|.*~", re.IGNORECASE)


def is_hidden(path: PurePosixPath) -> bool:
    """Whether a file was put where it is by no user."""
    return any(map(HIDDEN.fullmatch, path.parts))


class Tree:
    """Files by path.

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
        self._readers = {path: readers[path] for path in sorted(readers)}
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

    def file(self, path: PurePosixPath) -> File:
        """A file as readers see it."""

        def near(wanted: Callable[[str], bool]) -> Mapping[str, bytes]:
            beside = [p for p in self.under(path.parent) if p != path and wanted(p.name)]
            return {self.named(other): self.read(other) for other in beside}

        return File(self.named(path), self.read(path), near, str(path))
