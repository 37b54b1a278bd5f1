"""A path on this machine: a directory, a WMT XML file, or an archive of either."""

from __future__ import annotations

import os
from pathlib import Path, PurePosixPath

from sigtest.data.imports.archive import read_archive
from sigtest.data.imports.bounds import Bounds, Meter
from sigtest.data.imports.folder import SYSTEMS, read_folder, wanted
from sigtest.data.imports.material import Material


def read_path(path: str | os.PathLike[str], bounds: Bounds | None = None) -> Material:
    """Read what a directory or file has.

    Args:
        path: Of a directory with the layout of a shared task, or a file: see `read_archive`.
        bounds: How much may be read.

    Raises:
        InputError: Nothing that can be used.
        LimitError: More than the bounds allow.
        OSError: It cannot be read.
    """
    limits = bounds or Bounds()
    place = Path(path)
    if place.is_dir():
        meter = Meter(str(path), limits)
        return read_folder(_files(place, meter), meter)
    with place.open("rb") as file:
        data = file.read(limits.text_bytes + 1)
    return read_archive(data, str(path), limits)


def _files(place: Path, meter: Meter) -> dict[PurePosixPath, bytes]:
    """The files in a directory, its `systems` and theirs, no deeper."""
    files: dict[PurePosixPath, bytes] = {}
    for pattern in ("*", f"{SYSTEMS}/*", f"{SYSTEMS}/*/*"):
        for file in sorted(place.glob(pattern)):
            meter.add_file()
            inner = PurePosixPath(*file.relative_to(place).parts)
            if wanted(inner) and not file.is_dir():
                with file.open("rb") as opened:
                    files[inner] = meter.drain(opened)
    return files
