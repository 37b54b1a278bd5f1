"""Names that are wider than their place: cut in the middle, and never two alike."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from sigtest.render.names import printable
from sigtest.render.plots.drawing import BODY, text_width

ELLIPSIS = "\N{HORIZONTAL ELLIPSIS}"


def shortened(text: str, room: float, size: float = BODY) -> str:
    """`text` as far as it fits into so many points: its beginning, an ellipsis and its end."""
    text = printable(text)
    kept = len(text)
    shown = text
    while kept > 2 and text_width(shown, size) > room:
        kept -= 1
        head = (kept + 1) // 2
        shown = text[:head] + ELLIPSIS + text[len(text) - (kept - head) :]
    return shown


def short_names(names: Sequence[str], room: float, size: float = BODY) -> dict[str, str]:
    """What to call each of some names; a long one keeps its length where another would look alike.

    Args:
        names: All different.
        room: Points that each of them has.
        size: Of the letters.
    """
    short = {name: shortened(name, room, size) for name in names}
    alike = Counter(short.values())
    return {name: shown if alike[shown] == 1 else printable(name) for name, shown in short.items()}
