"""Tables as W&B, MLflow and pandas (`orient="split"`) write them: names of columns, then rows."""

from __future__ import annotations

import json

from sigtest.data.imports.file import File, entries_of
from sigtest.data.imports.formats import columns
from sigtest.data.imports.material import Material
from sigtest.errors import InputError


def sniff(file: File) -> bool:
    """One object with a list of names and a list of rows."""
    return (
        file.kind == "object"
        and isinstance(file.first.get("columns"), list)
        and isinstance(file.first.get("data"), list)
    )


def read(file: File) -> Material:
    """Read it as any table with named columns.

    Raises:
        InputError: A row that has not one cell for each name, no rows, or as of other tables.
    """
    names = [str(name) for name in entries_of(file.first.get("columns"))]
    rows = [entries_of(row) for row in entries_of(file.first.get("data"))]
    if not rows:
        raise InputError(f"{file.name} names columns and has no rows.")
    for i, row in enumerate(rows, 1):
        if len(row) != len(names):
            raise InputError(
                f"{file.name}, entry {i}: {len(row)} cells, where {len(names)} columns are named."
            )
    records = [dict(zip(names, row, strict=True)) for row in rows]
    return columns.read(File(file.name, json.dumps(records).encode(), file.near, file.path))
