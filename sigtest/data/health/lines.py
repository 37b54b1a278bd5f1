"""The texts that checks look at."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from sigtest.data.health.symbols import counted, letters_of, points_of

SPACED = 0.05  # share of symbols that are blanks, where they separate words
EXPECTED = 0.1  # share of letters from which a script belongs to a text
LOOKED_AT = 400  # lines whose words are looked at
SAMPLE = 24_000  # characters that are enough to judge a text as a whole
COMMON = 60  # words that make the profile of a language


class Lines:
    """One text, with what several checks need of it. Missing lines are empty.

    Args:
        lines: One a segment.
    """

    def __init__(self, lines: Iterable[str | None]) -> None:
        self.lines = [line or "" for line in lines]

    @cached_property
    def joined(self) -> str:
        """All of it."""
        return "\n".join(self.lines)

    @cached_property
    def ascii(self) -> str:
        """The lines in ASCII alone, one after the other."""
        return "".join(filter(str.isascii, self.lines))

    @cached_property
    def others(self) -> list[tuple[int, str]]:
        """All other lines, each with its place."""
        return [(i, line) for i, line in enumerate(self.lines) if not line.isascii()]

    @cached_property
    def lengths(self) -> NDArray[np.int64]:
        """(n,) characters of each line."""
        return np.fromiter(map(len, self.lines), np.int64, len(self.lines))

    @cached_property
    def hashes(self) -> NDArray[np.int64]:
        """(n,) a hash of each line."""
        return np.fromiter(map(hash, self.lines), np.int64, len(self.lines))

    @cached_property
    def strange(self) -> Counter[str]:
        """How often each symbol stands in it, but for those that ASCII prints."""
        others = points_of("".join([line for _, line in self.others]))
        both = np.frombuffer(self.ascii.encode(), np.uint8), others
        found = [own[np.flatnonzero((own < 0x20) | (own > 0x7E))] for own in both]
        return counted(np.concatenate(found))

    def having(self, symbols: str) -> list[int]:
        """Lines in which any of some symbols stands."""
        found: set[int] = set()
        for symbol in symbols:
            if symbol in (self.joined if " " <= symbol <= "~" else self.strange):
                lines = enumerate(self.lines) if symbol.isascii() else self.others
                found.update([i for i, line in lines if symbol in line])
        return sorted(found)

    @cached_property
    def sample(self) -> str:
        """Some lines, evenly over the text, for what is a matter of the text as a whole."""
        step = max(1, (int(self.lengths.sum()) + len(self.lines)) // SAMPLE)
        return "\n".join(self.lines[::step]) + "\n"

    @cached_property
    def counts(self) -> Counter[str]:
        """How often each symbol stands in the sample."""
        return counted(points_of(self.sample))

    @cached_property
    def letters(self) -> NDArray[np.float64]:
        """How many letters of each script stand in the sample."""
        return letters_of(self.counts)

    @cached_property
    def main(self) -> list[int]:
        """Scripts that belong to it."""
        return np.flatnonzero(self.letters >= EXPECTED * max(1, self.letters.sum())).tolist()

    @cached_property
    def spaced(self) -> bool:
        """Whether blanks separate words."""
        return self.counts[" "] > SPACED * len(self.sample)

    @cached_property
    def places(self) -> list[int]:
        """Lines whose words are looked at."""
        return spread(0, len(self.lines), LOOKED_AT)

    @cached_property
    def words(self) -> list[Sequence[str]]:
        """Words of the lines at `places`; their letters where nothing separates words."""
        lines = [self.lines[i].lower() for i in self.places]
        return [*map(str.split, lines)] if self.spaced else [*lines]

    @cached_property
    def occurrences(self) -> Counter[str]:
        """How often each word stands there."""
        return Counter(chain.from_iterable(self.words))

    @cached_property
    def common(self) -> frozenset[str]:
        """The words that stand there most often; of equally many those that come first."""
        counts = self.occurrences
        ranked = sorted(counts, key=counts.__getitem__, reverse=True)[: 2 * COMMON]
        return frozenset([word for word in ranked if any(map(str.isalpha, word))][:COMMON])


def spread(start: int, end: int, most: int) -> list[int]:
    """Some places, evenly from a start to before an end."""
    return list(dict.fromkeys(np.linspace(start, end - 1, most).astype(int).tolist()))
