"""N-grams of reference sequences, and how many of them a hypothesis matches.

An n-gram is named by the place where it first occurs: (position of its last symbol) * order
+ (its length - 1), counted from the start of its sequence. The n-gram that ends at position p is
the shorter one that ends at p - 1 and one more symbol, so a table keyed by that pair finds all of
them without ever comparing more than two integers, and equal names mean equal n-grams.

The hypothesis is read once. At each position the longest n-gram known to the reference is that of
the position before and one more symbol, or a shorter one; its suffixes end at the same place of the
reference, so their names stand next to each other there.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sigtest.arrays import Array, Counts
from sigtest.compiled import compiled
from sigtest.metrics.extraction.sequences import Sequences, Symbols, boundaries


@dataclass(frozen=True, eq=False)
class NgramIndex:
    """The n-grams of each of many sequences.

    Attributes:
        sequences: The sequences; separators are in no n-gram.
        order: Longest n-gram.
        names: (symbols * order,) name of the n-gram of each length that ends at each position, or
            -1 where a sequence or a separator begins too near.
        limits: (symbols * order,) how often an n-gram may be matched, at the place its name says.
        slots: Hash tables of all sequences, of names.
        slot_starts: (sequences + 1,) where each sequence's table begins.
    """

    sequences: Sequences
    order: int
    names: Symbols
    limits: Symbols
    slots: Symbols
    slot_starts: Counts


def index_ngrams(sequences: Sequences, order: int) -> NgramIndex:
    """Find all n-grams up to `order` and how often each occurs between two separators, at most."""
    # Half as many slots again as there can be n-grams keeps the searches short.
    slot_starts = boundaries(sequences.lengths * order * 3 // 2 + 1)
    slots = np.full(slot_starts[-1], -1, dtype=np.int32)
    names = np.full(len(sequences.symbols) * order, -1, dtype=np.int32)
    limits = np.zeros(len(names), dtype=np.int32)
    starts = sequences.starts
    _name_ngrams(sequences.symbols, starts, order, slots, slot_starts, names)
    _limit_ngrams(sequences.symbols, starts, order, names, limits)
    return NgramIndex(sequences, order, names, limits, slots, slot_starts)


def count_matches(hypotheses: Sequences, index: NgramIndex) -> Counts:
    """Count clipped matches.

    Args:
        hypotheses: One sequence a segment, n.
        index: Of n * r sequences, those of a segment next to each other.

    Returns:
        (n * r, order) matches of each length with each of the sequences.
    """
    matches = np.zeros((len(index.sequences), index.order), dtype=np.int64)
    _count_matches(
        hypotheses.symbols,
        hypotheses.starts,
        index.sequences.symbols,
        index.sequences.starts,
        index.names,
        index.limits,
        index.slots,
        index.slot_starts,
        matches,
    )
    return matches


def weigh_matches(hypotheses: Sequences, index: NgramIndex, weights: Array) -> Array:
    """Add the weights of clipped matches, from the hypothesis' first symbol to its last.

    Args:
        hypotheses: One sequence a segment, n.
        index: Of n sequences.
        weights: (symbols * order,) weight of the n-gram that ends at each position.

    Returns:
        (n, order) sums for each length.
    """
    sums = np.zeros((len(index.sequences), index.order))
    _weigh_matches(
        hypotheses.symbols,
        hypotheses.starts,
        index.sequences.symbols,
        index.sequences.starts,
        index.names,
        index.limits,
        index.slots,
        index.slot_starts,
        weights,
        sums,
    )
    return sums


@compiled
def _slot(prefix: int, symbol: int, capacity: int) -> int:
    """Where a table of this capacity keeps an n-gram, if no other stands there."""
    mixed = (int(prefix) + 1) * 0x9E3779B1 + int(symbol) * 0x85EBCA77
    return ((mixed & 0xFFFFFFFF) * capacity) >> 32


@compiled
def _name_ngrams(
    symbols: Symbols,
    starts: Counts,
    order: int,
    slots: Symbols,
    slot_starts: Counts,
    names: Symbols,
) -> None:
    """Fill the tables (`slots`) and name the n-gram of each length at each position."""
    for s in range(len(starts) - 1):
        table = slots[slot_starts[s] : slot_starts[s + 1]]
        sequence = symbols[starts[s] : starts[s + 1]]
        own = names[starts[s] * order : starts[s + 1] * order]
        known = 0
        for p in range(len(sequence)):
            symbol = sequence[p]
            known = min(order, known + 1) if symbol >= 0 else 0
            for g in range(known):
                prefix = own[(p - 1) * order + g - 1] if g > 0 else -1
                slot = _slot(prefix, symbol, len(table))
                while table[slot] >= 0:
                    name = table[slot]
                    found = own[name - order - 1] if name % order > 0 else -1
                    if found == prefix and sequence[name // order] == symbol:
                        break
                    slot = slot + 1 if slot + 1 < len(table) else 0
                if table[slot] < 0:
                    table[slot] = p * order + g
                own[p * order + g] = table[slot]


@compiled
def _limit_ngrams(
    symbols: Symbols, starts: Counts, order: int, names: Symbols, limits: Symbols
) -> None:
    """Count each n-gram between two separators and keep the greatest count."""
    longest = 0
    for s in range(len(starts) - 1):
        longest = max(longest, starts[s + 1] - starts[s])
    counted = np.zeros(longest * order, dtype=np.int32)
    stretch_of = np.full(longest * order, -1, dtype=np.int64)
    stretch = 0
    for s in range(len(starts) - 1):
        stretch += 1
        for p in range(starts[s], starts[s + 1]):
            if symbols[p] < 0:
                stretch += 1
            for g in range(order):
                name = names[p * order + g]
                if name < 0:
                    break
                if stretch_of[name] != stretch:
                    stretch_of[name] = stretch
                    counted[name] = 0
                counted[name] += 1
                place = starts[s] * order + name
                limits[place] = max(limits[place], counted[name])


@compiled
def _advance(
    symbol: int, position: int, length: int, order: int, sequence: Symbols, names: Symbols, table: Symbols
) -> tuple[int, int]:
    """Extend the longest match by a symbol, or find the longest shorter one that it ends.

    Args:
        symbol: The hypothesis' next symbol.
        position: Where in the reference the longest match before it ends.
        length: Of that match; 0 if there is none.
        order: Longest n-gram.
        sequence: The reference.
        names: Its n-grams.
        table: Its hash table.

    Returns:
        Position and length of the longest match that ends with the symbol.
    """
    if length > 0 and position + 1 < len(sequence) and sequence[position + 1] == symbol:
        return position + 1, min(order, length + 1)
    for g in range(min(order - 1, length), -1, -1):
        prefix = names[position * order + g - 1] if g > 0 else -1
        slot = _slot(prefix, symbol, len(table))
        while table[slot] >= 0:
            name = table[slot]
            found = names[name - order - 1] if name % order > 0 else -1
            if found == prefix and sequence[name // order] == symbol:
                return name // order, g + 1
            slot = slot + 1 if slot + 1 < len(table) else 0
    return 0, 0


@compiled
def _count_matches(
    hypotheses: Symbols,
    hypothesis_starts: Counts,
    references: Symbols,
    reference_starts: Counts,
    names: Symbols,
    limits: Symbols,
    slots: Symbols,
    slot_starts: Counts,
    matches: Counts,
) -> None:
    order = matches.shape[1]
    each = matches.shape[0] // (len(hypothesis_starts) - 1)
    for s in range(len(matches)):
        table = slots[slot_starts[s] : slot_starts[s + 1]]
        begin, end = reference_starts[s], reference_starts[s + 1]
        sequence = references[begin:end]
        own = names[begin * order : end * order]
        left = limits[begin * order : end * order].copy()
        position, length = 0, 0
        for h in range(hypothesis_starts[s // each], hypothesis_starts[s // each + 1]):
            symbol = hypotheses[h]
            if symbol < 0:
                length = 0
                continue
            position, length = _advance(symbol, position, length, order, sequence, own, table)
            for g in range(length):
                name = own[position * order + g]
                if left[name] > 0:
                    left[name] -= 1
                    matches[s, g] += 1


@compiled
def _weigh_matches(
    hypotheses: Symbols,
    hypothesis_starts: Counts,
    references: Symbols,
    reference_starts: Counts,
    names: Symbols,
    limits: Symbols,
    slots: Symbols,
    slot_starts: Counts,
    weights: Array,
    sums: Array,
) -> None:
    order = sums.shape[1]
    for s in range(len(sums)):
        table = slots[slot_starts[s] : slot_starts[s + 1]]
        begin, end = reference_starts[s], reference_starts[s + 1]
        sequence = references[begin:end]
        own = names[begin * order : end * order]
        left = limits[begin * order : end * order].copy()
        position, length = 0, 0
        for h in range(hypothesis_starts[s], hypothesis_starts[s + 1]):
            symbol = hypotheses[h]
            if symbol < 0:
                length = 0
                continue
            position, length = _advance(symbol, position, length, order, sequence, own, table)
            for g in range(length):
                name = own[position * order + g]
                if left[name] > 0:
                    left[name] -= 1
                    sums[s, g] += weights[begin * order + name]
