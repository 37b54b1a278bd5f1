"""N-grams of reference sequences, and how many of them a hypothesis matches.

An n-gram is named by its length and the place where it first ends, counted from the start of its
sequence. The n-gram that ends at a place is the shorter one that ends just before and one more
symbol, so a table keyed by that pair finds all of them without ever comparing more than two
integers, and equal names mean equal n-grams.

The hypothesis is read once. At each position the longest n-gram known to the reference is that of
the position before and one more symbol, or a shorter one; its suffixes end at the same place of the
reference, so their names stand next to each other there.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from sigtest.arrays import Array, Counts
from sigtest.compiled import compiled
from sigtest.metrics.kernels.tokens import Sequences, boundaries

Places: TypeAlias = npt.NDArray[Any]  # int16, or int32 where sequences are long
UNWEIGHTED = np.zeros(0)


class NgramIndex(NamedTuple):
    """The n-grams of each of many sequences. Tables are read at random, so they are kept small.

    Attributes:
        sequences: The sequences; separators are in no n-gram.
        order: Longest n-gram.
        names: (symbols * order,) where the n-gram of each length that ends at each place first
            ended, or -1 where a sequence or a separator begins too near.
        repeats: (symbols,) length of the longest n-gram that ends at each place and elsewhere too.
        limits: (symbols * order,) how often an n-gram may be matched, at the place it is named by.
        slots: Hash tables of all sequences: places where n-grams first end, or -1. An n-gram is
            left out if the shorter one before its last symbol occurs once: it cannot go on in
            another way.
        slot_starts: (sequences + 1,) where each sequence's table begins.
    """

    sequences: Sequences
    order: int
    names: Places
    repeats: Places
    limits: Places
    slots: Places
    slot_starts: Counts


def index_ngrams(sequences: Sequences, order: int, wide: bool = False) -> NgramIndex:
    """Find all n-grams up to `order` and how often each occurs between two separators, at most.

    Args:
        sequences: The sequences.
        order: Longest n-gram.
        wide: Say that sequences may be long, so that the kernels used do not depend on the data.
    """
    narrow = not wide and int(sequences.lengths.max(initial=0)) < 2**15
    kind = np.int16 if narrow else np.int32
    slot_starts = boundaries(sequences.lengths * order * 5 // 4 + 1)
    symbols = len(sequences.symbols)
    index = NgramIndex(
        sequences,
        order,
        names=np.full(symbols * order, -1, kind),
        repeats=np.zeros(symbols, kind),
        limits=np.zeros(symbols * order, kind),
        slots=np.full(int(slot_starts[-1]), -1, kind),
        slot_starts=slot_starts,
    )
    _name_ngrams(index)
    _limit_ngrams(index)
    return index


def ngram_totals(lengths: Counts, order: int) -> Counts:
    """(n, order) number of n-grams of each length in sequences of these lengths."""
    return np.maximum(lengths[:, None] - np.arange(order), 0)


def match_ngrams(
    hypotheses: Sequences, index: NgramIndex, weights: Array = UNWEIGHTED
) -> tuple[Counts, Array]:
    """Count clipped matches, and add up weights from a hypothesis' first symbol to its last.

    Args:
        hypotheses: One sequence a segment, n.
        index: Of n * r sequences, those of a segment next to each other.
        weights: (symbols * order,) weight of the n-gram of each length that ends at each place.

    Returns:
        (n * r, order) matches of each length with each of the sequences; sums of their weights.
    """
    matches = np.zeros((len(index.sequences.starts) - 1, index.order), np.int64)
    sums = np.zeros(matches.shape)
    _match_ngrams(hypotheses, index, weights, matches, sums)
    return matches, sums


@compiled
def _slot(prefix: int, g: int, symbol: int, capacity: int) -> int:
    """Where a table of this capacity keeps an n-gram, if no other stands there."""
    mixed = (int(prefix) * 16 + g) * 0x9E3779B1 + int(symbol) * 0x85EBCA77
    return ((mixed & 0xFFFFFFFF) * capacity) >> 32


@compiled
def _longest(starts: Counts) -> int:
    longest = 0
    for s in range(len(starts) - 1):
        longest = max(longest, starts[s + 1] - starts[s])
    return longest


@compiled
def _name_ngrams(index: NgramIndex) -> None:  # noqa: C901 - its parts need arrays in registers
    """Fill the tables (`slots`), name the n-gram of each length at each place, see which repeat."""
    symbols, starts, order = index.sequences.symbols, index.sequences.starts, index.order
    slots, slot_starts, names, repeats = index.slots, index.slot_starts, index.names, index.repeats
    longest = _longest(starts)
    occurrences = np.zeros(longest, np.int64)
    for s in range(len(starts) - 1):
        table = slots[slot_starts[s] : slot_starts[s + 1]]
        sequence = symbols[starts[s] : starts[s + 1]]
        own = names[starts[s] * order : starts[s + 1] * order]
        repeated = repeats[starts[s] : starts[s + 1]]
        for g in range(order):
            occurrences[: len(sequence)] = 0
            for p in range(len(sequence)):
                symbol = int(sequence[p])
                prefix = int(own[(p - 1) * order + g - 1]) if g > 0 and p > 0 else -g
                if symbol < 0 or prefix < 0:
                    continue
                name = p
                if g == 0 or repeated[p - 1] >= g:
                    slot = _slot(prefix, g, symbol, len(table))
                    while table[slot] >= 0 and name == p:
                        # Entries do not say the length they were made for: any place that ends
                        # the n-gram and has a name for it will do.
                        other = int(table[slot])
                        if (
                            sequence[other] == symbol
                            and own[other * order + g] >= 0
                            and (g == 0 or own[(other - 1) * order + g - 1] == prefix)
                        ):
                            name = int(own[other * order + g])
                        slot = slot + 1 if slot + 1 < len(table) else 0
                    if name == p:
                        table[slot] = p
                own[p * order + g] = name
                occurrences[name] += 1
            for p in range(len(sequence)):
                if own[p * order + g] >= 0 and occurrences[own[p * order + g]] > 1:
                    repeated[p] = g + 1


@compiled
def _limit_ngrams(index: NgramIndex) -> None:
    """Count each n-gram between two separators and keep the greatest count."""
    symbols, starts, order = index.sequences.symbols, index.sequences.starts, index.order
    names, limits = index.names, index.limits
    longest = _longest(starts)
    counted = np.zeros(longest * order, np.int64)
    stretch_of = np.full(longest * order, -1, np.int64)
    stretch = 0
    for s in range(len(starts) - 1):
        stretch += 1
        for p in range(starts[s], starts[s + 1]):
            if symbols[p] < 0:
                stretch += 1
            for g in range(order):
                if names[p * order + g] < 0:
                    break
                ngram = int(names[p * order + g]) * order + g
                if stretch_of[ngram] != stretch:
                    stretch_of[ngram] = stretch
                    counted[ngram] = 0
                counted[ngram] += 1
                limit = starts[s] * order + ngram
                limits[limit] = max(limits[limit], counted[ngram])


@compiled
def _match_ngrams(  # noqa: C901 - see below
    hypothesis: Sequences, index: NgramIndex, weights: Array, matches: Counts, sums: Array
) -> None:
    """Read each hypothesis once; `place` and `length` are those of the longest match so far.

    One function, because calling another for every symbol takes as long as all the rest.
    """
    hypotheses, hypothesis_starts = hypothesis.symbols, hypothesis.starts
    references, reference_starts = index.sequences.symbols, index.sequences.starts
    slots, slot_starts, repeats = index.slots, index.slot_starts, index.repeats
    names, limits, order = index.names, index.limits, index.order
    each = matches.shape[0] // (len(hypothesis_starts) - 1)
    for s in range(len(matches)):
        table = slots[slot_starts[s] : slot_starts[s + 1]]
        begin, end = reference_starts[s], reference_starts[s + 1]
        sequence = references[begin:end]
        own = names[begin * order : end * order]
        left = limits[begin * order : end * order].copy()
        place, length = 0, 0
        for h in range(hypothesis_starts[s // each], hypothesis_starts[s // each + 1]):
            symbol = int(hypotheses[h])
            if symbol < 0:
                length = 0
            elif length > 0 and place + 1 < len(sequence) and sequence[place + 1] == symbol:
                place, length = place + 1, min(order, length + 1)
            else:
                # What occurs once goes on in one way, which the symbol is not.
                g = min(order - 1, length, int(repeats[begin + place])) if length > 0 else 0
                length = 0
                while g >= 0 and length == 0:
                    prefix = int(own[place * order + g - 1]) if g > 0 else 0
                    slot = _slot(prefix, g, symbol, len(table))
                    found = int(table[slot])
                    while found >= 0 and length == 0:
                        if sequence[found] == symbol and (
                            g == 0 or (found > 0 and own[(found - 1) * order + g - 1] == prefix)
                        ):
                            place, length = found, g + 1
                        slot = slot + 1 if slot + 1 < len(table) else 0
                        found = int(table[slot])
                    g -= 1
            for g in range(length):
                ngram = int(own[place * order + g]) * order + g
                if left[ngram] > 0:
                    left[ngram] -= 1
                    matches[s, g] += 1
                    if len(weights) > 0:
                        sums[s, g] += weights[begin * order + ngram]
