"""The texts that checks look at: their lines, words, and the script of each letter."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import chain, islice
from math import nan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sigtest.cached import cached_property

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
SPACED = 0.05  # share of symbols that are blanks, where they separate words
JOINED = {  # scripts of languages without blanks between words
    NAMES.index(name) for name in ("Han", "Kana", "Thai", "Lao", "Khmer", "Myanmar", "Tibetan")
}
EXPECTED = 0.1  # share of letters from which a script belongs to a text
LOOKED_AT = 400  # lines whose words are looked at
SAMPLE = 24_000  # characters that are enough to judge a text as a whole
COMMON = 60  # words that make the profile of a language
RARE = 3  # times that a word may stand in a text and still say where it belongs
CASED = 0.3  # share of symbols that have capitals, in scripts that have them
MARKS = ",.?!"  # before which tokenised text has blanks
ENOUGH = 20  # symbols or marks from which a share says something


def points_of(text: str) -> NDArray[np.uint32]:
    """(n,) the code points of a text."""
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)


def standing(
    lines: Sequence[str], table: NDArray[np.uint8]
) -> tuple[NDArray[np.intp], NDArray[np.uint8]]:
    """Symbols for which a table of code points has not 0: the line of each, and what it has."""
    at, marks = [np.empty(0, np.intp)], [table[:0]]
    for first in range(0, len(lines), CHUNK):
        chunk = lines[first : first + CHUNK]
        marked = table.take(points_of("".join(chunk)), mode="clip")
        places = np.flatnonzero(marked != 0)  # of truth values faster
        if places.size:
            ends = np.cumsum(np.fromiter(map(len, chunk), int, len(chunk)))
            at.append(first + np.searchsorted(ends, places, side="right"))
            marks.append(marked[places])
    return np.concatenate(at), np.concatenate(marks)


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
    scripts = table_of_scripts().take(points_of("".join(counts)), mode="clip")
    letters = np.bincount(scripts, [*counts.values()], len(NAMES))
    letters[OTHER] = 0
    return letters.astype(float)


@cache
def table_of_scripts() -> NDArray[np.uint8]:
    """The script of each code point of the basic plane, as its place in `NAMES`.

    The last code point stands for all beyond; no letter of a script is there.
    """
    table = np.zeros(BASIC, np.uint8)
    for number, ranges in enumerate(SCRIPTS.values(), 1):
        for first, last in ranges:
            table[first : last + 1] = number
    return table


@dataclass(frozen=True)
class LineSample:
    """What a text is like as a whole, by some of its lines.

    Attributes:
        letters: How many letters of each script there are.
        main: Scripts that belong to the text.
        blanks: Share of blanks; neither high nor low in a short text.
        spaced_marks: Share of marks with a blank before them; neither high nor low where there
            are few marks.
        capitals: Share of capitals among the letters that have them; NaN where these are few.
        spaced: Whether blanks separate words.
    """

    letters: NDArray[np.float64]
    main: list[int]
    blanks: float
    spaced_marks: float
    capitals: float
    spaced: bool


class Lines:
    """One text, with what several checks need of it. Missing lines are empty.

    Args:
        lines: One a segment.

    Attributes:
        lines: The same.
        lengths: (n,) characters of each line.
        hashes: (n,) a hash of each line.
    """

    def __init__(self, lines: Iterable[str | None]) -> None:
        self.lines = [line or "" for line in lines]
        total = len(self.lines)
        self.lengths: NDArray[np.int64] = np.fromiter(map(len, self.lines), int, total)
        self.hashes: NDArray[np.int64] = np.fromiter(map(hash, self.lines), int, total)

    @cached_property
    def sample(self) -> LineSample:
        """What it is like as a whole."""
        step = max(1, (int(self.lengths.sum()) + len(self.lines)) // SAMPLE)
        points = points_of("\n".join(self.lines[::step]) + "\n")
        counts, after_blanks = counted(points), counted(points[1:][points[:-1] == ord(" ")])
        letters = letters_of(counts)
        main = np.flatnonzero(letters >= EXPECTED * max(1, letters.sum())).tolist()
        marks, spaced_marks = (sum(own[mark] for mark in MARKS) for own in (counts, after_blanks))
        upper = sum(count for symbol, count in counts.items() if symbol.isupper())
        cased = sum(count for symbol, count in counts.items() if symbol.islower()) + upper
        return LineSample(
            letters=letters,
            main=main,
            blanks=counts[" "] / len(points) if len(points) >= ENOUGH else 0.1,
            spaced_marks=spaced_marks / marks if marks >= ENOUGH else 0.3,
            capitals=upper / cased if cased >= CASED * len(points) else nan,
            spaced=counts[" "] > SPACED * len(points) and JOINED.isdisjoint(main),
        )

    def words(self, spaced: bool) -> list[Sequence[str]]:
        """Words of some lines; their letters where nothing separates words in a language."""
        return self._words if spaced else ["".join(words) for words in self._words]

    @cached_property
    def _words(self) -> list[Sequence[str]]:
        looked_at = (self.lines[i].lower() for i in spread(0, len(self.lines), LOOKED_AT))
        return [  # put together where SentencePiece parted them
            "".join(line.split()).split("\u2581") if "\u2581" in line else line.split()
            for line in looked_at
        ]

    @cached_property
    def common(self) -> dict[str, int]:
        """The words that stand in every second line most often, and how often, the first first."""
        counts = Counter(chain.from_iterable(self.words(self.sample.spaced)[::2]))
        ranked = sorted(counts, key=counts.__getitem__, reverse=True)[: 2 * COMMON]
        known = (word for word in ranked if any(map(str.isalpha, word)))
        return {word: counts[word] for word in islice(known, COMMON)}

    @cached_property
    def rare(self) -> tuple[list[set[str]], dict[str, list[int]]]:
        """Of each line the words that hardly any other has, and the lines that have them."""
        words = [split(line, self.sample.spaced) for line in self.lines]
        counts = Counter(chain.from_iterable(words))
        rare = [{word for word in own if counts[word] <= RARE} for own in words]
        places: defaultdict[str, list[int]] = defaultdict(list)
        for i, own in enumerate(rare):
            for word in own:
                places[word].append(i)
        return rare, places


def split(line: str, spaced: bool) -> list[str]:
    """Words, or in a language without blanks pairs of characters."""
    if spaced:
        return line.split()
    line = "".join(line.split())
    return [line[i : i + 2] for i in range(len(line) - 1)]


@lru_cache(maxsize=64)  # the texts of a comparison have the same places
def spread(start: int, end: int, most: int) -> tuple[int, ...]:
    """Some places, evenly from a start to before an end."""
    return tuple(dict.fromkeys(np.linspace(start, end - 1, most).astype(int).tolist()))
