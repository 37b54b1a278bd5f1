"""Sums of statistics under many resamples: one exact product for all systems and metrics.

Where only two columns have numbers that differ, they are added up while units are drawn: no
weights, no product. Writing a row of weights and reading it again costs more than two columns do,
and means of two systems' scores need no more. Statistics are in fixed point, so that these sums are
exact in any order, and the draws are those of `weights`: not a bit differs from the product's.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from sigtest.arrays import Array, Counts, Weights
from sigtest.cached import cached_property
from sigtest.compiled import COMPILED, compiled
from sigtest.draws.weights import COUNTS, SWAPS, Key, fill_words, keys

FLOAT32_EXACT = 2.0**24
FLOAT64_BITS = 52
LARGEST_WHOLE = 2.0**53
ROWS = 256  # of weights at a time: they stay in the cache while the product uses them
WEIGHTS_BYTES = 32 << 20
STRIP = 4  # columns that OpenBLAS multiplies together; three take longer than four
RUN = 1 << 15  # units that are summed in float32 at a time
TWO_UNITS = 1 << 17  # at most: beyond the cache, what is drawn by chance is slow to find
TWO = 2
UNITS = 4  # that are kept or exchanged together: one table of 16 sums for them
WORD = 32  # units to a random word

Both = npt.NDArray[np.complex128]


def fixed_point(statistics: Array) -> Array:
    """Round each column so that every sum of n of its numbers is exact in float64.

    Integers stay as they are while such sums are below 2**53. Other columns are rounded to a power
    of two so fine that n times the largest number fits 52 bits; then no order of summation, block
    size or BLAS can change a bit of any resampled sum. The error of a mean is below 2**-51 of the
    largest number.

    Args:
        statistics: (n, k) finite numbers, far from the ends of the range of float64.
    """
    rounded = statistics.copy()
    for column, step in zip(rounded.T, _steps(rounded), strict=True):
        if step:
            column[:] = np.rint(column / step) * step
    return rounded


def levelled(a: Array, b: Array, rows: int) -> Array:
    """The first of two systems' statistics, with the second's numbers where both had the same.

    A column is rounded by its own largest number, so that equal numbers of two systems may have
    come out unlike: by at most the larger of the two steps.

    Args:
        a: (n, k) statistics in fixed point.
        b: (n, k) those of the other system.
        rows: Numbers in fixed point that make one of these, at most.
    """
    level = a.copy()
    steps = map(max, _steps(a), _steps(b))
    for own, other, step in zip(level.T, b.T, steps, strict=True):
        if step:
            # twice: rounding may have put the largest number itself on the next power of two
            same = np.abs(own - other) <= 2 * (rows + 1) * step
            own[same] = other[same]
    return level


def relative(table: Array) -> Array:
    """Several systems' statistics less those of the first, wherever that is exact.

    What two systems differ by after an exchange of labels depends on how their statistics differ
    before it, which fewer columns hold: those of references are the same in all systems.

    Args:
        table: (S, n, k) statistics in fixed point.

    Returns:
        (S, n, k): differences of whole numbers; other columns, and a system alone, as they are.
    """
    if len(table) == 1:
        return table
    whole = (table == np.rint(table)).all(axis=(0, 1))
    return np.asarray(np.where(whole, table - table[:1], table))


def _steps(table: Array) -> list[float]:
    """What the numbers of each column are rounded to; 0 where they are whole and stay as they are.

    Args:
        table: (n, k) numbers.
    """
    largest = np.abs(table).max(axis=0) * len(table)
    whole = (largest <= LARGEST_WHOLE) & (table == np.rint(table)).all(axis=0)
    return [
        0.0 if stays else float(2.0 ** (np.ceil(np.log2(most)) - FLOAT64_BITS))
        for most, stays in zip(largest, whole, strict=True)
    ]


class DistinctColumns:
    """The distinct columns of several systems' statistics, ready to be multiplied.

    Columns that occur twice (reference lengths, identical systems) are kept once, and so are those
    of whole numbers that differ by the same everywhere (a line's bigrams are one fewer than its
    words). Whole numbers are multiplied in float32, which is twice as fast, `RUN` units at a time,
    as what they are more than the smallest of their column. Sums of numbers that are not negative
    only grow, rounded or not: a float32 sum below 2**24 was exact on its way. The few that are not
    are made again in float64, so that every sum is exact.

    Args:
        tables: One (S, n, k) array a metric; statistics in fixed point.
    """

    def __init__(self, tables: Sequence[Array]) -> None:
        self.units = tables[0].shape[1]
        kept: dict[bytes, tuple[bool, int]] = {}
        single: list[Weights] = []
        double: list[Array] = []

        def keep(column: Array, narrow: bool) -> tuple[bool, int]:
            content = hashlib.blake2b(column.data).digest()
            if content not in kept:
                kept[content] = narrow, len(single if narrow else double)
                if narrow:
                    single.append(column.astype(np.float32))
                else:
                    double.append(column)
            return kept[content]

        self._least = [np.zeros((table.shape[2], table.shape[0])) for table in tables]
        slots: list[tuple[bool, int]] = []
        for table, least in zip(tables, self._least, strict=True):
            for j, s in np.ndindex(least.shape):
                column = np.ascontiguousarray(table[s, :, j])
                risen = _risen(column)
                if risen is not None:
                    column, least[j, s] = risen
                slots.append(keep(column, risen is not None))
        if any(least.any() for least in self._least):
            _, self._ones = keep(np.ones(self.units), True)
        self._single = _side_by_side(single, self.units, np.float32)
        self._double = _side_by_side(double, self.units, np.float64)
        order = np.array([i if narrow else i + self._single.shape[1] for narrow, i in slots])
        ends = np.cumsum([least.size for least in self._least])[:-1]
        self._places = [
            own.reshape(least.shape)
            for own, least in zip(np.split(order, ends), self._least, strict=True)
        ]

    @property
    def width(self) -> int:
        """Number of columns that are multiplied, K."""
        return self._single.shape[1] + self._double.shape[1]

    @property
    def totals(self) -> list[Array]:
        """(k, S, 1) sums over all units, one array a metric."""
        return self.sums(np.ones((1, self.units), np.float32))

    @cached_property
    def two(self) -> TwoColumns | None:
        """The columns where all but two have one number only, and no product is needed."""
        if not COMPILED or self.units > TWO_UNITS:
            return None
        columns = np.hstack([self._single.astype(np.float64), self._double])
        return TwoColumns(columns) if np.count_nonzero(~all_same(columns)) <= TWO else None

    def sums(self, weights: Weights) -> list[Array]:
        """Sums under each resample: (R, n) weights to one (k, S, R) array a metric."""
        product = np.empty((self.width, len(weights)))
        split = self._single.shape[1]
        # weights on the left and contiguous columns on the right suit BLAS best, wide or narrow
        if split:
            product[:split] = self._single_sums(weights).T
        if split < self.width:
            product[split:] = (weights.astype(np.float64) @ self._double).T
        return self.placed(product)

    def placed(self, sums: Array) -> list[Array]:
        """(K, R) sums of the distinct columns to one (k, S, R) array a metric."""
        found = [sums[place] for place in self._places]
        for rows, least in zip(found, self._least, strict=True):
            if least.any():
                rows += least[:, :, None] * sums[self._ones]
        return found

    def _single_sums(self, weights: Weights) -> Array:
        """(R, K) sums of the columns of whole numbers."""
        sums = np.zeros((len(weights), self._single.shape[1]))
        for first in range(0, self.units, RUN):
            drawn, columns = weights[:, first : first + RUN], self._single[first : first + RUN]
            product = drawn @ columns
            large = np.flatnonzero((product >= FLOAT32_EXACT).any(axis=0))
            sums += product
            if large.size:
                exact = drawn.astype(np.float64) @ columns[:, large].astype(np.float64)
                sums[:, large] += exact - product[:, large]
        return sums

    def row_blocks(self, start: int, stop: int) -> Iterator[tuple[int, int]]:
        """Cut resamples into runs whose weights fit the cache and the memory bound."""
        rows = max(1, min(ROWS, WEIGHTS_BYTES // (4 * self.units)))
        for first in range(start, stop, rows):
            yield first, min(first + rows, stop)


def _risen(column: Array) -> tuple[Array, float] | None:
    """What numbers are more than the smallest, and that; nothing unless float32 suits the former.

    Numbers that are all the same count as one more than one less. All are whole, float32 has them,
    and resampled sums are seldom too large for it: those vary, and where they would often be,
    float64 is faster at once.
    """
    if not np.array_equal(column, np.rint(column)):
        return None
    least = float(column.min()) if len(column) else 0.0
    least -= float(bool((column == least).all()))
    risen = column - least if least else column
    runs = np.add.reduceat(risen, np.arange(0, len(risen), RUN)) if len(risen) else risen
    largest, most = float(risen.max(initial=0)), float(runs.max(initial=0))
    return (risen, least) if largest < FLOAT32_EXACT and most < 0.9 * FLOAT32_EXACT else None


def _side_by_side(
    columns: Sequence[Array] | Sequence[Weights], units: int, dtype: type[np.floating[Any]]
) -> Array:
    """(n, K), C-contiguous; with columns of zeros where BLAS takes longer for fewer."""
    width = len(columns) if len(columns) <= TWO else -(-len(columns) // STRIP) * STRIP
    beside = np.zeros((units, width), dtype)
    for j, column in enumerate(columns):
        beside[:, j] = column
    return beside


class TwoColumns:
    """At most two columns whose numbers differ, and any whose numbers are all the same.

    The two are the parts of a complex number, which is added part by part.

    Args:
        columns: (n, K) statistics in fixed point.
    """

    def __init__(self, columns: Array) -> None:
        self.units = len(columns)
        self._same = all_same(columns)
        self._constants = columns[0, self._same, None]
        self._both = np.zeros(self.units, np.complex128)
        for part, column in zip(
            (self._both.real, self._both.imag), columns.T[~self._same], strict=False
        ):
            part[:] = column
        self._tables = _tables(self._both)

    def bootstrap_sums(self, seed: int, start: int, stop: int, stream: int) -> Array:
        """(K, R) sums under resamples `start` to `stop` of the bootstrap."""
        sums = np.empty(stop - start, np.complex128)
        _add_drawn(keys(seed), start, stream, self._both, sums)
        return self._columns(sums, np.full(stop - start, self.units))

    def swap_sums(self, seed: int, start: int, stop: int, stream: int) -> Array:
        """(K, R) sums of the units that keep their labels in swaps `start` to `stop`."""
        sums = np.empty(stop - start, np.complex128)
        counts = np.empty(stop - start, int)
        _add_kept(keys(seed), start, stream, self.units, self._tables, sums, counts)
        return self._columns(sums, counts)

    def _columns(self, sums: Both, counts: Counts) -> Array:
        """(K, R) from (R,) sums of both, and how many units are in them."""
        columns = np.empty((len(self._same), len(sums)))
        columns[~self._same] = np.stack([sums.real, sums.imag])[: np.count_nonzero(~self._same)]
        columns[self._same] = self._constants * counts + 0.0  # as a sum, never -0
        return columns


def all_same(columns: Array) -> npt.NDArray[np.bool_]:
    """(K,) which of (n, K) columns have one number only."""
    return np.asarray((columns == columns[:1]).all(axis=0))


def _tables(both: Both) -> Both:
    """(groups, 16) sums of each four units by which of them are kept, for whole random words."""
    padded = np.zeros(-(-len(both) // WORD) * WORD, np.complex128)
    padded[: len(both)] = both
    units = padded.reshape(-1, UNITS)
    tables = np.zeros((len(units), 1 << UNITS), np.complex128)
    for bit in range(UNITS):
        tables[:, 1 << bit : 2 << bit] = tables[:, : 1 << bit] + units[:, bit, None]
    return tables


@compiled
def _add_drawn(key: Key, start: int, stream: int, both: Both, sums: Both) -> None:
    units = len(both)
    whole = units // 4
    size, half = np.uint64(units), np.uint64(32)
    words = np.empty((4, (units + 3) // 4), np.uint32)
    for r in range(len(sums)):
        fill_words(key, COUNTS, start + r, stream, words)
        # four sums, which need not wait for each other
        a = b = c = d = 0j
        for j in range(whole):
            a += both[(np.uint64(words[0, j]) * size) >> half]
            b += both[(np.uint64(words[1, j]) * size) >> half]
            c += both[(np.uint64(words[2, j]) * size) >> half]
            d += both[(np.uint64(words[3, j]) * size) >> half]
        for w in range(units - 4 * whole):
            a += both[(np.uint64(words[w, whole]) * size) >> half]
        sums[r] = (a + b) + (c + d)


@compiled
def _add_kept(
    key: Key, start: int, stream: int, units: int, tables: Both, sums: Both, counts: Counts
) -> None:
    used = len(tables) // 8
    words = np.empty((4, (used + 3) // 4), np.uint32)
    low = np.uint64(15)
    last = np.uint64((1 << (units - WORD * (used - 1))) - 1)
    for r in range(len(sums)):
        fill_words(key, SWAPS, start + r, stream, words)
        words[(used - 1) % 4, (used - 1) // 4] &= np.uint32(last)
        a = b = c = d = 0j
        count = np.uint64(0)
        for word in range(used):
            bits, group = np.uint64(words[word % 4, word // 4]), 8 * word
            a += tables[group, bits & low]
            b += tables[group + 1, (bits >> np.uint64(4)) & low]
            c += tables[group + 2, (bits >> np.uint64(8)) & low]
            d += tables[group + 3, (bits >> np.uint64(12)) & low]
            a += tables[group + 4, (bits >> np.uint64(16)) & low]
            b += tables[group + 5, (bits >> np.uint64(20)) & low]
            c += tables[group + 6, (bits >> np.uint64(24)) & low]
            d += tables[group + 7, bits >> np.uint64(28)]
            count += ones(bits)
        sums[r] = (a + b) + (c + d)
        counts[r] = np.int64(count)


@compiled
def ones(bits: np.uint64) -> np.uint64:
    """How many of 32 bits are set: in pairs, then fours, then bytes, which are added up."""
    pairs = bits - ((bits >> np.uint64(1)) & np.uint64(0x55555555))
    fours = (pairs & np.uint64(0x33333333)) + ((pairs >> np.uint64(2)) & np.uint64(0x33333333))
    eights = (fours + (fours >> np.uint64(4))) & np.uint64(0x0F0F0F0F)
    return ((eights * np.uint64(0x01010101)) >> np.uint64(24)) & np.uint64(0xFF)
