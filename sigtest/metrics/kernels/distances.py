"""Edit distances inside sacreBLEU's beam, and the paths that lead to them: in bits, and by cells.

The matrix is that of `BeamEditDistance` in `sacrebleu/metrics/lib_ter.py`. Its cache needs no
counterpart, as a row depends on nothing but the words above it: a matrix is filled once for a
hypothesis, and distances of the same words with two blocks swapped start from its rows.

Letters: h and r are the hypothesis's and the reference's word numbers, n and m their lengths.
Row i of a matrix stands before word i of h, cell j of a row before word j of r.

In bits a row takes a handful of operations: Myers (1999), "A Fast Bit-Vector Algorithm for
Approximate String Matching Based on Dynamic Programming", in the form of Hyyrö (2003), "A
Bit-Vector Algorithm for Computing Levenshtein and Damerau Edit Distances": a row is kept as the
differences of neighbouring cells, one bit a cell.

Inside the beam, too, neighbours differ by 1 at most: its edges never turn back, so that beside a
path to a cell there is one to its neighbour. The beam is WIDTH cells wide (wider only in matrices
that `fits_bits` refuses, which are filled cell by cell), so that a row is one machine word however
long the lines are. Cells outside have no value; others stand in for them that no path prefers to
those inside. To the left of the beam each is one dearer than its right neighbour, to the right one
dearer than its left neighbour, and no word matches there.

Bit k of a row is cell j = base + k, and the last cell of the beam is bit WIDTH - 1 in every row.
The bits above it are a number's sign, so that no sum leaves int64, in compiled and in plain Python
alike.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from sigtest.arrays import Counts, Flags
from sigtest.compiled import compiled
from sigtest.metrics.kernels.tokens import Symbols

BEAM_WIDTH = 25  # sacreBLEU's, after tercom
INFINITY = 1 << 40  # a cell outside the beam

# Moves through a matrix: past a word of both, of h alone, of r alone.
BOTH, FROM_H, FROM_R = range(3)

WIDTH = 2 * BEAM_WIDTH
CHUNK = 62  # cells in a chunk; a row reaches over two at most

# Columns of a word of r: its first place, or -1, and where its chunks begin and end.
FIRST, FIRST_CHUNK, LAST_CHUNK = range(3)

# Columns of row i that depend on lengths alone: the cell of bit 0, by how much it lies beyond that
# of the row above, the bits where words may match, those up to the first cell in the beam, the
# chunk of bit 0, and the place of bit 0 in it.
BASE, MOVE, OPEN, BELOW, HERE, OFFSET = range(6)

# Columns of row i: where it rises and falls along r, the cell at the end of r (a stand-in where it
# is outside the beam), where the row rises against the row above, where a best path comes from the
# cell before in the row above, and where r has word i - 1 of h.
UP, DOWN, TOTAL, RISE, DIAGONAL, MATCHES = range(6, 12)

# More columns of row i: where the chunks of word i - 1 begin and end, those from the one before
# this row's to the second after it, the last cell of the best path in this row, and the shift tried
# last with a = i, or -1.
BEGIN, END, NEAR, PATH, TRIED = 12, 13, 14, 18, 19

COLUMNS = 20


class LinePair(NamedTuple):
    """A hypothesis and a reference in numbers of their own; the last stands for what r lacks.

    Attributes:
        h: (n,) hypothesis, in its present order.
        r: (m,) reference.
        words: (k, 3) words of r.
        following: (m,) next place of the same word of r, or -1.
        chunks: (m, 2) where the words of r are: numbers of chunks, ascending, and the word's cells
            in them.
    """

    h: Symbols
    r: Symbols
    words: Counts
    following: Counts
    chunks: Counts


class Path(NamedTuple):
    """The best path through a matrix.

    Attributes:
        aligned: (m,) partners in h of the words of r. One without gets the last word of h used
            before it, or -1.
        wrong_h: (n,) whether a word is wrong.
        wrong_r: (m,) the same.
    """

    aligned: Counts
    wrong_h: Flags
    wrong_r: Flags


class EditMatrix(NamedTuple):
    """A matrix cell by cell.

    Attributes:
        layout: (n + 2, 2) of each row: where its cells begin, and its first cell's j. The last line
            only closes the last row.
        cells: The rows inside the beam, one after the other.
        trial: Room for those of another order of words.
    """

    layout: Counts
    cells: Counts
    trial: Counts


@compiled
def index_words(h: Symbols, r: Symbols, count: int) -> LinePair:
    """Say where the words of r are, of `count` words."""
    words = np.full((count, 3), -1, np.int64)
    following = np.empty(len(r), np.int64)
    for j in range(len(r) - 1, -1, -1):
        following[j] = words[r[j], FIRST]
        words[r[j], FIRST] = j
    chunks = np.empty((len(r), 2), np.int64)
    count = 0
    for word in range(len(words)):
        words[word, FIRST_CHUNK] = count
        last = -1
        j = words[word, FIRST]
        while j >= 0:
            cell = j + 1 + CHUNK
            chunk = cell // CHUNK
            if chunk != last:
                chunks[count, 0] = last = chunk
                chunks[count, 1] = 0
                count += 1
            chunks[count - 1, 1] |= 1 << (cell - chunk * CHUNK)
            j = following[j]
        words[word, LAST_CHUNK] = count
    return LinePair(h, r, words, following, chunks)


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
def fits_bits(n: int, m: int) -> bool:
    """Whether the beam has its usual width; it is wider where r is 50 times as long as h."""
    return m <= 2 * BEAM_WIDTH * n


@compiled
def bit_rows(n: int, m: int) -> Counts:
    """(n + 1, COLUMNS) matrix in bits, with its first row and all layout; see `fits_bits`."""
    rows = np.zeros((n + 1, COLUMNS), np.int64)
    low, high = 0, m + 1
    for i in range(1, n + 1):
        low_above, high_above = low, high
        low, high = beam(i, n, m)
        base = high - WIDTH
        below = (1 << (low + 1 - base)) - 1
        shut = below if low == low_above else below >> 1  # nothing is left of the first cell above
        rows[i, BASE] = base
        rows[i, MOVE] = high - high_above if i > 1 else 0
        rows[i, OPEN] = ((1 << (min(high, high_above + 1) - base)) - 1) & ~shut
        rows[i, BELOW] = below
        rows[i, HERE] = (base + CHUNK) // CHUNK
        rows[i, OFFSET] = (base + CHUNK) % CHUNK
    below = (1 << max(0, 1 - rows[1, BASE])) - 1
    rows[0, UP], rows[0, DOWN], rows[0, TOTAL] = ~below, below, m
    rows[n, PATH] = m
    rows[:, TRIED] = -1
    return rows


@compiled
def _find_chunk(chunks: Counts, at: int, last: int, chunk: int) -> int:
    """The first entry in [at, last) that is not before this chunk, or `last`."""
    while at < last:
        middle = (at + last) >> 1
        if chunks[middle, 0] < chunk:
            at = middle + 1
        else:
            last = middle
    return at


@compiled
def fill_bits(lines: LinePair, rows: Counts, a: int, c: int) -> int:
    """Fill the rows after a, where the words of h in [a, c) are new.

    Returns:
        The first row from c on whose differences along r are as they were, or the last row. The
        rows after it are as they were but for one constant.
    """
    h, words, chunks = lines.h, lines.words, lines.chunks
    n = len(h)
    up, down, total = rows[a, UP], rows[a, DOWN], rows[a, TOTAL]
    for i in range(a + 1, n + 1):
        if i <= c:
            begin, end = words[h[i - 1], FIRST_CHUNK], words[h[i - 1], LAST_CHUNK]
            rows[i, BEGIN], rows[i, END] = begin, end
            chunk = rows[i, HERE] - 1
            at = _find_chunk(chunks, begin, end, chunk)
            for k in range(4):
                rows[i, NEAR + k] = 0
                if at < end and chunks[at, 0] == chunk + k:
                    rows[i, NEAR + k] = chunks[at, 1]
                    at += 1
            offset = rows[i, OFFSET]
            both = rows[i, NEAR + 1] >> offset | rows[i, NEAR + 2] << (CHUNK - offset)
            rows[i, MATCHES] = both & rows[i, OPEN]
        matches = rows[i, MATCHES]
        up, down, rise, step, level = _step(matches, up, down, rows[i, MOVE], rows[i, BELOW])
        total += step
        same = up == rows[i, UP] and down == rows[i, DOWN]
        change = total - rows[i, TOTAL]
        rows[i, UP], rows[i, DOWN], rows[i, TOTAL], rows[i, RISE] = up, down, total, rise
        rows[i, DIAGONAL] = (~level | matches) & rows[i, OPEN]
        if same and i >= c:
            for later in range(i + 1, n + 1):
                rows[later, TOTAL] += change
            return i
    return n


@compiled
def try_bits(rows: Counts, chunks: Counts, a: int, b: int, c: int) -> tuple[int, int]:
    """By how much the distance falls if the blocks [a, b) and [b, c) of h change places.

    Returns:
        That, and the last row that it depends on: the rows after it would stay as they are.
    """
    up, down, total = rows[a, UP], rows[a, DOWN], rows[a, TOTAL]
    source = b  # row before the word that comes next
    for i in range(a + 1, c + 1):
        source += 1
        chunk, offset = rows[i, HERE], rows[i, OFFSET]
        near = chunk - rows[source, HERE] + 1
        one, two = 0, 0
        if 0 <= near < 3:
            one, two = rows[source, NEAR + near], rows[source, NEAR + near + 1]
        else:
            at = _find_chunk(chunks, rows[source, BEGIN], rows[source, END], chunk)
            if at < rows[source, END] and chunks[at, 0] == chunk:
                one = chunks[at, 1]
                at += 1
            if at < rows[source, END] and chunks[at, 0] == chunk + 1:
                two = chunks[at, 1]
        if source == c:
            source = a
        matches = (one >> offset | two << (CHUNK - offset)) & rows[i, OPEN]
        up, down, _, step, _ = _step(matches, up, down, rows[i, MOVE], rows[i, BELOW])
        total += step
    i = c
    while i + 1 < len(rows) and (up != rows[i, UP] or down != rows[i, DOWN]):
        i += 1
        up, down, _, step, _ = _step(rows[i, MATCHES], up, down, rows[i, MOVE], rows[i, BELOW])
        total += step
    return rows[i, TOTAL] - total, i


@compiled
def trace_bits(rows: Counts, path: Path, a: int, i: int) -> None:
    """Walk back through the matrix, as `trace_cells` does, from row i.

    The rows after i are as they were when a path was last walked, and those up to a, too (a is -1
    if none was): the walk goes on from that path, and ends where it meets it again.
    """
    aligned, wrong_h, wrong_r = path.aligned, path.wrong_h, path.wrong_r
    j = rows[i, PATH]
    while i > 0:
        bit = j - rows[i, BASE]
        diagonal = (rows[i, DIAGONAL] >> bit) & 1
        if not (diagonal or (rows[i, RISE] >> bit) & 1):
            j -= 1
            aligned[j] = i - 1
            wrong_r[j] = True
            continue
        wrong = True
        if diagonal:
            j -= 1
            wrong = (rows[i, MATCHES] >> bit) & 1 == 0
            aligned[j] = i - 1
            wrong_r[j] = wrong
        i -= 1
        wrong_h[i] = wrong
        if i <= a and rows[i, PATH] == j:
            return
        rows[i, PATH] = j
    while j > 0:
        j -= 1
        aligned[j] = -1
        wrong_r[j] = True


@compiled
def _step(
    matches: int, up: int, down: int, move: int, below: int
) -> tuple[int, int, int, int, int]:
    """The next row.

    Returns:
        Where it rises and falls along r, where it rises against the row above, the change of
        its last cell, and where it is level with the cell before in the row above.
    """
    up >>= move
    down >>= move
    level = (((matches & up) + up) ^ up) | matches | down
    rise = down | ~(level | up)
    fall = up & level
    risen = (rise << 1) | 1
    steep = matches | down
    step = ((rise >> (WIDTH - 1)) & 1) - ((fall >> (WIDTH - 1)) & 1)
    new_up = ((fall << 1) | ~(steep | risen) | (-1 << WIDTH)) & ~below
    return new_up, (risen & steep) | below, rise, step, level


@compiled
def beam_cells(n: int, m: int) -> EditMatrix:
    """Room for the matrix of two lines."""
    layout = np.zeros((n + 2, 2), np.int64)
    layout[1, 0] = m + 1  # the first row has no beam
    for i in range(1, n + 1):
        low, high = beam(i, n, m)
        layout[i, 1] = low
        layout[i + 1, 0] = layout[i, 0] + high - low
    size = layout[-1, 0]
    return EditMatrix(layout, np.empty(size, np.int64), np.empty(size, np.int64))


@compiled
def fill_cells(lines: LinePair, matrix: EditMatrix) -> None:
    """Fill the matrix inside the beam."""
    h, r, layout, cells = lines.h, lines.r, matrix.layout, matrix.cells
    for j in range(len(r) + 1):
        cells[j] = j
    for i in range(1, len(h) + 1):
        above = cells[layout[i - 1, 0] : layout[i, 0]]
        row = cells[layout[i, 0] : layout[i + 1, 0]]
        _fill_row(h[i - 1], r, above, layout[i, 1] - layout[i - 1, 1], row, layout[i, 1])


@compiled
def try_cells(lines: LinePair, matrix: EditMatrix, a: int, b: int, c: int) -> int:
    """Distance with the blocks [a, b) and [b, c) of h swapped."""
    layout = matrix.layout
    above = matrix.cells[layout[a, 0] : layout[a + 1, 0]]
    for i in range(a + 1, len(lines.h) + 1):
        row = matrix.trial[layout[i, 0] : layout[i + 1, 0]]
        source = i - 1  # of the word that comes to stand there
        if source < c:
            source += b - a if source < a + c - b else b - c
        shift = layout[i, 1] - layout[i - 1, 1]
        _fill_row(lines.h[source], lines.r, above, shift, row, layout[i, 1])
        above = row
    return int(above[-1])


@compiled
def trace_cells(lines: LinePair, matrix: EditMatrix, path: Path) -> None:
    """Walk back through the matrix: partners of the words of r, and the words that are wrong."""
    h, r = lines.h, lines.r
    i, j = len(h), len(r)
    while i > 0 or j > 0:
        move = _move(lines, matrix, i, j)
        wrong = move != BOTH or h[i - 1] != r[j - 1]
        if move != FROM_H:
            path.aligned[j - 1] = i - 1
            path.wrong_r[j - 1] = wrong
            j -= 1
        if move != FROM_R:
            path.wrong_h[i - 1] = wrong
            i -= 1


@compiled
def _move(lines: LinePair, matrix: EditMatrix, i: int, j: int) -> int:
    """The last move to row i, cell j; of equal costs the first in the order of their names."""
    if i == 0:
        return FROM_R
    layout, cells = matrix.layout, matrix.cells
    above = cells[layout[i - 1, 0] : layout[i, 0]]
    here = cells[layout[i, 0] + j - layout[i, 1]]
    over = j - layout[i - 1, 1]
    if 0 < over <= len(above) and above[over - 1] + (lines.h[i - 1] != lines.r[j - 1]) == here:
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
