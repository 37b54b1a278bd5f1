"""A square of shaded cells: the same names at its rows and, as places, at its columns."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from sigtest.render.digits import probability
from sigtest.render.plots.drawing import BODY, SMALL, Colour, Drawing, text_width
from sigtest.render.plots.scale import shade

Ordered = Mapping[tuple[str, str], float]  # p of the first system being better than the second

PLACE, BESIDE = 10.0, 20.0  # points that a row's place and what stands before it take


@dataclass(frozen=True)
class Square:
    """Where the cells of a square lie.

    Attributes:
        left: Of its cells.
        top: Of its cells.
        cell: Side of a cell.
    """

    left: float
    top: float
    cell: float

    def rows(self, drawing: Drawing, names: Sequence[str], beside: Sequence[str] = ()) -> None:
        """Name and place at each row, and what stands between the two, if anything does."""
        size = min(BODY, self.cell)
        for i, name in enumerate(names):
            x, y = self.left - 3, self.top + (i + 0.5) * self.cell + size * 0.35
            left = x - PLACE - BESIDE * bool(beside)
            drawing.text(left, y, name, size=size, anchor="end")
            if beside:
                drawing.text(x - PLACE, y, beside[i], size=size, anchor="end", colour="muted")
            drawing.text(x, y, str(i + 1), size=size, anchor="end", colour="muted")

    def columns(self, drawing: Drawing, count: int, size: float) -> None:
        """The place above each column."""
        for i in range(count):
            x = self.left + (i + 0.5) * self.cell
            drawing.text(x, self.top - 3, str(i + 1), size=size, anchor="middle", colour="muted")

    def fill(
        self,
        drawing: Drawing,
        place: tuple[int, int],
        colour: Colour,
        hint: str,
        word: str = "",
        size: float = SMALL,
    ) -> None:
        """Shade the cell at a row and column; `word` stands in it."""
        row, column = place
        x, y = self.left + column * self.cell, self.top + row * self.cell
        gap = min(0.5, self.cell / 20)
        side = self.cell - 2 * gap
        drawing.rectangle(x + gap, y + gap, side, side, colour, hint)
        if word:
            size = min(size, 0.92 * self.cell / text_width(word, 1))
            ink: Colour = "paper" if colour == "three" else "ink"
            x, y = x + self.cell / 2, y + self.cell / 2 + size * 0.35
            drawing.text(x, y, word, size=size, anchor="middle", colour=ink)

    def fill_beaten(
        self,
        drawing: Drawing,
        names: Sequence[str],
        p: Ordered,
        word: Callable[[float], str] = lambda value: "",
    ) -> None:
        """Shade by how sure the row's system is better than the column's, where that is known."""
        for i, better in enumerate(names):
            for j, worse in enumerate(names):
                if (value := p.get((better, worse))) is not None:
                    hint = f"{better} better than {worse}: p = {probability(value)}"
                    self.fill(drawing, (i, j), shade(value), hint, word(value))

    def frames(self, drawing: Drawing, starts: Sequence[int]) -> None:
        """A frame round each cluster, on the diagonal.

        Args:
            drawing: To draw on.
            starts: First row of each cluster, and the row behind the last.
        """
        for first, last in pairwise(starts):
            moved, side = first * self.cell, (last - first) * self.cell
            drawing.frame(self.left + moved, self.top + moved, side, side, 1.1)


def frame_legend(drawing: Drawing, x: float, y: float) -> None:
    """What a frame means."""
    drawing.frame(x + 0.5, y + 0.5, 7, 7, 1.1)
    drawing.text(x + 11, y + 6.5, "cluster", size=SMALL)
