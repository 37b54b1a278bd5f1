"""How each system's scores are spread: boxes in the order of clusters."""

from __future__ import annotations

from sigtest.data.choices import choose
from sigtest.people.plots.order import in_order, mean, openings, require
from sigtest.people.report import CriterionReport, HumanReport, JudgedSystem
from sigtest.render.digits import MINUS, fixed
from sigtest.render.plots.drawing import (
    BODY,
    BOLD,
    COLUMN,
    HEADING,
    MARGIN,
    SMALL,
    Drawing,
    Scale,
    scale,
    text_width,
)
from sigtest.render.plots.labels import short_names, shortened

ROW = 12.5
NAME = 96.0
TOP = 27.0


def boxes_plot(report: HumanReport, criterion: str | None = None) -> str:
    """The picture as SVG.

    Args:
        report: Of a human evaluation.
        criterion: Its name; the first where none is named.

    Raises:
        RecipeError: A criterion that the report does not have, or rankings.
    """
    require(report.tested != "rankings", "scores: these are rankings")
    criterion = str(
        choose(criterion or report.criteria[0], report.criteria, "criterion", "criterion")
    )
    systems = in_order(report, criterion)
    shown = short_names([system.name for system in systems], NAME)
    labels = max(text_width(label) for label in shown.values()) * 1.08
    means = [mean(system.criteria[criterion]) for system in systems]
    numbers = [fixed(mean, 2).replace("-", MINUS) for mean in means]
    right = max(text_width(number, SMALL) for number in numbers) * 1.08
    unit = "z" if report.tested == "z" else "score"
    heading = shortened(f"{criterion}: {unit} by {report.aggregate}", COLUMN / BOLD - 8, HEADING)
    height = TOP + ROW * len(systems) + 34
    drawing = Drawing(heading, _description(systems, criterion), COLUMN, height)
    drawing.heading(heading)
    ends = [end for system in systems for end in system.criteria[criterion].box]
    across = scale(ends, MARGIN + labels + 8, COLUMN - MARGIN - right - 6)
    for i, (system, middle, number) in enumerate(zip(systems, means, numbers, strict=True)):
        y = TOP + (i + 0.5) * ROW
        drawing.text(MARGIN + labels, y + BODY * 0.35, shown[system.name], anchor="end")
        _box(drawing, across, y, system.criteria[criterion], middle)
        drawing.text(
            COLUMN - MARGIN, y + SMALL * 0.35, number, size=SMALL, anchor="end", colour="muted"
        )
    for place in openings(systems, criterion):
        edge = TOP + place * ROW
        drawing.line((MARGIN, edge), (COLUMN - MARGIN, edge), colour="rule")
    _axis(drawing, across, TOP + len(systems) * ROW + 2)
    return drawing.render()


def _description(systems: list[JudgedSystem], criterion: str) -> str:
    said = []
    for system in systems:
        low, middle, high = system.criteria[criterion].box[1:4]
        said.append(f"{system.name} median {middle:.3g}, quartiles {low:.3g} and {high:.3g}")
    return "; ".join(said) + "."


def _box(drawing: Drawing, across: Scale, y: float, own: CriterionReport, average: float) -> None:
    """Whiskers, quartiles, median as a line and mean as a mark."""
    first, low, middle, high, last = (across(value) for value in own.box)
    for start, end in ((first, low), (high, last)):
        drawing.line((start, y), (end, y), colour="muted")
    for end in (first, last):
        drawing.line((end, y - 2), (end, y + 2), colour="muted")
    drawing.rectangle(low, y - 3.6, max(high - low, 0.4), 7.2, "one")
    drawing.line((middle, y - 3.6), (middle, y + 3.6), thick=1.2)
    drawing.circle(across(average), y, 1.5, filled=True)


def _axis(drawing: Drawing, across: Scale, floor: float) -> None:
    drawing.axis(across, floor, 6)
    legend = "box: quartiles and median; whiskers: within 1.5 of the box; mark: mean"
    drawing.text(MARGIN, floor + 22, legend, size=SMALL, colour="muted")
