"""The six marks that every picture is made of: forest, matrix, scatter, curve, histogram and bars.

Each is drawn below what a drawing has already, with its axis, and leaves the drawing's `y` where
the next thing begins. Bars are rows of a forest. No mark knows what it is about.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from sigtest.render import drawing as svg
from sigtest.render.words import MINUS, probability

Level = tuple[float, svg.Colour]  # the largest p-value that has a shade
P_LEVELS: tuple[Level, ...] = ((0.001, "three"), (0.01, "two"), (0.05, "one"))
UNDECIDED = ("", "? undecided")
CLUSTER = ("frame", "cluster")
NAME = 96.0  # most that a name beside a matrix may take


@dataclass(frozen=True)
class Axis:
    """A straight axis.

    Attributes:
        low: Smallest value.
        high: Largest value.
        label: What it has, in words.
        ticks: Values and what is written there; round values where there are none.
        start: Where the smallest value lies.
        end: Where the largest one does.
    """

    low: float
    high: float
    label: str = ""
    ticks: Sequence[tuple[float, str]] | None = None
    start: float = 0.0
    end: float = 1.0

    @classmethod
    def around(
        cls, values: Iterable[float], start: float = 0.0, end: float = 1.0,
        margin: float = 0.04, label: str = "",
    ) -> Axis:  # fmt: skip
        """An axis that holds all values with a margin; never one of no length."""
        known = list(values)
        low, high = min(known), max(known)
        pad = (high - low) * margin or max(abs(high), 1.0) * 0.05
        return cls(low - pad, high + pad, label, start=start, end=end)

    def over(self, start: float, end: float) -> Axis:
        """The same axis from one place to another."""
        return Axis(self.low, self.high, self.label, self.ticks, start, end)

    def __call__(self, value: float) -> float:
        """Where a value lies."""
        return self.start + (value - self.low) / (self.high - self.low) * (self.end - self.start)

    def marked(self, most: int) -> Sequence[tuple[float, str]]:
        """Its ticks, or at most so many round values inside, zero exact."""
        if self.ticks is not None:
            return self.ticks
        span = self.high - self.low
        step = 10.0 ** math.floor(math.log10(span / most))
        step *= next(m for m in (1, 2, 5, 10, 20) if span / (step * m) < most)
        first = math.ceil(self.low / step - 1e-9)
        last = math.floor(self.high / step + 1e-9)
        values = [round(i * step, 12) for i in range(first, last + 1)]
        return [(value, f"{value:g}".replace("-", MINUS)) for value in values]

    def draw(self, drawing: svg.Drawing, y: float, most: int = 6) -> None:
        """It from left to right, its ticks below it, and its label below those."""
        drawing.line((self.start, y), (self.end, y))
        for value, words in self.marked(most):
            drawing.line((self(value), y), (self(value), y + 2.5))
            drawing.text(self(value), y + 9.5, words, size=svg.SMALL, anchor="middle")
        if self.label:
            label = svg.shortened(self.label, drawing.width - 2 * svg.MARGIN)
            drawing.text((self.start + self.end) / 2, y + 20, label, anchor="middle")
        drawing.y = y + (26 if self.label else 15)


# Forest and bars ---------------------------------------------------------------------------------

ROW = 10.5
ABOVE = 8.5  # further height of a row whose label stands above its interval
LEAST = 66.0  # width of the part with the intervals


@dataclass(frozen=True)
class ForestRow:
    """One value with its interval.

    Attributes:
        names: Its label; of two, the minus between them is drawn, too.
        value: Its value.
        number: The value and its interval as text.
        ends: Of the interval, if there is one; they may be infinite.
        filled: Whether its mark is filled.
        ruled: Whether a light rule parts it from the row above.
        undecided: Whether more resamples could change its mark or rule.
        box: Quartiles and median, where the interval is of values and not of their mean.
        bar: Shade of a bar from zero to the value, instead of a mark.
        hint: Of the bar.
    """

    names: tuple[str, ...]
    value: float
    number: str
    ends: tuple[float, float] | None = None
    filled: bool = True
    ruled: bool = False
    undecided: bool = False
    box: tuple[float, float, float] | None = None
    bar: svg.Colour | None = None
    hint: str = ""


@dataclass(frozen=True)
class Forest:
    """Rows below each other, with an axis of their own.

    Attributes:
        rows: From the first to the last.
        title: Above them.
        line: A value that is marked in all rows.
        axis: Where it is not to be one that holds all values.
    """

    rows: Sequence[ForestRow]
    title: str = ""
    line: float | None = None
    axis: Axis | None = None

    def labels(self, width: float) -> tuple[tuple[str, ...], bool]:
        """A label a row, as full as so much width allows, and whether they stand above the rows."""
        full = tuple(f" {MINUS} ".join(row.names) for row in self.rows)
        if svg.widest(full) + LEAST + 4 * svg.MARGIN <= width:
            return full, False
        parts = max(len(row.names) for row in self.rows)
        room = (width - 2 * svg.MARGIN) / 1.08 / parts - svg.text_width(f" {MINUS} ") * (
            parts - 1
        ) / 2
        names = svg.short_names(
            list(dict.fromkeys(n for row in self.rows for n in row.names)), room
        )
        return tuple(f" {MINUS} ".join(names[n] for n in row.names) for row in self.rows), True


def forest(drawing: svg.Drawing, *forests: Forest) -> None:
    """Rows with label, mark and number; as wide as the widest label of any forest."""
    numbered = drawing.style.has("numbers")
    numbers = numbered * svg.widest((row.number for own in forests for row in own.rows), svg.SMALL)
    labels = [own.labels(drawing.width - numbers) for own in forests]
    drawing.width = max(drawing.width, *(svg.widest(words) + 2 * svg.MARGIN for words, _ in labels))
    for own, (words, above) in zip(forests, labels, strict=True):
        if own.title:
            drawing.text(svg.MARGIN, drawing.y + 9, own.title, bold=True)
            drawing.y += 15
        known = [end for row in own.rows for end in (row.value, *(row.ends or ()))]
        known += [] if own.line is None else [own.line]
        axis = own.axis or Axis.around(filter(math.isfinite, known))
        beside = 0.0 if above else svg.widest(words)
        axis = axis.over(svg.MARGIN + beside + 8, drawing.width - 2 * svg.MARGIN - numbers)
        heights = [ROW + ABOVE * (above and bool(label)) for label in words]
        floor = drawing.y + sum(heights) + 2
        for row, label, height in zip(own.rows, words, heights, strict=True):
            _row(drawing, row, axis, drawing.y + height - ROW / 2, own.line)
            if row.ruled:
                ends = (svg.MARGIN, drawing.y), (drawing.width - svg.MARGIN, drawing.y)
                drawing.line(*ends, colour="rule")
            drawing.text(svg.MARGIN, drawing.y + ROW / 2 + svg.BODY * 0.35, label)
            drawing.y += height
            if numbered:
                x, y = drawing.width - svg.MARGIN, drawing.y - ROW / 2 + svg.SMALL * 0.35
                drawing.text(x, y, row.number, size=svg.SMALL, anchor="end", colour="muted")
        axis.draw(drawing, floor, 5)


def forest_picture(title: str, rows: Sequence[ForestRow], line: str) -> str:
    """A picture of one forest round 0, whose description has all labels and numbers."""
    told = "; ".join(f"{row.names[0]} {row.number}" for row in rows)
    drawing = svg.Drawing(title, f"{told}.", lines=(line,))
    forest(drawing, Forest(rows, line=0.0))
    return drawing.svg()


def _row(drawing: svg.Drawing, row: ForestRow, axis: Axis, y: float, line: float | None) -> None:
    """A bar, box or mark with its interval, whose finite ends are marked."""
    if row.bar is not None:
        wide = axis(row.value) - axis.start
        drawing.rectangle(axis.start, y - ROW / 2 + 1, wide, ROW - 2, row.bar, row.hint)
    if line is not None:
        x = axis(line)
        drawing.line((x, y - ROW / 2), (x, y + ROW / 2), colour="muted", dashed=True)
    if row.ends is not None:
        low, high = (axis(min(max(end, axis.low), axis.high)) for end in row.ends)
        drawing.line((low, y), (high, y), colour="strong", thick=0.9)
        for x in (axis(end) for end in row.ends if math.isfinite(end)):
            drawing.line((x, y - 2.2), (x, y + 2.2), colour="strong", thick=0.9)
    if row.box is not None:
        low, middle, high = map(axis, row.box)
        drawing.rectangle(low, y - 3.6, max(high - low, 0.4), 7.2, "one")
        drawing.line((middle, y - 3.6), (middle, y + 3.6), thick=1.2)
    if row.bar is None:
        drawing.circle(axis(row.value), y, filled=row.filled, radius=1.7)
    if row.undecided:
        drawing.text(axis(row.value), y - 2.2, "?", size=svg.SMALL, anchor="middle")


# Matrix ------------------------------------------------------------------------------------------

BETWEEN = 12.0  # panels
ROOM = 17.0  # side from which a number fits into a cell

Ordered = Mapping[tuple[str, str], float]  # p of the first system being better than the second
Cells = dict[
    tuple[str, str], tuple[svg.Colour, str, str]
]  # shade, hint and word, by row and column


@dataclass(frozen=True)
class Panel:
    """A square of cells with the same names at its rows and, as places, at its columns.

    Attributes:
        cells: Those that are known, by the names of their row and column.
        title: Above it.
        below: A few words below it.
        starts: Where clusters begin, and the row behind the last one.
    """

    cells: Cells
    title: str = ""
    below: str = ""
    starts: Sequence[int] = ()


def shade(p: float, levels: Sequence[Level] = P_LEVELS) -> svg.Colour:
    """The shade of the strictest level that a p-value reaches; levels are strictest first."""
    return next((colour for limit, colour in levels if p <= limit), "none")


def level_words(levels: Sequence[Level] = P_LEVELS) -> list[tuple[svg.Colour, str]]:
    """What a legend says of each level, and of larger p-values."""
    words = [(colour, f"p ≤ {limit:g}".replace("0.", ".")) for limit, colour in levels]
    return [*words, ("none", "larger")]


def beaten(p: Ordered, word: Callable[[float], str] = lambda value: "") -> Cells:
    """Cells that say how surely the row's system is better than the column's."""
    return {
        (first, second): (
            shade(value),
            f"{first} better than {second}: p = {probability(value)}",
            word(value),
        )
        for (first, second), value in p.items()
    }


def matrix(
    drawing: svg.Drawing,
    names: Sequence[str],
    rows: Mapping[str, Sequence[Panel]],
    least: float,
    most: float,
    beside: Sequence[str] = (),
    placed: bool = True,
) -> None:
    """Panels side by side, rows of them below each other.

    Args:
        drawing: Its width is what panels may take, and becomes what they do take.
        names: Of the rows and columns of every panel.
        rows: Panels, by the title of their row; one without a title has the empty one.
        least: Smallest side of a cell.
        most: Largest side of a cell.
        beside: What stands beside each name.
        placed: Whether rows and columns have their places.
    """
    across, size = max(map(len, rows.values())), len(names)
    short = svg.short_names(names, NAME)
    label = svg.widest(short.values()) + 14 * placed + 18 * bool(beside)
    room = drawing.width - label - 2 * svg.MARGIN - BETWEEN * (across - 1)
    cell = min(most, max(least, room / across / size))
    side = cell * size
    step = (max(side, 48.0) if across > 1 else side) + BETWEEN
    wide = label + 2 * svg.MARGIN + across * step - BETWEEN
    last = svg.BOLD * svg.widest(panels[-1].title for panels in rows.values())
    titled = min(drawing.width, wide + last - step + BETWEEN)
    drawing.width = max(drawing.style.width or svg.COLUMN, wide, titled)
    for title, panels in rows.items():
        if title:
            drawing.text(svg.MARGIN, drawing.y + 9, title, bold=True)
            drawing.y += 12
        drawing.y += 9 * any(panel.title for panel in panels) + (9 if placed else 2)
        _names(drawing, [short[name] for name in names], cell, svg.MARGIN + label, beside, placed)
        for number, panel in enumerate(panels):
            left = svg.MARGIN + label + number * step
            free = drawing.width - svg.MARGIN - left if number == len(panels) - 1 else step - 2
            words = svg.shortened(panel.title, free / svg.BOLD)
            drawing.text(left, drawing.y - (11 if placed else 3), words, bold=placed)
            _panel(drawing, names, panel, left, cell, placed)
        drawing.y += side + (14 if any(panel.below for panel in panels) else 6)


def _names(
    drawing: svg.Drawing, names: Sequence[str], cell: float, end: float,
    beside: Sequence[str], placed: bool,
) -> None:  # fmt: skip
    """The name at each row, what stands beside it, and its place."""
    size = min(svg.BODY, 1.05 * cell)
    for i, name in enumerate(names):
        x, y = end - 3, drawing.y + (i + 0.5) * cell + size * 0.35
        if placed:
            drawing.text(x, y, str(i + 1), size=size, anchor="end", colour="muted")
            x -= 11
        if beside:
            drawing.text(x, y, beside[i], size=size, anchor="end", colour="muted")
            x -= 18
        drawing.text(x, y, name, size=size, anchor="end")


def _panel(
    drawing: svg.Drawing, names: Sequence[str], panel: Panel, left: float, cell: float, placed: bool
) -> None:
    """Cells, the places above them and the words below, and a frame round each cluster."""
    top, gap = drawing.y, min(0.5, cell / 20)
    size = max(min(cell, 6.0), min(svg.SMALL, 0.75 * cell))
    for i in range(len(names) * placed):
        x = left + (i + 0.5) * cell
        drawing.text(x, top - 3, str(i + 1), size=size, anchor="middle", colour="muted")
    order = {name: i for i, name in enumerate(names)}
    for (row, column), (colour, hint, word) in panel.cells.items():
        x, y = left + order[column] * cell, top + order[row] * cell
        drawing.rectangle(x + gap, y + gap, cell - 2 * gap, cell - 2 * gap, colour, hint)
        if cell < ROOM:
            word = "?" if word.endswith("?") else ""
        if word:
            size = min(svg.SMALL, 0.92 * cell / svg.text_width(word, 1))
            ink: svg.Colour = "paper" if colour == "three" else "ink"
            x, y = x + cell / 2, y + cell / 2 + size * 0.35
            drawing.text(x, y, word, size=size, anchor="middle", colour=ink)
    for first, last in pairwise(panel.starts):
        moved = first * cell
        drawing.frame(left + moved, top + moved, (last - first) * cell)
    if panel.below and drawing.style.has("numbers"):
        drawing.text(left, top + cell * len(names) + 7, panel.below, size=5, colour="muted")


# Scatter, curve and histogram --------------------------------------------------------------------

SIDE = 108.0  # height of a plane
RADIUS = 1.8  # of a point
DIGIT = 0.72 * svg.SMALL  # height of a digit

Box = tuple[float, float, float, float]  # left, top, right, bottom


def plane(drawing: svg.Drawing, x: Axis, y: Axis, height: float = SIDE) -> tuple[Axis, Axis]:
    """Draw two axes; returns them where they lie.

    Args:
        drawing: As wide as the plane.
        x: From left to right.
        y: From below.
        height: In points.
    """
    marked, top = y.marked(6), drawing.y
    left = (
        svg.MARGIN + 10 * bool(y.label) + svg.widest((words for _, words in marked), svg.SMALL) + 4
    )
    across, up = x.over(left, drawing.width - 2 * svg.MARGIN), y.over(top + height, top)
    drawing.line((left, top), (left, top + height))
    for value, words in marked:
        drawing.line((left - 2.5, up(value)), (left, up(value)))
        drawing.text(left - 4, up(value) + svg.SMALL * 0.35, words, size=svg.SMALL, anchor="end")
    if y.label:
        middle = top + height / 2
        drawing.text(svg.MARGIN + svg.BODY, middle, y.label, anchor="middle", turned=True)
    across.draw(drawing, top + height)
    return across, up


def level(drawing: svg.Drawing, x: Axis, y: float) -> None:
    """A dashed line across a plane."""
    drawing.line((x.start, y), (x.end, y), colour="muted", dashed=True)


def scatter(
    drawing: svg.Drawing, x: Axis, y: Axis, points: Sequence[svg.Place], filled: Sequence[bool],
    numbered: bool = False,
) -> None:  # fmt: skip
    """Points of a plane; with numbers from 1 beside them, over as little else as can be.

    Args:
        drawing: To draw on.
        x: As `plane` returned it.
        y: The same.
        points: Their values.
        filled: Whether each mark is filled.
        numbered: Whether they have numbers.
    """
    places = [(x(a), y(b)) for a, b in points]
    taken: list[Box] = [(a - RADIUS, b - RADIUS, a + RADIUS, b + RADIUS) for a, b in places]
    inside = (x.start, y.end, x.end, y.start)
    for i, ((a, b), full) in enumerate(zip(places, filled, strict=True), 1):
        drawing.circle(a, b, filled=full, radius=RADIUS)
        if numbered:
            boxes = _beside(a, b, svg.text_width(str(i), svg.SMALL))
            best = min(boxes, key=lambda box: _covered(box, taken, inside))
            taken.append(best)
            drawing.text(best[0], best[3], str(i), size=svg.SMALL, colour="muted")


def _beside(x: float, y: float, wide: float) -> Iterator[Box]:
    """Boxes for a label round a point, the usual one first."""
    for gap in (1.2, 4.0, 8.0):
        right, left, middle = x + RADIUS + gap, x - RADIUS - gap - wide, x - wide / 2
        above, below, beside = y - 1.5 - DIGIT, y + 1.5, y - DIGIT / 2
        over, under = y - RADIUS - gap - DIGIT, y + RADIUS + gap
        for start, top in ((right, above), (left, above), (right, below), (left, below),
                           (middle, over), (middle, under), (right, beside),
                           (left, beside)):  # fmt: skip
            yield start, top, start + wide, top + DIGIT


def _covered(box: Box, taken: Sequence[Box], inside: Box) -> float:
    """How much of a box lies over others, and out of the plane."""

    def common(other: Box) -> float:
        wide = min(box[2], other[2]) - max(box[0], other[0])
        high = min(box[3], other[3]) - max(box[1], other[1])
        return wide * high if wide > 0 and high > 0 else 0.0

    return (box[2] - box[0]) * DIGIT - common(inside) + sum(map(common, taken))


def curve(
    drawing: svg.Drawing, x: Axis, y: Axis, middle: Sequence[svg.Place], low: Sequence[svg.Place],
    high: Sequence[svg.Place],
) -> None:  # fmt: skip
    """A line through points of a plane, and the area between two others."""
    drawing.area([(x(a), y(b)) for a, b in [*low, *reversed(high)]], "light")
    for start, end in pairwise([(x(a), y(b)) for a, b in middle]):
        drawing.line(start, end, colour="strong", thick=1.2)


def histogram(
    drawing: svg.Drawing, x: Axis, y: Axis, edges: Sequence[float], counts: Sequence[float],
    colour: Literal["light", "strong"],
) -> None:  # fmt: skip
    """The outline of counts between edges, filled.

    Args:
        drawing: To draw on.
        x: As `plane` returned it.
        y: The same.
        edges: One more than counts.
        counts: From the first bin to the last.
        colour: Of the area.
    """
    outline = [(x(edges[0]), y(0))]
    for count, (start, end) in zip(counts, pairwise(edges), strict=True):
        outline += [(x(start), y(count)), (x(end), y(count))]
    drawing.area([*outline, (x(edges[-1]), y(0))], colour)
