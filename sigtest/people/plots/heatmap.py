"""P-values of all ordered pairs: is the row's system better than the column's?

One criterion, or adequacy, fluency and both combined side by side, as Figure 7 of Graham, Mathur &
Baldwin (2014).
"""

from __future__ import annotations

from collections.abc import Sequence

from sigtest.people.plots.order import (
    chosen,
    in_order,
    leading,
    openings,
    ordered_p,
)
from sigtest.people.report import HumanReport
from sigtest.render.digits import short_probability
from sigtest.render.names import in_words, p_in_words
from sigtest.render.plots.drawing import (
    BOLD,
    COLUMN,
    HEADING,
    MARGIN,
    PAGE,
    SMALL,
    Drawing,
    text_width,
)
from sigtest.render.plots.labels import short_names, shortened
from sigtest.render.plots.scale import legend, level_words
from sigtest.render.plots.square import Square, frame_legend

CELL = (7.0, 24.0)  # smallest and largest side of a cell
ROOM = 20.0  # side from which a p-value fits into a cell
BETWEEN = 10.0  # panels
NAME = 96.0  # most that a name may take
TOP = 34.0
TITLE = 12.0  # height of the panels' titles


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
    by = p_in_words(report.correction)
    drawing.heading(heading, f"{in_words(report.test)}, one-sided, {by}")
    Square(MARGIN + labels, top, cell).rows(drawing, [shown[name] for name in names])
    for number, criterion in enumerate(criteria):
        square = Square(MARGIN + labels + number * (side + BETWEEN), top, cell)
        if len(criteria) > 1:
            title = shortened(criterion, side / BOLD)
            drawing.text(square.left, top - 12, title, bold=True)
        square.columns(drawing, len(names), min(SMALL, 0.75 * cell))
        word = short_probability if cell >= ROOM else lambda p: ""
        square.fill_beaten(drawing, names, ordered_p(report, criterion), word)
        square.frames(drawing, [0, *openings(systems, criterion), len(systems)])
    y = top + side + 14
    frame_legend(drawing, legend(drawing, y, level_words()), y)
    return drawing.render()


def _description(report: HumanReport, criteria: Sequence[str], names: Sequence[str]) -> str:
    said = []
    for criterion in criteria:
        rows = [pair for pair in report.pairs if pair.criterion == criterion]
        apart = sum(pair.conclusion != "tie" for pair in rows)
        said.append(f"{criterion} separates {apart} of {len(rows)} pairs")
    return f"From best to worst: {', '.join(names)}. {'; '.join(said)}."
