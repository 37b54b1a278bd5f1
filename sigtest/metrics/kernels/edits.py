"""Edits of translation edit rate, exactly as sacreBLEU 2.6 counts them.

TER is the least number of insertions, deletions, substitutions and shifts of blocks of words that
turn the hypothesis into the reference, found greedily: Snover et al. (2006), "A Study of
Translation Edit Rate with Targeted Human Annotation", algorithm 1. The order in which shifts are
tried, their limits and their ties are those of `sacrebleu/metrics/lib_ter.py`.

The work is linear in the length of a line, whatever its words are. For lines of n and m words:

* No more than 999 shifts are tried, so that no more than 1,000 searches look for one: a search that
  finds none is the last, and the one that finds the thousandth, too.
* A search makes n rows of the matrix at most, and so does a shift that is tried: fewer than 2,000 n
  rows in all. A row takes some thirty operations, and a binary search where a word moves far. Only
  where m is above 50 n a row is made cell by cell; then a matrix has fewer than 4 m cells.
* A search looks at 101 places in r at most for a word of h, and compares ten words there at most.

Sentences of news take about 10 rows a word, ten of them in a line 90, random words up to 700. What
a shift leaves as it was is not made again: neither rows nor paths nor what other shifts gain.

A shift takes up to ten words of h that r has elsewhere to where r has them: not further than 50
words, only if some of them are wrong on both sides, and not into themselves. Letters as in
`distances`.
"""

from __future__ import annotations

import numpy as np

from sigtest.arrays import Counts, Flags
from sigtest.compiled import compiled
from sigtest.metrics.kernels.distances import (
    FIRST,
    TOTAL,
    TRIED,
    EditMatrix,
    LinePair,
    Path,
    beam_cells,
    bit_rows,
    fill_bits,
    fill_cells,
    fits_bits,
    index_words,
    trace_bits,
    trace_cells,
    try_bits,
    try_cells,
)
from sigtest.metrics.kernels.tokens import Sequences, Symbols

# Limits of sacreBLEU; the first two are tercom's.
MAX_SHIFT_SIZE = 10
MAX_SHIFT_DIST = 50
MAX_SHIFT_CANDIDATES = 1000

# Columns of a shift that was found: its words, where to, and by how much the distance falls.
START, LENGTH, TARGET, GAIN = range(4)

# Columns of a shift that was tried: the blocks [a, b) and [b, c) of h that change places, by how
# much the distance falls, the last row that this depends on (-1: unknown), and another shift of the
# same a (-1: none).
A, B, C, FALL, LAST, NEXT = range(6)


@compiled
def corpus_edits(hypotheses: Sequences, references: Sequences, bits: bool) -> Counts:
    """Edits of every hypothesis against each of its references.

    Args:
        hypotheses: Word numbers of n hypotheses; SEPARATOR for a word that no reference contains.
        references: Word numbers of n * r references, below their length, those of a segment next to
            each other.
        bits: Whether matrices in bits may be used; they never change the answer.

    Returns:
        (n * r,) edits, shifts included.
    """
    hyp, hyp_starts = hypotheses.symbols, hypotheses.starts
    ref, ref_starts = references.symbols, references.starts
    lines = len(ref_starts) - 1
    edits = np.zeros(lines, np.int64)
    numbers = np.full(len(ref) + 1, -1, np.int64)
    room = MAX_SHIFT_CANDIDATES + MAX_SHIFT_SIZE + 1
    found, tried = np.empty((room, 4), np.int64), np.empty((room, 6), np.int64)
    for line in range(lines):
        s = line * (len(hyp_starts) - 1) // lines
        own = hyp[hyp_starts[s] : hyp_starts[s + 1]]
        other = ref[ref_starts[line] : ref_starts[line + 1]]
        if len(own) == 0 or len(other) == 0:
            edits[line] = len(own) + len(other)
            continue
        h, r, count = _renumber(own, other, numbers)
        edits[line] = _edits(index_words(h, r, count), found, tried, bits)
    return edits


@compiled
def _renumber(own: Symbols, other: Symbols, numbers: Counts) -> tuple[Symbols, Symbols, int]:
    """Both sides in numbers of the segment's own, so that its tables are small.

    Args:
        own: Words of the hypothesis.
        other: Words of the reference.
        numbers: By word, -1; the last is SEPARATOR's. Is left as it was.

    Returns:
        h; r; and how many numbers there are. The last stands for all words that r lacks.
    """
    h = np.empty(len(own), np.int32)
    r = np.empty(len(other), np.int32)
    count = 0
    for j in range(len(r)):
        if numbers[other[j]] < 0:
            numbers[other[j]] = count
            count += 1
        r[j] = numbers[other[j]]
    for i in range(len(h)):
        h[i] = numbers[own[i]] if numbers[own[i]] >= 0 else count
    for word in other:
        numbers[word] = -1
    return h, r, count + 1


@compiled
def _edits(lines: LinePair, found: Counts, tried: Counts, bits: bool) -> int:
    """Edits of one segment with words on both sides; leaves h shifted."""
    h, n, m = lines.h, len(lines.h), len(lines.r)
    bits = bits and fits_bits(n, m)
    floor = max(n, m) - _common_words(lines)  # no order of these words is nearer
    rows = bit_rows(n if bits else 1, m if bits else 1)
    matrix = beam_cells(0 if bits else n, 0 if bits else m)
    path = Path(np.empty(m, np.int64), np.empty(n, np.bool_), np.empty(m, np.bool_))
    shifts = checked = known = 0
    a, c = 0, n
    while True:
        if bits:
            stays = fill_bits(lines, rows, a, c)
            before = int(rows[n, TOTAL])
            # rows from `stays` on differ by one constant from what they were: no difference does
            for k in range(known):
                if tried[k, A] < stays and tried[k, LAST] > a:
                    tried[k, LAST] = -1
            trace_bits(rows, path, a if shifts else -1, stays)
        else:
            fill_cells(lines, matrix)
            before = int(matrix.cells[-1])
            trace_cells(lines, matrix, path)
        if before <= floor:
            break
        count = find_shifts(lines, path, found, MAX_SHIFT_CANDIDATES - checked)
        checked += count
        if checked >= MAX_SHIFT_CANDIDATES:
            break  # sacreBLEU drops the best of these candidates, too
        if bits:
            known = _gains_by_bits(lines, found, count, rows, tried, known)
        else:
            _gains_by_cells(lines, found, count, matrix)
        best = _best_shift(found, count)
        if best < 0:
            break
        a, b, c = _blocks(found[best, START], found[best, LENGTH], found[best, TARGET], n)
        h[a:c] = np.concatenate((h[b:c], h[a:b]))
        shifts += 1
    return shifts + before


@compiled
def _common_words(lines: LinePair) -> int:
    """Words of h that find a partner in r regardless of order."""
    held = np.zeros(len(lines.words), np.int64)
    for word in lines.r:
        held[word] += 1
    common = 0
    for word in lines.h:
        if held[word] > 0:
            held[word] -= 1
            common += 1
    return common


@compiled
def find_shifts(  # noqa: C901 - one search
    lines: LinePair, path: Path, found: Counts, budget: int
) -> int:
    """Write down the shifts to try, in sacreBLEU's order; returns how many.

    Stops after the words whose shifts exhaust the budget.

    Args:
        lines: Both sides.
        path: The best between them.
        found: Gets the shifts.
        budget: How many may be found.
    """
    h, r, following, aligned = lines.h, lines.r, lines.following, path.aligned
    n, m = len(h), len(r)
    next_h, next_r = _next_wrong(path.wrong_h), _next_wrong(path.wrong_r)
    places = lines.words[:, FIRST].copy()  # the first that is near enough
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
            length = 1 if least <= most else 0  # words that both have from there on
            while 0 < length < most and h[start + length] == r[at + length]:
                length += 1
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
def _next_wrong(wrong: Flags) -> Counts:
    """For each word the first from it on that is wrong, or the number of words."""
    ahead = np.empty(len(wrong), np.int64)
    following = len(wrong)
    for i in range(len(wrong) - 1, -1, -1):
        following = i if wrong[i] else following
        ahead[i] = following
    return ahead


@compiled
def _gains_by_bits(
    lines: LinePair, found: Counts, count: int, rows: Counts, tried: Counts, known: int
) -> int:
    """Fill in what the shifts gain, trying only those of which it is not known.

    Args:
        lines: Both sides.
        found: Shifts.
        count: How many.
        rows: The matrix in bits, from `bit_rows`.
        tried: Shifts tried so far; those with the same a are chained, beginning in row a.
        known: How many.

    Returns:
        How many are tried now.
    """
    for k in range(count):
        a, b, c = _blocks(found[k, START], found[k, LENGTH], found[k, TARGET], len(rows) - 1)
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
            tried[at, FALL], tried[at, LAST] = try_bits(rows, lines.chunks, a, b, c)
        found[k, GAIN] = tried[at, FALL]
    return known


@compiled
def _gains_by_cells(lines: LinePair, found: Counts, count: int, matrix: EditMatrix) -> None:
    """Fill in what the shifts gain, see `try_cells`."""
    for k in range(count):
        a, b, c = _blocks(found[k, START], found[k, LENGTH], found[k, TARGET], len(lines.h))
        found[k, GAIN] = matrix.cells[-1] - try_cells(lines, matrix, a, b, c)


@compiled
def _best_shift(found: Counts, count: int) -> int:
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
def _blocks(start: int, length: int, target: int, n: int) -> tuple[int, int, int]:
    """A shift as the blocks [a, b) and [b, c) of n words that change places.

    A target within the block moves it to the right by as many words as it lies inside.
    """
    if target < start:
        return target, start, start + length
    if target <= start + length:
        target = min(target + length, n)
    return start, start + length, target
