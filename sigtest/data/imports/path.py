"""A path on this machine: a file of any known format, an archive, or a folder."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path, PurePosixPath

from sigtest.data.imports.archive import read_bytes
from sigtest.data.imports.bounds import Bounds, Meter
from sigtest.data.imports.file import Near
from sigtest.data.imports.join import STRICT, Joining
from sigtest.data.imports.material import Material
from sigtest.data.imports.tree import Tree, is_hidden
from sigtest.data.imports.trees import read_tree
from sigtest.errors import LimitError

DEEPEST = 5  # folders below the one that was named
MOST = 20  # times as many entries are looked at as may be read


def read_path(
    path: str | os.PathLike[str],
    bounds: Bounds | None = None,
    how: Joining = STRICT,
    outer: Meter | None = None,
) -> Material:
    """Read what a folder or file has.

    Args:
        path: Of a folder, see `read_tree`, or a file, see `read_bytes`.
        bounds: How much may be read.
        how: Which test set to read, and what to do where files do not match.
        outer: Counts this and other files together, within its own bounds.

    Raises:
        InputError: Nothing that can be used.
        LimitError: More than the bounds allow.
        OSError: It cannot be read.
    """
    whole = outer or Meter(str(path), bounds or Bounds())
    limits, place = whole.bounds, Path(path)
    if place.is_dir():
        return read_tree(_tree(place, whole.of_part(str(place))), how)
    with place.open("rb") as file:
        data = file.read(limits.text_bytes + 1)
    return read_bytes(data, str(path), limits, how, _near(place, limits), whole)


def _tree(place: Path, meter: Meter) -> Tree:
    """The files in a folder and its folders."""
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
                readers[inner / name] = _reader(file, meter)
    return Tree(readers, meter, packed=False)


def _reader(file: Path, meter: Meter) -> Callable[[], bytes]:
    def read() -> bytes:
        meter.add_file()
        with file.open("rb") as opened:
            return meter.drain(opened)

    return read


def _near(place: Path, limits: Bounds) -> Near:
    """Reads files beside one, by their names."""

    def near(wanted: Callable[[str], bool]) -> Mapping[str, bytes]:
        found = sorted(p for p in place.parent.iterdir() if wanted(p.name) and p.is_file())
        meter = Meter(str(place.parent), limits)
        readers = {PurePosixPath(file.name): _reader(file, meter) for file in found}
        beside = Tree(readers, meter)
        return {str(place.parent / p.name): beside.read(p) for p in beside.paths}

    return near
