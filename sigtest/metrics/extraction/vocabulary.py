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
        lines: Their numbers, one sequence a line.
        entries: Hash table of hash * 2**32 + number, or -1; small, to stay in the cache.
    """

    spans: Spans
    lines: Sequences
    entries: Counts

    @classmethod
    def of(cls, spans: Spans) -> Vocabulary:
        """Number these words."""
        roomy = np.full(2 * len(spans.begins) + 1, SEPARATOR, dtype=np.int64)
        lines = Sequences(_numbers(spans, roomy, spans, True), spans.starts)
        taken = roomy[roomy >= 0]
        entries = np.full(3 * len(taken) + 1, SEPARATOR, dtype=np.int64)
        _enter(taken, entries)
        return cls(spans, lines, entries)

    def numbers(self, spans: Spans) -> Sequences:
        """One sequence of numbers a line; words that the references lack are separators."""
        return Sequences(_numbers(self.spans, self.entries, spans, False), spans.starts)


def _numbers(known: Spans, entries: Counts, spans: Spans, learn: bool) -> Symbols:
    hashes = np.empty(len(spans.begins), dtype=np.int64)
    _hash(spans.points, spans.begins, spans.ends, hashes)
    numbers = np.empty(len(spans.begins), dtype=np.int32)
    _look_up(
        known.points,
        known.begins,
        known.ends,
        entries,
        spans.points,
        spans.begins,
        spans.ends,
        hashes,
        learn,
        numbers,
    )
    return numbers


@compiled
def _hash(points: Symbols, begins: Counts, ends: Counts, hashes: Counts) -> None:
    """Mix each word's code points into 31 bits."""
    for word in range(len(begins)):
        mixed = 0
        for i in range(begins[word], ends[word]):
            mixed = ((mixed ^ int(points[i])) * 0x01000193 + (mixed >> 15)) & 0x7FFFFFFF
        hashes[word] = mixed


@compiled
def _look_up(
    known: Symbols,
    known_begins: Counts,
    known_ends: Counts,
    entries: Counts,
    points: Symbols,
    begins: Counts,
    ends: Counts,
    hashes: Counts,
    learn: bool,
    numbers: Symbols,
) -> None:
    """Fill in each word's number; a new word has its own place or, unless we `learn`, -1.

    Words whose hashes agree are compared in full, so that an accident of hashing changes nothing.
    """
    for word in range(len(begins)):
        hashed = hashes[word]
        begin, length = begins[word], ends[word] - begins[word]
        slot = (hashed * len(entries)) >> 31
        number = -1
        while entries[slot] >= 0 and number < 0:
            if entries[slot] >> 32 == hashed:
                other = entries[slot] & 0xFFFFFFFF
                first = known_begins[other]
                same = 0
                if known_ends[other] - first == length:
                    while same < length and known[first + same] == points[begin + same]:
                        same += 1
                if same == length:
                    number = other
            slot = slot + 1 if slot + 1 < len(entries) else 0
        if learn and number < 0:
            number = word
            entries[slot] = hashed << 32 | word
        numbers[word] = number


@compiled
def _enter(taken: Counts, entries: Counts) -> None:
    """Put the entries of one hash table into another."""
    for entry in taken:
        slot = ((entry >> 32) * len(entries)) >> 31
        while entries[slot] >= 0:
            slot = slot + 1 if slot + 1 < len(entries) else 0
        entries[slot] = entry
