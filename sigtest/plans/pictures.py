"""The pictures of plans: the only place that knows which there are."""

from __future__ import annotations

import math

from sigtest.errors import RecipeError
from sigtest.plans.report import PlannedPair, PlanReport
from sigtest.render.digits import fixed, interval, whole
from sigtest.render.drawing import Drawing
from sigtest.render.marks import Axis, curve, level, plane, scatter
from sigtest.render.pictures import Picture, where

STEPS = 40
APART = 1.35  # times more units than at the tick before, so that their labels keep apart


def curve_plot(report: PlanReport, a: str | None = None, b: str | None = None) -> str:
    """The smallest difference that shows against the number of units, with its interval.

    Args:
        report: Of a plan.
        a: First system of the pair; that with the largest standard error where none is named.
        b: Second system.

    Raises:
        RecipeError: A pair that the report does not have, or whose systems do not differ.
    """
    pair = _pair(report, a, b)
    first, last = pair.sizes[0], pair.sizes[-1]
    shown = places(last.ci[0])
    told = "; ".join(
        f"{whole(size.units)} {report.unit}s: {fixed(size.detectable, shown)} "
        f"{interval(size.ci, shown)}"
        for size in pair.sizes
    )
    drawing = Drawing(
        f"what more {report.unit}s show: {{}}, {{}}, {{}}",
        f"{told}.",
        (pair.a, pair.b, report.metric),
        (f"true difference that shows with power {report.power:g} at level {report.level:.3g}",),
    )
    ticks: list[tuple[float, str]] = []
    for size in pair.sizes:
        at = math.log(size.units)
        if not ticks or at >= ticks[-1][0] + math.log(APART):
            ticks.append((at, whole(size.units)))
    ends = Axis.around((math.log(first.units), math.log(last.units)))
    label = f"{report.unit}s, the pilot has {whole(report.pilot)}; shaded: 95 % interval"
    across = Axis(ends.low, ends.high, label, ticks)
    x, y = plane(drawing, across, Axis(0.0, first.ci[1] * 1.05))
    # the curve and its interval all go with one over the root of the units
    span = math.log(last.units / first.units)
    logs = [math.log(first.units) + span * step / STEPS for step in range(STEPS + 1)]
    low, middle, high = (
        [(at, value * math.exp((logs[0] - at) / 2)) for at in logs]
        for value in (first.ci[0], first.detectable, first.ci[1])
    )
    curve(drawing, x, y, middle, low, high)
    points = [(math.log(size.units), size.detectable) for size in pair.sizes]
    scatter(drawing, x, y, points, [True] * len(points))
    if report.difference is not None and report.difference <= y.high:
        level(drawing, x, y(report.difference))
    return drawing.svg()


def _pair(report: PlanReport, a: str | None, b: str | None) -> PlannedPair:
    if a is None and b is None:
        pair = max(report.pairs, key=lambda own: own.stderr)
    else:
        of = [pair for pair in report.pairs if {pair.a, pair.b} == {a, b}]
        if not of:
            raise RecipeError(f"The plan has no pair of {a} and {b}.", field="b" if a else "a")
        (pair,) = of
    if pair.stderr <= 0:
        raise RecipeError(f"{pair.a} and {pair.b} do not differ in the pilot.", field="a")
    return pair


def places(value: float) -> int:
    """Decimals that show two digits of a small value."""
    return max(0, min(8, 1 - math.floor(math.log10(value)))) if value > 0 else 2


PICTURES: dict[str, Picture] = {
    "plan": Picture(
        "plan",
        "Smallest difference that shows, against the size of the test set",
        curve_plot,
        where(lambda report: any(pair.stderr > 0 for pair in report.pairs)),
        takes=("a", "b"),
    ),
}
