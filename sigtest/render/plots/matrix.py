"""Adjusted p-values of all pairs, systems ordered by score, clusters marked.

As Figures 7 and 8 of Graham, Mathur & Baldwin (2014): a row's system against a column's.
"""

from __future__ import annotations

from collections.abc import Sequence

from sigtest.errors import RecipeError
from sigtest.render.digits import counted, probability, short_probability
from sigtest.render.names import in_words, p_in_words
from sigtest.render.plots.drawing import (
    BODY,
    BOLD,
    HEADING,
    MARGIN,
    Colour,
    Drawing,
    text_width,
)
from sigtest.render.plots.labels import short_names, shortened
from sigtest.render.plots.scale import Level, legend, level_words, shade
from sigtest.render.plots.square import Square, frame_legend
from sigtest.render.plots.view import View
from sigtest.render.standings import matrix_of
from sigtest.report import PairReport, Report

LEVELS = (0.05, 0.01, 0.001)  # below alpha, that shades tell apart
SHADES: tuple[Colour, ...] = ("one", "two", "three")
CELL = (9.0, 26.0)  # smallest and largest side of a cell
ROOM = 20.0  # side from which a p-value fits into a cell
NAME = 96.0  # most that a name may take
TIGHT = 6.0  # letters of neighbouring numbers, so that two digits keep apart


def fits(report: Report) -> bool:
    """Whether all pairs are compared, so that a matrix can be filled."""
    systems, families = len(report.systems), len(report.metrics) * len(report.tests)
    return len(report.pairs) >= families * systems * (systems - 1) // 2 > 0


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
    matrix = matrix_of(report, view.metric, test)
    order, clusters, what, pairs = matrix.order, matrix.clusters, matrix.what, matrix.cells
    size, style = len(order), view.style
    shown = short_names(order, NAME)
    labels = max(text_width(label) for label in shown.values()) * 1.08 + 14
    cell = min(CELL[1], max(CELL[0], (view.width - labels - 2 * MARGIN) / size))
    wide = max(view.width, labels + size * cell + 2 * MARGIN)
    square = Square(labels + MARGIN, 36.0, cell)
    end = square.top + size * cell
    room = (wide - 2 * MARGIN) / BOLD - text_width(f": {what}", HEADING)
    heading = view.titled(f"{shortened(view.heading, room, HEADING)}: {what}")
    about = _description(order, in_words(test), len(clusters) - 1)
    drawing = Drawing(heading, about, wide, end + 4, shown_width=style.width)
    by = p_in_words(report.correction)
    below = f"{in_words(test)}, {by}"
    drawing.heading(heading, below, shown=style.has("title"), top=24.0)
    square.rows(drawing, [shown[name] for name in order])
    square.columns(drawing, size, max(TIGHT, min(BODY, 0.7 * cell)))
    _cells(drawing, order, pairs, square, report.alpha, style.has("numbers"))
    square.frames(drawing, clusters)
    if style.has("legend"):
        shades = {shade(pair.p_adjusted, _levels(report.alpha)) for pair in pairs.values()}
        drawing.height += 26
        x = legend(
            drawing,
            end + 14,
            [entry for entry in level_words(_levels(report.alpha)) if entry[0] in shades],
            undecided=any(pair.undecided for pair in pairs.values()),
        )
        if len(clusters) > 2:
            frame_legend(drawing, x, end + 14)
    return drawing.render()


def _description(order: Sequence[str], test: str, clusters: int) -> str:
    ranked = f" {counted(clusters, 'cluster')}." if clusters else ""
    return (
        f"Adjusted p-values of {test} for all pairs of {len(order)} systems, in this order: "
        f"{', '.join(order)}.{ranked}"
    )


def _cells(
    drawing: Drawing,
    names: Sequence[str],
    pairs: dict[tuple[str, str], PairReport],
    square: Square,
    alpha: float,
    numbers: bool,
) -> None:
    """Two-sided, the triangle above the diagonal; one-sided, the row's claim on the column."""
    places = {name: place for place, name in enumerate(names)}
    for (first, second), pair in pairs.items():
        p = pair.p_adjusted
        hint = f"{first} and {second}: p = {probability(p, alpha)}"
        word = short_probability(p, alpha) if square.cell >= ROOM and numbers else ""
        if pair.undecided:
            hint, word = f"{hint}, undecided", f"{word}?"
        cell = places[first], places[second]
        square.fill(drawing, cell, shade(p, _levels(alpha)), hint, word)


def _levels(alpha: float) -> list[Level]:
    """Alpha and stricter levels, each with its shade; the strictest first."""
    levels = (alpha, *(level for level in LEVELS if level < alpha))
    return list(zip(levels, SHADES, strict=False))[::-1]
