"""Correlations of metrics with each other, and which correlate better with people.

As Figure 2 of Graham & Baldwin (2014): metrics in the order of their r with people; on the left r
of each two, on the right the p-value of the row's metric being better than the column's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from sigtest.questions.meta.plots.shown import Shown, require, shown
from sigtest.questions.meta.report import MetaReport, MetricEvaluation, MetricPair
from sigtest.render.digits import MINUS, fixed, short_probability
from sigtest.render.plots.drawing import (
    BOLD,
    HEADING,
    MARGIN,
    PAGE,
    SMALL,
    Colour,
    Drawing,
    text_width,
)
from sigtest.render.plots.labels import short_names, shortened
from sigtest.render.plots.scale import P_LEVELS, legend, shade
from sigtest.render.plots.square import Square

R_LEVELS: tuple[tuple[float, Colour], ...] = ((0.95, "three"), (0.9, "two"), (0.8, "one"))
CELL = (7.0, 24.0)  # smallest and largest side of a cell
ROOM = 17.0  # side from which a number fits into a cell
TIGHT = 5.2  # letters in cells
BETWEEN, NAME, TOP = 14.0, 96.0, 46.0

Table = Mapping[tuple[str, str], float]
Shade = Callable[[float], Colour]


@dataclass(frozen=True)
class Panel:
    """One square of cells.

    Attributes:
        title: Above it.
        values: By labels of the row and the column.
        shade: Colour of a value.
        word: A value in a cell.
        hint: What lies between two names, in the hint of a cell.
    """

    title: str
    values: Table
    shade: Shade
    word: Callable[[float], str]
    hint: str


def correlations_plot(report: MetaReport, testset: str | None = None) -> str:
    """The picture as SVG.

    Args:
        report: Of a metric evaluation with Pearson's r and a test of its differences.
        testset: Name of the set; the first where none is named.

    Raises:
        RecipeError: A set that the report does not have.
        InputError: No two metrics compared by Pearson's r.
    """
    own = shown(report, testset)
    tests = own.by_test()
    require(bool(tests), "two metrics that were compared by Pearson's r")
    test, pairs = next(iter(tests.items()))
    metrics = _in_order(own)
    labels = [metric.label for metric in metrics]
    names = short_names(labels, NAME)
    wide = max(text_width(name) for name in names.values()) * 1.08 + 30
    cell = (PAGE - wide - 2 * MARGIN - BETWEEN) / 2 / len(labels)
    cell = min(CELL[1], max(CELL[0], cell))
    side = cell * len(labels)
    page = max(PAGE, wide + 2 * side + BETWEEN + 2 * MARGIN)
    heading = shortened(f"{own.title}which metric agrees better with people", page / BOLD, HEADING)
    drawing = Drawing(heading, _description(metrics, pairs, test), page, TOP + side + 30)
    drawing.heading(heading, f"{test}, one-sided, unadjusted p")
    with_people = [fixed(_r(metric), 2).replace("-", MINUS) for metric in metrics]
    square = Square(MARGIN + wide, TOP, cell)
    square.rows(drawing, [names[label] for label in labels], with_people)
    panels = _panels(pairs)
    for number, panel in enumerate(panels):
        left = MARGIN + wide + number * (side + BETWEEN)
        last = number == len(panels) - 1
        room = page - MARGIN - left if last else side + BETWEEN - 2
        drawing.text(left, TOP - 12, shortened(panel.title, room / BOLD), bold=True)
        _cells(drawing, labels, panel, Square(left, TOP, cell))
    _legend(drawing, TOP + side + 14)
    return drawing.render()


def _in_order(own: Shown) -> list[MetricEvaluation]:
    """Metrics with a known r, the best first."""
    known = [m for m in own.metrics if m.pearson is not None and m.pearson.value is not None]
    return sorted(known, key=lambda m: -_r(m))


def _r(metric: MetricEvaluation) -> float:
    value = metric.pearson.value if metric.pearson else None
    return 0.0 if value is None else value


def _panels(pairs: Sequence[MetricPair]) -> list[Panel]:
    between: dict[tuple[str, str], float] = {}
    better: dict[tuple[str, str], float] = {}
    for pair in pairs:
        if pair.r12 is not None:
            between[pair.a, pair.b] = between[pair.b, pair.a] = pair.r12
        if pair.p_greater is not None and pair.p_less is not None:
            better[pair.a, pair.b], better[pair.b, pair.a] = pair.p_greater, pair.p_less
    panels = [
        Panel(
            "p: the row's r with people is larger", better, shade, short_probability, "better than"
        )
    ]
    if between:
        first = Panel("r of two metrics", between, _shade_r, _word_r, "and")
        panels.insert(0, first)
    return panels


def _shade_r(value: float) -> Colour:
    return next((shade for limit, shade in R_LEVELS if abs(value) >= limit), "none")


def _word_r(value: float) -> str:
    return fixed(value, 2).replace("0.", ".").replace("-", MINUS)


def _description(
    metrics: Sequence[MetricEvaluation], pairs: Sequence[MetricPair], test: str
) -> str:
    ordered = ", ".join(f"{m.label} {fixed(_r(m), 3)}" for m in metrics)
    found = sum(1 for pair in pairs for p in (pair.p_greater, pair.p_less) if (p or 1) <= 0.05)
    return (
        f"r with people, best first: {ordered}. {test} finds {found} of {len(pairs)} pairs "
        "different at p of .05, unadjusted."
    )


def _cells(drawing: Drawing, labels: Sequence[str], panel: Panel, square: Square) -> None:
    square.columns(drawing, len(labels), min(SMALL, 0.75 * square.cell))
    for i, row in enumerate(labels):
        for j, column in enumerate(labels):
            value = panel.values.get((row, column))
            if value is None:
                continue
            word = panel.word(value)
            hint = f"{row} {panel.hint} {column}: {word}"
            shown_ = word if square.cell >= ROOM else ""
            square.fill(drawing, (i, j), panel.shade(value), hint, shown_, TIGHT)


def _legend(drawing: Drawing, y: float) -> None:
    entries: list[tuple[Colour, str]] = [
        (colour, f"r ≥ {r:g}, p ≤ {p:g}".replace("0.", "."))
        for (r, colour), (p, _) in zip(R_LEVELS, P_LEVELS, strict=True)
    ]
    legend(drawing, y, [*entries, ("none", "nearer 0; larger")])
