"""SVG by hand: shapes, text as text, a title and a description for those who cannot see it.

Lengths are points; a drawing is as wide as a paper's column (8.5 cm) unless its labels need more.
Colours are presentation attributes from one table, so that a page that embeds the drawing can
replace each for dark screens. Every shade keeps its order in greyscale.
"""

from __future__ import annotations

import hashlib
import html
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from sigtest.data.names import choose
from sigtest.errors import RecipeError, UnavailableError
from sigtest.render.words import MINUS, printable, turns
from sigtest.render.words import width as cells

COLUMN = 240.9  # points in 8.5 cm
PAGE = 480.0  # points across two columns
MARGIN = 4.0
FONT = "Helvetica Neue, Helvetica, Arial, Liberation Sans, sans-serif"
BODY, SMALL, HEADING = 7.0, 6.2, 8.0  # sizes of letters; headings are bold
BOLD = 1.12  # how much wider bold letters are, at most
ELLIPSIS = "\N{HORIZONTAL ELLIPSIS}"
LEFT_TO_RIGHT = "\N{LEFT-TO-RIGHT MARK}"

STYLE = ("width", "title", "omit")  # what is chosen of a picture's style
PARTS = ("title", "legend", "numbers")
POINTS = {"pt": 1.0, "mm": 72 / 25.4, "cm": 72 / 2.54, "in": 72.0}
LEAST, MOST = 100.0, 3000.0  # points

Anchor = Literal["start", "middle", "end"]
Colour = Literal["ink", "muted", "rule", "paper", "light", "strong", "one", "two", "three", "none"]
Place = tuple[float, float]

# Pictures are drawn for paper; on a dark screen each of their colours has a counterpart.
SHADES: dict[Colour, tuple[str, str]] = {
    "ink": ("#161616", "#ececec"),
    "muted": ("#555555", "#b4b4b4"),
    "rule": ("#c4c4c4", "#4a4f57"),
    "paper": ("#ffffff", "#16191d"),
    "light": ("#cbd6e4", "#3a4757"),
    "strong": ("#1d4f91", "#7fb2f0"),
    "one": ("#b9cfe8", "#2c4a6e"),
    "two": ("#5b8fc7", "#5b8fc7"),
    "three": ("#12386b", "#b7d3f2"),
    "none": ("#f3f3f3", "#22262c"),
}
COLOURS = {name: shade for name, (shade, _) in SHADES.items()}

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


def widest(texts: Iterable[str], size: float = BODY) -> float:
    """Width of the widest of some lines, with some room for other fonts."""
    return 1.08 * max((text_width(text, size) for text in texts), default=0.0)


def shortened(text: str, room: float, size: float = BODY) -> str:
    """`text` as far as it fits into so many points: its beginning, an ellipsis and its end."""
    whole = short = printable(text)
    left = len(whole)
    while left > 2 and text_width(short, size) > room:
        left -= 1
        head = (left + 1) // 2
        short = whole[:head] + ELLIPSIS + whole[len(whole) - (left - head) :]
    return short


def short_names(names: Sequence[str], room: float, size: float = BODY) -> dict[str, str]:
    """What to call each of some names; a long one keeps its length where another would look alike.

    Args:
        names: All different.
        room: Points that each of them has.
        size: Of the letters.
    """
    short = {name: shortened(name, room, size) for name in names}
    alike = Counter(short.values())
    return {name: text if alike[text] == 1 else printable(name) for name, text in short.items()}


@dataclass(frozen=True)
class Style:
    """How a reader wants a picture drawn.

    Attributes:
        width: In points; a paper's column, or as wide as its labels need, where there is none.
        title: Instead of its heading.
        omitted: Which of PARTS are left out.
    """

    width: float | None = None
    title: str = ""
    omitted: frozenset[str] = frozenset()

    @classmethod
    def of(cls, choice: Mapping[str, str]) -> Style:
        """From `width`, `title` and `omit`, as far as they are chosen.

        Raises:
            RecipeError: No such length or part.
        """
        omitted = [part.strip() for part in choice.get("omit", "").split(",") if part.strip()]
        return cls(
            _points(choice["width"]) if "width" in choice else None,
            choice.get("title", ""),
            frozenset(choose(part, PARTS, "omit", "part of a picture") for part in omitted),
        )

    def has(self, part: str) -> bool:
        """Whether a part is drawn."""
        return part not in self.omitted


def _points(width: str) -> float:
    match = re.fullmatch(rf"(\d+(?:\.\d+)?) ?({'|'.join(POINTS)})", width.strip())
    points = float(match[1]) * POINTS[match[2]] if match else 0.0
    if not LEAST <= points <= MOST:
        raise RecipeError(
            f"width is a length from {LEAST:g} to {MOST:g} points, such as 8.5cm, 160mm, 6in or "
            f"240pt, not {width!r}.",
            field="width",
        )
    return points


PLAIN = Style()


@dataclass
class Drawing:
    """A heading, and shapes below it in the order in which they are drawn.

    Attributes:
        title: What it shows, in a few words, with {} for each of `names`.
        description: What can be seen in it.
        names: Parts of the title that are cut where there is little room.
        lines: Below the heading; they say more.
        width: In points; what is drawn may widen it.
        style: Width and title that are wanted instead, and what is left out.
        y: Where the next thing begins.
    """

    title: str
    description: str
    names: tuple[str, ...] = ()
    lines: tuple[str, ...] = ()
    width: float = COLUMN
    style: Style = PLAIN
    y: float = field(init=False)
    shapes: list[str] = field(default_factory=list, init=False)

    def __post_init__(self) -> None:
        self.width = self.style.width or self.width
        self.y = 18.0 + 8.5 * len(self.lines) if self.style.has("title") else MARGIN

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
        self._shape(
            "text",
            _escape(content),
            x=x,
            y=y,
            font_size=size,
            transform=f"rotate(-90 {_number(x)} {_number(y)})" if turned else None,
            text_anchor=None if anchor == "start" else anchor,
            fill=COLOURS[colour],
            font_weight="bold" if bold else None,
        )

    def line(
        self,
        start: Place,
        end: Place,
        *,
        colour: Colour = "ink",
        thick: float = 0.6,
        dashed: bool = False,
    ) -> None:
        """A straight line."""
        self._shape(
            "line",
            x1=start[0],
            y1=start[1],
            x2=end[0],
            y2=end[1],
            stroke=COLOURS[colour],
            stroke_width=thick,
            stroke_dasharray="2 1.6" if dashed else None,
        )

    def rectangle(
        self, x: float, y: float, width: float, height: float, colour: Colour, hint: str = ""
    ) -> None:
        """A filled rectangle; `hint` appears where a pointer rests on it."""
        inner = f"<title>{_escape(hint)}</title>" if hint else ""
        self._shape("rect", inner, x=x, y=y, width=width, height=height, fill=COLOURS[colour])

    def frame(self, x: float, y: float, side: float) -> None:
        """An empty square."""
        ink = COLOURS["ink"]
        self._shape(
            "rect", x=x, y=y, width=side, height=side, fill="none", stroke=ink, stroke_width=1.1
        )

    def circle(self, x: float, y: float, *, filled: bool, radius: float = 1.8) -> None:
        """A round mark, filled or hollow."""
        ink, fill = COLOURS["strong"], COLOURS["strong" if filled else "paper"]
        self._shape("circle", cx=x, cy=y, r=radius, fill=fill, stroke=ink, stroke_width=1.0)

    def area(self, points: Iterable[Place], colour: Colour) -> None:
        """A filled shape."""
        path = "M" + "L".join(f"{_number(x)} {_number(y)}" for x, y in points) + "Z"
        self._shape("path", d=path, fill=COLOURS[colour])

    def _shape(self, kind: str, inner: str | None = None, **attributes: float | str | None) -> None:
        """An element with these attributes, as far as there are any, and with what is in it."""
        shown = "".join(
            f' {name.replace("_", "-")}="{value if isinstance(value, str) else _number(value)}"'
            for name, value in attributes.items()
            if value is not None
        )
        self.shapes.append(f"<{kind}{shown}" + ("/>" if inner is None else f">{inner}</{kind}>"))

    def legend(self, entries: Sequence[tuple[str, str]]) -> None:
        """Signs and what they mean, side by side as far as there is room.

        Args:
            entries: A colour, `filled`, `hollow`, `frame` or nothing, and words.
        """
        if not (entries and self.style.has("legend")):
            return
        x, y = MARGIN, self.y
        for sign, words in entries:
            wide = text_width(words, SMALL) * 1.08 + (11 if sign else 0)
            if x > MARGIN and x + wide > self.width:
                x, y = MARGIN, y + 10
            if sign in COLOURS:
                self.rectangle(x, y, 8, 8, sign)
            elif sign == "frame":
                self.frame(x + 0.5, y + 0.5, 7)
            elif sign:
                self.circle(x + 4, y + 4.2, filled=sign == "filled")
            self.text(x + (11 if sign else 0), y + 6.5, words, size=SMALL)
            x += wide + 9
        self.y = y + 8 + MARGIN

    def svg(self) -> str:
        """The drawing as a standalone SVG document."""
        shapes, self.shapes = self.shapes, []
        if self.style.has("title"):
            self.text(MARGIN, 11, self._heading(), size=HEADING, bold=True)
            for i, line in enumerate(self.lines):
                short = shortened(line, self.width - 2 * MARGIN, SMALL)
                self.text(MARGIN, 20.5 + 8.5 * i, short, size=SMALL, colour="muted")
        self.shapes += shapes
        title = self.title.format(*self.names) if self.names else self.title
        name = "s" + hashlib.sha256("".join(self.shapes).encode()).hexdigest()[:12]
        wide, high = _number(self.width), _number(self.y)
        times = (self.style.width or self.width) / self.width
        size = f'width="{_number(times * self.width)}pt" height="{_number(times * self.y)}pt"'
        head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" {size} viewBox="0 0 {wide} {high}" '
            f'role="img" aria-labelledby="{name}-t {name}-d" font-family="{FONT}">'
        )
        titled = f'<title id="{name}-t">{_escape(self.style.title or title)}</title>'
        about = f'<desc id="{name}-d">{_escape(self.description)}</desc>'
        paper = f'<rect width="{wide}" height="{high}" fill="{COLOURS["paper"]}"/>'
        return "\n".join([head, titled, about, paper, *self.shapes, "</svg>"]) + "\n"

    def _heading(self) -> str:
        """The title, its names cut where the width asks for it; short ones leave others room."""
        if self.style.title or not self.names:
            return self.style.title or self.title
        room = (self.width - 2 * MARGIN) / BOLD
        room -= text_width(self.title.format(*[""] * len(self.names)), HEADING)
        wide = [text_width(name, HEADING) for name in self.names]
        share = room / len(wide)
        longer = sum(own > share for own in wide) or 1
        share += sum(share - own for own in wide if own < share) / longer
        return self.title.format(*(shortened(name, share, HEADING) for name in self.names))


def darkening(within: str) -> str:
    """CSS rules that give the colours of drawings their dark counterparts.

    Args:
        within: Selector of what holds the shapes, with a space behind it; nothing for all there is.
    """
    return "\n".join(
        f'{within}[{what}="{light}"] {{ {what}: {dark}; }}'
        for light, dark in SHADES.values()
        for what in ("fill", "stroke")
    )


def adaptive(svg: str) -> str:
    """A drawing that follows its reader's choice of light or dark, for pages that load it."""
    head, end, rest = svg.partition(">")
    style = f"<style>@media (prefers-color-scheme: dark) {{\n{darkening('')}\n}}</style>"
    return f"{head}{end}{style}{rest}"


def _escape(text: str) -> str:
    """Text as markup; Arabic and Hebrew names on both sides of a minus sign keep their places."""
    markup = html.escape(printable(text), quote=False)
    if not turns(text):
        return markup
    return markup.replace(f" {MINUS} ", f"{LEFT_TO_RIGHT} {MINUS} {LEFT_TO_RIGHT}")


def _number(value: float) -> str:
    """Hundredths of a point are finer than any printer."""
    return f"{round(value, 2):g}" if abs(value) < 1e4 else f"{value:.0f}"


# PDF and PNG: what typesets them is loaded when it is first used ------------------------

# By the suffix of a file; where a client of the service has no preference it gets the first.
PICTURE_FORMATS = {"svg": "image/svg+xml", "pdf": "application/pdf", "png": "image/png"}
TYPST = b"""#set page(width: auto, height: auto, margin: 0pt)
#image(bytes(sys.inputs.svg), format: "svg")"""
PPI = 300.0  # of PNG, as journals want it


def check_converter(suffix: str) -> None:
    """Complain before a long computation where pictures could not be written after it.

    Args:
        suffix: One of PICTURE_FORMATS.

    Raises:
        UnavailableError: What makes it of SVG is not installed.
    """
    if suffix != "svg":
        try:
            import typst  # noqa: F401  # late: few runs need it
        except ImportError as error:
            raise UnavailableError(
                f"Pictures as {suffix.upper()} need typst: pip install typst; SVG needs nothing."
            ) from error


LONGEST = 60  # characters of a word in the name of a picture


def named(pictures: Iterable[tuple[Sequence[str], str]]) -> Iterator[tuple[str, str]]:
    """Pictures with names of files without a suffix; a second of one name gets a number.

    Args:
        pictures: What each shows, in words, and the SVG.
    """
    taken: set[str] = set()
    for parts, svg in pictures:
        # what no shell, file system or LaTeX minds in the name of a file
        stem = "-".join(re.sub(r"[^A-Za-z0-9+-]+", "_", part)[:LONGEST] for part in parts)
        name, again = stem, 1
        while name.casefold() in taken:
            again += 1
            name = f"{stem}-{again}"
        taken.add(name.casefold())
        yield name, svg


def converted(svg: str, suffix: str) -> bytes:
    """A picture in the format of a suffix, a function of the SVG and this machine's fonts.

    A PDF has its fonts in it, and is of a version that LaTeX takes without a warning.

    Args:
        svg: The picture.
        suffix: One of PICTURE_FORMATS.

    Raises:
        UnavailableError: What makes it of SVG is not installed.
    """
    if suffix == "svg":
        return svg.encode()
    check_converter(suffix)
    import typst  # late: few runs need it

    inputs = {"svg": svg}
    if suffix == "png":
        return typst.compile(TYPST, format="png", ppi=PPI, sys_inputs=inputs)
    return typst.compile(
        TYPST, format="pdf", pdf_standards=["1.5"], pdf_tags=False, timestamp=0, sys_inputs=inputs
    )
