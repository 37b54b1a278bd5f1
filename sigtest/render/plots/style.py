"""What a picture looks like where its reader wants it otherwise: width, title, parts left out."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from sigtest.data.choices import choose
from sigtest.errors import RecipeError

STYLE = ("width", "title", "omit")  # what is chosen
PARTS = ("title", "legend", "numbers")
POINTS = {"pt": 1.0, "mm": 72 / 25.4, "cm": 72 / 2.54, "in": 72.0}
LEAST, MOST = 100.0, 3000.0  # points


@dataclass(frozen=True)
class Style:
    """How a picture is drawn.

    Attributes:
        width: In points; a paper's column, or as wide as its labels need, where none is given.
        title: Instead of its own.
        omitted: Which of PARTS are left out.
    """

    width: float | None = None
    title: str = ""
    omitted: frozenset[str] = frozenset()

    @classmethod
    def of(cls, asked: Mapping[str, str]) -> Style:
        """From `width`, `title` and `omit`, as far as they are asked for.

        Raises:
            RecipeError: No such length or part.
        """
        omitted = [part.strip() for part in asked.get("omit", "").split(",") if part.strip()]
        return cls(
            _points(asked["width"]) if "width" in asked else None,
            asked.get("title", ""),
            frozenset(choose(part, PARTS, "omit", "part of a picture") for part in omitted),
        )

    def has(self, part: str) -> bool:
        """Whether a part is drawn."""
        return part not in self.omitted


def _points(width: str) -> float:
    found = re.fullmatch(rf"(\d+(?:\.\d+)?) ?({'|'.join(POINTS)})", width.strip())
    points = float(found[1]) * POINTS[found[2]] if found else 0.0
    if not LEAST <= points <= MOST:
        raise RecipeError(
            f"width is a length from {LEAST:g} to {MOST:g} points, such as 8.5cm, 160mm, 6in or "
            f"240pt, not {width!r}.",
            field="width",
        )
    return points
