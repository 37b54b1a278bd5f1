"""The search for the next shift of translation edit rate, as in `sacrebleu/metrics/lib_ter.py`.

A shift takes up to ten words of h that r has elsewhere to where r has them: not further than 50
words, only if some of them are wrong on both sides, and not into themselves. Letters as in
`distances`.
"""

from __future__ import annotations

import numpy as np

from sigtest.arrays import Counts, Flags
from sigtest.compiled import compiled
from sigtest.metrics.extraction.bits import FIRST, TRIED, try_bits
from sigtest.metrics.extraction.distances import try_cells
from sigtest.metrics.extraction.sequences import Symbols

# Limits of sacreBLEU; the first two are tercom's.
MAX_SHIFT_SIZE = 10
MAX_SHIFT_DIST = 50
MAX_SHIFT_CANDIDATES = 1000

START, LENGTH, TARGET, GAIN = range(4)
"""Columns of a shift that was found: its words, where to, and by how much the distance falls."""

A, B, C, FALL, LAST, NEXT = range(6)
"""Columns of a shift that was tried: the blocks [a, b) and [b, c) of h that change places, by how
much the distance falls, the last row that this depends on (-1: unknown), and another shift of the
same a (-1: none)."""


@compiled
def room_for_shifts() -> tuple[Counts, Counts]:
    """Empty tables for the shifts of one search, and for all that a segment tries."""
    room = MAX_SHIFT_CANDIDATES + MAX_SHIFT_SIZE + 1
    return np.empty((room, 4), dtype=np.int64), np.empty((room, 6), dtype=np.int64)


@compiled
def find_shifts(
    h: Symbols,
    r: Symbols,
    words: Counts,
    following: Counts,
    aligned: Counts,
    wrong_h: Flags,
    wrong_r: Flags,
    found: Counts,
    budget: int,
) -> int:
    """Write down the shifts to try, in sacreBLEU's order; returns how many.

    Stops after the words whose shifts exhaust the budget.

    Args:
        h: Hypothesis.
        r: Reference.
        words: (k, 3) words of r.
        following: (m,) next place of the same word, or -1.
        aligned: (m,) partners in h, see `trace_cells`.
        wrong_h: (n,) whether a word is wrong.
        wrong_r: (m,) the same.
        found: Gets the shifts.
        budget: How many may be found.
    """
    n, m = len(h), len(r)
    next_h, next_r = _next_wrong(wrong_h), _next_wrong(wrong_r)
    places = words[:, FIRST].copy()  # the first that is near enough
    count = 0
    for start in range(n):
        if next_h[start] - start >= MAX_SHIFT_SIZE:
            continue
        at = places[h[start]]
        while 0 <= at < start - MAX_SHIFT_DIST:
            at = following[at]
        places[h[start]] = at
        while 0 <= at <= start + MAX_SHIFT_DIST:
            least = max(next_h[start] - start, next_r[at] - at) + 1
            most = min(MAX_SHIFT_SIZE, n - start, m - at)
            if aligned[at] >= start:  # or the words would go into themselves
                most = min(most, aligned[at] - start)
            length = _shared_words(h, r, start, at, most) if least <= most else 0
            for size in range(least, length + 1):
                previous = -1
                for place in range(at - 1, at + size):
                    target = aligned[place] + 1 if place >= 0 else 0
                    if target != previous:
                        found[count, START], found[count, LENGTH] = start, size
                        found[count, TARGET] = target
                        count += 1
                        previous = target
                if count >= budget:
                    return count
            at = following[at]
    return count


@compiled
def _shared_words(h: Symbols, r: Symbols, start: int, at: int, most: int) -> int:
    """How many words h from `start` on and r from `at` on begin with alike: 1 to `most`."""
    length = 1
    while length < most and h[start + length] == r[at + length]:
        length += 1
    return length


@compiled
def _next_wrong(wrong: Flags) -> Counts:
    """For each word the first from it on that is wrong, or the number of words."""
    ahead = np.empty(len(wrong), dtype=np.int64)
    following = len(wrong)
    for i in range(len(wrong) - 1, -1, -1):
        following = i if wrong[i] else following
        ahead[i] = following
    return ahead


@compiled
def forget_shifts(tried: Counts, known: int, a: int, stays: int) -> None:
    """Forget what shifts gain that depend on rows which are new, from row a to row `stays`.

    Rows from `stays` on differ by one constant from what they were, which changes no difference.
    """
    for k in range(known):
        if tried[k, A] < stays and tried[k, LAST] > a:
            tried[k, LAST] = -1


@compiled
def gains_by_bits(
    found: Counts, count: int, rows: Counts, chunks: Counts, tried: Counts, known: int
) -> int:
    """Fill in what the shifts gain, trying only those of which it is not known.

    Args:
        found: Shifts.
        count: How many.
        rows: Matrix of h in bits.
        chunks: Where words are in r.
        tried: Shifts tried so far; those with the same a are chained, beginning in row a.
        known: How many.

    Returns:
        How many are tried now.
    """
    for k in range(count):
        a, b, c = blocks(found[k, START], found[k, LENGTH], found[k, TARGET], len(rows) - 1)
        found[k, GAIN] = 0
        if a == b or b == c:
            continue
        at = rows[a, TRIED]
        while at >= 0 and (tried[at, B] != b or tried[at, C] != c):
            at = tried[at, NEXT]
        if at < 0:
            at = known
            known += 1
            tried[at, A], tried[at, B], tried[at, C], tried[at, LAST] = a, b, c, -1
            tried[at, NEXT] = rows[a, TRIED]
            rows[a, TRIED] = at
        if tried[at, LAST] < 0:
            tried[at, FALL], tried[at, LAST] = try_bits(rows, chunks, a, b, c)
        found[k, GAIN] = tried[at, FALL]
    return known


@compiled
def gains_by_cells(
    found: Counts, count: int, h: Symbols, r: Symbols, layout: Counts, cells: Counts, trial: Counts
) -> None:
    """Fill in what the shifts gain, see `try_cells`."""
    for k in range(count):
        a, b, c = blocks(found[k, START], found[k, LENGTH], found[k, TARGET], len(h))
        found[k, GAIN] = cells[-1] - try_cells(h, r, layout, cells, trial, a, b, c)


@compiled
def best_shift(found: Counts, count: int) -> int:
    """The shift that gains most, or -1 where none gains.

    Of two that gain the same: the longer, then the earlier, then to the earlier.
    """
    best = -1
    for k in range(count):
        order = found[k, GAIN]
        if best >= 0:
            order -= found[best, GAIN]
            if order == 0:
                order = found[k, LENGTH] - found[best, LENGTH]
            if order == 0:
                order = found[best, START] - found[k, START]
            if order == 0:
                order = found[best, TARGET] - found[k, TARGET]
        if order > 0:
            best = k
    return best


@compiled
def blocks(start: int, length: int, target: int, n: int) -> tuple[int, int, int]:
    """A shift as the blocks [a, b) and [b, c) of n words that change places.

    A target within the block moves it to the right by as many words as it lies inside.
    """
    if target < start:
        return target, start, start + length
    if target <= start + length:
        target = min(target + length, n)
    return start, start + length, target
