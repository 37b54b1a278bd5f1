"""Scores and differences with their intervals, one row each, as forest plots show them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sigtest.recipe import choose
from sigtest.render.layout import (
    Standing,
    leading_test,
    metric_decimals,
    metric_heading,
    standings,
)
from sigtest.render.numbers import MINUS, fixed, interval, percent, signed
from sigtest.render.plots.drawing import BODY, COLUMN, SMALL, Drawing, Scale, scale, text_width
from sigtest.report import PairReport, Report

MANY = 30  # pairs, above which only neighbours in the order of scores are drawn
ROW = 10.5
MARGIN = 4.0
LEAST = 78.0  # width of the part with the intervals


@dataclass(frozen=True)
class Row:
    """One value with its interval.

    Attributes:
        label: What it is.
        value: The score or difference.
        ends: Of the interval.
        shown: The same as text.
        filled: Whether its mark is filled.
        ruled: Whether a light rule parts it from the row above.
    """

    label: str
    value: float
    ends: tuple[float, float]
    shown: str
    filled: bool = True
    ruled: bool = False


def plot(report: Report, metric: str | None = None, test: str | None = None) -> str:
    """The picture as SVG.

    Args:
        report: What to show.
        metric: Label of the metric; the first where none is named.
        test: Whose decisions fill the marks of differences; the first that keeps its level where
            none is named.

    Raises:
        RecipeError: An unknown metric or test.
    """
    metric = choose(metric or next(iter(report.metrics)), report.metrics, "metric", "metric")
    test = choose(test or leading_test(report), report.tests, "test", "significance test")
    places = metric_decimals(report, metric)
    ordered = standings(report, metric, test)
    scores = [_score(standing, places) for standing in ordered]
    pairs = [p for p in report.pairs if p.metric == metric and p.test == test]
    neighbours = len(pairs) > MANY
    differences = _differences(ordered, pairs, places, neighbours)
    rows = [*scores, *differences]
    labels = _labels(rows)
    numbers = max(text_width(row.shown, SMALL) for row in rows) * 1.05
    wide = max(COLUMN, labels + numbers + LEAST + 4 * MARGIN)
    heading = f"{metric_heading(report, metric)}, {percent(1 - report.alpha)} intervals"
    drawing = Drawing(heading, _description(scores, differences), wide, 0)
    drawing.text(MARGIN, 11, heading, size=8, bold=True)
    end = wide - 2 * MARGIN - numbers
    y = _panel(drawing, scores, 20, end, zero=False)
    what = "differences between neighbours" if neighbours else "differences"
    drawing.text(MARGIN, y + 9, what, bold=True)
    y = _panel(drawing, differences, y + 15, end, zero=True)
    drawing.height = _legend(drawing, y + 6, f"{test}, alpha {report.alpha:g}")
    return drawing.render()


def _score(standing: Standing, places: int) -> Row:
    score = standing.score
    shown = f"{fixed(score.score, places)} {interval(score.ci, places)}"
    return Row(
        standing.system.name, score.score, score.ci, shown.replace("-", MINUS), ruled=standing.opens
    )


def _differences(
    ordered: Sequence[Standing], pairs: Sequence[PairReport], places: int, neighbours: bool
) -> list[Row]:
    """Better minus worse score, from the best system on."""
    place = {standing.system.name: i for i, standing in enumerate(ordered)}
    rows = []
    for pair in sorted(pairs, key=lambda p: sorted((place[p.a], place[p.b]))):
        first, last = sorted((pair.a, pair.b), key=place.__getitem__)
        if neighbours and place[last] != place[first] + 1:
            continue
        turned = first != pair.a
        value = -pair.difference if turned else pair.difference
        ends = (-pair.ci[1], -pair.ci[0]) if turned else pair.ci
        shown = f"{signed(value, places)} {interval(ends, places)}".replace("-", MINUS)
        rows.append(Row(f"{first} {MINUS} {last}", value, ends, shown, pair.significant))
    return rows


def _description(scores: Sequence[Row], differences: Sequence[Row]) -> str:
    said = [f"{row.label} {row.shown}" for row in (*scores, *differences)]
    return "; ".join(said) + "."


def _panel(drawing: Drawing, rows: Sequence[Row], top: float, end: float, *, zero: bool) -> float:
    """Rows below each other with an axis; returns where the next thing may begin."""
    start = MARGIN + _labels(rows) + 8
    across = scale([v for row in rows for v in row.ends] + [0.0] * zero, start, end)
    floor = top + len(rows) * ROW + 2
    if zero:
        drawing.line((across(0), top), (across(0), floor), colour="muted", dashed=True)
    for i, row in enumerate(rows):
        y = top + (i + 0.5) * ROW
        if row.ruled:
            edge = y - ROW / 2
            drawing.line((MARGIN, edge), (drawing.width - MARGIN, edge), colour="rule")
        _row(drawing, row, y, across)
    _axis(drawing, across, floor)
    return floor + 14


def _row(drawing: Drawing, row: Row, y: float, across: Scale) -> None:
    drawing.text(MARGIN, y + BODY * 0.35, row.label)
    low, high = (across(end) for end in row.ends)
    drawing.line((low, y), (high, y), colour="strong", thick=0.9)
    for end in (low, high):
        drawing.line((end, y - 2.2), (end, y + 2.2), colour="strong", thick=0.9)
    drawing.circle(across(row.value), y, 1.7, filled=row.filled)
    drawing.text(
        drawing.width - MARGIN,
        y + SMALL * 0.35,
        row.shown,
        size=SMALL,
        anchor="end",
        colour="muted",
    )


def _axis(drawing: Drawing, across: Scale, floor: float) -> None:
    drawing.line((across.start, floor), (across.end, floor))
    for value in across.ticks(5):
        drawing.line((across(value), floor), (across(value), floor + 2.5))
        label = f"{value:g}".replace("-", MINUS)
        drawing.text(across(value), floor + 9, label, size=SMALL, anchor="middle")


def _legend(drawing: Drawing, y: float, by: str) -> float:
    """What the marks mean; returns the height of the drawing."""
    drawing.circle(MARGIN + 3, y + 3, 1.9, filled=True)
    drawing.text(MARGIN + 8, y + 5.2, f"significant ({by})", size=SMALL)
    drawing.circle(MARGIN + 3, y + 12, 1.9, filled=False)
    drawing.text(MARGIN + 8, y + 14.2, "not significant", size=SMALL)
    return y + 20


def _labels(rows: Sequence[Row]) -> float:
    """Width of the widest label."""
    return max(text_width(row.label) for row in rows) * 1.08
