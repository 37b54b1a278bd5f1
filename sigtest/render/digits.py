"""Numbers as people read them: no more digits than they carry, never a p-value of 0."""

from __future__ import annotations

from collections.abc import Sequence

TINY = 1e-300
MINUS = "\N{MINUS SIGN}"


def fixed(value: float, places: int) -> str:
    """`value` with so many decimals, `inf` where there is no bound; a zero has no sign.

    Without decimals it is a count, whose thousands are marked.
    """
    shown = f"{value:{'' if places else ','}.{places}f}"
    return shown if shown.strip("-0.") else shown.removeprefix("-")


def signed(value: float, places: int) -> str:
    """`value` with its sign, and a zero without."""
    shown = fixed(value, places)
    return shown if shown.startswith("-") or not shown.strip("0.") else f"+{shown}"


def interval(ends: Sequence[float], places: int) -> str:
    """`[low, high]`."""
    return f"[{fixed(ends[0], places)}, {fixed(ends[1], places)}]"


def probability(p: float, alpha: float | None = None) -> str:
    """A p-value with two significant digits; more where rounding would carry it across alpha."""
    if p <= TINY:  # nor was anything smaller kept
        return f"<{TINY:.0e}"
    digits = 2
    shown = _significant(p, digits)
    while alpha is not None and (float(shown) <= alpha) != (p <= alpha) and digits < 17:
        digits += 1
        shown = _significant(p, digits)
    return shown


def short_probability(p: float, alpha: float | None = None) -> str:
    """A p-value for small places: `.012`, with the digits that it has elsewhere."""
    return probability(p, alpha).removeprefix("0")


def whole(value: int) -> str:
    """A count with its thousands marked."""
    return f"{value:,}"


def counted(count: int, noun: str) -> str:
    """`1 pair`, `3 pairs`."""
    return f"{whole(count)} {noun}{'' if count == 1 else 's'}"


def percent(share: float) -> str:
    """0.95 as `95 %`."""
    return f"{round(100 * share, 6):g} %"


def _significant(p: float, digits: int) -> str:
    """`p` with so many significant digits; 1 and 0 stay bare."""
    shown = f"{p:#.{digits}g}"
    return f"{float(shown):g}" if float(shown) in {0.0, 1.0} else shown.removesuffix(".")
