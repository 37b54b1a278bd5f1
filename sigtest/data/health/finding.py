"""What a check finds, and the texts that checks look at."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import cast

import numpy as np
from numpy.typing import NDArray

from sigtest.data.health.symbols import beyond_ascii, classes_of

SHOWN = 5  # stretches of segments that a sentence lists
SAMPLE = 24_000  # characters that are enough to judge a text as a whole
BASIC = 0x10000  # code points of Unicode's basic plane
CASED = 0.3  # share of symbols that have capitals, in scripts that have them
SUBSTANTIAL = 20  # characters of a line that two texts do not share by chance


@dataclass(frozen=True)
class Finding:
    """One thing about one submission that its users should look at.

    Attributes:
        kind: Which check found it, one of `KINDS`.
        system: Whose output it is; empty where it is about the references.
        segments: The segments concerned, counted from 1; empty where all are.
        sentence: What a report says, with the system's name and the segments.
    """

    kind: str
    system: str
    segments: tuple[int, ...]
    sentence: str


class Lines:
    """One text, with what several checks need of it. Missing lines are empty.

    Args:
        lines: One a segment.
    """

    def __init__(self, lines: Iterable[str | None]) -> None:
        self._words: dict[int, set[str]] = {}
        given = tuple(lines)
        self.lines = cast(
            "tuple[str, ...]",
            given if None not in given else tuple(line or "" for line in given),
        )

    def __len__(self) -> int:
        return len(self.lines)

    def words(self, i: int) -> set[str]:
        """Of one of the few lines that several checks look at; to be read, not changed."""
        if i not in self._words:
            self._words[i] = words_of(self.lines[i])
        return self._words[i]

    def words_at(self, places: Sequence[int]) -> list[set[str]]:
        """The same of several of these lines."""
        lines = self.lines
        found = [set(lines[i].lower().split()) for i in places]
        self._words.update(zip(places, found, strict=True))
        return found

    @cached_property
    def joined(self) -> str:
        """All of it, a line break after each line."""
        return "\n".join(self.lines) + "\n"

    @cached_property
    def lengths(self) -> NDArray[np.int64]:
        """(n,) characters of each line."""
        return np.fromiter(map(len, self.lines), np.int64, len(self.lines))

    @cached_property
    def sample(self) -> str:
        """Some lines, evenly over the text, for what is a matter of the text as a whole."""
        step = max(1, (int(self.lengths.sum()) + len(self)) // SAMPLE)
        return self.joined if step == 1 else "\n".join(self.lines[::step]) + "\n"

    @cached_property
    def counts(self) -> Counter[str]:
        """How often each symbol stands in the sample."""
        data = np.frombuffer(self.sample.encode("utf-32-le", "surrogatepass"), np.uint32)
        if data.max(initial=0) < BASIC:  # faster than sorting them
            every = np.bincount(data)
            symbols = np.flatnonzero(every)
            counts = every[symbols]
        else:
            symbols, counts = np.unique(data, return_counts=True)
        return Counter(dict(zip(map(chr, symbols.tolist()), counts.tolist(), strict=True)))

    @cached_property
    def spaced(self) -> bool:
        """Whether blanks separate words."""
        return self.counts[" "] > 0.05 * len(self.sample)

    @cached_property
    def capitals(self) -> float | None:
        """Share of capitals among the letters that have them, where these are enough."""
        upper = sum(count for symbol, count in self.counts.items() if symbol.isupper())
        lower = sum(count for symbol, count in self.counts.items() if symbol.islower())
        return upper / (upper + lower) if upper + lower >= CASED * len(self.sample) else None

    @cached_property
    def hashes(self) -> NDArray[np.int64]:
        """(n,) a hash of each line."""
        return np.fromiter(map(hash, self.lines), np.int64, len(self.lines))

    @cached_property
    def beyond_ascii(self) -> NDArray[np.int64]:
        """How many symbols there are of each class, but for those that ASCII prints."""
        return beyond_ascii(self.joined)

    @cached_property
    def sampled(self) -> NDArray[np.uint8]:
        """What each symbol of `sample` is."""
        return classes_of(self.sample)

    @cached_property
    def starts(self) -> NDArray[np.int64]:
        """(n,) where each line begins in `joined`."""
        return np.concatenate([[0], np.cumsum(self.lengths[:-1] + 1)]).astype(np.int64)

    def lines_of(self, places: NDArray[np.int64]) -> NDArray[np.int64]:
        """The lines in which symbols stand, from their places in `joined`."""
        return np.searchsorted(self.starts, places, side="right") - 1


def words_of(line: str) -> set[str]:
    """What stands between blanks, in small letters."""
    return set(line.lower().split())


def numbered(places: Iterable[int]) -> tuple[int, ...]:
    """Segments as reports count them, from 1."""
    return tuple((np.fromiter(places, np.int64) + 1).tolist())


def quoted(segments: Sequence[int], total: int) -> str:
    """Segments in words: `segment 4`, `segments 1-3, 7 and 12 others`, `all 100 segments`."""
    if len(segments) == total:
        return f"all {total:,} segments"
    stretches: list[tuple[int, int]] = []
    for segment in segments:
        if stretches and segment == stretches[-1][1] + 1:
            stretches[-1] = (stretches[-1][0], segment)
        else:
            stretches.append((segment, segment))
    shown = [f"{a}" if a == b else f"{a}-{b}" for a, b in stretches[:SHOWN]]
    rest = len(segments) - sum(b - a + 1 for a, b in stretches[:SHOWN])
    more = f" and {rest:,} other{'' if rest == 1 else 's'}" if rest else ""
    return f"segment{'' if len(segments) == 1 else 's'} {', '.join(shown)}{more}"


def share(part: int, total: int) -> str:
    """`12 of 3,003`."""
    return f"{part:,} of {total:,}"
