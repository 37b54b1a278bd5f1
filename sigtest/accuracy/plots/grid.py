"""Conclusions of every metric under every test, side by side with those of people.

As Figure 8 of Graham, Mathur & Baldwin (2014): one panel a metric and test; a cell says how surely
the row's system is better than the column's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sigtest.accuracy.report import AccuracyReport
from sigtest.data.choices import choose
from sigtest.errors import RecipeError
from sigtest.render.digits import percent, probability
from sigtest.render.plots.drawing import (
    BODY,
    BOLD,
    HEADING,
    SMALL,
    Colour,
    Drawing,
    text_width,
)
from sigtest.render.plots.labels import short_names, shortened
from sigtest.report import Report

LEVELS: tuple[tuple[float, Colour], ...] = ((0.001, "three"), (0.01, "two"), (0.05, "one"))
CELL = (3.0, 9.0)
PAGE = 480.0  # points across two columns
MARGIN, BETWEEN, NAME, TOP, TITLE = 4.0, 10.0, 90.0, 24.0, 20.0

Ordered = Mapping[tuple[str, str], float]  # p of the first system being better than the second


@dataclass(frozen=True)
class Panel:
    """One square of cells.

    Attributes:
        title: Of the metric, or of people.
        below: What it finds, in a few words.
        p: P-values of ordered pairs; conclusions of people have 0 and 1.
    """

    title: str
    below: str
    p: Ordered


@dataclass(frozen=True)
class Grid:
    """Rows of panels, one a test.

    Attributes:
        title: Of the picture.
        systems: In the order of rows and columns of every panel.
        rows: By name of the test.
        by: What the p-values are.
    """

    title: str
    systems: tuple[str, ...]
    rows: Mapping[str, Sequence[Panel]]
    by: str


def grid_plot(report: AccuracyReport, alpha: str | None = None) -> str:
    """Conclusions of metrics and tests beside those of people, as SVG.

    Args:
        report: Of accuracy of tests.
        alpha: Level of the conclusions of people; the first of the report where none is named.

    Raises:
        RecipeError: A level that the report does not have.
    """
    levels = {f"{level:g}": level for level in report.alphas}
    level = levels[choose(alpha or next(iter(levels)), levels, "alpha", "level")]
    people = next(human for human in report.human if human.alpha == level)
    conclusions: dict[tuple[str, str], float] = {}
    wins = dict.fromkeys(report.systems, 0)
    for pair, winner in zip(report.pairs, people.conclusions, strict=True):
        conclusions[pair.a, pair.b] = 0.0 if winner == "a" else 1.0
        conclusions[pair.b, pair.a] = 0.0 if winner == "b" else 1.0
        step = {"a": 1, "b": -1, "tie": 0}[winner]
        wins[pair.a] += step
        wins[pair.b] -= step
    n = len(report.pairs)
    human = Panel("people", f"{n - people.ties} of {n} apart", conclusions)
    rows = {}
    for test in dict.fromkeys(row.test for row in report.rows):
        panels = [human]
        for row in report.rows:
            if (row.test, row.alpha) == (test, level):
                p = {(pair.a, pair.b): pair.p_greater[row.metric][test] for pair in report.pairs}
                p |= {(pair.b, pair.a): pair.p_less[row.metric][test] for pair in report.pairs}
                panels.append(Panel(row.metric, f"{percent(round(row.share, 3))} as people", p))
        rows[test] = panels
    systems = tuple(sorted(report.systems, key=lambda name: -wins[name]))
    title = f"conclusions of metrics and of people, alpha {level:g}"
    return draw(Grid(title, systems, rows, "one-sided, unadjusted p"))


def power_plot(report: Report) -> str:
    """What each metric of a comparison separates under each test, as SVG.

    Args:
        report: Of a comparison over all pairs on one test set.

    Raises:
        RecipeError: A comparison with a baseline only.
    """
    names = [system.name for system in report.systems]
    found: dict[tuple[str, str], dict[tuple[str, str], float]] = {}
    separated: dict[tuple[str, str], int] = {}
    for pair in report.pairs:
        key = pair.test, pair.metric
        ahead = (pair.difference > 0) == report.metrics[pair.metric].higher_is_better
        better = {"greater": True, "less": False}.get(pair.alternative, ahead)
        own = found.setdefault(key, {})
        own[pair.a, pair.b] = pair.p_adjusted if better else 1.0
        own[pair.b, pair.a] = 1.0 if better else pair.p_adjusted
        separated[key] = separated.get(key, 0) + pair.significant
    n = len(names) * (len(names) - 1) // 2
    if not found or len(next(iter(found.values()))) < 2 * n:
        raise RecipeError("A grid needs all pairs; this comparison has a baseline.", field="pairs")
    rows: dict[str, list[Panel]] = {}
    for (test, metric), p in found.items():
        share = percent(round(separated[test, metric] / n, 3))
        rows.setdefault(test, []).append(Panel(metric, f"{share} apart", p))
    first = next(iter(report.metrics))
    sign = -1 if report.metrics[first].higher_is_better else 1
    by_name = {system.name: system.scores[first].score for system in report.systems}
    systems = tuple(sorted(names, key=lambda name: sign * by_name[name]))
    by = "unadjusted p" if report.correction == "none" else f"p adjusted by {report.correction}"
    return draw(Grid("what metrics and tests separate", systems, rows, by))


def draw(grid: Grid) -> str:
    """A grid of panels as SVG."""
    across = max(len(panels) for panels in grid.rows.values())
    short = short_names(grid.systems, NAME, SMALL)
    names = max(text_width(name, SMALL) for name in short.values()) * 1.08 + 14
    free = (PAGE - names - 2 * MARGIN - BETWEEN * (across - 1)) / across
    cell = min(CELL[1], max(CELL[0], free / len(grid.systems)))
    side = cell * len(grid.systems)
    step = max(side, 48.0) + BETWEEN
    page = max(PAGE / 2, names + 2 * MARGIN + across * step)
    heading = shortened(grid.title, (page - 2 * MARGIN) / BOLD, HEADING)
    drawing = Drawing(heading, _description(grid), page, 0)
    drawing.text(MARGIN, 11, heading, size=HEADING, bold=True)
    drawing.text(MARGIN, 20.5, grid.by, size=SMALL, colour="muted")
    y = TOP
    for test, panels in grid.rows.items():
        drawing.text(MARGIN, y + 11, test, bold=True)
        y += 12 + TITLE / 2
        for i, name in enumerate(grid.systems):
            size = min(SMALL, 1.1 * cell)
            level = y + (i + 0.5) * cell + size * 0.35
            drawing.text(MARGIN + names - 4, level, short[name], size=size, anchor="end")
        for number, panel in enumerate(panels):
            left = MARGIN + names + number * step
            room = step - 4
            drawing.text(left, y - 3, shortened(panel.title, room, SMALL), size=SMALL)
            _panel(drawing, panel, grid.systems, (left, y, cell))
            drawing.text(left, y + side + 7, panel.below, size=TITLE / 4, colour="muted")
        y += side + TITLE
    drawing.height = y + 16
    _legend(drawing, y + 2)
    return drawing.render()


def _description(grid: Grid) -> str:
    said = [
        f"{test}: {', '.join(f'{panel.title} {panel.below}' for panel in panels)}"
        for test, panels in grid.rows.items()
    ]
    return f"Systems {', '.join(grid.systems)}. {'; '.join(said)}."


def _panel(
    drawing: Drawing, panel: Panel, systems: Sequence[str], place: tuple[float, float, float]
) -> None:
    left, top, cell = place
    gap = cell / 20
    for i, better in enumerate(systems):
        for j, worse in enumerate(systems):
            p = panel.p.get((better, worse))
            if p is None:
                continue
            shades = (shade for limit, shade in LEVELS if p <= limit)
            colour: Colour = next(shades, "none")
            x, y, side = left + j * cell, top + i * cell, cell - 2 * gap
            hint = f"{better} better than {worse}: p = {probability(p)}"
            drawing.rectangle(x + gap, y + gap, side, side, colour, hint)


def _legend(drawing: Drawing, y: float) -> None:
    x = MARGIN
    entries: list[tuple[Colour, str]] = [
        (shade, f"p ≤ {limit:g}".replace("0.", ".")) for limit, shade in LEVELS
    ]
    for colour, label in [*entries, ("none", "larger")]:
        drawing.rectangle(x, y, 8, 8, colour)
        drawing.text(x + 11, y + 6.5, label, size=BODY)
        x += 11 + text_width(label, BODY) * 1.1 + 9
