"""Lines of text: how bytes become lines, what identifies them, and what bytes are no text.

And whole numbers, however JSON or an id writes them.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence

from sigtest.cached import cached_property
from sigtest.errors import InputError

MOST_DIGITS = 308  # of a whole number in words: no float has more
HASHED = 1024  # lines at a time
ROWS, UNPACK = "write the table as CSV or JSONL", "unpack it, or compress it with gzip"
BINARY: dict[str, tuple[str, tuple[bytes, ...]]] = {  # what to give instead, and how each begins
    "parquet": (ROWS, (b"PAR1",)),
    "arrow": (ROWS, (b"ARROW1\0", b"\xff\xff\xff\xff")),
    "numpy": ("write the numbers as text, one line a segment (numpy.savetxt)", (b"\x93NUMPY",)),
    "pickle": (  # those of protocol 0 are all letters
        "a pickle can run programs when it is read; write CSV or JSONL",
        (b"\x80\x04\x95", b"\x80\x05\x95", b"\x80\x03", b"\x80\x02", b"(lp0\n", b"(dp0\n",
         b"]q\x00", b"}q\x00", b"ccopy_reg\n", b"ccollections\n", b"cnumpy.", b"cpandas."),
    ),
    "sqlite": (ROWS, (b"SQLite format 3\0",)),
    "bzip2": (UNPACK, (b"BZh",)),
    "xz": (UNPACK, (b"\xfd7zXZ\x00",)),
    "zstandard": (UNPACK, (b"\x28\xb5\x2f\xfd",)),
    "lz4": (UNPACK, (b'\x04"M\x18',)),
    "rar": ("unpack it, or make it a zip or tar.gz", (b"Rar!\x1a",)),
    "7z": ("unpack it, or make it a zip or tar.gz", (b"7z\xbc\xaf",)),
    "R": ("write the table as CSV (write.csv with row.names=FALSE)",
          (b"RDX2\n", b"RDX3\n", b"X\n\0\0\0")),
    "pdf": ("give the text, one line a segment", (b"%PDF-",)),
    "office": ("save the table as CSV (UTF-8), or the text with one line a segment",
               (b"\xd0\xcf\x11\xe0",)),
    "gzip": ("it was compressed twice; unpack it once", (b"\x1f\x8b",)),
    "png": ("give text", (b"\x89PNG",)),
    "jpeg": ("give text", (b"\xff\xd8\xff",)),
    "hdf5": ("write the numbers as CSV or JSONL", (b"\x89HDF",)),
    "zip": ("unpack it and give the file in it that is meant", (b"PK\x03\x04", b"PK\x05\x06")),
}  # fmt: skip
# members of zips that are such files
OFFICE = (b"xl/workbook.xml", b"word/document.xml", b"META-INF/manifest.xml",
          b"Index/Document.iwa")  # fmt: skip


class Text:
    """One line a segment: a system's hypotheses or one reference set. Immutable.

    `None` is a missing reference, which scores as if it were not there; `""` is an empty one.
    Metrics keep what they derive from a text (tokens, code points) in `derived`, so that nothing
    is worked out twice for metrics or systems that share it.
    """

    def __init__(self, lines: Iterable[str | None]) -> None:
        self.lines = tuple(lines)
        self.derived: dict[object, object] = {}

    def __len__(self) -> int:
        return len(self.lines)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Text) and self.lines == other.lines

    def __hash__(self) -> int:
        return hash(self.lines)

    def __repr__(self) -> str:
        return f"Text({len(self)} lines, {self.sha256[:12]})"

    @property
    def complete(self) -> tuple[str, ...]:
        """The lines, none of which may be missing (hypotheses never are)."""
        return tuple([line or "" for line in self.lines])

    @cached_property
    def characters(self) -> int:
        """How many there are in all lines."""
        return sum(len(line) for line in self.lines if line is not None)

    @cached_property
    def sha256(self) -> str:
        """Hash of the lines; length-prefixed, so that no two texts share a byte string."""
        digest = hashlib.sha256()
        for first in range(0, len(self), HASHED):
            digest.update(_prefixed(self.lines[first : first + HASHED]))
        return digest.hexdigest()


def _prefixed(lines: Sequence[str | None]) -> bytes:
    """Each line behind its length in bytes, and a dash for a missing one."""
    parts = [
        "-\n" if line is None else f"{len(line if line.isascii() else _coded(line))}\n{line}"
        for line in lines
    ]
    return _coded("".join(parts))


def _coded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def check_lines(
    lines: object,
    what: str,
    *,
    field: str,
    system: str | None = None,
    gaps: bool = False,
) -> tuple[str | None, ...]:
    """Return `lines` if each is one line of UTF-8 text.

    Args:
        lines: What should be a list of strings.
        what: What to call it in messages about one line.
        field: The part of the request that it is.
        system: The system that brings it.
        gaps: Whether `None` may stand for a missing line.

    Raises:
        InputError: Not a list, or an entry that is no text, spans several lines, or has a NUL
            character or half a surrogate pair.
    """
    if not isinstance(lines, Iterable) or isinstance(lines, str | bytes | Mapping):
        raise InputError(
            f"{field} must be a list with one string a segment, not {_kind(lines)}.",
            field=field,
            system=system,
        )
    kept = tuple(lines)
    if not _all_plain([line for line in kept if line is not None] if gaps else kept):
        for i, line in enumerate(kept):
            flaw = None if gaps and line is None else _flaw(line)
            if flaw:
                raise InputError(
                    f"{what}, segment {i + 1}: {flaw}.",
                    field=f"{field}[{i}]",
                    system=system,
                    line=i + 1,
                )
    return kept


def check_list(values: object, field: str) -> list[object]:
    """Return `values` as a list.

    Raises:
        InputError: It is text, an object or a single value.
    """
    if not isinstance(values, Iterable) or isinstance(values, str | bytes | Mapping):
        raise InputError(f"{field} must be a list, not {_kind(values)}.", field=field)
    return list(values)


def _all_plain(lines: Sequence[object]) -> bool:
    """Whether no line has a flaw; looks at all of them at once."""
    try:
        joined = "\n".join(lines)  # type: ignore[arg-type]  # TypeError where one is no string
        joined.encode("utf-8")
    except (TypeError, UnicodeEncodeError):
        return False
    return "\0" not in joined and joined.count("\n") == max(len(lines) - 1, 0)


def _flaw(line: object) -> str | None:
    if not isinstance(line, str):
        return f"expected a string, found {_kind(line)}"
    if "\n" in line:
        return f"a line break at character {line.index(chr(10)) + 1}; a segment is one line"
    if "\0" in line:
        return f"a NUL character at character {line.index(chr(0)) + 1}"
    half = next((i for i, c in enumerate(line) if "\ud800" <= c <= "\udfff"), None)
    return None if half is None else f"half a surrogate pair at character {half + 1}"


def _kind(value: object) -> str:
    """What JSON calls a value."""
    if value is None:
        return "null"
    names = {bool: "true or false", int: "a number", float: "a number", str: "a string",
             bytes: "bytes"}  # fmt: skip
    if isinstance(value, Mapping):
        return "an object"
    return names.get(
        type(value), "a list" if isinstance(value, list | tuple) else type(value).__name__
    )


def refuse_binary(data: bytes, name: str) -> None:
    """Check that a file is not of a binary format that is known.

    Args:
        data: Its content, decompressed.
        name: What to call it in messages.

    Raises:
        InputError: It is; says which, and what to give.
    """
    known = next((name for name, (_, magic) in BINARY.items() if data.startswith(magic)), None)
    if known is not None:
        known = "office" if known == "zip" and any(map(data.__contains__, OFFICE)) else known
        raise InputError(
            f"{name} is not read: it is a binary file ({known}); {BINARY[known][0]}.", field=name
        )


def decode(data: bytes, name: str) -> str:
    """Decode UTF-8 bytes, or say at which byte they stop being UTF-8.

    One byte order mark at the start is stripped.

    Args:
        data: A file's content.
        name: What to call it in messages.

    Raises:
        InputError: Not UTF-8, UTF-16 or UTF-32 (recognised by their marks), a NUL byte, or a binary
            format that is known.
    """
    if data.startswith((b"\xff\xfe", b"\xfe\xff", b"\x00\x00\xfe\xff")):
        raise InputError(f"{name} is UTF-16 or UTF-32 text; save it as UTF-8.", field=name)
    nul = data.find(b"\0")
    if nul >= 0:
        refuse_binary(data, name)
        line = data.count(b"\n", 0, nul) + 1
        raise InputError(
            f"{name}, line {line}: NUL byte at byte offset {nul}; "
            "text must be UTF-8 without NUL bytes.",
            field=name,
            line=line,
        )
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        refuse_binary(data, name)
        line = data.count(b"\n", 0, error.start) + 1
        raise InputError(
            f"{name}, line {line}: invalid UTF-8 at byte offset {error.start} "
            f"(byte 0x{data[error.start]:02x}); save the file as UTF-8.",
            field=name,
            line=line,
        ) from None
    return text.removeprefix("\ufeff")


def split_lines(text: str) -> tuple[str, ...]:
    r"""Split at "\n" only and strip one "\r" from each line.

    `str.splitlines` also splits at U+2028, U+0085 and form feeds, which occur inside real
    segments and would shift every later one.
    """
    if not text:
        return ()
    return tuple(line.removesuffix("\r") for line in text.removesuffix("\n").split("\n"))


def lines_of(text: str, name: str) -> tuple[str, ...]:
    """The lines of a text, `name` being what to call it in messages.

    Raises:
        InputError: They end with carriage returns alone.
    """
    inner = text.strip()
    if "\r" in inner and "\n" not in inner:
        raise InputError(
            f"{name} ends its lines with carriage returns alone; save it with newlines (LF).",
            field=name,
        )
    return split_lines(text)


def parse_lines(data: bytes, name: str) -> tuple[str, ...]:
    """The lines of a text file, `name` being what to call it in messages.

    Raises:
        InputError: The file is empty or not UTF-8, or its lines end with carriage returns alone.
    """
    lines = lines_of(decode(data, name), name)
    if not lines:
        raise InputError(f"{name} is empty; one line a segment is expected.", field=name)
    return lines


def whole(value: object) -> int | None:
    """A whole number, however JSON writes it (1000, 1e3, 1000.0); nothing where it is none."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def in_digits(text: str) -> bool:
    """Whether an id is a number in digits, no more than MOST_DIGITS."""
    return text.isdecimal() and len(text) <= MOST_DIGITS
