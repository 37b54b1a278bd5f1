"""What a reader finds in one file: columns as they stand there, with the line of each row."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from sigtest import errors
from sigtest.errors import InputError

Column = Sequence[str | None]
Numbers = Sequence[str | float | None]


@dataclass
class Table:
    """Judgements of one file; columns are equally long, None where the file has no such column.

    Attributes:
        name: What to call the file in messages.
        input: Name of its format.
        rows: Rows in the file, without a header.
        line: 1-based line of each judgement.
        system: Names.
        segment: Ids.
        raw: Scores as given.
        z: Scores that were standardised before.
        kind: As the file calls it.
        undecided: Errors of each judgement whose severity is undecided, and not in `raw` yet.
        higher: Whether more is better, where the file says so.
        scale: Lowest and highest score that the format allows.
        named: What to call the criterion where the file names none.
        keyed: Whether no judgement may occur twice with different scores.
        made_from: Rows behind each judgement, where that is not one.
        dropped: Rows that are no judgement, by reason.
        inline: Whether these are rows of a request.
    """

    name: str
    input: str
    rows: int
    line: Sequence[int]
    system: Column
    segment: Column
    raw: Numbers | None = None
    z: Numbers | None = None
    annotator: Column | None = None
    kind: Column | None = None
    criterion: Column | None = None
    hit: Column | None = None
    document: Column | None = None
    languages: Column | None = None
    seconds: Numbers | None = None
    judged: Numbers | None = None
    undecided: Sequence[int] | None = None
    higher: Sequence[bool | None] | None = None
    made_from: Sequence[int] | None = None
    scale: tuple[float, float] | None = None
    named: str = "score"
    keyed: bool = True
    dropped: dict[str, int] = field(default_factory=dict)
    inline: bool = False

    def refused(self, row: int, why: str, column: str = "") -> InputError:
        """A judgement that cannot be used: what, where, and why."""
        where, path = f"{self.name}, {self.place(row)}", self.name
        if self.inline:
            where = path = f"{self.place(row)}{column and '.'}{column}"
        line, system = self.line[row], self.system[row]
        end = "" if why.endswith("?") else "."
        return InputError(f"{where}: {why}{end}", field=path, line=line, system=system)

    def place(self, row: int) -> str:
        """Where a judgement stands: its line in a file, its element of a request's list."""
        line = self.line[row]
        return f"{self.name}[{line - 1}]" if self.inline else f"line {line}"


def filled(lines: Sequence[str], first: int = 0) -> tuple[list[str], list[int]]:
    """Lines that are not blank, with their 1-based numbers."""
    numbered = [(line, n) for n, line in enumerate(lines[first:], first + 1) if line.strip()]
    return [line for line, _ in numbered], [n for _, n in numbered]


def records(
    lines: Sequence[str], name: str, delimiter: str = ",", width: int | None = None
) -> Iterator[tuple[list[str], int]]:
    """Rows of a CSV or TSV file with their lines; those without any content are passed over.

    Args:
        lines: Of the file.
        name: Of the file.
        delimiter: Between fields; between tabs a quotation mark is text.
        width: Fields of a row; as many as the first has where none is given.

    Raises:
        InputError: A row with more or fewer fields, a quotation that is not closed.
    """
    if delimiter == "\t":
        reader = csv.reader(lines, delimiter=delimiter, quoting=csv.QUOTE_NONE)
    else:
        reader = csv.reader(lines, delimiter=delimiter, strict=True)
    try:
        for fields in reader:
            if not any(field.strip() for field in fields):
                continue
            width = width or len(fields)
            if len(fields) != width:
                raise ragged(name, reader.line_num, len(fields), width)
            yield fields, reader.line_num
    except csv.Error as error:
        raise at_line(name, reader.line_num, f"{error}.") from None


def fields_of(line: str, delimiter: str = ",") -> list[str]:
    """Fields of one line; none where it is no CSV."""
    try:
        return next(csv.reader([line], delimiter=delimiter), [])
    except csv.Error:
        return []


def at_line(name: str, line: int, why: str) -> InputError:
    """A line of a file of judgements that cannot be used: the file is the field that is wrong."""
    return errors.at_line(name, line, why, field=name)


def ragged(name: str, line: int, found: int, expected: int) -> InputError:
    """A row with more or fewer fields than it should have."""
    return at_line(name, line, f"{found} fields, where {expected} are expected.")


def without(name: str, column: str) -> InputError:
    """A file whose header lacks a column that is needed."""
    return InputError(f"{name}, line 1: the header has no column {column}.", field=name)


def optional(values: Sequence[str]) -> list[str | None]:
    """A column in which "" and NA stand for nothing."""
    return [None if value in {"", "NA"} else value for value in values]
