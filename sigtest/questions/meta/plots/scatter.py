"""One metric against people, system by system, both standardised, with r and rho.

As Figure 1 of Graham & Baldwin (2014), "Testing for Significance of Increased Correlation with
Human Judgment".
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from statistics import fmean, pstdev

import numpy as np

from sigtest.questions.meta.plots.shown import Shown, metric_of, require, shown
from sigtest.questions.meta.report import MetaReport, MetricEvaluation
from sigtest.questions.meta.statistics.correlation import pearson, spearman
from sigtest.render.digits import MINUS, fixed
from sigtest.render.plots.drawing import (
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

SIDE = 196.0  # of the square
LEFT, TOP = 34.0, 28.0
KEY = 9.0  # height of a line of the key
FEWEST = 3
RADIUS = 1.8  # of a point
DIGIT = 0.72 * SMALL  # height of a digit

Box = tuple[float, float, float, float]  # left, top, right, bottom


def scatter_plot(report: MetaReport, metric: str | None = None, testset: str | None = None) -> str:
    """The picture as SVG.

    Args:
        report: Of a metric evaluation.
        metric: Label of the metric; the first that can be drawn where none is named.
        testset: Name of the set; the first where none is named.

    Raises:
        RecipeError: A metric or set that the report does not have.
        InputError: Fewer than three systems with both scores, or scores that are all equal.
    """
    own = shown(report, testset)
    about = metric_of(own, metric or next(iter(scattered(own)), None))
    names, people, scores = _scores(own, about)
    require(len(names) >= FEWEST, "scores of three systems, by people and by the metric")
    require(len(set(people)) > 1 and len(set(scores)) > 1, "scores that are not all equal")
    x, y = _standardised(scores), _standardised(people)
    r, rho = (fixed(of(np.array(x), np.array(y)), 3) for of in (pearson, spearman))
    what = f"r = {r}, rho = {rho}".replace("-", MINUS)
    label = about.label if about.higher_is_better else f"{about.label}, turned round"
    heading = shortened(f"{own.title}{label} and people", (COLUMN - 2 * MARGIN) / BOLD, HEADING)
    lines = math.ceil(len(names) / 2)
    drawing = Drawing(heading, _description(names, x, y, what), COLUMN, 0)
    drawing.heading(heading, what)
    across, up = scale(x, LEFT, LEFT + SIDE, 0.06), scale(y, TOP + SIDE, TOP, 0.06)
    _axes(drawing, across, up, shortened(label, 0.6 * SIDE))
    points = [(across(a), up(b)) for a, b in zip(x, y, strict=True)]
    for i, (point, (left, base)) in enumerate(zip(points, _places(points), strict=True), 1):
        drawing.circle(*point, RADIUS, filled=True)
        drawing.text(left, base, str(i), size=SMALL, colour="muted")
    drawing.height = TOP + SIDE + 34 + lines * KEY
    _key(drawing, names, TOP + SIDE + 36)
    return drawing.render()


def scattered(own: Shown) -> tuple[str, ...]:
    """Labels of the metrics of a set that can be drawn against people."""
    found = []
    for about in own.metrics:
        names, people, scores = _scores(own, about)
        if len(names) >= FEWEST and len(set(people)) > 1 and len(set(scores)) > 1:
            found.append(about.label)
    return tuple(found)


def _scores(own: Shown, about: MetricEvaluation) -> tuple[list[str], list[float], list[float]]:
    """Systems that both score: names, scores by people, and by the metric, greater being better."""
    sign = 1.0 if about.higher_is_better else -1.0
    rows = [
        (system.name, system.human, sign * score)
        for system in own.own.systems
        if system.human is not None and (score := system.scores.get(about.label)) is not None
    ]
    return [row[0] for row in rows], [row[1] for row in rows], [row[2] for row in rows]


def _standardised(values: Sequence[float]) -> list[float]:
    middle, spread = fmean(values), pstdev(values)
    return [(value - middle) / spread for value in values]


def _description(names: Sequence[str], x: Sequence[float], y: Sequence[float], what: str) -> str:
    rows = zip(names, x, y, strict=True)
    points = "; ".join(f"{name} {a:.2f} by the metric, {b:.2f} by people" for name, a, b in rows)
    return f"{what}. Standard deviations from the mean: {points}."


def _places(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Where the number of each point begins: beside it, over as little else as can be."""
    inside = (LEFT, TOP, LEFT + SIDE, TOP + SIDE)
    taken: list[Box] = [(x - RADIUS, y - RADIUS, x + RADIUS, y + RADIUS) for x, y in points]
    found = []
    for i, (x, y) in enumerate(points, 1):
        wide = text_width(str(i), SMALL)
        best = min(_beside(x, y, wide), key=lambda box: _covered(box, taken, inside))
        taken.append(best)
        found.append((best[0], best[3]))
    return found


def _beside(x: float, y: float, wide: float) -> Iterator[Box]:
    """Boxes for a label round a point, the usual one first."""
    for gap in (1.2, 4.0, 8.0):
        right, left, middle = x + RADIUS + gap, x - RADIUS - gap - wide, x - wide / 2
        above, below, level = y - 1.5 - DIGIT, y + 1.5, y - DIGIT / 2
        over, under = y - RADIUS - gap - DIGIT, y + RADIUS + gap
        for start, top in ((right, above), (left, above), (right, below), (left, below),
                           (middle, over), (middle, under), (right, level),
                           (left, level)):  # fmt: skip
            yield start, top, start + wide, top + DIGIT


def _covered(box: Box, taken: Sequence[Box], inside: Box) -> float:
    """How much of a box lies over others, and out of the frame."""
    area = (box[2] - box[0]) * (box[3] - box[1])
    return area - _common(box, inside) + sum(_common(box, other) for other in taken)


def _common(a: Box, b: Box) -> float:
    """Area that two boxes share."""
    wide, high = min(a[2], b[2]) - max(a[0], b[0]), min(a[3], b[3]) - max(a[1], b[1])
    return wide * high if wide > 0 and high > 0 else 0.0


def _axes(drawing: Drawing, across: Scale, up: Scale, label: str) -> None:
    drawing.frame(LEFT, TOP, SIDE, SIDE, 0.6)
    drawing.ticks(across, TOP + SIDE, 6)
    for value in up.ticks(6):
        y = up(value)
        drawing.line((LEFT - 2.5, y), (LEFT, y))
        shown_ = f"{value:g}".replace("-", MINUS)
        drawing.text(LEFT - 4, y + SMALL * 0.35, shown_, size=SMALL, anchor="end")
    drawing.text(LEFT + SIDE / 2, TOP + SIDE + 20, f"{label}, standardised", anchor="middle")
    drawing.text(12, TOP + SIDE / 2, "people, standardised", anchor="middle", turned=True)


def _key(drawing: Drawing, names: Sequence[str], top: float) -> None:
    """Which number is which system, in two columns."""
    lines = math.ceil(len(names) / 2)
    half = COLUMN / 2 - MARGIN
    short = short_names(names, half - 16, SMALL)
    for i, name in enumerate(names):
        x, y = MARGIN + (i // lines) * half, top + (i % lines) * KEY
        drawing.text(x + 9, y, str(i + 1), size=SMALL, anchor="end", colour="muted")
        drawing.text(x + 12, y, short[name], size=SMALL)
