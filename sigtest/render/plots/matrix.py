"""Adjusted p-values of all pairs, systems ordered by score, clusters marked.

As Figures 7 and 8 of Graham, Mathur & Baldwin (2014): a row's system against a column's.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import pairwise

from sigtest.errors import RecipeError
from sigtest.render.digits import probability, short_probability
from sigtest.render.plots.drawing import (
    BODY,
    BOLD,
    HEADING,
    SMALL,
    Colour,
    Drawing,
    text_width,
)
from sigtest.render.plots.labels import short_names, shortened
from sigtest.render.plots.scale import Level, legend, level_words, shade
from sigtest.render.plots.view import View
from sigtest.render.standings import matrix_order
from sigtest.render.tables import test_words
from sigtest.report import PairReport, Report

LEVELS = (0.05, 0.01, 0.001)  # below alpha, that shades tell apart
SHADES: tuple[Colour, ...] = ("one", "two", "three")
CELL = (9.0, 26.0)  # smallest and largest side of a cell
ROOM = 20.0  # side from which a p-value fits into a cell
MARGIN = 4.0
NAME = 96.0  # most that a name may take
TIGHT = 6.0  # letters of neighbouring numbers, so that two digits keep apart


def fits(report: Report) -> bool:
    """Whether all pairs are compared, so that a matrix can be filled."""
    systems, families = len(report.systems), len(report.metrics) * len(report.tests)
    return bool(report.pairs) and len(report.pairs) == families * systems * (systems - 1) // 2


def plot(view: View) -> str:
    """The picture as SVG.

    Raises:
        RecipeError: A comparison with a baseline only.
    """
    report, test = view.report, view.test
    if not fits(report):
        raise RecipeError(
            "A matrix needs all pairs; this comparison has a baseline.", field="pairs"
        )
    order, clusters, what = matrix_order(report, view.metric, test)
    pairs = {frozenset((pair.a, pair.b)): pair for pair in view.pairs}
    size, style = len(order), view.style
    shown = short_names(order, NAME)
    labels = max(text_width(label) for label in shown.values()) * 1.08 + 14
    cell = min(CELL[1], max(CELL[0], (view.width - labels - 2 * MARGIN) / size))
    wide = max(view.width, labels + size * cell + 2 * MARGIN)
    top, place = 36.0, (labels + MARGIN, 36.0, cell)
    room = (wide - 2 * MARGIN) / BOLD - text_width(f": {what}", HEADING)
    heading = view.titled(f"{shortened(view.heading, room, HEADING)}: {what}")
    about = _description(order, test_words(test), len(clusters) - 1)
    drawing = Drawing(heading, about, wide, top + size * cell + 4, shown_width=style.width)
    by = "unadjusted p" if report.correction == "none" else f"p adjusted by {report.correction}"
    if style.has("title"):
        drawing.text(MARGIN, 11, heading, size=HEADING, bold=True)
        drawing.text(MARGIN, 20.5, f"{test_words(test)}, {by}", size=SMALL, colour="muted")
    else:
        drawing.top = 24.0
    _labels(drawing, [shown[name] for name in order], labels, top, cell)
    _cells(drawing, order, pairs, place, report.alpha, style.has("numbers"))
    _frames(drawing, clusters, place)
    if style.has("legend"):
        shades = {shade(pair.p_adjusted, _levels(report.alpha)) for pair in pairs.values()}
        drawing.height += 26
        _legend(drawing, top + size * cell + 14, shades, report.alpha, len(clusters) > 2)
    return drawing.render()


def _description(order: Sequence[str], test: str, clusters: int) -> str:
    ranked = f" {clusters} cluster{'' if clusters == 1 else 's'}." if clusters else ""
    return (
        f"Adjusted p-values of {test} for all pairs of {len(order)} systems, in this order: "
        f"{', '.join(order)}.{ranked}"
    )


def _labels(drawing: Drawing, names: Sequence[str], labels: float, top: float, cell: float) -> None:
    """Place and name at each row, place at each column."""
    size = min(BODY, cell)
    narrow = max(TIGHT, min(BODY, 0.7 * cell))
    for i, name in enumerate(names):
        y = top + (i + 0.5) * cell + size * 0.35
        drawing.text(MARGIN + labels - 13, y, name, size=size, anchor="end")
        drawing.text(MARGIN + labels - 3, y, str(i + 1), size=size, anchor="end", colour="muted")
        x = MARGIN + labels + (i + 0.5) * cell
        drawing.text(x, top - 3, str(i + 1), size=narrow, anchor="middle", colour="muted")


def _cells(
    drawing: Drawing,
    names: Sequence[str],
    pairs: dict[frozenset[str], PairReport],
    place: tuple[float, float, float],
    alpha: float,
    numbers: bool,
) -> None:
    """The triangle above the diagonal: the row's system stands before the column's."""
    left, top, cell = place
    for i, first in enumerate(names):
        for j in range(i + 1, len(names)):
            pair = pairs[frozenset((first, names[j]))]
            p = pair.p_adjusted
            colour = shade(p, _levels(alpha))
            x, y = left + j * cell, top + i * cell
            hint = f"{first} and {names[j]}: p = {probability(p, alpha)}"
            gap = 0.5
            drawing.rectangle(x + gap, y + gap, cell - 2 * gap, cell - 2 * gap, colour, hint)
            if cell >= ROOM and numbers:
                shown: Colour = "paper" if colour == "three" else "ink"
                middle = y + cell / 2 + SMALL * 0.35
                drawing.text(
                    x + cell / 2,
                    middle,
                    short_probability(p, alpha),
                    size=SMALL,
                    anchor="middle",
                    colour=shown,
                )


def _frames(drawing: Drawing, clusters: Sequence[int], place: tuple[float, float, float]) -> None:
    """A frame round the systems of each cluster, on the diagonal."""
    left, top, cell = place
    for first, last in pairwise(clusters):
        side = (last - first) * cell
        drawing.frame(left + first * cell, top + first * cell, side, side, 1.1)


def _levels(alpha: float) -> list[Level]:
    """Alpha and stricter levels, each with its shade; the strictest first."""
    levels = (alpha, *(level for level in LEVELS if level < alpha))
    return list(zip(levels, SHADES, strict=False))[::-1]


def _legend(
    drawing: Drawing, y: float, shades: Collection[Colour], alpha: float, clusters: bool
) -> None:
    """The shades that occur."""
    entries = [entry for entry in level_words(_levels(alpha)) if entry[0] in shades]
    x = legend(drawing, MARGIN, y, entries)
    if clusters:
        drawing.frame(x + 0.5, y + 0.5, 7, 7, 1.1)
        drawing.text(x + 11, y + 6.5, "cluster", size=SMALL)
