"""What every metric finds under every test, side by side.

As Figure 8 of Graham, Mathur & Baldwin (2014): one panel a metric and test; a cell says how surely
the row's system is better than the column's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sigtest.errors import RecipeError
from sigtest.render.names import in_words, p_in_words
from sigtest.render.plots.drawing import (
    BODY,
    BOLD,
    HEADING,
    MARGIN,
    PAGE,
    SMALL,
    Drawing,
    text_width,
)
from sigtest.render.plots.labels import short_names, shortened
from sigtest.render.plots.scale import legend, level_words
from sigtest.render.plots.square import Ordered, Square
from sigtest.render.plots.style import Style
from sigtest.render.plots.view import PLAIN, View

CELL = (3.0, 9.0)
BETWEEN, NAME, TOP, TITLE = 10.0, 90.0, 24.0, 20.0


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
        rows: By the test, in words.
        by: What the p-values are.
    """

    title: str
    systems: tuple[str, ...]
    rows: Mapping[str, Sequence[Panel]]
    by: str


def plot(view: View) -> str:
    """The picture of a comparison as SVG: all of its metrics and tests.

    Raises:
        RecipeError: A comparison with a baseline only.
    """
    report = view.report
    names = [system.name for system in report.systems]
    found: dict[tuple[str, str], dict[tuple[str, str], float]] = {}
    separated: dict[tuple[str, str], int] = {}
    unsure = {(pair.test, pair.metric) for pair in report.pairs if pair.undecided}
    for pair in report.pairs:
        key = pair.test, pair.metric
        better = pair.winner(report.metrics[pair.metric].higher_is_better)
        worse = pair.b if better == pair.a else pair.a
        own = found.setdefault(key, {})
        own[better, worse] = pair.p_adjusted
        own.setdefault((worse, better), 1.0)  # one-sided, its own claim may come later
        separated[key] = separated.get(key, 0) + pair.significant
    n = len(names) * (len(names) - 1) // 2
    if not found or len(next(iter(found.values()))) < 2 * n:
        raise RecipeError("A grid needs all pairs; this comparison has a baseline.", field="pairs")
    rows: dict[str, list[Panel]] = {}
    for (test, metric), p in found.items():
        open_ = "?" if (test, metric) in unsure else ""
        apart = f"{100 * separated[test, metric] / n:.1f} % apart{open_}"
        rows.setdefault(in_words(test), []).append(Panel(metric, apart, p))
    first = next(iter(report.metrics))
    sign = -1 if report.metrics[first].higher_is_better else 1
    by_name = {system.name: system.scores[first].score for system in report.systems}
    systems = tuple(sorted(names, key=lambda name: sign * by_name[name]))
    by = p_in_words(report.correction)
    on = f", {view.title}" if view.title else ""
    return draw(Grid(f"what metrics and tests separate{on}", systems, rows, by), view.style)


def draw(grid: Grid, style: Style = PLAIN) -> str:
    """A grid of panels as SVG."""
    across = max(len(panels) for panels in grid.rows.values())
    short = short_names(grid.systems, NAME, SMALL)
    names = max(text_width(name, SMALL) for name in short.values()) * 1.08 + 14
    width = style.width or PAGE
    free = (width - names - 2 * MARGIN - BETWEEN * (across - 1)) / across
    cell = min(CELL[1], max(CELL[0], free / len(grid.systems)))
    step = max(cell * len(grid.systems), 48.0) + BETWEEN
    page = max(style.width or PAGE / 2, names + 2 * MARGIN + across * step)
    heading = style.title or shortened(grid.title, (page - 2 * MARGIN) / BOLD, HEADING)
    drawing = Drawing(heading, _description(grid), page, 0, shown_width=style.width)
    drawing.heading(heading, grid.by, shown=style.has("title"), top=TOP)
    y = TOP
    for test, panels in grid.rows.items():
        drawing.text(MARGIN, y + 11, test, bold=True)
        y += 12 + TITLE / 2
        _names(drawing, [short[name] for name in grid.systems], names, y, cell)
        for number, panel in enumerate(panels):
            left = MARGIN + names + number * step
            drawing.text(left, y - 3, shortened(panel.title, step - BETWEEN, SMALL), size=SMALL)
            Square(left, y, cell).fill_beaten(drawing, grid.systems, panel.p)
            if style.has("numbers"):
                level = y + cell * len(grid.systems) + 7
                drawing.text(left, level, panel.below, size=TITLE / 4, colour="muted")
        y += cell * len(grid.systems) + TITLE
    drawing.height = y
    if style.has("legend"):
        drawing.height += 16
        unsure = any(own.below.endswith("?") for panels in grid.rows.values() for own in panels)
        legend(drawing, y + 2, level_words(), BODY, unsure)
    return drawing.render()


def _names(drawing: Drawing, shown: Sequence[str], width: float, top: float, cell: float) -> None:
    """The system of each row of a panel."""
    size = min(SMALL, 1.1 * cell)
    for i, name in enumerate(shown):
        level = top + (i + 0.5) * cell + size * 0.35
        drawing.text(MARGIN + width - 4, level, name, size=size, anchor="end")


def _description(grid: Grid) -> str:
    said = [
        f"{test}: {', '.join(f'{panel.title} {panel.below}' for panel in panels)}"
        for test, panels in grid.rows.items()
    ]
    return f"Systems {', '.join(grid.systems)}. {'; '.join(said)}."
