"""Which column tells the segments of a table apart, where none is called id."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from sigtest.data.imports.file import File, Placed
from sigtest.data.imports.formats.cells import blank
from sigtest.data.imports.formats.headings import Role, may_identify
from sigtest.data.numbers import in_digits
from sigtest.errors import InputError

GROUPED: tuple[Role, ...] = ("system", "metric", "run")
FEWEST = 3  # rows that count something


def identify(
    columns: Sequence[str], single: Mapping[Role, str], rows: Sequence[Placed]
) -> str | None:
    """The column that stands for the missing id: an id by its name, or one that counts rows.

    Args:
        columns: Those of no known role.
        single: The columns of roles.
        rows: All rows.

    Returns:
        The first one whose cells differ within each system, metric and run, and are mostly the
        same in all of them; nothing where there is none, and rows can be told by their order only.
    """
    groups = _groups(single, rows)
    named = [column for column in columns if may_identify(column)]
    counted = [column for column in columns if counts(column, single, rows)]
    return next((c for c in (*named, *counted) if _tells_apart(c, groups)), None)


def counts(column: str, single: Mapping[Role, str], rows: Sequence[Placed]) -> bool:
    """Whether a column counts the rows of each system, metric and run, so that it is no metric."""
    groups = _groups(single, rows)
    return all(_consecutive(column, group) for group in groups)


def require_read(
    passed_over: Sequence[str], single: Mapping[Role, str], rows: Sequence[Placed], file: File
) -> None:
    """Check that nothing that is not read tells rows of one segment apart.

    Raises:
        InputError: It does; the message says what to call the column.
    """
    if "id" not in single:
        return
    system = "" if "system" in single else "system, or "
    keys = [single[role] for role in ("id", *GROUPED) if role in single]
    seen = {_cells(row, keys) for row in rows}
    for column in passed_over:
        if len(seen) < len(rows) == len({_cells(row, [*keys, column]) for row in rows}):
            raise InputError(
                f"{file.name}: nothing is read from the column {column!r}, and only it tells rows "
                f"of one id apart; call it {system}run if its rows are runs of one segment, or "
                "write it into the ids if they are different segments."
            )


def _groups(single: Mapping[Role, str], rows: Sequence[Placed]) -> list[list[Placed]]:
    keys = [single[role] for role in GROUPED if role in single]
    groups: dict[tuple[str, ...], list[Placed]] = {}
    for row in rows:
        groups.setdefault(_cells(row, keys), []).append(row)
    return [*groups.values()]


def _tells_apart(column: str, groups: Sequence[Sequence[Placed]]) -> bool:
    known: set[str] = set()
    for group in groups:
        cells = [str(row.record.get(column)).strip() for row in group]
        if any(map(blank, cells)) or len(set(cells)) < len(cells):
            return False
        if known and 2 * len(known & set(cells)) < len(cells):
            return False
        known |= set(cells)
    return bool(known)


def _consecutive(column: str, group: Sequence[Placed]) -> bool:
    numbers = sorted(_whole_numbers(row.record.get(column) for row in group))
    return len(numbers) == len(group) >= FEWEST and numbers == list(
        range(numbers[0], numbers[0] + len(numbers))
    )


def _whole_numbers(cells: Iterator[object]) -> Iterator[int]:
    for cell in cells:
        if isinstance(cell, bool) or not in_digits(str(cell).strip()):
            return
        yield int(str(cell))


def _cells(row: Placed, columns: Sequence[str]) -> tuple[str, ...]:
    return tuple(str(row.record.get(column)) for column in columns)
