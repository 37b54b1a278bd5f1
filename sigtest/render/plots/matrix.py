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
    COLUMN,
    HEADING,
    SMALL,
    Colour,
    Drawing,
    text_width,
)
from sigtest.render.plots.labels import short_names, shortened
from sigtest.render.plots.view import View
from sigtest.render.standings import Standing, standings
from sigtest.report import PairReport, Report

LEVELS: tuple[tuple[float, Colour], ...] = ((0.001, "three"), (0.01, "two"), (0.05, "one"))
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
    ordered = standings(report, view.metric, test)
    pairs = {frozenset((pair.a, pair.b)): pair for pair in view.pairs}
    size = len(ordered)
    names = [standing.system.name for standing in ordered]
    shown = short_names(names, NAME)
    labels = max(text_width(label) for label in shown.values()) * 1.08 + 14
    cell = min(CELL[1], max(CELL[0], (COLUMN - labels - 2 * MARGIN) / size))
    wide = max(COLUMN, labels + size * cell + 2 * MARGIN)
    top = 36.0
    what = ": who is better than whom"
    room = (wide - 2 * MARGIN) / BOLD - text_width(what, HEADING)
    heading = shortened(view.heading, room, HEADING) + what
    drawing = Drawing(heading, _description(ordered, test), wide, top + size * cell + 30)
    drawing.text(MARGIN, 11, heading, size=HEADING, bold=True)
    by = "unadjusted p" if report.correction == "none" else f"p adjusted by {report.correction}"
    drawing.text(MARGIN, 20.5, f"{test}, {by}", size=SMALL, colour="muted")
    _labels(drawing, [shown[name] for name in names], labels, top, cell)
    _cells(drawing, names, pairs, (labels + MARGIN, top, cell), report.alpha)
    _clusters(drawing, ordered, (labels + MARGIN, top, cell))
    shades = {_shade(pair.p_adjusted) for pair in pairs.values()}
    _legend(drawing, top + size * cell + 14, shades, any(s.opens for s in ordered))
    return drawing.render()


def _description(ordered: Sequence[Standing], test: str) -> str:
    names = ", ".join(standing.system.name for standing in ordered)
    clusters = 1 + sum(standing.opens for standing in ordered)
    return (
        f"Adjusted p-values of {test} for all pairs of {len(ordered)} systems, from best to worst: "
        f"{names}. {clusters} cluster{'' if clusters == 1 else 's'}."
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
) -> None:
    """The triangle above the diagonal: the row's system has the better score."""
    left, top, cell = place
    for i, better in enumerate(names):
        for j in range(i + 1, len(names)):
            pair = pairs[frozenset((better, names[j]))]
            p = pair.p_adjusted
            colour = _shade(p)
            x, y = left + j * cell, top + i * cell
            hint = f"{better} and {names[j]}: p = {probability(p, alpha)}"
            gap = 0.5
            drawing.rectangle(x + gap, y + gap, cell - 2 * gap, cell - 2 * gap, colour, hint)
            if cell >= ROOM:
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


def _clusters(
    drawing: Drawing, ordered: Sequence[Standing], place: tuple[float, float, float]
) -> None:
    """A frame round the systems of each cluster, on the diagonal."""
    left, top, cell = place
    starts = [0, *(i for i, standing in enumerate(ordered) if standing.opens), len(ordered)]
    for first, last in pairwise(starts):
        side = (last - first) * cell
        drawing.frame(left + first * cell, top + first * cell, side, side, 1.1)


def _shade(p: float) -> Colour:
    return next((shade for limit, shade in LEVELS if p <= limit), "none")


def _legend(drawing: Drawing, y: float, shades: Collection[Colour], clusters: bool) -> None:
    """The shades that occur."""
    x = MARGIN
    entries: list[tuple[Colour, str]] = [
        (colour, f"p ≤ {limit:g}".replace("0.", ".")) for limit, colour in LEVELS
    ]
    for colour, label in [*entries, ("none", "larger")]:
        if colour not in shades:
            continue
        drawing.rectangle(x, y, 8, 8, colour)
        drawing.text(x + 11, y + 6.5, label, size=SMALL)
        x += 11 + text_width(label, SMALL) * 1.1 + 9
    if clusters:
        drawing.frame(x + 0.5, y + 0.5, 7, 7, 1.1)
        drawing.text(x + 11, y + 6.5, "cluster", size=SMALL)
