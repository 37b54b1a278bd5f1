"""Columns that tables of every kind of answer have."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sigtest.render.model import Column, Interval, Mark, Name, Number, PValue, Words

Ends = tuple[float, float]
# p-values of both claims and the corrected one; `a`, `b` or `tie`; whether that may still change
Claims = tuple[tuple[float | None, float | None, float | None], str, bool]
CLAIMS = ("p, a is better", "p, b is better", "adjusted")


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


def claims(pairs: Sequence[Claims], alpha: float, correction: str) -> list[Column]:
    """P-values of both claims of each pair; the corrected one decides where there is one."""
    sides = ("a", "b") if correction == "none" else ("", "", "ab")
    return [
        Column(heading, tuple(
            p_value(p[i], alpha, better in side, bool(side) and unsure and (p[i] or 0) < 0.5)
            for p, better, unsure in pairs
        ))
        for i, (heading, side) in enumerate(zip(CLAIMS, sides, strict=False))
    ]  # fmt: skip


def decided(
    p: float, alpha: float, significant: bool, undecided: bool = False, exact: bool = False
) -> PValue:
    """A p-value and what was decided with it."""
    marks: dict[Mark, bool] = {"significant": significant, "undecided": undecided, "exact": exact}
    return PValue(p, alpha, frozenset(mark for mark, there in marks.items() if there))
