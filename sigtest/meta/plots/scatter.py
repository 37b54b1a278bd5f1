"""One metric against people, system by system, both standardised, with r and rho.

As Figure 1 of Graham & Baldwin (2014), "Testing for Significance of Increased Correlation with
Human Judgment".
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import fmean, pstdev

from sigtest.meta.plots.shown import metric_of, require, shown
from sigtest.meta.report import MetaReport
from sigtest.render.digits import MINUS, fixed
from sigtest.render.plots.drawing import (
    BOLD,
    COLUMN,
    HEADING,
    SMALL,
    Drawing,
    Scale,
    scale,
    text_width,
)
from sigtest.render.plots.labels import short_names, shortened

SIDE = 196.0  # of the square
LEFT, TOP, MARGIN = 34.0, 28.0, 4.0
KEY = 9.0  # height of a line of the key
FEWEST = 3


def scatter_plot(report: MetaReport, metric: str | None = None, testset: str | None = None) -> str:
    """The picture as SVG.

    Args:
        report: Of a metric evaluation.
        metric: Label of the metric; the first where none is named.
        testset: Name of the set; the first where none is named.

    Raises:
        RecipeError: A metric or set that the report does not have.
        InputError: Fewer than three systems with both scores, or scores that are all equal.
    """
    own = shown(report, testset)
    about = metric_of(own, metric)
    sign = 1.0 if about.higher_is_better else -1.0
    names, people, scores = [], [], []
    for system in own.own.systems:
        score = system.scores.get(about.label)
        if system.human is not None and score is not None:
            names.append(system.name)
            people.append(system.human)
            scores.append(sign * score)
    require(len(names) >= FEWEST, "scores of three systems, by people and by the metric")
    require(len(set(people)) > 1 and len(set(scores)) > 1, "scores that are not all equal")
    x, y = _standardised(scores), _standardised(people)
    r, rho = _correlation(x, y), _correlation(_ranks(x), _ranks(y))
    what = f"r = {fixed(r, 3)}, rho = {fixed(rho, 3)}".replace("-", MINUS)
    label = about.label if about.higher_is_better else f"{about.label}, turned round"
    heading = shortened(f"{own.title}{label} and people", (COLUMN - 2 * MARGIN) / BOLD, HEADING)
    lines = math.ceil(len(names) / 2)
    drawing = Drawing(heading, _description(names, x, y, what), COLUMN, 0)
    drawing.text(MARGIN, 11, heading, size=HEADING, bold=True)
    drawing.text(MARGIN, 20.5, what, size=SMALL, colour="muted")
    across, up = scale(x, LEFT, LEFT + SIDE), scale(y, TOP + SIDE, TOP)
    _axes(drawing, across, up, shortened(label, 0.6 * SIDE))
    for i, (a, b) in enumerate(zip(x, y, strict=True)):
        drawing.circle(across(a), up(b), 1.8, filled=True)
        right = across(a) + 3 + text_width(str(i + 1), SMALL) < COLUMN
        drawing.text(
            across(a) + (3 if right else -3),
            up(b) - 1.5,
            str(i + 1),
            size=SMALL,
            anchor="start" if right else "end",
            colour="muted",
        )
    drawing.height = TOP + SIDE + 34 + lines * KEY
    _key(drawing, names, TOP + SIDE + 36)
    return drawing.render()


def _standardised(values: Sequence[float]) -> list[float]:
    middle, spread = fmean(values), pstdev(values)
    return [(value - middle) / spread for value in values]


def _correlation(x: Sequence[float], y: Sequence[float]) -> float:
    """Of vectors that are not constant."""
    a, b = _standardised(x), _standardised(y)
    return fmean(p * q for p, q in zip(a, b, strict=True))


def _ranks(values: Sequence[float]) -> list[float]:
    """Ties share the middle rank."""
    return [
        sum(other < value for other in values) + (sum(o == value for o in values) + 1) / 2
        for value in values
    ]


def _description(names: Sequence[str], x: Sequence[float], y: Sequence[float], what: str) -> str:
    rows = zip(names, x, y, strict=True)
    points = "; ".join(f"{name} {a:.2f} by the metric, {b:.2f} by people" for name, a, b in rows)
    return f"{what}. Standard deviations from the mean: {points}."


def _axes(drawing: Drawing, across: Scale, up: Scale, label: str) -> None:
    drawing.frame(LEFT, TOP, SIDE, SIDE, 0.6)
    for value in across.ticks(6):
        x = across(value)
        drawing.line((x, TOP + SIDE), (x, TOP + SIDE + 2.5))
        shown_ = f"{value:g}".replace("-", MINUS)
        drawing.text(x, TOP + SIDE + 9.5, shown_, size=SMALL, anchor="middle")
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
