"""P-values of all ordered pairs: is the row's system better than the column's?

One criterion, or adequacy, fluency and both combined side by side, as Figure 7 of Graham, Mathur &
Baldwin (2014).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from sigtest.questions.human.plots.order import (
    Ordered,
    chosen,
    in_order,
    leading,
    openings,
    ordered_p,
)
from sigtest.questions.human.report import HumanReport, JudgedSystem
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
from sigtest.render.plots.scale import legend, level_words, shade

CELL = (7.0, 24.0)  # smallest and largest side of a cell
ROOM = 20.0  # side from which a p-value fits into a cell
PAGE = 480.0  # points across two columns
MARGIN = 4.0
BETWEEN = 10.0  # panels
NAME = 96.0  # most that a name may take
TOP = 34.0
TITLE = 12.0  # height of the panels' titles


@dataclass(frozen=True)
class Place:
    """Where a panel lies.

    Attributes:
        left: Of its cells.
        top: Of its cells.
        cell: Side of a cell.
    """

    left: float
    top: float
    cell: float


def heatmap_plot(report: HumanReport, criterion: str | None = None) -> str:
    """The picture of one criterion as SVG.

    Args:
        report: Of a human evaluation.
        criterion: Its name, or `combined`; the report's own conclusions where none is named.

    Raises:
        RecipeError: A criterion that the report does not have.
    """
    return _plot(report, [chosen(report, criterion)], COLUMN)


def panels_plot(report: HumanReport) -> str:
    """All criteria and their combination side by side, as SVG."""
    criteria = list(dict.fromkeys(pair.criterion for pair in report.pairs))
    return _plot(report, criteria, PAGE if len(criteria) > 1 else COLUMN)


def _plot(report: HumanReport, criteria: Sequence[str], page: float) -> str:
    order_by = criteria[0] if len(criteria) == 1 else leading(report)
    systems = in_order(report, order_by)
    names = [system.name for system in systems]
    shown = short_names(names, NAME)
    labels = max(text_width(label) for label in shown.values()) * 1.08 + 14
    free = page - labels - 2 * MARGIN - BETWEEN * (len(criteria) - 1)
    cell = min(CELL[1], max(CELL[0], free / len(criteria) / len(names)))
    side = cell * len(names)
    wide = max(page, labels + 2 * MARGIN + len(criteria) * (side + BETWEEN) - BETWEEN)
    heading = f"{' / '.join(criteria)}: who is better than whom"
    heading = shortened(heading, (wide - 2 * MARGIN) / BOLD, HEADING)
    top = TOP + TITLE * (len(criteria) > 1)
    drawing = Drawing(heading, _description(report, criteria, names), wide, top + side + 30)
    drawing.text(MARGIN, 11, heading, size=HEADING, bold=True)
    by = "unadjusted p" if report.correction == "none" else f"p adjusted by {report.correction}"
    drawing.text(MARGIN, 20.5, f"{report.test}, one-sided, {by}", size=SMALL, colour="muted")
    _rows(drawing, [shown[name] for name in names], Place(MARGIN + labels, top, cell))
    for number, criterion in enumerate(criteria):
        place = Place(MARGIN + labels + number * (side + BETWEEN), top, cell)
        if len(criteria) > 1:
            title = shortened(criterion, side / BOLD)
            drawing.text(place.left, top - 12, title, bold=True)
        _panel(drawing, ordered_p(report, criterion), names, place)
        _clusters(drawing, systems, criterion, place)
    _legend(drawing, top + side + 14)
    return drawing.render()


def _description(report: HumanReport, criteria: Sequence[str], names: Sequence[str]) -> str:
    said = []
    for criterion in criteria:
        rows = [pair for pair in report.pairs if pair.criterion == criterion]
        apart = sum(pair.conclusion != "tie" for pair in rows)
        said.append(f"{criterion} separates {apart} of {len(rows)} pairs")
    return f"From best to worst: {', '.join(names)}. {'; '.join(said)}."


def _rows(drawing: Drawing, names: Sequence[str], place: Place) -> None:
    """Place and name at each row."""
    size = min(BODY, place.cell)
    for i, name in enumerate(names):
        y = place.top + (i + 0.5) * place.cell + size * 0.35
        drawing.text(place.left - 13, y, name, size=size, anchor="end")
        drawing.text(place.left - 3, y, str(i + 1), size=size, anchor="end", colour="muted")


def _panel(drawing: Drawing, p: Ordered, names: Sequence[str], place: Place) -> None:
    """All cells but the diagonal, with the place of each column above."""
    left, top, cell = place.left, place.top, place.cell
    gap = min(0.5, cell / 20)
    for i, better in enumerate(names):
        x = left + (i + 0.5) * cell
        size = min(SMALL, 0.75 * cell)
        drawing.text(x, top - 3, str(i + 1), size=size, anchor="middle", colour="muted")
        for j, worse in enumerate(names):
            if i == j:
                continue
            value = p[better, worse]
            colour = shade(value)
            x, y = left + j * cell, top + i * cell
            hint = f"{better} better than {worse}: p = {probability(value)}"
            side = cell - 2 * gap
            drawing.rectangle(x + gap, y + gap, side, side, colour, hint)
            if cell >= ROOM:
                ink: Colour = "paper" if colour == "three" else "ink"
                middle = y + cell / 2 + SMALL * 0.35
                drawing.text(
                    x + cell / 2,
                    middle,
                    short_probability(value),
                    size=SMALL,
                    anchor="middle",
                    colour=ink,
                )


def _clusters(
    drawing: Drawing, systems: Sequence[JudgedSystem], criterion: str, place: Place
) -> None:
    """A frame round the systems of each cluster, on the diagonal."""
    starts = [0, *openings(systems, criterion), len(systems)]
    for first, last in pairwise(starts):
        moved, side = first * place.cell, (last - first) * place.cell
        drawing.frame(place.left + moved, place.top + moved, side, side, 1.1)


def _legend(drawing: Drawing, y: float) -> None:
    x = legend(drawing, MARGIN, y, level_words())
    drawing.frame(x + 0.5, y + 0.5, 7, 7, 1.1)
    drawing.text(x + 11, y + 6.5, "cluster", size=SMALL)
