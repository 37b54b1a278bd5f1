"""Shades of p-values: which level has which, and what a legend says of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sigtest.render.plots.drawing import MARGIN, SMALL, Colour, Drawing, text_width

Level = tuple[float, Colour]  # the largest p-value that has a shade

P_LEVELS: tuple[Level, ...] = ((0.001, "three"), (0.01, "two"), (0.05, "one"))
UNDECIDED = "? undecided"
LARGER: tuple[Colour, str] = ("none", "larger")


def shade(p: float, levels: Sequence[Level] = P_LEVELS) -> Colour:
    """The shade of the strictest level that a p-value reaches; levels are strictest first."""
    return next((colour for limit, colour in levels if p <= limit), "none")


def level_words(levels: Sequence[Level] = P_LEVELS) -> list[tuple[Colour, str]]:
    """What a legend says of each level, and of larger p-values."""
    return [*((colour, f"p ≤ {limit:g}".replace("0.", ".")) for limit, colour in levels), LARGER]


def legend(
    drawing: Drawing,
    y: float,
    entries: Iterable[tuple[Colour, str]],
    size: float = SMALL,
    undecided: bool = False,
) -> float:
    """Draw shades with their words side by side; returns where the next one would begin."""
    x = MARGIN
    for colour, label in entries:
        drawing.rectangle(x, y, 8, 8, colour)
        drawing.text(x + 11, y + 6.5, label, size=size)
        x += 11 + text_width(label, size) * 1.1 + 9
    if undecided:
        drawing.text(x, y + 6.5, UNDECIDED, size=size)
        x += text_width(UNDECIDED, size) * 1.1 + 9
    return x
