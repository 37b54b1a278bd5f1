"""Scores and differences with their intervals, one row each, as forest plots show them."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from sigtest.render.digits import MINUS, fixed, interval, percent, signed
from sigtest.render.names import in_words
from sigtest.render.plots.drawing import (
    BODY,
    BOLD,
    HEADING,
    MARGIN,
    SMALL,
    Drawing,
    Scale,
    scale,
    text_width,
)
from sigtest.render.plots.labels import short_names, shortened
from sigtest.render.plots.scale import legend
from sigtest.render.plots.view import View
from sigtest.render.standings import (
    Standing,
    metric_decimals,
    standings,
)
from sigtest.report import PairReport

MANY = 30  # pairs, above which only neighbours in the order of scores are drawn
ROW = 10.5
ABOVE = 8.5  # further height of a row whose label stands above its interval
LEAST = 66.0  # width of the part with the intervals


@dataclass(frozen=True)
class Row:
    """One value with its interval.

    Attributes:
        systems: The system, or the better and the worse of two.
        value: The score or difference.
        ends: Of the interval.
        shown: The same as text.
        filled: Whether its mark is filled.
        ruled: Whether a light rule parts it from the row above.
        undecided: Whether more resamples could change its mark or rule.
    """

    systems: tuple[str, ...]
    value: float
    ends: tuple[float, float]
    shown: str
    filled: bool = True
    ruled: bool = False
    undecided: bool = False


@dataclass(frozen=True)
class Panel:
    """Rows below each other, with an axis of their own.

    Attributes:
        rows: From the first to the last.
        labels: One for each.
        above: Whether labels stand above their intervals, as they are too wide to stand beside.
        zero: Whether zero is marked.
    """

    rows: tuple[Row, ...]
    labels: tuple[str, ...]
    above: bool
    zero: bool

    @classmethod
    def of(cls, rows: Sequence[Row], numbers: float, zero: bool, width: float) -> Panel:
        """Find a place for the labels, as full as a column allows.

        Args:
            rows: All rows.
            numbers: Width of the widest numbers.
            zero: Whether zero is marked.
            width: Of the column.
        """
        full = tuple(f" {MINUS} ".join(row.systems) for row in rows)
        if _widest(full) + numbers + LEAST + 4 * MARGIN <= width:
            return cls(tuple(rows), full, above=False, zero=zero)
        parts = max(len(row.systems) for row in rows)
        room = (width - 2 * MARGIN) / 1.08 / parts - text_width(f" {MINUS} ") * (parts - 1) / 2
        names = short_names(list(dict.fromkeys(n for row in rows for n in row.systems)), room)
        short = tuple(f" {MINUS} ".join(names[name] for name in row.systems) for row in rows)
        return cls(tuple(rows), short, above=True, zero=zero)

    @property
    def row(self) -> float:
        """Height of a row."""
        return ROW + ABOVE * self.above

    @property
    def beside(self) -> float:
        """Width that labels take from the intervals."""
        return 0.0 if self.above else self.wide

    @property
    def wide(self) -> float:
        """Width of the widest label, wherever it stands."""
        return _widest(self.labels)


def plot(view: View) -> str:
    """The picture as SVG; the test's decisions fill the marks of differences."""
    report, test = view.report, view.test
    places = metric_decimals(report, view.metric)
    ordered = standings(report, view.metric, test)
    scores = [_score(standing, places) for standing in ordered]
    pairs = view.pairs
    neighbours = len(pairs) > MANY
    differences = _differences(ordered, pairs, places, neighbours)
    rows, style = (*scores, *differences), view.style
    numbers = max(text_width(row.shown, SMALL) for row in rows) * 1.05 * style.has("numbers")
    panels = [
        Panel.of(own, numbers, own is differences, view.width) for own in (scores, differences)
    ]
    wide = max(view.width, *(panel.wide + 2 * MARGIN for panel in panels))
    what = f", {percent(report.interval_level)} intervals"
    room = (wide - 2 * MARGIN) / BOLD - text_width(what, HEADING)
    heading = view.titled(shortened(view.heading, room, HEADING) + what)
    drawing = Drawing(heading, _description(scores, differences), wide, 0, shown_width=style.width)
    drawing.heading(heading, shown=style.has("title"), top=16.0)
    end = wide - 2 * MARGIN - numbers
    y = _panel(drawing, panels[0], 20, end, style.has("numbers"))
    what = "differences between neighbours" if neighbours else "differences"
    drawing.text(MARGIN, y + 9, what, bold=True)
    y = drawing.height = _panel(drawing, panels[1], y + 15, end, style.has("numbers"))
    if style.has("legend"):
        filled = {row.filled for row in differences}
        sides = "one-sided, " if pairs[0].claimed else ""
        by = f"{in_words(test)}, {sides}alpha {report.alpha:g}"
        drawing.height = _legend(drawing, y + 6, by, filled)
        if any(row.undecided for row in rows):
            legend(drawing, drawing.height, [], undecided=True)
            drawing.height += 9
    return drawing.render()


def _score(standing: Standing, places: int) -> Row:
    score = standing.score
    shown = f"{fixed(score.score, places)} {interval(score.ci, places)}"
    return Row(
        (standing.system.name,),
        score.score,
        score.ci,
        shown.replace("-", MINUS),
        ruled=standing.opens,
        undecided=standing.undecided and standing.rank is not None,
    )


def _differences(
    ordered: Sequence[Standing], pairs: Sequence[PairReport], places: int, neighbours: bool
) -> list[Row]:
    """Better minus worse score, from the best system on; one-sided, by the claim."""
    place = {standing.system.name: i for i, standing in enumerate(ordered)}
    known = {(pair.a, pair.b) for pair in pairs}
    rows = []
    for pair in sorted(pairs, key=lambda p: sorted((place[p.a], place[p.b]))):
        first, last = sorted((pair.a, pair.b), key=place.__getitem__)
        if pair.claimed not in (None, first):
            if (pair.b, pair.a) in known:
                continue  # the claim for the better score is a row, too
            first, last = last, first
        if neighbours and abs(place[last] - place[first]) != 1:
            continue
        turned = first != pair.a
        value = -pair.difference if turned else pair.difference
        ends = (-pair.ci[1], -pair.ci[0]) if turned else pair.ci
        shown = f"{signed(value, places)} {interval(ends, places)}".replace("-", MINUS)
        rows.append(
            Row((first, last), value, ends, shown, pair.significant, undecided=pair.undecided)
        )
    return rows


def _description(scores: Sequence[Row], differences: Sequence[Row]) -> str:
    said = [f"{f' {MINUS} '.join(row.systems)} {row.shown}" for row in (*scores, *differences)]
    return "; ".join(said) + "."


def _panel(drawing: Drawing, panel: Panel, top: float, end: float, numbers: bool) -> float:
    """Draw rows and their axis; returns where the next thing may begin."""
    start = MARGIN + panel.beside + 8
    ends = [end if math.isfinite(end) else row.value for row in panel.rows for end in row.ends]
    across = scale(ends + [0.0] * panel.zero, start, end)
    floor = top + len(panel.rows) * panel.row + 2
    if panel.zero:
        drawing.line((across(0), top), (across(0), floor), colour="muted", dashed=True)
    for i, (row, label) in enumerate(zip(panel.rows, panel.labels, strict=True)):
        edge = top + i * panel.row
        if row.ruled:
            drawing.line((MARGIN, edge), (drawing.width - MARGIN, edge), colour="rule")
        if panel.above:  # on paper of its own, as the line at zero would run through it
            drawing.rectangle(MARGIN, edge + 1, text_width(label) * 1.05, ROW - 1.5, "paper")
        drawing.text(MARGIN, edge + ROW / 2 + BODY * 0.35, label)
        level = edge + panel.row - ROW / 2
        _row(drawing, row, level, across)
        if numbers:
            right, shown = drawing.width - MARGIN, row.shown
            level += SMALL * 0.35
            drawing.text(right, level, shown, size=SMALL, anchor="end", colour="muted")
    drawing.axis(across, floor, 5, below=9)
    return floor + 14


def _row(drawing: Drawing, row: Row, y: float, across: Scale) -> None:
    low, high = (across(min(max(end, across.low), across.high)) for end in row.ends)
    marked = [across(end) for end in row.ends if math.isfinite(end)]
    drawing.interval(low, high, y, marked)
    drawing.circle(across(row.value), y, 1.7, filled=row.filled)
    if row.undecided:
        drawing.text(across(row.value), y - 2.2, "?", size=SMALL, anchor="middle")


def _legend(drawing: Drawing, y: float, by: str, occur: Collection[bool]) -> float:
    """What the marks that occur mean; returns the height of the drawing."""
    for filled, words in ((True, "significant"), (False, "not significant")):
        if filled in occur:
            said = f"{words} ({by})" if filled or len(occur) == 1 else words
            drawing.circle(MARGIN + 3, y + 3, 1.9, filled=filled)
            drawing.text(MARGIN + 8, y + 5.2, said, size=SMALL)
            y += 9
    return y + 2


def _widest(labels: Sequence[str]) -> float:
    """Width of the widest label."""
    return max(text_width(label) for label in labels) * 1.08
