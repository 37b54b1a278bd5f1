"""How often each metric and test concludes what people conclude, with exact intervals."""

from __future__ import annotations

from collections.abc import Sequence

from sigtest.data.choices import choose
from sigtest.questions.accuracy.report import AccuracyReport, AccuracyRow
from sigtest.render.digits import fixed
from sigtest.render.names import in_words
from sigtest.render.plots.drawing import (
    BODY,
    BOLD,
    COLUMN,
    HEADING,
    MARGIN,
    SMALL,
    Colour,
    Drawing,
    Scale,
    text_width,
)
from sigtest.render.plots.labels import short_names, shortened

ROW, BETWEEN, TOP = 9.0, 5.0, 27.0
NAME = 80.0
SHADES: tuple[Colour, ...] = ("light", "one", "two", "rule")  # lighter than whiskers


def bars_plot(report: AccuracyReport, alpha: str | None = None) -> str:
    """The picture as SVG.

    Args:
        report: Of accuracy of tests.
        alpha: Level; the first of the report where none is named.

    Raises:
        RecipeError: A level that the report does not have.
    """
    levels = {f"{level:g}": level for level in report.alphas}
    level = levels[choose(alpha or next(iter(levels)), levels, "alpha", "level")]
    rows = [row for row in report.rows if row.alpha == level]
    metrics = list(dict.fromkeys(row.metric for row in rows))
    tests = list(dict.fromkeys(row.test for row in rows))
    short = short_names(metrics, NAME)
    labels = max(text_width(name) for name in short.values()) * 1.08
    numbers = max(text_width(_shown(row), SMALL) for row in rows) * 1.08
    heading = shortened(f"conclusions as people's, alpha {level:g}", COLUMN / BOLD - 8, HEADING)
    drawing = Drawing(heading, _description(rows), COLUMN, 0)
    what = f"share of {rows[0].n} pairs of systems, 95 % Clopper-Pearson intervals"
    drawing.heading(heading, what)
    across = Scale(0.0, 1.0, MARGIN + labels + 8, COLUMN - MARGIN - numbers - 6)
    y = TOP
    for metric in metrics:
        own = [row for row in rows if row.metric == metric]
        middle = y + len(own) * ROW / 2 + BODY * 0.35
        drawing.text(MARGIN + labels, middle, short[metric], anchor="end")
        for row in own:
            _bar(drawing, across, y, row, SHADES[tests.index(row.test) % len(SHADES)])
            y += ROW
        y += BETWEEN
    half = across(0.5)
    drawing.line((half, TOP), (half, y), colour="muted", dashed=True)
    _axis(drawing, across, y)
    drawing.height = _legend(drawing, tests, y + 17)
    return drawing.render()


def _shown(row: AccuracyRow) -> str:
    return f"{fixed(100 * row.share, 1)} %"


def _description(rows: Sequence[AccuracyRow]) -> str:
    said = [
        f"{row.metric} by {in_words(row.test)} {row.correct} of {row.n}, "
        f"{100 * row.ci[0]:.1f} to {100 * row.ci[1]:.1f} %"
        for row in rows
    ]
    return "; ".join(said) + "."


def _bar(drawing: Drawing, across: Scale, y: float, row: AccuracyRow, colour: Colour) -> None:
    drawing.rectangle(
        across.start,
        y + 1,
        across(row.share) - across.start,
        ROW - 2,
        colour,
        f"{row.metric}, {in_words(row.test)}: {row.correct} of {row.n}",
    )
    low, high = (across(end) for end in row.ci)
    middle = y + ROW / 2
    drawing.line((low, middle), (high, middle), thick=0.8)
    for end in (low, high):
        drawing.line((end, middle - 2), (end, middle + 2), thick=0.8)
    level = middle + SMALL * 0.35
    right = drawing.width - MARGIN
    drawing.text(right, level, _shown(row), size=SMALL, anchor="end", colour="muted")


def _axis(drawing: Drawing, across: Scale, floor: float) -> None:
    drawing.line((across.start, floor), (across.end, floor))
    for value in (0.0, 0.25, 0.5, 0.75, 1.0):
        drawing.line((across(value), floor), (across(value), floor + 2.5))
        label = f"{100 * value:.0f} %"
        drawing.text(across(value), floor + 9, label, size=SMALL, anchor="middle")


def _legend(drawing: Drawing, tests: Sequence[str], y: float) -> float:
    """Which shade is which test; returns the height of the drawing."""
    for i, test in enumerate(tests):
        drawing.rectangle(MARGIN, y + i * 10, 8, 8, SHADES[i % len(SHADES)])
        drawing.text(MARGIN + 11, y + i * 10 + 6.5, in_words(test), size=SMALL)
    return y + len(tests) * 10 + 4
