"""SVG by hand: shapes, text as text, a title and a description for those who cannot see it.

Lengths are points; a drawing is as wide as a paper's column (8.5 cm) unless its labels need more.
Colours are presentation attributes from one table, so that a page that embeds the drawing can
replace each for dark screens. Every shade keeps its order in greyscale.
"""

from __future__ import annotations

import hashlib
import html
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from sigtest.render.digits import MINUS
from sigtest.render.names import printable, turns
from sigtest.render.names import width as cells

COLUMN = 240.9  # points in 8.5 cm
PAGE = 480.0  # points across two columns
MARGIN = 4.0
FONT = "Helvetica Neue, Helvetica, Arial, Liberation Sans, sans-serif"
BODY = 7.0
SMALL = 6.2
HEADING = 8.0  # bold
LEFT_TO_RIGHT = "\N{LEFT-TO-RIGHT MARK}"
BOLD = 1.12  # how much wider bold letters are, at most

Anchor = Literal["start", "middle", "end"]
Colour = Literal["ink", "muted", "rule", "paper", "light", "strong", "one", "two", "three", "none"]
Points = Iterable[tuple[float, float]]

COLOURS: dict[Colour, str] = {
    "ink": "#161616",
    "muted": "#555555",
    "rule": "#c4c4c4",
    "paper": "#ffffff",
    "light": "#cbd6e4",
    "strong": "#1d4f91",
    "one": "#b9cfe8",
    "two": "#5b8fc7",
    "three": "#12386b",
    "none": "#f3f3f3",
}

# Pictures are drawn for paper; on a dark screen each of their colours has a counterpart.
DARK: dict[Colour, str] = {
    "ink": "#ececec",
    "muted": "#b4b4b4",
    "rule": "#4a4f57",
    "paper": "#16191d",
    "light": "#3a4757",
    "strong": "#7fb2f0",
    "one": "#2c4a6e",
    "two": "#5b8fc7",
    "three": "#b7d3f2",
    "none": "#22262c",
}

# Helvetica's widths of ASCII 32 to 126 in 1/1000 em, from Adobe's font metrics.
_WIDTHS = (
    "278 278 355 556 556 889 667 191 333 333 389 584 278 333 278 278 556 556 556 556 556 556 556 "
    "556 556 556 278 278 584 584 584 556 1015 667 667 722 722 667 611 778 722 278 500 667 556 833 "
    "722 778 667 778 722 667 611 722 667 944 667 667 611 278 278 278 469 556 333 556 556 500 556 "
    "556 278 556 556 222 222 500 222 833 556 556 556 556 333 500 278 556 500 722 500 500 500 334 "
    "260 334 584"
)
_EM = [int(width) / 1000 for width in _WIDTHS.split()]


def text_width(text: str, size: float = BODY) -> float:
    """About how wide a line of text will be; an em for wide characters, 0.56 for unknown ones."""
    return size * sum(_EM[ord(c) - 32] if " " <= c <= "~" else 0.56 * cells(c) for c in text)


@dataclass
class Drawing:
    """Shapes, in the order in which they are drawn.

    Attributes:
        title: What it shows, in a few words.
        description: What can be seen in it.
        width: In points.
        height: In points.
        top: Height above everything, that is cut off.
        shown_width: In points, where it is shown larger or smaller than it is drawn.
    """

    title: str
    description: str
    width: float
    height: float
    top: float = 0.0
    shown_width: float | None = None
    shapes: list[str] = field(default_factory=list)

    def text(
        self,
        x: float,
        y: float,
        content: str,
        *,
        size: float = BODY,
        anchor: Anchor = "start",
        colour: Colour = "ink",
        bold: bool = False,
        turned: bool = False,
    ) -> None:
        """One line of text on a baseline; `turned` reads upwards."""
        place = _attributes(x=x, y=y, font_size=size)
        if turned:
            place += f' transform="rotate(-90 {_number(x)} {_number(y)})"'
        if anchor != "start":
            place += f' text-anchor="{anchor}"'
        weight = ' font-weight="bold"' if bold else ""
        shown = _escape(content)
        self.shapes.append(f"<text{place}{_fill(colour)}{weight}>{shown}</text>")

    def line(
        self,
        start: tuple[float, float],
        end: tuple[float, float],
        *,
        colour: Colour = "ink",
        thick: float = 0.6,
        dashed: bool = False,
    ) -> None:
        """A straight line."""
        ends = _attributes(x1=start[0], y1=start[1], x2=end[0], y2=end[1])
        self.shapes.append(f"<line{ends}{_stroke(colour, thick, dashed)}/>")

    def rectangle(
        self, x: float, y: float, width: float, height: float, colour: Colour, hint: str = ""
    ) -> None:
        """A filled rectangle; `hint` appears where a pointer rests on it."""
        place = _attributes(x=x, y=y, width=width, height=height)
        inner = f"<title>{_escape(hint)}</title>" if hint else ""
        self.shapes.append(f"<rect{place}{_fill(colour)}>{inner}</rect>")

    def frame(self, x: float, y: float, width: float, height: float, thick: float) -> None:
        """An empty rectangle."""
        place = _attributes(x=x, y=y, width=width, height=height)
        self.shapes.append(f'<rect{place} fill="none"{_stroke("ink", thick)}/>')

    def circle(self, x: float, y: float, radius: float, *, filled: bool) -> None:
        """A round mark, filled or hollow."""
        place = _attributes(cx=x, cy=y, r=radius)
        colour: Colour = "strong" if filled else "paper"
        self.shapes.append(f"<circle{place}{_fill(colour)}{_stroke('strong', 1.0)}/>")

    def area(self, points: Points, colour: Colour) -> None:
        """A filled shape."""
        path = "M" + "L".join(f"{_number(x)} {_number(y)}" for x, y in points) + "Z"
        self.shapes.append(f'<path d="{path}"{_fill(colour)}/>')

    def heading(
        self, words: str, *below: str, left: float = MARGIN, shown: bool = True, top: float = 0.0
    ) -> None:
        """What it shows, and lines that say more; where it is not shown, all above `top` is cut."""
        if not shown:
            self.top = top
            return
        self.text(left, 11, words, size=HEADING, bold=True)
        for i, line in enumerate(below):
            self.text(left, 20.5 + 8.5 * i, line, size=SMALL, colour="muted")

    def axis(self, across: Scale, floor: float, most: int, below: float = 9.5) -> None:
        """A horizontal axis with its ticks."""
        self.line((across.start, floor), (across.end, floor))
        self.ticks(across, floor, most, below)

    def ticks(self, across: Scale, floor: float, most: int, below: float = 9.5) -> None:
        """At most so many numbers along an axis, with their baselines `below` it."""
        for value in across.ticks(most):
            self.line((across(value), floor), (across(value), floor + 2.5))
            label = f"{value:g}".replace("-", MINUS)
            self.text(across(value), floor + below, label, size=SMALL, anchor="middle")

    def interval(
        self, low: float, high: float, y: float, marked: Sequence[float] | None = None
    ) -> None:
        """A horizontal interval with its two ends, or those of them that are to be marked."""
        self.line((low, y), (high, y), colour="strong", thick=0.9)
        for end in (low, high) if marked is None else marked:
            self.line((end, y - 2.2), (end, y + 2.2), colour="strong", thick=0.9)

    def render(self) -> str:
        """The drawing as a standalone SVG document."""
        name = "s" + hashlib.sha256("".join(self.shapes).encode()).hexdigest()[:12]
        cut = self.height - self.top
        wide, high = _number(self.width), _number(cut)
        times = (self.shown_width or self.width) / self.width
        shown = f'width="{_number(times * self.width)}pt" height="{_number(times * cut)}pt"'
        head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" {shown} '
            f'viewBox="0 {_number(self.top)} {wide} {high}" role="img" '
            f'aria-labelledby="{name}-t {name}-d" font-family="{FONT}">'
        )
        title = f'<title id="{name}-t">{_escape(self.title)}</title>'
        description = f'<desc id="{name}-d">{_escape(self.description)}</desc>'
        below = _attributes(y=self.top) if self.top else ""
        paper = f'<rect{below} width="{wide}" height="{high}"{_fill("paper")}/>'
        return "\n".join([head, title, description, paper, *self.shapes, "</svg>"]) + "\n"


@dataclass(frozen=True)
class Scale:
    """Values to places on the page, along a straight axis."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        return self.start + (value - self.low) / (self.high - self.low) * (self.end - self.start)

    def ticks(self, most: int) -> Sequence[float]:
        """At most so many round values inside, zero exact."""
        span = self.high - self.low
        step = 10.0 ** math.floor(math.log10(span / most))
        step *= next(m for m in (1, 2, 5, 10, 20) if span / (step * m) < most)
        first = math.ceil(self.low / step - 1e-9)
        last = math.floor(self.high / step + 1e-9)
        return [round(i * step, 12) for i in range(first, last + 1)]


def darkening(within: str) -> str:
    """CSS rules that give the colours of drawings their dark counterparts.

    Args:
        within: Selector of what holds the shapes, with a space behind it; nothing for all there is.
    """
    return "\n".join(
        f'{within}[{what}="{COLOURS[name]}"] {{ {what}: {shade}; }}'
        for name, shade in DARK.items()
        for what in ("fill", "stroke")
    )


def adaptive(svg: str) -> str:
    """A drawing that follows its reader's choice of light or dark, for pages that load it."""
    head, end, rest = svg.partition(">")
    style = f"<style>@media (prefers-color-scheme: dark) {{\n{darkening('')}\n}}</style>"
    return f"{head}{end}{style}{rest}"


def scale(values: Iterable[float], start: float, end: float, margin: float = 0.04) -> Scale:
    """A scale that holds all values with a margin; never one of no length."""
    known = list(values)
    low, high = min(known), max(known)
    pad = (high - low) * margin or max(abs(high), 1.0) * 0.05
    return Scale(low - pad, high + pad, start, end)


def _escape(text: str) -> str:
    """Text as markup; Arabic and Hebrew names on both sides of a minus sign keep their places."""
    shown = html.escape(printable(text), quote=False)
    if not turns(text):
        return shown
    return shown.replace(f" {MINUS} ", f"{LEFT_TO_RIGHT} {MINUS} {LEFT_TO_RIGHT}")


def _number(value: float) -> str:
    """Hundredths of a point are finer than any printer."""
    return f"{round(value, 2):g}" if abs(value) < 1e4 else f"{value:.0f}"


def _attributes(**values: float) -> str:
    return "".join(f' {k.replace("_", "-")}="{_number(v)}"' for k, v in values.items())


def _fill(colour: Colour) -> str:
    return f' fill="{COLOURS[colour]}"'


def _stroke(colour: Colour, thick: float, dashed: bool = False) -> str:
    dashes = ' stroke-dasharray="2 1.6"' if dashed else ""
    return f' stroke="{COLOURS[colour]}" stroke-width="{_number(thick)}"{dashes}'
