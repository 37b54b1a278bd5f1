"""Data frames as tables that say themselves what they bring.

pandas and polars are known by what their frames can do, so that neither has to be there.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from sigtest.data.testset import LABEL
from sigtest.errors import InputError
from sigtest.files.gathering import Upload
from sigtest.files.tables import is_index, role_of

ABOUT_ROWS = {"id", "run", "document", "domain", "testset"}  # roles of columns


def is_frame(given: object) -> bool:
    """Whether it has named columns and can list its rows; what only becomes one is refused."""
    check_frame(given)
    return hasattr(given, "columns") and (hasattr(given, "to_dicts") or hasattr(given, "to_dict"))


def check_frame(given: object) -> None:
    """Refuse a lazy frame of polars, which has no rows yet, and a table of pyarrow.

    Raises:
        InputError: It is one of them.
    """
    if hasattr(given, "column_names") and hasattr(given, "to_pandas"):
        raise InputError(
            f"{type(given).__name__} is no data frame of pandas or polars; give what its "
            "to_pandas() returns."
        )
    if hasattr(given, "collect") and hasattr(given, "collect_schema"):
        raise InputError("A lazy data frame has no rows yet; give what its collect() returns.")


def once(names: Iterable[object], field: str) -> None:
    """Names that tell columns or entries apart.

    Args:
        names: Of the columns of a frame, or of the entries of a series.
        field: Where it was given.

    Raises:
        InputError: Two of them are the same text.
    """
    twice = [name for name, times in Counter(map(str, names)).items() if times > 1]
    if twice:
        raise InputError(
            f"{field} has more than one column or entry named {twice[0]!r}; each needs a name of "
            "its own.",
            field=field,
        )


def require_no_ids(names: Iterable[object], field: str) -> None:
    """Check that no column of a frame is about rows, as a row index is that became a column.

    Args:
        names: Of the columns of a frame that has one for each system or reference set.
        field: Where it was given.

    Raises:
        InputError: One is.
    """
    told = next((n for n in map(str, names) if is_index(n) or role_of(n) in ABOUT_ROWS), None)
    if told is not None:
        raise InputError(
            f"{field} has a column {told!r}, which is about rows by its name, and every column "
            f"is a {'reference set' if field == 'references' else 'system'} here; leave it out, "
            "make it the index, or give a frame with columns as tables have as from_.",
            field=field,
        )


def table_of(frame: Any, field: str = "from_") -> Upload:
    """A frame as a table, which is read as one that lies in a file.

    Args:
        frame: Of pandas, whose index counts if it has a name, or of polars.
        field: Where it was given.

    Raises:
        InputError: No rows, two columns of one name, or a cell that is no text and no number.
    """
    once(frame.columns, field)
    if hasattr(frame, "to_dicts"):
        rows = frame.to_dicts()
    else:
        named = any(label is not None for label in frame.index.names)
        rows = (frame.reset_index() if named else frame).to_dict("records")
    if not rows:
        raise InputError(f"{field} has a data frame without rows.", field=field)
    return Upload(LABEL, "".join(_lines(rows, field)).encode())


def _lines(rows: Iterable[Mapping[object, object]], field: str) -> Iterable[str]:
    for i, row in enumerate(rows, 1):
        try:
            cells = {str(column): _cell(cell) for column, cell in row.items()}
            yield json.dumps(cells, ensure_ascii=False) + "\n"
        except (TypeError, ValueError):
            raise InputError(
                f"Row {i} of a data frame: cells must be texts or numbers ({row!a:.80}).",
                field=field,
            ) from None


def _cell(cell: Any) -> Any:
    """A cell as JSON has it; what is missing as null."""
    if cell is None or type(cell).__name__ in {"NAType", "NaTType"}:
        return None
    cell = cell.item() if hasattr(cell, "item") else cell
    return None if isinstance(cell, float) and cell != cell else cell
