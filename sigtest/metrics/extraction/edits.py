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
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sigtest.arrays import Array, Counts
from sigtest.compiled import compiled
from sigtest.data.text import Text
from sigtest.metrics.extraction.bits import (
    FIRST,
    TOTAL,
    bit_rows,
    fill_bits,
    fits_bits,
    list_chunks,
    trace_bits,
)
from sigtest.metrics.extraction.distances import beam_layout, fill_cells, trace_cells
from sigtest.metrics.extraction.sequences import Symbols
from sigtest.metrics.extraction.shifts import (
    LENGTH,
    MAX_SHIFT_CANDIDATES,
    START,
    TARGET,
    best_shift,
    blocks,
    find_shifts,
    forget_shifts,
    gains_by_bits,
    gains_by_cells,
    room_for_shifts,
)
from sigtest.metrics.extraction.tercom import Tercom


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
    numbers = np.full(len(ref) + 1, -1, dtype=np.int64)
    found, tried = room_for_shifts()
    for line in range(lines):
        s = line * (len(hyp_starts) - 1) // lines
        own = hyp[hyp_starts[s] : hyp_starts[s + 1]]
        other = ref[ref_starts[line] : ref_starts[line + 1]]
        if len(own) == 0 or len(other) == 0:
            edits[line] = len(own) + len(other)
            continue
        h, r, count = _renumber(own, other, numbers)
        edits[line] = _edits(h, r, count, found, tried, bits)
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
    h = np.empty(len(own), dtype=np.int32)
    r = np.empty(len(other), dtype=np.int32)
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
def _edits(h: Symbols, r: Symbols, count: int, found: Counts, tried: Counts, bits: bool) -> int:
    """Edits of one segment with words on both sides; leaves `h` shifted."""
    n, m = len(h), len(r)
    bits = bits and fits_bits(n, m)
    floor = max(n, m) - _common_words(h, r, count)  # no order of these words is nearer
    words = np.full((count, 3), -1, dtype=np.int64)
    following = np.empty(m, dtype=np.int64)
    for j in range(m - 1, -1, -1):
        following[j] = words[r[j], FIRST]
        words[r[j], FIRST] = j
    rows = bit_rows(n if bits else 1, m if bits else 1)
    chunks = list_chunks(words, following)
    layout = beam_layout(0 if bits else n, m)
    cells = np.empty(0 if bits else layout[-1, 0], dtype=np.int64)
    trial = np.empty(len(cells), dtype=np.int64)
    aligned = np.empty(m, dtype=np.int64)
    wrong_h = np.empty(n, dtype=np.bool_)
    wrong_r = np.empty(m, dtype=np.bool_)
    shifts = checked = known = 0
    a, c = 0, n
    while True:
        if bits:
            stays = fill_bits(h, words, chunks, rows, a, c)
            before = int(rows[n, TOTAL])
            forget_shifts(tried, known, a, stays)
            trace_bits(rows, aligned, wrong_h, wrong_r, a if shifts else -1, stays)
        else:
            fill_cells(h, r, layout, cells)
            before = int(cells[-1])
            trace_cells(h, r, layout, cells, aligned, wrong_h, wrong_r)
        if before <= floor:
            break
        budget = MAX_SHIFT_CANDIDATES - checked
        count = find_shifts(h, r, words, following, aligned, wrong_h, wrong_r, found, budget)
        checked += count
        if checked >= MAX_SHIFT_CANDIDATES:
            break  # sacreBLEU drops the best of these candidates, too
        if bits:
            known = gains_by_bits(found, count, rows, chunks, tried, known)
        else:
            gains_by_cells(found, count, h, r, layout, cells, trial)
        best = best_shift(found, count)
        if best < 0:
            break
        a, b, c = blocks(found[best, START], found[best, LENGTH], found[best, TARGET], n)
        h[a:c] = np.concatenate((h[b:c], h[a:b]))
        shifts += 1
    return shifts + before


@compiled
def _common_words(h: Symbols, r: Symbols, count: int) -> int:
    """Words of `h` that find a partner in `r` regardless of order."""
    held = np.zeros(count, dtype=np.int64)
    for word in r:
        held[word] += 1
    common = 0
    for word in h:
        if held[word] > 0:
            held[word] -= 1
            common += 1
    return common
