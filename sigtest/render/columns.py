"""Columns of plain text, aligned, under headings that may span several of them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from sigtest.render.names import width

GAP = "  "


@dataclass(frozen=True)
class Column:
    """Cells below a heading of one line; numbers go to the right."""

    heading: str
    cells: tuple[str, ...]
    right: bool = False

    def lines(self) -> list[str]:
        """Heading and cells, all equally wide."""
        rows = (self.heading, *self.cells)
        wide = max(width(row) for row in rows)
        return [_pad(row, wide, self.right) for row in rows]


@dataclass(frozen=True)
class Group:
    """Columns side by side under a heading of some lines."""

    heading: tuple[str, ...]
    columns: tuple[Column, ...]

    def lines(self, height: int) -> list[str]:
        """The group as text whose heading takes `height` lines, all lines equally wide."""
        heading = ("",) * (height - len(self.heading)) + self.heading
        body = [GAP.join(row) for row in zip(*(c.lines() for c in self.columns), strict=True)]
        wide = max(width(line) for line in (*heading, *body))
        return [_pad(line, wide) for line in (*heading, *body)]

    @property
    def width(self) -> int:
        """Columns of the terminal that it takes."""
        return width(self.lines(len(self.heading))[0])


def table(groups: Sequence[Group], breaks: Collection[int] = ()) -> str:
    """The groups side by side.

    Args:
        groups: With equally many cells in every column.
        breaks: Rows that have a light rule above them.
    """
    height = max(len(group.heading) for group in groups)
    drawn = [group.lines(height) for group in groups]
    lines = [GAP.join(row).rstrip() for row in zip(*drawn, strict=True)]
    wide = max(width(line) for line in lines)
    head, body = lines[: height + 1], lines[height + 1 :]
    text = [*head, "─" * wide]
    for place, line in enumerate(body):
        if place in breaks:
            text.append("╌" * wide)
        text.append(line)
    return "\n".join(line for line in text if line)


def aligned(cells: Sequence[str]) -> list[str]:
    """The cells padded on their left to the widest."""
    wide = max(width(cell) for cell in cells)
    return [_pad(cell, wide, right=True) for cell in cells]


def balanced(groups: Sequence[Group], room: int) -> list[Sequence[Group]]:
    """The groups, in order, in as few runs as fit into `room`, the runs about equally long."""
    for size in range(len(groups), 0, -1):
        runs = [groups[i : i + size] for i in range(0, len(groups), size)]
        if size == 1 or all(sum(g.width + len(GAP) for g in run) <= room for run in runs):
            break
    even = -(-len(groups) // len(runs))
    return [groups[i : i + even] for i in range(0, len(groups), even)]


def _pad(text: str, wide: int, right: bool = False) -> str:
    space = " " * (wide - width(text))
    return space + text if right else text + space
