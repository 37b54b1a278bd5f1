"""Columns that tables of every kind of answer have."""

from __future__ import annotations

from collections.abc import Iterable

from sigtest.render.model import Column, Interval, Mark, Name, Number, PValue, Words

Ends = tuple[float, float]


def names(heading: str, texts: Iterable[str]) -> Column:
    """What rows are about."""
    return Column(heading, tuple(Name(text) for text in texts))


def numbers(
    heading: str, values: Iterable[float | None], places: int, signed: bool = False
) -> Column:
    """Numbers with so many decimals; nothing where there is none."""
    cells = (None if value is None else Number(value, places, signed) for value in values)
    return Column(heading, tuple(cells))


def intervals(ends: Iterable[Ends | None], places: int) -> Column:
    """Intervals with so many decimals; nothing where there is none."""
    cells = (None if pair is None else Interval(*pair, places) for pair in ends)
    return Column("interval", tuple(cells))


def words(heading: str, texts: Iterable[str]) -> Column:
    """A few words each."""
    return Column(heading, tuple(Words(text) for text in texts))


def p_value(
    p: float | None, alpha: float, significant: bool, undecided: bool = False
) -> PValue | None:
    """A p-value and what was decided with it; nothing where there is none."""
    return None if p is None else decided(p, alpha, significant, undecided)


def decided(
    p: float, alpha: float, significant: bool, undecided: bool = False, exact: bool = False
) -> PValue:
    """A p-value and what was decided with it."""
    marks: dict[Mark, bool] = {"significant": significant, "undecided": undecided, "exact": exact}
    return PValue(p, alpha, frozenset(mark for mark, there in marks.items() if there))
