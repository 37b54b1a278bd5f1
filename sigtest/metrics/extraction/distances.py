"""Edit distances inside sacreBLEU's beam, and the moves that lead to them.

A matrix is filled once for a hypothesis; distances of the same words with two blocks swapped start
from its rows. There are two kinds of matrix, which agree wherever both apply:

* bits: Myers (1999), "A Fast Bit-Vector Algorithm for Approximate String Matching Based on
  Dynamic Programming", in Hyyrö's form: a row takes a handful of operations. It knows no beam and
  is right where a path as short as the distance cannot leave the beam.
* rows: the matrix of `BeamEditDistance` in `sacrebleu/metrics/lib_ter.py`, cell by cell. Its
  cache needs no counterpart, as a row depends on nothing but the words above it.

Letters: h and r are the hypothesis's and the reference's word numbers, n and m their lengths.
Row i of a matrix stands before word i of h, cell j of a row before word j of r.
"""

from __future__ import annotations

import math

import numpy as np

from sigtest.arrays import Counts
from sigtest.compiled import compiled
from sigtest.metrics.extraction.sequences import Symbols

BEAM_WIDTH = 25  # sacreBLEU's, after tercom
MAX_BITS = 62  # so that no sum below leaves int64, in compiled and in plain Python alike
INFINITY = 1 << 40  # a cell outside the beam

UP, DOWN, RISE, FALL, LAST = range(5)
"""Columns of a matrix in bits, which has a line a row: where the row rises and falls along r, where
it rose and fell against the row above, and its last cell."""

BOTH, FROM_H, FROM_R = range(3)
"""Moves through a matrix: past a word of both, of h alone, of r alone."""


@compiled
def shortest_outside(n: int, m: int) -> int:
    """Lower bound of the length of a path that leaves the beam.

    Cell (i, j) lies on no path shorter than |j - i| + |(m - j) - (n - i)|. That is least, and
    flat, between the two main diagonals, where the beam's centre is, so that in every row the
    cells next to the beam are the cheapest outside.
    """
    shortest = INFINITY
    if m < BEAM_WIDTH:
        return shortest
    for i in range(1, n + 1):
        low, high = _beam(i, n, m)
        if low > 0:
            shortest = min(shortest, abs(low - 1 - i) + abs(low - 1 - i + n - m))
        if high <= m:
            shortest = min(shortest, abs(high - i) + abs(high - i + n - m))
    return shortest


@compiled
def beam_layout(n: int, m: int) -> Counts:
    """(n + 2, 2) of each row: where its cells begin in the matrix, and its first cell's j.

    The last line only closes the last row.
    """
    layout = np.zeros((n + 2, 2), dtype=np.int64)
    layout[1, 0] = m + 1  # the first row has no beam
    for i in range(1, n + 1):
        low, high = _beam(i, n, m)
        layout[i, 1] = low
        layout[i + 1, 0] = layout[i, 0] + high - low
    return layout


@compiled
def _beam(i: int, n: int, m: int) -> tuple[int, int]:
    """First cell of row i inside the beam, and the one after its last; i > 0."""
    ratio = m / n
    # A steep diagonal needs a wider beam for its rows to overlap.
    width = math.ceil(ratio / 2 + BEAM_WIDTH) if ratio / 2 > BEAM_WIDTH else BEAM_WIDTH
    diagonal = math.floor(i * ratio)
    low = max(0, diagonal - width)
    return low, (m + 1 if i == n else min(m + 1, diagonal + width))


@compiled
def fill_bits(h: Symbols, masks: Counts, states: Counts, m: int) -> None:
    """Fill the whole matrix in bits."""
    full = (1 << m) - 1
    up, down, last = full, 0, m
    states[0, UP], states[0, DOWN], states[0, LAST] = up, down, last
    for i in range(len(h)):
        up, down, rise, fall = _step(masks[h[i]], up, down, full)
        last += ((rise >> (m - 1)) & 1) - ((fall >> (m - 1)) & 1)
        states[i + 1, UP], states[i + 1, DOWN] = up, down
        states[i + 1, RISE], states[i + 1, FALL] = rise, fall
        states[i + 1, LAST] = last


@compiled
def try_bits(h: Symbols, masks: Counts, states: Counts, m: int, a: int, b: int, c: int) -> int:
    """Distance with the blocks [a, b) and [b, c) of `h` swapped."""
    full = (1 << m) - 1
    n = len(h)
    up, down, last = states[a, UP], states[a, DOWN], states[a, LAST]
    for i in range(a, n):
        if i >= c and up == states[i, UP] and down == states[i, DOWN]:
            return int(last + states[n, LAST] - states[i, LAST])  # from here on as before
        up, down, rise, fall = _step(masks[h[_source(i, a, b, c)]], up, down, full)
        last += ((rise >> (m - 1)) & 1) - ((fall >> (m - 1)) & 1)
    return int(last)


@compiled
def move_bits(h: Symbols, r: Symbols, states: Counts, i: int, j: int) -> int:
    """The last move to row i, cell j; of equal costs `move_rows` says which."""
    if i == 0 or j == 0:
        return FROM_R if i == 0 else FROM_H
    if h[i - 1] == r[j - 1]:
        return BOTH
    rise = (states[i, RISE] >> (j - 1)) & 1
    fall = (states[i, FALL] >> (j - 1)) & 1
    along = ((states[i - 1, UP] >> (j - 1)) & 1) - ((states[i - 1, DOWN] >> (j - 1)) & 1)
    if rise - fall + along == 1:
        return BOTH
    return FROM_H if rise else FROM_R


@compiled
def _step(matches: int, up: int, down: int, full: int) -> tuple[int, int, int, int]:
    """The next row in bits: where it rises and falls along r, and against the row above."""
    level = (((matches & up) + up) ^ up) | matches
    rise = (down | ~(level | up)) & full
    fall = up & level
    risen = ((rise << 1) | 1) & full  # the cell before r rises with every row
    fallen = (fall << 1) & full
    steep = matches | down
    return fallen | (~(steep | risen) & full), risen & steep, rise, fall


@compiled
def fill_rows(h: Symbols, r: Symbols, layout: Counts, cells: Counts) -> None:
    """Fill the matrix inside the beam."""
    for j in range(len(r) + 1):
        cells[j] = j
    for i in range(1, len(h) + 1):
        above = cells[layout[i - 1, 0] : layout[i, 0]]
        row = cells[layout[i, 0] : layout[i + 1, 0]]
        _fill_row(h[i - 1], r, above, layout[i, 1] - layout[i - 1, 1], row, layout[i, 1])


@compiled
def try_rows(
    h: Symbols,
    r: Symbols,
    layout: Counts,
    cells: Counts,
    trial: Counts,
    a: int,
    b: int,
    c: int,
    limit: int,
) -> int:
    """Distance with the blocks [a, b) and [b, c) of `h` swapped, or something above `limit`."""
    above = cells[layout[a, 0] : layout[a + 1, 0]]
    for i in range(a + 1, len(h) + 1):
        row = trial[layout[i, 0] : layout[i + 1, 0]]
        word = h[_source(i - 1, a, b, c)]
        least = _fill_row(word, r, above, layout[i, 1] - layout[i - 1, 1], row, layout[i, 1])
        if least > limit:  # and no later row has a lesser cell
            return least
        above = row
    return int(above[-1])


@compiled
def move_rows(h: Symbols, r: Symbols, layout: Counts, cells: Counts, i: int, j: int) -> int:
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
def _fill_row(word: int, r: Symbols, above: Counts, shift: int, row: Counts, low: int) -> int:
    """Fill one row inside the beam; returns its least cell.

    Args:
        word: Word of h above this row.
        r: The reference.
        above: Cells of the row above.
        shift: Position in `above` of the cell above the first of `row`.
        row: Cells to fill.
        low: j of the first of them.
    """
    least = INFINITY
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
        least = min(least, cell)
    return least


@compiled
def _source(i: int, a: int, b: int, c: int) -> int:
    """Where the word at i comes from when the blocks [a, b) and [b, c) are swapped."""
    if i >= c or i < a:
        return i
    return i + b - a if i < a + c - b else i - (c - b)
