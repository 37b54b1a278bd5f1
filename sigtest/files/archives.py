"""Zip and tar archives from strangers, opened in memory and never further than allowed.

Every member is looked at before any is used: one that leads out of the archive, or is no plain
file, makes the whole archive unusable, even where the member would have been passed over.
"""

from __future__ import annotations

import io
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from importlib import import_module
from pathlib import PurePosixPath
from typing import Any

from sigtest.data.names import name_in
from sigtest.errors import InputError
from sigtest.files.file import first_twice
from sigtest.files.tree import Meter, Tree, is_hidden

zstd: Any = None
for _place in ("compression.zstd", "backports.zstd"):  # of Python 3.14, or the extra `zstd`
    with suppress(ImportError):
        zstd = zstd or import_module(_place)

ENTRY = b"PK\x01\x02"  # opens every entry of a zip's directory
ENCRYPTED = 0x1
HEADER = 512
ZSTANDARD = 93  # how Inspect AI packs its logs of late
WINDOW = 25  # logarithm of the bytes that unpacking may look back on, whatever a frame asks for
LOCAL = 30  # bytes of what stands before a member, apart from its name and what is beside it
SAFE_METHODS = {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}  # others need memory as they please


def open_zip(data: bytes, meter: Meter) -> Tree:
    """The members of a zip, which are unpacked when they are read.

    Raises:
        InputError: Damaged, or a member that is a link, a device, encrypted or leads out of it.
        LimitError: Too many members.
    """
    # before zipfile makes an object of each entry, however many there are said to be
    meter.add_file(data.count(ENTRY))
    with _whole(meter, "zip"):
        archive = zipfile.ZipFile(io.BytesIO(data))
        members = archive.infolist()
        paths = _distinct([_path(member.filename, meter.name) for member in members], meter)
    for member in members:
        _check_zipped(member, meter.name)

    def read(member: zipfile.ZipInfo) -> bytes:
        if member.compress_type == ZSTANDARD:
            return _of_zstandard(data, member, meter)
        with _whole(meter, "zip"), archive.open(member) as inner:
            return meter.drain(inner)  # type: ignore[arg-type]

    files = {
        path: partial(read, member)
        for member, path in zip(members, paths, strict=True)
        if not member.is_dir() and not is_hidden(path)
    }
    return Tree(files, meter)


def _check_zipped(member: zipfile.ZipInfo, name: str) -> None:
    """Check that a member is a plain file or folder that can be read safely."""
    kind = stat.S_IFMT(member.external_attr >> 16)
    if kind not in {0, stat.S_IFREG, stat.S_IFDIR}:
        raise _not_plain(name, member.filename)
    if member.flag_bits & ENCRYPTED:
        raise InputError(f"{name}: {member.filename!a} is encrypted.")
    if member.compress_type == ZSTANDARD and zstd is None:
        raise InputError(
            f"{name}: {member.filename!a} is compressed with Zstandard, which needs "
            "backports.zstd: pip install backports.zstd; or convert a log of Inspect AI with: "
            "inspect log convert --to json --output-dir DIR FILE"
        )
    if member.compress_type not in {*SAFE_METHODS, ZSTANDARD}:
        raise InputError(
            f"{name}: {member.filename!a} is compressed in a way that is not read; use deflate."
        )


def _of_zstandard(data: bytes, member: zipfile.ZipInfo, meter: Meter) -> bytes:
    """A member that zipfile does not unpack, as far as the meter and a small window allow."""
    start = member.header_offset + LOCAL
    start += sum(int.from_bytes(data[i : i + 2], "little") for i in (start - 4, start - 2))
    packed = io.BytesIO(data[start : start + member.compress_size])
    try:
        with zstd.open(
            packed, options={zstd.DecompressionParameter.window_log_max: WINDOW}
        ) as file:
            content: bytes = meter.drain(file)
        if zlib.crc32(content) != member.CRC:
            raise EOFError("its checksum is another")
    except (zstd.ZstdError, EOFError) as error:
        raise InputError(f"{meter.name}: {member.filename!a} is not whole: {error}") from error
    return content


def open_tar(data: bytes, meter: Meter) -> Tree:
    """The members of a tar, whose bytes are counted already.

    Raises:
        InputError: Damaged, or a member that is a link, a device or leads out of it.
        LimitError: Too many members.
    """
    files: dict[PurePosixPath, Callable[[], bytes]] = {}
    seen: list[PurePosixPath] = []
    with _whole(meter, "tar"):
        # as a stream, which cannot be sent back to read a member again and again
        with tarfile.open(fileobj=io.BytesIO(data), mode="r|") as archive:
            for member in archive:
                meter.add_file()
                path = _path(member.name, meter.name)
                if member.isdir():
                    continue
                if not member.isreg() or member.issparse():
                    raise _not_plain(meter.name, member.name)
                seen.append(path)
                end = member.offset_data + member.size
                if end > len(data):
                    raise tarfile.ReadError("unexpected end of data")
                if not is_hidden(path):
                    files[path] = partial(bytes, memoryview(data)[member.offset_data : end])
        if len(data) < HEADER or data[-HEADER:].strip(b"\0"):  # cut between two members
            raise tarfile.ReadError("it has no end")
    _distinct(seen, meter)
    return Tree(files, meter)


_DAMAGED = (
    zipfile.BadZipFile,
    tarfile.TarError,
    zlib.error,
    OSError,  # gzip's, and seeks to where nothing is
    EOFError,
    ValueError,
    OverflowError,
    RuntimeError,  # and headers that announce headers that announce headers
)


@contextmanager
def _whole(meter: Meter, kind: str) -> Iterator[None]:
    try:
        yield
    except _DAMAGED as error:
        raise InputError(f"{meter.name} is not a whole {kind} archive: {error}") from error


def _path(name: str, archive: str) -> PurePosixPath:
    """A member's path, if it stays inside."""
    if not name:  # zipfile, too, cuts a name off at its first NUL
        raise InputError(f"{archive}: a member has no name.")
    path = PurePosixPath(name_in(name, archive).replace("\\", "/"))
    inside = not path.is_absolute() and ".." not in path.parts
    if not inside or "\0" in name or name[1:2] == ":":
        raise InputError(
            f"{archive}: the path {name[:200]!a} leads out of the archive; "
            "use plain relative paths with forward slashes."
        )
    if "\\" in name:
        raise InputError(
            f"{archive}: the path {name[:200]!a} has backslashes, which part folders for some "
            "programs and not for others; pack the files again, with forward slashes."
        )
    return path


def _distinct(paths: list[PurePosixPath], meter: Meter) -> list[PurePosixPath]:
    """The paths, none of them twice: readers would differ on which of two counts."""
    if len(set(paths)) < len(paths):
        raise InputError(f"{meter.name} has {str(first_twice(paths))!a} twice.")
    return paths


def _not_plain(archive: str, name: str) -> InputError:
    return InputError(
        f"{archive}: {name[:200]!a} is a link, a device or something else that is no plain file."
    )
