"""What each symbol of a text is: a letter of some script, an accent, a control character."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

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
LATIN = NAMES.index("Latin")
CONTROL, ACCENT = len(NAMES), len(NAMES) + 1
CLASSES = len(NAMES) + 2
CONTROLS = ((0x00, 0x08), (0x0B, 0x1F), (0x7F, 0x9F))  # all but tab and line break
TOGETHER = 1 << 15  # symbols, which stay near the processor: looking them up takes some memory
ACCENTS = (0x300, 0x36F)  # that stand apart from their letters


def classes_of(text: str) -> NDArray[np.uint8]:
    """The class of each symbol: a script's number, `CONTROL`, `ACCENT` or `OTHER`."""
    classes = np.empty(len(text), dtype=np.uint8)
    for first, points in _points(text):
        classes[first : first + TOGETHER] = _table().take(points, mode="clip")
    return classes


def beyond_ascii(text: str) -> NDArray[np.int64]:
    """(CLASSES,) how many symbols there are of each class; those that ASCII prints not counted."""
    counts = np.zeros(CLASSES, dtype=np.int64)
    for _, points in _points(text):
        strange = points[points - np.uint32(0x20) > 0x7E - 0x20]  # below 0x20 it starts anew on top
        counts += np.bincount(_table().take(strange, mode="clip"), minlength=CLASSES)
    return counts


def _points(text: str) -> Iterator[tuple[int, NDArray[np.uint32]]]:
    """The symbols as numbers, some at a time, and where these begin."""
    for first in range(0, len(text), TOGETHER):
        data = text[first : first + TOGETHER].encode("utf-32-le", "surrogatepass")
        yield first, np.frombuffer(data, np.uint32)


def places_of(classes: NDArray[np.uint8], wanted: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Where symbols of some classes stand.

    Args:
        classes: Of each symbol.
        wanted: (CLASSES,) whether a class is looked for.
    """
    found = [
        first + np.flatnonzero(wanted[classes[first : first + TOGETHER]])
        for first in range(0, len(classes), TOGETHER)
    ]
    return np.concatenate([np.empty(0, np.int64), *found])


def letters(classes: NDArray[np.uint8]) -> NDArray[np.int64]:
    """How many letters of each script there are."""
    counts = np.bincount(classes, minlength=CLASSES)[: len(NAMES)]
    counts[OTHER] = 0
    return counts


@cache
def _table() -> NDArray[np.uint8]:
    """The class of each code point of the basic plane; the last stands for all beyond."""
    table = np.zeros(0x10000, dtype=np.uint8)
    for number, ranges in enumerate(SCRIPTS.values(), 1):
        for first, last in ranges:
            table[first : last + 1] = number
    for first, last in CONTROLS:
        table[first : last + 1] = CONTROL
    table[ACCENTS[0] : ACCENTS[1] + 1] = ACCENT
    return table
