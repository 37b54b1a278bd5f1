"""Edits of translation edit rate, exactly as sacreBLEU 2.6 counts them.

TER is the least number of insertions, deletions, substitutions and shifts of blocks of words that
turn the hypothesis into the reference, found greedily: Snover et al. (2006), "A Study of
Translation Edit Rate with Targeted Human Annotation", algorithm 1. The order in which shifts are
tried, their limits and their ties are those of `sacrebleu/metrics/lib_ter.py`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sigtest.arrays import Array, Counts, Flags
from sigtest.compiled import compiled
from sigtest.data.text import Text
from sigtest.metrics.extraction.distances import (
    BOTH,
    FROM_H,
    FROM_R,
    LAST,
    MAX_BITS,
    beam_layout,
    fill_bits,
    fill_rows,
    move_bits,
    move_rows,
    shortest_outside,
    try_bits,
    try_rows,
)
from sigtest.metrics.extraction.sequences import Symbols
from sigtest.metrics.extraction.tercom import Tercom

# Limits of sacreBLEU; the first two are tercom's.
MAX_SHIFT_SIZE = 10
MAX_SHIFT_DIST = 50
MAX_SHIFT_CANDIDATES = 1000


def edit_statistics(references: Sequence[Text], hypotheses: Text, tokenizer: Tercom) -> Array:
    """(n, 2) fewest edits over the references that are there, and their mean length in words."""
    words = tokenizer.references(references)
    own = tokenizer.hypotheses(hypotheses, words)
    lines = words.lines
    edits = corpus_edits(own.symbols, own.starts, lines.symbols, lines.starts, True)
    known = np.where(words.present, edits.reshape(words.present.shape), np.iinfo(np.int64).max)
    lengths = words.lengths.sum(axis=1) / words.present.sum(axis=1)
    return np.stack([known.min(axis=1).astype(np.float64), lengths], axis=1)


@compiled
def corpus_edits(
    hyp: Symbols, hyp_starts: Counts, ref: Symbols, ref_starts: Counts, bits: bool
) -> Counts:
    """Edits of every hypothesis against each of its references.

    Args:
        hyp: Word numbers of n hypotheses; SEPARATOR for a word that no reference contains.
        hyp_starts: (n + 1,) where each begins.
        ref: Word numbers of n * r references, below their length.
        ref_starts: (n * r + 1,) where each begins, those of a segment next to each other.
        bits: Whether matrices in bits may be used; they never change the answer.

    Returns:
        (n * r,) edits, shifts included.
    """
    lines = len(ref_starts) - 1
    edits = np.zeros(lines, dtype=np.int64)
    # Tables by word; the last entry, where SEPARATOR points, stays as it is.
    masks = np.zeros(len(ref) + 1, dtype=np.int64)  # positions in r, as bits
    first = np.full(len(ref) + 1, -1, dtype=np.int64)  # first position in r
    held = np.zeros(len(ref) + 1, dtype=np.int64)  # how often it is in r
    for line in range(lines):
        s = line * (len(hyp_starts) - 1) // lines
        h = hyp[hyp_starts[s] : hyp_starts[s + 1]].copy()  # the shifts work in place
        r = ref[ref_starts[line] : ref_starts[line + 1]]
        if len(h) == 0 or len(r) == 0:
            edits[line] = len(h) + len(r)
            continue
        following = np.empty(len(r), dtype=np.int64)  # next position of the same word
        for j in range(len(r) - 1, -1, -1):
            following[j] = first[r[j]]
            first[r[j]] = j
            held[r[j]] += 1
            if len(r) <= MAX_BITS:
                masks[r[j]] |= 1 << j
        edits[line] = _edits(h, r, masks, first, following, held, bits and len(r) <= MAX_BITS)
        for j in range(len(r)):
            masks[r[j]] = 0
            first[r[j]] = -1
            held[r[j]] = 0
    return edits


@compiled
def _edits(
    h: Symbols,
    r: Symbols,
    masks: Counts,
    first: Counts,
    following: Counts,
    held: Counts,
    bits: bool,
) -> int:
    """Edits of one segment with words on both sides; leaves `h` shifted and `held` spent."""
    floor = max(len(h), len(r)) - _common_words(h, held)  # no order of these words is nearer
    states = np.empty((len(h) + 1, 5), dtype=np.int64)
    if bits:
        fill_bits(h, masks, states, len(r))
        bits = states[len(h), LAST] < shortest_outside(len(h), len(r))
    layout = beam_layout(0 if bits else len(h), len(r))
    cells = np.empty(layout[-1, 0], dtype=np.int64)
    trial = np.empty(len(cells), dtype=np.int64)
    aligned = np.empty(len(r), dtype=np.int64)
    wrong_h = np.empty(len(h), dtype=np.bool_)
    wrong_r = np.empty(len(r), dtype=np.bool_)
    found = np.empty((MAX_SHIFT_CANDIDATES + MAX_SHIFT_SIZE + 1, 3), dtype=np.int64)
    shifts = 0
    checked = 0
    while True:
        if bits:
            fill_bits(h, masks, states, len(r))
            before = int(states[len(h), LAST])
        else:
            fill_rows(h, r, layout, cells)
            before = int(cells[-1])
        if before <= floor:
            break
        _align(h, r, bits, states, layout, cells, aligned, wrong_h, wrong_r)
        budget = MAX_SHIFT_CANDIDATES - checked
        count = _find_shifts(h, r, first, following, aligned, wrong_h, wrong_r, found, budget)
        checked += count
        if checked >= MAX_SHIFT_CANDIDATES:
            break  # sacreBLEU drops the best of these candidates, too
        best = _best_shift(
            h, r, found[:count], before, before - floor, bits, masks, states, layout, cells, trial
        )
        if best < 0:
            break
        _shift(h, found[best])
        shifts += 1
    return shifts + before


@compiled
def _common_words(h: Symbols, held: Counts) -> int:
    """Words of `h` that find a partner in r regardless of order; takes them out of `held`."""
    common = 0
    for word in h:
        if held[word] > 0:
            held[word] -= 1
            common += 1
    return common


@compiled
def _align(
    h: Symbols,
    r: Symbols,
    bits: bool,
    states: Counts,
    layout: Counts,
    cells: Counts,
    aligned: Counts,
    wrong_h: Flags,
    wrong_r: Flags,
) -> None:
    """Walk back through the matrix: partners of the words of r, and the words that are wrong.

    A word of r without a partner gets the last word of h used before it, or -1.
    """
    i, j = len(h), len(r)
    while i > 0 or j > 0:
        move = move_bits(h, r, states, i, j) if bits else move_rows(h, r, layout, cells, i, j)
        wrong = move != BOTH or h[i - 1] != r[j - 1]
        if move != FROM_H:
            aligned[j - 1] = i - 1
            wrong_r[j - 1] = wrong
            j -= 1
        if move != FROM_R:
            wrong_h[i - 1] = wrong
            i -= 1


@compiled
def _find_shifts(
    h: Symbols,
    r: Symbols,
    first: Counts,
    following: Counts,
    aligned: Counts,
    wrong_h: Flags,
    wrong_r: Flags,
    found: Counts,
    budget: int,
) -> int:
    """Write the shifts to try as (start, length, target) lines; returns how many.

    Stops after the block that exhausts the budget.
    """
    count = 0
    for start in range(len(h)):
        at = first[h[start]]
        while 0 <= at <= start + MAX_SHIFT_DIST:
            if at >= start - MAX_SHIFT_DIST:
                count = _find_targets(
                    h, r, start, at, aligned, wrong_h, wrong_r, found, count, budget
                )
                if count >= budget:
                    return count
            at = following[at]
    return count


@compiled
def _find_targets(
    h: Symbols,
    r: Symbols,
    start: int,
    at: int,
    aligned: Counts,
    wrong_h: Flags,
    wrong_r: Flags,
    found: Counts,
    count: int,
    budget: int,
) -> int:
    """Add the shifts of blocks of h from `start` that r has at `at`; returns the new count."""
    any_h = False
    any_r = False
    for length in range(1, min(MAX_SHIFT_SIZE, len(h) - start, len(r) - at) + 1):
        if h[start + length - 1] != r[at + length - 1]:
            break
        any_h = any_h or wrong_h[start + length - 1]
        any_r = any_r or wrong_r[at + length - 1]
        if not any_h or not any_r or start <= aligned[at] < start + length:
            continue
        previous = -1
        for position in range(at - 1, at + length):
            target = aligned[position] + 1 if position >= 0 else 0
            if target != previous:
                found[count, 0], found[count, 1], found[count, 2] = start, length, target
                count += 1
                previous = target
        if count >= budget:
            break
    return count


@compiled
def _best_shift(
    h: Symbols,
    r: Symbols,
    found: Counts,
    before: int,
    room: int,
    bits: bool,
    masks: Counts,
    states: Counts,
    layout: Counts,
    cells: Counts,
    trial: Counts,
) -> int:
    """The shift that gains most, or -1 where none gains; ties as sacreBLEU breaks them.

    Args:
        h: Hypothesis.
        r: Reference.
        found: (count, 3) shifts to try.
        before: Distance without a shift.
        room: No shift can gain more than this.
        bits: Which matrix there is.
        masks: By word, its positions in r as bits.
        states: Matrix of `h` in bits.
        layout: Layout of the two others.
        cells: Matrix of `h` inside the beam.
        trial: Space for the matrix of a shifted `h`.
    """
    best = -1
    gain = 0
    for k in range(len(found)):
        a, b, c = _blocks(found[k], len(h))
        wanted = gain if best >= 0 and _preferred(found[k], found[best]) else gain + 1
        # Whoever moves k words changes the distance by 2k at most (but not inside a beam).
        ceiling = min(room, 2 * min(b - a, c - b)) if bits else room
        if ceiling < wanted or a == b or b == c:
            continue
        if bits:
            after = try_bits(h, masks, states, len(r), a, b, c)
        else:
            after = try_rows(h, r, layout, cells, trial, a, b, c, before - wanted)
        if before - after >= wanted:
            best = k
            gain = before - after
    return best


@compiled
def _preferred(one: Counts, other: Counts) -> bool:
    """Of two shifts that gain the same: the longer, then the earlier, then to the earlier."""
    if one[1] != other[1]:
        return bool(one[1] > other[1])
    if one[0] != other[0]:
        return bool(one[0] < other[0])
    return bool(one[2] < other[2])


@compiled
def _blocks(shift: Counts, n: int) -> tuple[int, int, int]:
    """A shift (start, length, target) as the blocks [a, b) and [b, c) that change places.

    A target within the block moves it to the right by as many words as it lies inside.
    """
    start, length, target = int(shift[0]), int(shift[1]), int(shift[2])
    if target < start:
        return target, start, start + length
    if target <= start + length:
        target = min(target + length, n)
    return start, start + length, target


@compiled
def _shift(h: Symbols, shift: Counts) -> None:
    """Carry out one shift."""
    a, b, c = _blocks(shift, len(h))
    h[a:c] = np.concatenate((h[b:c], h[a:b]))
