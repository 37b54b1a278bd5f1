"""Annotators: the p-value of their quality control against the time they take.

As Figure 4 of Graham, Baldwin, Moffat & Zobel (2013).
"""

from __future__ import annotations

import math

from sigtest.people.plots.order import require
from sigtest.people.report import AnnotatorsReport, HumanReport
from sigtest.render.digits import MINUS
from sigtest.render.names import in_words
from sigtest.render.plots.drawing import BODY, COLUMN, SMALL, Drawing, Scale, scale

HEIGHT = 170.0
LEFT, RIGHT, TOP, BOTTOM = 34.0, 8.0, 28.0, 46.0
LEAST = -12.0  # decades of p that are drawn; smaller ones lie on the floor


def shows_annotators(report: HumanReport) -> bool:
    """Whether both p-value and time of any annotator are known."""
    return report.annotators is not None and bool(_known(report.annotators))


def annotators_plot(report: HumanReport) -> str:
    """The picture as SVG.

    Raises:
        RecipeError: Annotators, their times or their p-values are unknown.
    """
    given = report.annotators
    rows = [] if given is None else _known(given)
    require(bool(rows), "annotators with both a p-value and a time")
    assert given is not None
    heading = "Annotators: p-value against time"
    drawing = Drawing(heading, _description(given, rows), COLUMN, HEIGHT)
    passed = f"{in_words(given.test)}; p below {given.threshold:g} passes"
    drawing.heading(heading, passed, left=LEFT)
    floor = min(_decade(p) for _, p, _ in rows)
    across = scale([0.0, *(seconds for seconds, _, _ in rows)], LEFT + 3, COLUMN - RIGHT, 0.03)
    up = Scale(min(-2.0, floor) - 0.3, 0.15, HEIGHT - BOTTOM, TOP)
    _axes(drawing, across, up)
    edge = up(math.log10(given.threshold))
    drawing.line((across.start, edge), (across.end, edge), colour="muted", dashed=True)
    for seconds, p, verdict in rows:
        drawing.circle(across(seconds), up(_decade(p)), 1.8, filled=verdict == "kept")
    _legend(drawing, HEIGHT - 8)
    return drawing.render()


def _known(given: AnnotatorsReport) -> list[tuple[float, float, str]]:
    """Seconds, p-value and verdict of annotators for whom both are known."""
    found = []
    for row in given.each:
        p: float | None = getattr(row, given.test)
        if p is not None and row.seconds is not None and row.verdict != "untestable":
            found.append((row.seconds, p, row.verdict))
    return found


def _decade(p: float) -> float:
    return max(LEAST, math.log10(p)) if p > 0 else LEAST


def _description(given: AnnotatorsReport, rows: list[tuple[float, float, str]]) -> str:
    careless = [seconds for seconds, _, verdict in rows if verdict == "careless"]
    kept = [seconds for seconds, _, verdict in rows if verdict == "kept"]
    said = [f"{len(kept)} of {len(rows)} annotators pass {in_words(given.test)}"]
    for what, seconds in (("careful", kept), ("careless", careless)):
        if seconds:
            mean = sum(seconds) / len(seconds)
            said.append(f"{what} ones take {mean:.3g} seconds on average")
    return "; ".join(said) + "."


def _axes(drawing: Drawing, across: Scale, up: Scale) -> None:
    floor = HEIGHT - BOTTOM
    drawing.axis(across, floor, 6)
    drawing.text(
        (across.start + across.end) / 2, floor + 20, "mean seconds a judgement", anchor="middle"
    )
    decades = range(0, math.floor(up.low) - 1, -max(1, round(-up.low / 6)))
    for decade in decades:
        if decade < up.low:
            break
        y = up(decade)
        drawing.line((LEFT, y), (LEFT + 2.5, y), colour="muted")
        label = f"{10.0**decade:g}" if decade > -3 else f"1e{MINUS}{-decade}"
        drawing.text(LEFT - 2, y + 2.2, label, size=SMALL, anchor="end")


def _legend(drawing: Drawing, y: float) -> None:
    drawing.circle(LEFT + 3, y - 2.2, 1.8, filled=True)
    drawing.text(LEFT + 8, y, "passes", size=BODY)
    drawing.circle(LEFT + 45, y - 2.2, 1.8, filled=False)
    drawing.text(LEFT + 50, y, "does not", size=BODY)
