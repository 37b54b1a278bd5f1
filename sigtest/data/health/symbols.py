"""The script to which each letter of a text belongs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

OTHER = 0  # no letter, or of a script that is not told apart
SCRIPTS = {
    "Latin": ((0x41, 0x5A), (0x61, 0x7A), (0xC0, 0xD6), (0xD8, 0xF6), (0xF8, 0x24F),
              (0x1E00, 0x1EFF)),
    "Greek": ((0x370, 0x3FF), (0x1F00, 0x1FFF)),
    "Cyrillic": ((0x400, 0x52F),),
    "Armenian": ((0x531, 0x58F),),
    "Hebrew": ((0x5D0, 0x5F4),),
    "Arabic": ((0x620, 0x64A), (0x66E, 0x6D3), (0x750, 0x77F)),
    "Devanagari": ((0x900, 0x963), (0x970, 0x97F)),
    "Bengali": ((0x980, 0x9FF),),
    "Gurmukhi": ((0xA00, 0xA7F),),
    "Gujarati": ((0xA80, 0xAFF),),
    "Odia": ((0xB00, 0xB7F),),
    "Tamil": ((0xB80, 0xBFF),),
    "Telugu": ((0xC00, 0xC7F),),
    "Kannada": ((0xC80, 0xCFF),),
    "Malayalam": ((0xD00, 0xD7F),),
    "Sinhala": ((0xD80, 0xDFF),),
    "Thai": ((0xE00, 0xE7F),),
    "Lao": ((0xE80, 0xEFF),),
    "Tibetan": ((0xF00, 0xFFF),),
    "Myanmar": ((0x1000, 0x109F),),
    "Georgian": ((0x10A0, 0x10FF),),
    "Ethiopic": ((0x1200, 0x137F),),
    "Khmer": ((0x1780, 0x17FF),),
    "Hangul": ((0x1100, 0x11FF), (0xAC00, 0xD7AF)),
    "Kana": ((0x3041, 0x30FF), (0x31F0, 0x31FF)),
    "Han": ((0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAFF)),
}  # fmt: skip
NAMES = ("none", *SCRIPTS)
BASIC = 0x10000  # code points of Unicode's basic plane
CHUNK = 256  # lines at a time: of a whole text the arrays would be far larger than the cache


def points_of(text: str) -> NDArray[np.uint32]:
    """(n,) the code points of a text."""
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)


def standing(
    lines: Sequence[str], table: NDArray[np.uint8]
) -> tuple[NDArray[np.intp], NDArray[np.uint8]]:
    """Symbols for which a table of code points has not 0: the line of each, and what it has."""
    at, found = [np.empty(0, dtype=np.intp)], [table[:0]]
    for first in range(0, len(lines), CHUNK):
        chunk = lines[first : first + CHUNK]
        given = table.take(points_of("".join(chunk)), mode="clip")
        places = np.flatnonzero(given != 0)  # of truth values faster
        if places.size:
            ends = np.cumsum(np.fromiter(map(len, chunk), np.int64, len(chunk)))
            at.append(first + np.searchsorted(ends, places, side="right"))
            found.append(given[places])
    return np.concatenate(at), np.concatenate(found)


def counted(points: NDArray[np.integer[Any]]) -> Counter[str]:
    """How often there is each symbol."""
    if points.max(initial=0) < BASIC:  # faster than sorting them
        every = np.bincount(points)
        symbols = np.flatnonzero(every)
        counts = every[symbols]
    else:
        symbols, counts = np.unique(points, return_counts=True)
    return Counter(dict(zip(map(chr, symbols.tolist()), counts.tolist(), strict=True)))


def letters_of(counts: Counter[str]) -> NDArray[np.float64]:
    """How many letters of each script there are, of how often there is each symbol."""
    own = table_of_scripts().take(points_of("".join(counts)), mode="clip")
    letters = np.bincount(own, [*counts.values()], len(NAMES))
    letters[OTHER] = 0
    return letters.astype(np.float64)


@cache
def table_of_scripts() -> NDArray[np.uint8]:
    """The script of each code point of the basic plane, as its place in `NAMES`.

    The last code point stands for all beyond; no letter of a script is there.
    """
    table = np.zeros(BASIC, dtype=np.uint8)
    for number, ranges in enumerate(SCRIPTS.values(), 1):
        for first, last in ranges:
            table[first : last + 1] = number
    return table
