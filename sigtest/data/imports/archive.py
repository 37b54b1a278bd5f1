"""Files from strangers: any format, alone or with gzip, and archives of several files."""

from __future__ import annotations

import gzip
import io
from collections.abc import Callable, Mapping

from sigtest.data.imports.bounds import GZIP, Bounds, Meter
from sigtest.data.imports.file import File
from sigtest.data.imports.join import STRICT, Joining
from sigtest.data.imports.material import Material
from sigtest.data.imports.registry import read_file
from sigtest.data.imports.trees import read_tree
from sigtest.data.imports.unpacking import TAR_MAGIC, ZIP, Counted, open_tar, open_zip, unzipped
from sigtest.errors import InputError

Near = Callable[[Callable[[str], bool]], Mapping[str, bytes]]


def read_archive(data: bytes, name: str, bounds: Bounds | None = None) -> Material:
    """Read a zip, a tar, a tar.gz, or WMT XML, alone or compressed with gzip.

    Args:
        data: Its bytes, which say what it is.
        name: What messages call it.
        bounds: How much it may unpack to.

    Raises:
        InputError: None of these, damaged, a member that is a link, a device or has a path out of
            the archive, or nothing that can be used.
        LimitError: More than the bounds allow.
    """
    packed = data.startswith((*ZIP, GZIP)) or data[TAR_MAGIC] == b"ustar"
    if not packed and data.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] != b"<":
        raise InputError(f"{name} is no zip, tar, tar.gz or XML file.")
    return read_bytes(data, name, bounds)


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
    meter = whole.of_part(name, len(data))
    if data.startswith(ZIP):
        return read_tree(open_zip(data, meter), how)
    if data.startswith(GZIP):
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as inner:
            stream = Counted(inner, meter)
            if stream.is_tar:
                return read_tree(open_tar(stream, meter), how)
            data = unzipped(stream, meter)
    elif data[TAR_MAGIC] == b"ustar":
        return read_tree(open_tar(Counted(io.BytesIO(data), meter), meter), how)
    else:
        meter.add_bytes(len(data))
    return read_file(File(name, data, near)).select(testset=how.testset)
