"""Lines aligned with their references as NIST's scoring kit does, and the least edits between them.

The kit weighs a substitution 4, an insertion and a deletion 3 (`wwd_WORD` in its `word.c`). Where
several ways cost the same it takes, from the end of the line on, a word against a word before a
deletion only if that is cheaper than an insertion, and an insertion else (`net_dp.c`,
`calculate_internal_cells`). So a common end of both lines is aligned word by word.

Where edits are fewer than in that alignment, substitutions stand for as many deletions and
insertions: one edit fewer has at least two fewer of both, or it would be cheaper. Only where there
are two of both, the least edits are counted anew, with weights of 1.

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

KIT = 4, 3  # what a substitution weighs, and an insertion or a deletion
CELLS = 1 << 18
# Columns of a word of the reference: insertions before it, and what became of it.
INSERTED, STATE = range(2)
# What becomes of a word; the last row of a line is no word.
RIGHT, SUBSTITUTED, DELETED, END = range(4)

Pair = tuple[int, int]
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
        (n, 6) least edits, words of the reference, and substitutions, deletions, insertions and
        words that are right in the alignment; (words + n, 2) what happens at each word of the
        references, and at the end of each line.
    """
    hyp_starts, ref_starts = hypotheses.starts, references.starts
    counts = np.zeros((len(ref_starts) - 1, 6), np.int64)
    words = np.zeros((ref_starts[-1] + len(counts), 2), np.int64)
    for line in range(len(counts)):
        h = hypotheses.symbols[hyp_starts[line] : hyp_starts[line + 1]]
        r = references.symbols[ref_starts[line] : ref_starts[line + 1]]
        own = words[ref_starts[line] + line : ref_starts[line + 1] + line + 1]
        own[len(r), STATE] = END
        n, m = len(r), len(h)
        while n > 0 and m > 0 and r[n - 1] == h[m - 1]:
            n, m = n - 1, m - 1
        _align_line(r[:n], h[:m], own, cells)
        substituted = np.sum(own[:, STATE] == SUBSTITUTED)
        deleted = np.sum(own[:, STATE] == DELETED)
        inserted = np.sum(own[:, INSERTED])
        edits = substituted + deleted + inserted
        if deleted > 1 and inserted > 1:
            costs = np.arange(m + 1).astype(np.int32)
            _fill(r[:n], h[:m], costs, np.empty((1, m + 1), np.uint8), (1, 1), edits + 1)
            edits = costs[m]
        counts[line] = edits, len(r), substituted, deleted, inserted, len(r) - substituted - deleted
    return counts, words


@compiled
def stretches(a: Array, b: Array, buffer: int) -> Counts:
    """Errors of two systems in each stretch between words that both have right.

    A stretch holds an error of either and ends where an utterance does, or with as many words in a
    row as `buffer` says that both have right, and before which neither inserts anything.

    Args:
        a: (words + n, 2) what became of each word, see `align`.
        b: The same of the other system.
        buffer: How many words end a stretch.

    Returns:
        (stretches, 2) errors of a and of b.
    """
    found = np.zeros((len(a) + 1, 2), np.int64)
    count = right = 0
    for i in range(len(a)):
        wrong_a = RIGHT < a[i, STATE] < END
        wrong_b = RIGHT < b[i, STATE] < END
        found[count, 0] += a[i, INSERTED] + wrong_a
        found[count, 1] += b[i, INSERTED] + wrong_b
        end = a[i, STATE] == END
        inserted = a[i, INSERTED] + b[i, INSERTED] > 0
        right = 0 if end or wrong_a or wrong_b else 1 if inserted else right + 1
        if end or right >= buffer:
            count += found[count, 0] + found[count, 1] > 0
    return found[:count]


@compiled
def _align_line(r: Symbols, h: Symbols, words: Counts, cells: int) -> None:
    """Align one line; `words` are zero and get what happens."""
    n, m = len(r), len(h)
    rows = max(cells // (m + 1), int(math.sqrt(n)) + 1)
    before = np.empty((n // rows + 1, m + 1), np.int32)
    ways = np.empty((min(rows, n), m + 1), np.uint8)
    costs = (KIT[1] * np.arange(m + 1)).astype(np.int32)
    for first in range(0, n, rows):
        before[first // rows] = costs
        _fill(r[first : first + rows], h, costs, ways, KIT, n + m)
    i, j = n, m
    while i > 0:
        way = ways[(i - 1) % rows, j]
        i -= way != ASIDE
        j -= way != DOWN
        if way == ASIDE:
            words[i, INSERTED] += 1
        elif way == DOWN:
            words[i, STATE] = DELETED
        elif r[i] != h[j]:
            words[i, STATE] = SUBSTITUTED
        if way != ASIDE and i % rows == 0 and i > 0:
            _fill(r[i - rows : i], h, before[i // rows - 1], ways, KIT, n + m)
    words[0, INSERTED] += j


@compiled
def _fill(r: Symbols, h: Symbols, costs: Costs, ways: Ways, weights: Pair, reach: int) -> None:
    """Go on from one row to the next for each word of r.

    Args:
        r: Some words of the reference.
        h: All words of the hypothesis.
        costs: (m + 1,) of the row before these words; is that of the last one afterwards.
        ways: Gets the cheapest way to each cell of the last rows, as many as it has.
        weights: Of a substitution, and of an insertion or a deletion.
        reach: How far from the diagonal an alignment may go.
    """
    substituted, other = weights
    for i in range(len(r)):
        way = ways[i % len(ways)]
        first = max(0, i + 1 - reach)
        corner = costs[first]
        left = costs[first] = corner + other
        way[first] = DOWN
        for j in range(first + 1, min(len(costs), i + 2 + reach)):
            along = corner + (0 if r[i] == h[j - 1] else substituted)
            corner = costs[j]
            down = corner + other
            aside = left + other
            left = min(along, down, aside)
            costs[j] = left
            way[j] = ALONG if along == left else DOWN if down < aside else ASIDE
