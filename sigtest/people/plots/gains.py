"""Longitudinal gains with their intervals, one row a language pair and criterion."""

from __future__ import annotations

from dataclasses import dataclass

from sigtest.people.plots.order import require
from sigtest.people.report import GainFigures, HumanReport
from sigtest.render.digits import MINUS, interval, percent, signed
from sigtest.render.plots.drawing import (
    BODY,
    COLUMN,
    MARGIN,
    SMALL,
    Drawing,
    Scale,
    scale,
    text_width,
)
from sigtest.render.plots.labels import short_names

ROW = 12.0
NAME = 80.0
TOP = 28.0


@dataclass(frozen=True)
class Row:
    """One gain.

    Attributes:
        label: Language pair and criterion.
        gain: Its value.
        ends: Of its interval; nothing for a mean over language pairs.
        shown: The same as text.
    """

    label: str
    gain: float
    ends: tuple[float, float] | None
    shown: str


def gain_plot(report: HumanReport) -> str:
    """The picture as SVG: raw gains, or standardised ones where raw scores are unknown.

    Raises:
        RecipeError: No gain was asked for.
    """
    require(bool(report.gain), "longitudinal gain")
    unit, rows = _rows(report)
    short = short_names([row.label for row in rows], NAME)
    labels = max(text_width(label) for label in short.values()) * 1.08
    numbers = max(text_width(row.shown, SMALL) for row in rows) * 1.05
    heading = f"Gain ({unit}), {percent(1 - report.alpha)} intervals"
    said = "; ".join(f"{row.label} {row.shown}" for row in rows)
    drawing = Drawing(heading, f"{said}.", COLUMN, TOP + ROW * len(rows) + 18)
    drawing.heading(heading, f"best new {MINUS} best old + current old {MINUS} current new")
    values = [value for row in rows for value in (row.gain, *(row.ends or ()))]
    across = scale([0.0, *values], MARGIN + labels + 8, COLUMN - 2 * MARGIN - numbers)
    floor = TOP + ROW * len(rows) + 2
    drawing.line((across(0), TOP), (across(0), floor), colour="muted", dashed=True)
    for i, row in enumerate(rows):
        _row(drawing, row, short[row.label], TOP + (i + 0.5) * ROW, across)
    drawing.axis(across, floor, 5)
    return drawing.render()


def _rows(report: HumanReport) -> tuple[str, list[Row]]:
    """Unit and rows; criteria below each other within each language pair."""
    raw = all(own.raw is not None for gain in report.gain for own in gain.criteria.values())
    rows = []
    for gain in report.gain:
        for criterion, own in gain.criteria.items():
            figures = own.raw if raw else own.z
            if figures is not None:
                label = f"{gain.name} {criterion}".strip()
                rows.append(Row(label, figures.gain, figures.ci, _shown(figures)))
    return "points" if raw else "z", rows


def _shown(figures: GainFigures) -> str:
    text = signed(figures.gain, 2)
    if figures.ci is not None:
        text += f" {interval(figures.ci, 2)}"
    return text.replace("-", MINUS)


def _row(drawing: Drawing, row: Row, label: str, y: float, across: Scale) -> None:
    drawing.text(MARGIN, y + BODY * 0.35, label)
    if row.ends is not None:
        low, high = (across(end) for end in row.ends)
        drawing.interval(low, high, y)
    apart = row.ends is not None and not row.ends[0] <= 0 <= row.ends[1]
    drawing.circle(across(row.gain), y, 1.8, filled=apart)
    right = drawing.width - MARGIN
    drawing.text(right, y + SMALL * 0.35, row.shown, size=SMALL, anchor="end", colour="muted")
