"""Rows of tables in another order than their own, that of one of their columns.

An order is what a column is called, falling where a hyphen stands before it.
"""

from __future__ import annotations

from dataclasses import replace

from sigtest.render.model import Cell, Column, Interval, Name, Number, PValue, Range, Table, Words


def keyed(table: Table) -> list[tuple[str, Column]]:
    """Each column with what an order calls it: its heading, after that of its group if need be."""
    several = len(table.groups) > 1
    found = [(column.heading, column) for column in table.names]
    for group in table.groups:
        above = group.heading if several else ""
        found += [(f"{above} {column.heading}".strip(), column) for column in group.columns]
    return found


def sortable(table: Table) -> bool:
    """Whether rows may stand in another order: not where they are numbered in their own."""
    return table.size > 1 and all(column.heading for column in table.names)


def other(order: str, key: str, column: Column) -> str:
    """The order that a column leads to: the reverse if it is that one; names rise, numbers fall."""
    if order.removeprefix("-") == key:
        return key if order.startswith("-") else f"-{key}"
    return key if column.holds(Name, Words) else f"-{key}"


def ordered(table: Table, order: str) -> Table:
    """The table in this order, without clusters; as it is where it has no such column."""
    column = dict(keyed(table)).get(order.removeprefix("-")) if sortable(table) else None
    if column is None or not order:
        return table
    empty = [row for row, cell in enumerate(column.cells) if cell is None]
    known = [(_place(cell), row) for row, cell in enumerate(column.cells) if cell is not None]
    known.sort(key=lambda own: own[0], reverse=order.startswith("-"))
    rows = [*(row for _, row in known), *empty]
    return replace(table.of_rows(rows), breaks=frozenset())


def _place(cell: Cell) -> tuple[float, float, str]:
    """What tells which of two cells of a column comes first."""
    match cell:
        case Number():
            return cell.value, 0, ""
        case PValue():
            return cell.p, 0, ""
        case Interval():
            return cell.low, cell.high, ""
        case Range():
            return cell.first, cell.last, ""
    return 0, 0, cell.shown.casefold()
