"""Files that are no text: what their first bytes say they are, and what to give instead."""

from __future__ import annotations

from sigtest.errors import InputError

MAGIC = {
    b"PAR1": "parquet", b"ARROW1\0": "arrow", b"\x93NUMPY": "numpy", b"\x80\x04\x95": "pickle",
    b"\x80\x05\x95": "pickle", b"\x80\x03": "pickle", b"\x80\x02": "pickle",
    b"SQLite format 3\0": "sqlite", b"BZh": "bzip2", b"\xfd7zXZ\x00": "xz",
    b"\x28\xb5\x2f\xfd": "zstandard", b"%PDF-": "pdf", b"\xd0\xcf\x11\xe0": "office",
    b"7z\xbc\xaf": "7z", b"\x89PNG": "png", b"\x89HDF": "hdf5", b"\x1f\x8b": "gzip",
    b"PK\x03\x04": "zip", b"PK\x05\x06": "zip", b"\xff\xff\xff\xff": "arrow", b"Rar!\x1a": "rar",
    b'\x04"M\x18': "lz4", b"RDX2\n": "R", b"RDX3\n": "R", b"X\n\0\0\0": "R",
    b"\xff\xd8\xff": "jpeg",
    # pickles of protocols 0, which is all letters, and 1
    b"(lp0\n": "pickle", b"(dp0\n": "pickle", b"]q\x00": "pickle", b"}q\x00": "pickle",
    b"ccopy_reg\n": "pickle", b"ccollections\n": "pickle", b"cnumpy.": "pickle",
    b"cpandas.": "pickle",
}  # fmt: skip
ADVICE = {
    "parquet": "write the table as CSV or JSONL",
    "arrow": "write the table as CSV or JSONL",
    "numpy": "write the numbers as text, one line a segment (numpy.savetxt)",
    "pickle": "a pickle can run programs when it is read; write CSV or JSONL",
    "sqlite": "write the table as CSV or JSONL",
    "bzip2": "unpack it, or compress it with gzip",
    "xz": "unpack it, or compress it with gzip",
    "zstandard": "unpack it, or compress it with gzip",
    "rar": "unpack it, or make it a zip or tar.gz",
    "lz4": "unpack it, or compress it with gzip",
    "R": "write the table as CSV (write.csv with row.names=FALSE)",
    "jpeg": "give text",
    "7z": "unpack it, or make it a zip or tar.gz",
    "pdf": "give the text, one line a segment",
    "office": "save the table as CSV (UTF-8), or the text with one line a segment",
    "gzip": "it was compressed twice; unpack it once",
    "png": "give text",
    "hdf5": "write the numbers as CSV or JSONL",
    "zip": "unpack it and give the file in it that is meant",
}
# members of zips that are such files
OFFICE = (b"xl/workbook.xml", b"word/document.xml", b"META-INF/manifest.xml",
          b"Index/Document.iwa")  # fmt: skip


def binary_of(data: bytes) -> str | None:
    """The binary format that bytes begin like."""
    known = next((name for magic, name in MAGIC.items() if data.startswith(magic)), None)
    return "office" if known == "zip" and any(map(data.__contains__, OFFICE)) else known


def refuse_binary(data: bytes, name: str) -> None:
    """Check that a file is not of a binary format that is known.

    Args:
        data: Its content, decompressed.
        name: What to call it in messages.

    Raises:
        InputError: It is; says which, and what to give.
    """
    known = binary_of(data)
    if known is not None:
        raise InputError(
            f"{name} is not read: it is a binary file ({known}); {ADVICE[known]}.", field=name
        )
