"""The texts that checks look at."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, islice

import numpy as np
from numpy.typing import NDArray

from sigtest.cached import cached_property
from sigtest.data.health.symbols import NAMES, counted, letters_of, points_of

SPACED = 0.05  # share of symbols that are blanks, where they separate words
JOINED = {  # scripts of languages without blanks between words
    NAMES.index(name) for name in ("Han", "Kana", "Thai", "Lao", "Khmer", "Myanmar", "Tibetan")
}
EXPECTED = 0.1  # share of letters from which a script belongs to a text
LOOKED_AT = 400  # lines whose words are looked at
SAMPLE = 24_000  # characters that are enough to judge a text as a whole
COMMON = 60  # words that make the profile of a language
RARE = 3  # times that a word may stand in a text and still say where it belongs
COMPARED = 40  # lines of a stretch whose words are compared with those of others
FURTHEST = 12  # lines up or down where a line may belong by its length
CASED = 0.3  # share of symbols that have capitals, in scripts that have them
MARKS = ",.?!"  # before which tokenised text has blanks
ENOUGH = 20  # symbols or marks from which a share says something


@dataclass(frozen=True)
class LineSample:
    """What a text is like as a whole, by some of its lines.

    Attributes:
        letters: How many letters of each script there are.
        main: Scripts that belong to the text.
        blanks: Share of blanks; neither high nor low in a short text.
        spaced_marks: Share of marks with a blank before them; neither high nor low where there
            are few marks.
        capitals: Share of capitals among the letters that have them; none where these are few.
        spaced: Whether blanks separate words.
    """

    letters: NDArray[np.float64]
    main: list[int]
    blanks: float
    spaced_marks: float
    capitals: float | None
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
        self.lengths: NDArray[np.int64] = np.fromiter(map(len, self.lines), np.int64, total)
        self.hashes: NDArray[np.int64] = np.fromiter(map(hash, self.lines), np.int64, total)

    @cached_property
    def sample(self) -> LineSample:
        """What it is like as a whole."""
        step = max(1, (int(self.lengths.sum()) + len(self.lines)) // SAMPLE)
        points = points_of("\n".join(self.lines[::step]) + "\n")
        counts, after_blanks = counted(points), counted(points[1:][points[:-1] == ord(" ")])
        letters = letters_of(counts)
        main = np.flatnonzero(letters >= EXPECTED * max(1, letters.sum())).tolist()
        marks = sum(counts[mark] for mark in MARKS)
        spaced_marks = sum(after_blanks[mark] for mark in MARKS)
        upper = sum(count for symbol, count in counts.items() if symbol.isupper())
        cased = sum(count for symbol, count in counts.items() if symbol.islower()) + upper
        return LineSample(
            letters=letters,
            main=main,
            blanks=counts[" "] / len(points) if len(points) >= ENOUGH else 0.1,
            spaced_marks=spaced_marks / marks if marks >= ENOUGH else 0.3,
            capitals=upper / cased if cased >= CASED * len(points) else None,
            spaced=counts[" "] > SPACED * len(points) and JOINED.isdisjoint(main),
        )

    def words(self, spaced: bool) -> list[Sequence[str]]:
        """Words of some lines; their letters where nothing separates words in a language."""
        return self._words if spaced else self._letters

    @cached_property
    def _words(self) -> list[Sequence[str]]:
        places = spread(0, len(self.lines), LOOKED_AT)
        return [whole_words(self.lines[i].lower()) for i in places]

    @cached_property
    def _letters(self) -> list[Sequence[str]]:
        return ["".join(words) for words in self._words]

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


def whole_words(line: str) -> list[str]:
    """Words, put together where SentencePiece parted them."""
    return "".join(line.split()).split("\u2581") if "\u2581" in line else line.split()


def words_of(line: str, spaced: bool) -> set[str]:
    """What of a line is compared, once each."""
    return {*split(line.lower(), spaced)}


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
