"""Numbers for words: equal numbers if and only if the words are equal.

Only words of the references need numbers; a hypothesis' other words match nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sigtest.arrays import Counts
from sigtest.compiled import compiled
from sigtest.metrics.extraction.sequences import SEPARATOR, Sequences, Symbols
from sigtest.metrics.extraction.tokens import Spans


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """The words of the references. A word's number is the place where it first occurs in `spans`.

    Attributes:
        spans: The references' words.
        slots: Hash table of numbers.
    """

    spans: Spans
    slots: Symbols

    @classmethod
    def of(cls, spans: Spans) -> Vocabulary:
        """Number these words."""
        slots = np.full(2 * len(spans.begins) + 1, SEPARATOR, dtype=np.int32)
        _number(spans.points, spans.begins, spans.ends, slots)
        return cls(spans, slots)

    def numbers(self, spans: Spans) -> Sequences:
        """One sequence of numbers a line; words that the references lack are separators."""
        symbols = np.empty(len(spans.begins), dtype=np.int32)
        own = self.spans
        _look_up(
            own.points,
            own.begins,
            own.ends,
            self.slots,
            spans.points,
            spans.begins,
            spans.ends,
            symbols,
        )
        return Sequences(symbols, spans.starts)


@compiled
def _find(
    known: Symbols,
    known_begins: Counts,
    known_ends: Counts,
    slots: Symbols,
    points: Symbols,
    begin: int,
    end: int,
) -> int:
    """The slot of a word: where it stands, or the free one where it would.

    Words are compared in full, so that equal hashes do no harm.
    """
    mixed = 0
    for i in range(begin, end):
        mixed = ((mixed ^ int(points[i])) * 0x01000193 + (mixed >> 15)) & 0xFFFFFFFF
    slot = (mixed * len(slots)) >> 32
    while slots[slot] >= 0:
        word = slots[slot]
        first = known_begins[word]
        if known_ends[word] - first == end - begin:
            i = 0
            while i < end - begin and known[first + i] == points[begin + i]:
                i += 1
            if i == end - begin:
                break
        slot = slot + 1 if slot + 1 < len(slots) else 0
    return slot


@compiled
def _number(points: Symbols, begins: Counts, ends: Counts, slots: Symbols) -> None:
    for word in range(len(begins)):
        slot = _find(points, begins, ends, slots, points, begins[word], ends[word])
        if slots[slot] < 0:
            slots[slot] = word


@compiled
def _look_up(
    known: Symbols,
    known_begins: Counts,
    known_ends: Counts,
    slots: Symbols,
    points: Symbols,
    begins: Counts,
    ends: Counts,
    symbols: Symbols,
) -> None:
    for word in range(len(begins)):
        slot = _find(known, known_begins, known_ends, slots, points, begins[word], ends[word])
        symbols[word] = slots[slot]
