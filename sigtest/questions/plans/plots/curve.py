"""The smallest difference that shows against the number of units, with its interval."""

from __future__ import annotations

import math
from itertools import pairwise

from sigtest.errors import RecipeError
from sigtest.questions.plans.report import PlannedPair, PlannedSize, PlanReport
from sigtest.render.digits import fixed, interval, whole
from sigtest.render.plots.drawing import BOLD, COLUMN, HEADING, SMALL, Drawing, Scale, scale
from sigtest.render.plots.labels import shortened

LEFT, RIGHT, TOP, FLOOR = 30.0, COLUMN - 10.0, 30.0, 140.0
STEPS = 40


def curve_plot(report: PlanReport, a: str | None = None, b: str | None = None) -> str:
    """The picture as SVG.

    Args:
        report: Of a plan.
        a: First system of the pair; that with the largest standard error where none is named.
        b: Second system.

    Raises:
        RecipeError: A pair that the report does not have, or whose systems do not differ.
    """
    pair = _chosen(report, a, b)
    first, last = pair.sizes[0], pair.sizes[-1]
    shown = places(last.ci[0])
    words = f"what more {report.unit}s show: {pair.a}, {pair.b}, {report.metric}"
    heading = shortened(words, COLUMN / BOLD - 8, HEADING)
    described = "; ".join(
        f"{whole(size.units)} {report.unit}s: {fixed(size.detectable, shown)} "
        f"{interval(size.ci, shown)}"
        for size in pair.sizes
    )
    drawing = Drawing(heading, f"{described}.", COLUMN, FLOOR + 30)
    about = f"true difference that shows with power {report.power:g} at level {report.level:.3g}"
    drawing.heading(heading, about)
    across = scale((math.log(first.units), math.log(last.units)), LEFT, RIGHT)
    up = Scale(0.0, first.ci[1] * 1.05, FLOOR, TOP)
    _curve(drawing, across, up, pair)
    for size in pair.sizes:
        drawing.circle(across(math.log(size.units)), up(size.detectable), 1.8, filled=True)
    _axes(drawing, across, up, pair, report)
    return drawing.render()


def _chosen(report: PlanReport, a: str | None, b: str | None) -> PlannedPair:
    if a is None and b is None:
        pair = max(report.pairs, key=lambda own: own.stderr)
    else:
        found = [pair for pair in report.pairs if {pair.a, pair.b} == {a, b}]
        if not found:
            raise RecipeError(f"The plan has no pair of {a} and {b}.", field="b" if a else "a")
        (pair,) = found
    if pair.stderr <= 0:
        raise RecipeError(f"{pair.a} and {pair.b} do not differ in the pilot.", field="a")
    return pair


def _curve(drawing: Drawing, across: Scale, up: Scale, pair: PlannedPair) -> None:
    """The curve and the area of its interval: all go with one over the root of the units."""
    first, last = pair.sizes[0], pair.sizes[-1]
    span = math.log(last.units / first.units)
    logs = [math.log(first.units) + span * step / STEPS for step in range(STEPS + 1)]
    shares = [math.exp((logs[0] - value) / 2) for value in logs]
    low, middle, high = (
        [(across(at), up(value * share)) for at, share in zip(logs, shares, strict=True)]
        for value in (first.ci[0], first.detectable, first.ci[1])
    )
    drawing.area([*low, *reversed(high)], "light")
    for start, end in pairwise(middle):
        drawing.line(start, end, colour="strong", thick=1.2)


def _axes(
    drawing: Drawing, across: Scale, up: Scale, pair: PlannedPair, report: PlanReport
) -> None:
    drawing.line((across.start, FLOOR), (across.end, FLOOR))
    drawing.line((across.start, FLOOR), (across.start, TOP))
    if report.difference is not None and report.difference <= up.high:
        level = up(report.difference)
        drawing.line((across.start, level), (across.end, level), colour="muted", dashed=True)
    for value in up.ticks(5):
        drawing.line((across.start - 2.5, up(value)), (across.start, up(value)))
        label = f"{value:g}"
        drawing.text(across.start - 4, up(value) + 2, label, size=SMALL, anchor="end")
    for size in _spaced(pair.sizes):
        x = across(math.log(size.units))
        drawing.line((x, FLOOR), (x, FLOOR + 2.5))
        drawing.text(x, FLOOR + 9, whole(size.units), size=SMALL, anchor="middle")
    middle = (across.start + across.end) / 2
    words = f"{report.unit}s, the pilot has {whole(report.pilot)}; shaded: 95 % interval"
    drawing.text(middle, FLOOR + 20, words, size=SMALL, anchor="middle", colour="muted")


def _spaced(sizes: tuple[PlannedSize, ...]) -> list[PlannedSize]:
    """Those whose labels do not run into the one before."""
    kept = [sizes[0]]
    for size in sizes[1:]:
        if size.units >= 1.35 * kept[-1].units:
            kept.append(size)
    return kept


def places(value: float) -> int:
    """Decimals that show two digits of a small value."""
    return max(0, min(8, 1 - math.floor(math.log10(value)))) if value > 0 else 2
