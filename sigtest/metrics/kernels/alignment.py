"""Lines aligned with their references as NIST's scoring kit does, and the least edits between them.

The kit weighs a substitution 4, an insertion and a deletion 3 (`wwd_WORD` in its `word.c`). Where
several ways cost the same it takes, from the end of the line on, a word against a word before a
deletion only if that is cheaper than an insertion, and an insertion else (`net_dp.c`,
`calculate_internal_cells`). So a common end of both lines is aligned word by word.

An alignment without insertions, or without deletions, has the least edits, too: one with fewer,
whose deletions exceed its insertions by as many, would be cheaper. Only where it has both, the
least edits are counted anew, with weights of 1.

Costs of a row follow from those of the row before. Which way is cheapest is kept for as many rows
as fit `cells`, or for the square root of all rows where that is more; rows before are made again
from the costs at which each block begins.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from sigtest.arrays import Array, Counts
from sigtest.compiled import compiled
from sigtest.metrics.kernels.tokens import Sequences, Symbols

SUBSTITUTED, OTHER = 4, 3  # what they weigh
CELLS = 1 << 18
# Columns of what is counted in a line.
EDITS, SUBSTITUTIONS, DELETIONS, INSERTIONS = range(4)
# Columns of a word of the reference: insertions before it, and what became of it.
INSERTED, STATE = range(2)
# What becomes of a word; the last row of a line is no word.
RIGHT, WRONG, END = range(3)

Ways = npt.NDArray[np.uint8]
Costs = npt.NDArray[np.int32]
ALONG, DOWN, ASIDE = range(3)


@compiled
def align(hypotheses: Sequences, references: Sequences, cells: int) -> tuple[Counts, Counts]:
    """Align every hypothesis with its reference.

    Args:
        hypotheses: Numbers of words, or code points, of n lines; SEPARATOR for a word that no
            reference contains.
        references: The same of their references.
        cells: How many ways are kept of a line, about, before rows are made again.

    Returns:
        (n, 4) least edits, and the substitutions, deletions and insertions of the alignment;
        (words + n, 2) what happens at each word of the references, and at the end of each line.
    """
    hyp_starts, ref_starts = hypotheses.starts, references.starts
    lines = len(ref_starts) - 1
    counts = np.zeros((lines, 4), dtype=np.int64)
    words = np.zeros((ref_starts[lines] + lines, 2), dtype=np.int64)
    for line in range(lines):
        h = hypotheses.symbols[hyp_starts[line] : hyp_starts[line + 1]]
        r = references.symbols[ref_starts[line] : ref_starts[line + 1]]
        own = words[ref_starts[line] + line : ref_starts[line + 1] + line + 1]
        own[len(r), STATE] = END
        n, m = len(r), len(h)
        while n > 0 and m > 0 and r[n - 1] == h[m - 1]:
            n, m = n - 1, m - 1
        _align_line(r[:n], h[:m], own, counts[line], cells)
        edits = counts[line, SUBSTITUTIONS] + counts[line, DELETIONS] + counts[line, INSERTIONS]
        if counts[line, DELETIONS] > 0 and counts[line, INSERTIONS] > 0:
            costs = np.arange(m + 1).astype(np.int32)
            _fill(r[:n], h[:m], costs, np.empty((0, 0), dtype=np.uint8), 1, 1)
            edits = costs[m]
        counts[line, EDITS] = edits
    return counts, words


@compiled
def stretches(a: Array, b: Array, buffer: int) -> Counts:
    """Errors of two systems in each stretch between words that both have right.

    A stretch begins with an error of either and ends where an utterance does, or with as many words
    in a row as `buffer` says that both have right, and before which neither inserts anything.

    Args:
        a: (words + n, 2) what became of each word, see `align`.
        b: The same of the other system.
        buffer: How many words end a stretch.

    Returns:
        (stretches, 2) errors of a and of b.
    """
    found = np.zeros((len(a) + 1, 2), dtype=np.int64)
    count = right = 0
    begun = False
    for i in range(len(a)):
        end = a[i, STATE] == END
        wrong_a, wrong_b = a[i, STATE] == WRONG, b[i, STATE] == WRONG
        inserted = a[i, INSERTED] + b[i, INSERTED] > 0
        found[count, 0] += a[i, INSERTED] + wrong_a
        found[count, 1] += b[i, INSERTED] + wrong_b
        begun = begun or inserted or wrong_a or wrong_b
        right = 0 if wrong_a or wrong_b else 1 if inserted else right + 1
        if end or right >= buffer:
            count += begun
            begun, right = False, 0 if end else right
    return found[:count]


@compiled
def _align_line(r: Symbols, h: Symbols, words: Counts, counts: Counts, cells: int) -> None:
    """Align one line; `words` and `counts` are zero and get what happens."""
    n, m = len(r), len(h)
    rows = max(cells // (m + 1), int(math.sqrt(n)) + 1)
    blocks = (n + rows - 1) // rows
    before = np.empty((blocks, m + 1), dtype=np.int32)
    ways = np.empty((min(rows, n), m + 1), dtype=np.uint8)
    costs = (OTHER * np.arange(m + 1)).astype(np.int32)
    for block in range(blocks):
        before[block] = costs
        _fill(r[block * rows : (block + 1) * rows], h, costs, ways, SUBSTITUTED, OTHER)
    i, j = n, m
    for block in range(blocks - 1, -1, -1):
        first = block * rows
        if block < blocks - 1:
            _fill(r[first : first + rows], h, before[block], ways, SUBSTITUTED, OTHER)
        while i > first:
            way = ways[i - 1 - first, j]
            if way == ASIDE:
                j -= 1
                words[i, INSERTED] += 1
                counts[INSERTIONS] += 1
                continue
            i -= 1
            if way == DOWN:
                counts[DELETIONS] += 1
                words[i, STATE] = WRONG
                continue
            j -= 1
            if r[i] != h[j]:
                counts[SUBSTITUTIONS] += 1
                words[i, STATE] = WRONG
    words[0, INSERTED] += j
    counts[INSERTIONS] += j


@compiled
def _fill(r: Symbols, h: Symbols, costs: Costs, ways: Ways, substituted: int, other: int) -> None:
    """Go on from one row to the next for each word of r.

    Args:
        r: Some words of the reference.
        h: All words of the hypothesis.
        costs: (m + 1,) of the row before these words; is that of the last one afterwards.
        ways: Gets the cheapest way to each cell, unless it has no rows.
        substituted: What a substitution weighs.
        other: What an insertion weighs, and a deletion.
    """
    kept = len(ways) > 0
    for i in range(len(r)):
        corner = costs[0]
        costs[0] += other
        if kept:
            ways[i, 0] = DOWN
        for j in range(1, len(costs)):
            along = corner + (0 if r[i] == h[j - 1] else substituted)
            down, aside = costs[j] + other, costs[j - 1] + other
            corner = costs[j]
            way, least = ALONG, along
            if along > down or along > aside:
                way, least = (DOWN, down) if down < aside else (ASIDE, aside)
            costs[j] = least
            if kept:
                ways[i, j] = way
