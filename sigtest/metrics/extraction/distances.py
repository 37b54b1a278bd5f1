"""Edit distances inside sacreBLEU's beam, cell by cell, and the path that leads to them.

The matrix is that of `BeamEditDistance` in `sacrebleu/metrics/lib_ter.py`. Its cache needs no
counterpart, as a row depends on nothing but the words above it: a matrix is filled once for a
hypothesis, and distances of the same words with two blocks swapped start from its rows. `bits`
has the same matrix in another form for almost all lines.

Letters: h and r are the hypothesis's and the reference's word numbers, n and m their lengths.
Row i of a matrix stands before word i of h, cell j of a row before word j of r.
"""

from __future__ import annotations

import math

import numpy as np

from sigtest.arrays import Counts, Flags
from sigtest.compiled import compiled
from sigtest.metrics.extraction.sequences import Symbols

BEAM_WIDTH = 25  # sacreBLEU's, after tercom
INFINITY = 1 << 40  # a cell outside the beam

BOTH, FROM_H, FROM_R = range(3)
"""Moves through a matrix: past a word of both, of h alone, of r alone."""


@compiled
def beam_layout(n: int, m: int) -> Counts:
    """(n + 2, 2) of each row: where its cells begin in the matrix, and its first cell's j.

    The last line only closes the last row.
    """
    layout = np.zeros((n + 2, 2), dtype=np.int64)
    layout[1, 0] = m + 1  # the first row has no beam
    for i in range(1, n + 1):
        low, high = beam(i, n, m)
        layout[i, 1] = low
        layout[i + 1, 0] = layout[i, 0] + high - low
    return layout


@compiled
def beam(i: int, n: int, m: int) -> tuple[int, int]:
    """First cell of row i inside the beam, and the one after its last; i > 0."""
    ratio = m / n
    # A steep diagonal needs a wider beam for its rows to overlap.
    width = math.ceil(ratio / 2 + BEAM_WIDTH) if ratio / 2 > BEAM_WIDTH else BEAM_WIDTH
    diagonal = math.floor(i * ratio)
    low = max(0, diagonal - width)
    return low, (m + 1 if i == n else min(m + 1, diagonal + width))


@compiled
def fill_cells(h: Symbols, r: Symbols, layout: Counts, cells: Counts) -> None:
    """Fill the matrix inside the beam."""
    for j in range(len(r) + 1):
        cells[j] = j
    for i in range(1, len(h) + 1):
        above = cells[layout[i - 1, 0] : layout[i, 0]]
        row = cells[layout[i, 0] : layout[i + 1, 0]]
        _fill_row(h[i - 1], r, above, layout[i, 1] - layout[i - 1, 1], row, layout[i, 1])


@compiled
def try_cells(
    h: Symbols, r: Symbols, layout: Counts, cells: Counts, trial: Counts, a: int, b: int, c: int
) -> int:
    """Distance with the blocks [a, b) and [b, c) of `h` swapped."""
    above = cells[layout[a, 0] : layout[a + 1, 0]]
    for i in range(a + 1, len(h) + 1):
        row = trial[layout[i, 0] : layout[i + 1, 0]]
        word = h[_source(i - 1, a, b, c)]
        _fill_row(word, r, above, layout[i, 1] - layout[i - 1, 1], row, layout[i, 1])
        above = row
    return int(above[-1])


@compiled
def trace_cells(
    h: Symbols,
    r: Symbols,
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
        move = _move(h, r, layout, cells, i, j)
        wrong = move != BOTH or h[i - 1] != r[j - 1]
        if move != FROM_H:
            aligned[j - 1] = i - 1
            wrong_r[j - 1] = wrong
            j -= 1
        if move != FROM_R:
            wrong_h[i - 1] = wrong
            i -= 1


@compiled
def _move(h: Symbols, r: Symbols, layout: Counts, cells: Counts, i: int, j: int) -> int:
    """The last move to row i, cell j; of equal costs the first in the order of their names."""
    if i == 0:
        return FROM_R
    above = cells[layout[i - 1, 0] : layout[i, 0]]
    here = cells[layout[i, 0] + j - layout[i, 1]]
    over = j - layout[i - 1, 1]
    if 0 < over <= len(above) and above[over - 1] + (h[i - 1] != r[j - 1]) == here:
        return BOTH
    return FROM_H if over < len(above) and above[over] + 1 == here else FROM_R


@compiled
def _fill_row(word: int, r: Symbols, above: Counts, shift: int, row: Counts, low: int) -> None:
    """Fill one row inside the beam.

    Args:
        word: Word of h above this row.
        r: The reference.
        above: Cells of the row above.
        shift: Position in `above` of the cell above the first of `row`.
        row: Cells to fill.
        low: j of the first of them.
    """
    left = INFINITY
    for k in range(len(row)):
        cell = left + 1
        over = k + shift
        if over < len(above):
            cell = min(cell, above[over] + 1)
        if 0 < over <= len(above):
            cell = min(cell, above[over - 1] + (word != r[low + k - 1]))
        row[k] = cell
        left = cell


@compiled
def _source(i: int, a: int, b: int, c: int) -> int:
    """Where the word at i comes from when the blocks [a, b) and [b, c) are swapped."""
    if i >= c or i < a:
        return i
    return i + b - a if i < a + c - b else i - (c - b)
