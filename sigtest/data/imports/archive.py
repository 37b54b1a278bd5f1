"""Files from strangers: any format, alone or with gzip, and archives of several files."""

from __future__ import annotations

import io

from sigtest.data.gzipped import GZIP, unpacking
from sigtest.data.imports.bounds import TAR, TAR_MAGIC, ZIP, Bounds, Meter
from sigtest.data.imports.file import File, Near
from sigtest.data.imports.join import STRICT, Joining
from sigtest.data.imports.material import Material
from sigtest.data.imports.registry import read_file
from sigtest.data.imports.tree import Tree
from sigtest.data.imports.trees import read_tree
from sigtest.errors import InputError


def unpacked(data: bytes, name: str, bounds: Bounds | None = None) -> Tree:
    """The files of a zip, a tar or a tar.gz.

    Args:
        data: Its bytes, which say what it is.
        name: What messages call it.
        bounds: How much it may unpack to.

    Raises:
        InputError: None of these, damaged, or with a member that cannot be used.
        LimitError: More than the bounds allow.
    """
    found = _opened(data, Meter(name, bounds or Bounds()).of_part(name, len(data)))
    if not isinstance(found, Tree):
        raise InputError(f"{name} is no zip, tar or tar.gz file.")
    return found


def _opened(data: bytes, meter: Meter) -> Tree | bytes:
    """The files of an archive, or what a single file holds, perhaps decompressed."""
    if not data.startswith((*ZIP, GZIP)) and data[TAR_MAGIC] != TAR:
        meter.add_bytes(len(data))
        return data
    from sigtest.data.imports.unpacking import (  # late: most files are no archives
        Counted,
        open_tar,
        open_zip,
    )

    if data.startswith(ZIP):
        return open_zip(data, meter)
    if data.startswith(GZIP):
        with unpacking(io.BytesIO(data), meter.name) as inner:
            stream = Counted(inner, meter)
            return open_tar(stream, meter) if stream.is_tar else stream.rest()
    return open_tar(Counted(io.BytesIO(data), meter), meter)


def read_bytes(
    data: bytes,
    name: str,
    bounds: Bounds | None = None,
    how: Joining = STRICT,
    near: Near | None = None,
    outer: Meter | None = None,
) -> Material:
    """Read a file of any format that is known, alone, with gzip, or an archive of several.

    Args:
        data: Its bytes, which say what it is.
        name: What messages call it; where a format does not name its system, the last part does.
        bounds: How much it may unpack to.
        how: Which test set to read, and what to do where files of an archive do not match.
        near: Reads files that lie beside it.
        outer: Counts this and other files together, within its own bounds.

    Raises:
        InputError: No known format, or something in it that cannot be used.
        LimitError: More than the bounds allow.
    """
    whole = outer or Meter(name, bounds or Bounds())
    found = _opened(data, whole.of_part(name, len(data)))
    if isinstance(found, Tree):
        return read_tree(found, how)
    return read_file(File(name, found, near))
