"""One file as readers see it: its name, its bytes, and what its beginning says it is."""

import json
import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Literal, TypeVar, cast

from sigtest.cached import cached_property
from sigtest.data.names import system_name
from sigtest.data.text import decode, lines_of, split_lines
from sigtest.errors import InputError, at_line, quoted

HEAD = 2**16  # bytes that sniffing looks at, except where JSON has to be read whole
SNIFFED = 50  # lines of them
SPARSEST = 20  # places of a table for each that is filled, at most: all of them take memory
# what may stand before the first element of XML; nothing of it is read a second time
PROLOGUE = r"(?:\s++|<\?xml[^>]*+>|<!--.*?-->)*+"
JSON_LIKE = re.compile(r'\{\s*("|\}|$)|\[\s*(\{|\[\s*["\d\[-]|"[^"\n]*"\s*(,|\]\s*(\n|$))|$)')
HINT = re.compile(r"\A[^\S\n]*sep=\S[^\S\n]*(?=\n|\Z)")  # for spreadsheets: which separator follows
Record = Mapping[str, object]
Near = Callable[[Callable[[str], bool]], Mapping[str, bytes]]  # files in the same folder, by names
Name = TypeVar("Name", bound=Hashable)
Kind = Literal["", "object", "array", "lines", "broken"]


@dataclass(frozen=True)
class Placed:
    """One record of a file.

    Attributes:
        unit: What its number counts.
        number: From 1.
        record: Its fields.
    """

    unit: str
    number: int
    record: Record

    @property
    def place(self) -> str:
        """Where it is, for messages: `line 3`, `entry 3`."""
        return f"{self.unit} {self.number}"


class File:
    """One file, unpacked.

    Args:
        name: What messages call it, a path.
        data: Its content, decompressed.
        near: Reads what lies in the same folder: the files whose names satisfy a condition.
        path: Its path, where messages call it something else.
        columns: What columns of numbers are in a table that does not say it: systems or metrics.
        labels: Whether lines are labels or other names, also where they look like numbers.
    """

    def __init__(
        self,
        name: str,
        data: bytes,
        near: Near | None = None,
        path: str | None = None,
        columns: str | None = None,
        labels: bool = False,
    ) -> None:
        self.name = name
        self.data = data
        self.path = path or name
        self.columns = columns
        self.labels = labels
        self.near = near or (lambda _: {})

    @cached_property
    def base(self) -> str:
        """Its name without folders and `.gz`."""
        return PurePosixPath(self.path.replace("\\", "/")).name.removesuffix(".gz")

    @cached_property
    def stem(self) -> str:
        """Its name without folders and suffix: what it calls its system."""
        return system_name(self.base)

    @cached_property
    def text(self) -> str:
        """All of it.

        Raises:
            InputError: Not UTF-8.
        """
        return decode(self.data, self.name)

    @cached_property
    def lines(self) -> tuple[str, ...]:
        """Its lines.

        Raises:
            InputError: Not UTF-8, or lines that end with carriage returns alone.
        """
        return lines_of(self.text, self.name)

    @cached_property
    def head(self) -> str:
        """Its beginning, to be recognised by: without a hint, and whatever letters are damaged."""
        head = self.data[:HEAD].decode("utf-8", "replace").removeprefix("\ufeff")
        return HINT.sub("", head)

    @cached_property
    def first_lines(self) -> tuple[str, ...]:
        """Its first lines that are not blank, none of them cut."""
        lines = split_lines(self.head)
        if len(self.data) > HEAD and len(lines) > 1:
            lines = lines[:-1]
        return tuple(line for line in lines if line.strip())[:SNIFFED]

    def matches(self, pattern: re.Pattern[str], share: float = 0.9) -> bool:
        """Whether nearly all of the first lines match."""
        hits = sum(pattern.search(line) is not None for line in self.first_lines)
        return hits > 0 and hits >= share * len(self.first_lines)

    @cached_property
    def kind(self) -> Kind:
        """Which kind of JSON it is: one object, one array, an object a line; or none."""
        return self._scanned[0]

    @property
    def has_records(self) -> bool:
        """Whether it is an array or lines of records, of which there may be only one."""
        return self.kind in {"array", "lines"} or (
            self.kind == "object" and "\n" not in self.text.strip()
        )

    @cached_property
    def first(self) -> Record:
        """Its first JSON record: the object, or the first of the array or the lines."""
        return self._scanned[1]

    @cached_property
    def whole(self) -> object:
        """All of it as one JSON value.

        Raises:
            InputError: It is not whole.
        """
        return loads(self.text, self.name)

    def records(self) -> list[Placed]:
        """All records of an array, of lines, or the only object.

        Raises:
            InputError: A damaged or other line or entry.
        """
        entries: Iterable[tuple[int, object]]
        if self.kind == "lines":
            unit, lines = "line", enumerate(self.lines, 1)
            entries = ((i, loads(line, self.name, i)) for i, line in lines if line.strip())
        else:
            whole = self.whole
            unit, entries = "entry", enumerate(whole if isinstance(whole, list) else [whole], 1)
        records = []
        for i, entry in entries:
            if not isinstance(entry, dict):
                why = f"expected a JSON object with fields, found {quoted(entry, 40)}"
                raise InputError(f"{self.name}, {unit} {i}: {why}.")
            records.append(Placed(unit, i, entry))
        return records

    @cached_property
    def _scanned(self) -> tuple[Kind, Record]:
        if JSON_LIKE.match(self.head.lstrip()) is None:
            return "", {}
        try:
            text = self.text.strip()
            line, _, rest = text.partition("\n")
            first: object = None
            if text.startswith("["):  # its first entry, without reading the others
                start = re.match(r"\[\s*", text)
                end = start.end() if start else 0
                if text[end:] != "]":
                    first, _ = json.JSONDecoder().raw_decode(text, end)
                return "array", first if isinstance(first, dict) else {}
            with suppress(ValueError, RecursionError):
                first = json.loads(line)
            if isinstance(first, dict) and rest.strip():
                return "lines", first
            return "object", cast("Record", self.whole)
        except (InputError, ValueError, RecursionError):
            return "broken", {}


def first_twice(names: Iterable[Name]) -> Name:
    """The first of these that stands there twice, as one does."""
    return next(name for name, count in Counter(names).items() if count > 1)


def require_filled(rows: int, columns: int, filled: int, name: str) -> None:
    """Check that a table is not as good as empty, before its places are made.

    Raises:
        InputError: It is: everything in it has columns, or segments, of its own.
    """
    if rows * columns > SPARSEST * max(filled, 1000):  # a small one may be sparser
        raise InputError(
            f"{name}: {filled:,} entries in {rows:,} rows or segments and {columns:,} columns or "
            "systems, so that hardly any has what the others have; give one row a score, with the "
            "columns id, system, metric and score, and ids that all systems share.",
            field=name,
        )


def record_in(record: Record, name: str) -> Record:
    """The object in a field; an empty one where there is none."""
    value = record.get(name)
    return value if isinstance(value, dict) else {}


def entries_of(value: object) -> list[object]:
    """A list as it is; an empty one for anything else."""
    return value if isinstance(value, list) else []


def loads(text: str, name: str, line: int | None = None) -> object:
    """What JSON says; NaN and Infinity are numbers, as in the programs that write them.

    Args:
        text: All of it.
        name: What to call the file in messages.
        line: Where the text stands in the file, if it is one of its lines.

    Raises:
        InputError: No JSON, nested too deep, or one field twice.
    """
    try:
        return cast("object", json.loads(text, object_pairs_hook=_distinct))
    except json.JSONDecodeError as error:
        at, column = (line or error.lineno), error.colno
        cut = "; the file ends too early" if error.pos >= len(text.rstrip()) else ""
        if error.msg == "Extra data" and re.match(r",[ \t\r]*(\n|$)", text[error.pos :]):
            cut = "; take the comma at the end of each line out"
        raise at_line(name, at, f"not whole JSON: {error.msg} at column {column}{cut}.") from None
    except (ValueError, RecursionError) as error:
        reason = "nested too deep" if isinstance(error, RecursionError) else str(error)[:200]
        reason = "a number of thousands of digits" if "max_str_digits" in reason else reason
        where = f"{name}, line {line}" if line is not None else name
        raise InputError(f"{where}: JSON that is not read: {reason}.", line=line) from None


def _distinct(pairs: Iterable[tuple[str, object]]) -> dict[str, object]:
    """An object whose fields are all different; readers would disagree on which counts."""
    pairs = list(pairs)
    fields = dict(pairs)
    if len(fields) < len(pairs):
        twice = first_twice(name for name, _ in pairs)
        raise ValueError(f"the field {twice[:60]!a} stands twice in one object")
    return fields
