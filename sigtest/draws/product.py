"""Sums of statistics under many resamples: one exact product for all systems and metrics."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from sigtest.arrays import Array, Counts, Weights

FLOAT32_EXACT = 2.0**24
FLOAT64_BITS = 52
LARGEST_WHOLE = 2.0**53
ROWS = 256  # of weights at a time: they stay in the cache while the product uses them
WEIGHTS_BYTES = 32 << 20


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
    for column in rounded.T:
        largest = float(np.abs(column).max()) * len(column)
        if largest <= LARGEST_WHOLE and np.array_equal(column, np.rint(column)):
            continue
        step = 2.0 ** (np.ceil(np.log2(largest)) - FLOAT64_BITS)
        column[:] = np.rint(column / step) * step
    return rounded


class Columns:
    """The distinct columns of several systems' statistics, ready to be multiplied.

    Columns that occur twice (reference lengths, identical systems) are kept once. Those whose
    resampled sums stay below 2**24 are multiplied in float32, which is exact for them and twice
    as fast.

    Args:
        tables: One (S, n, k) array a metric; statistics in fixed point.
    """

    def __init__(self, tables: Sequence[Array]) -> None:
        self.units = tables[0].shape[1]
        numbers: dict[bytes, int] = {}
        single: list[Array] = []
        double: list[Array] = []
        places: list[Counts] = []
        slots: list[tuple[bool, int]] = []
        for table in tables:
            place = np.empty((table.shape[2], table.shape[0]), dtype=np.int64)
            for s, j in np.ndindex(table.shape[0], table.shape[2]):
                column = np.ascontiguousarray(table[s, :, j])
                content = column.tobytes()
                if content not in numbers:
                    fits = _fits_float32(column)
                    kept = single if fits else double
                    numbers[content] = len(slots)
                    slots.append((fits, len(kept)))
                    kept.append(column)
                place[j, s] = numbers[content]
            places.append(place)
        order = np.array([i if fits else i + len(single) for fits, i in slots])
        self._places = [order[place] for place in places]
        self._single = _side_by_side(single, self.units).astype(np.float32)
        self._double = _side_by_side(double, self.units)

    @property
    def width(self) -> int:
        """Number of distinct columns, K."""
        return self._single.shape[1] + self._double.shape[1]

    @property
    def totals(self) -> list[Array]:
        """(k, S, 1) sums over all units, one array a metric."""
        return self.sums(np.ones((1, self.units), dtype=np.float32))

    def sums(self, weights: Weights) -> list[Array]:
        """Sums under each resample: (R, n) weights to one (k, S, R) array a metric."""
        product = np.empty((self.width, len(weights)))
        split = self._single.shape[1]
        # weights on the left and contiguous columns on the right suit BLAS best, wide or narrow
        if split:
            product[:split] = (weights @ self._single).T
        if split < self.width:
            product[split:] = (weights.astype(np.float64) @ self._double).T
        return [product[place] for place in self._places]

    def row_blocks(self, start: int, stop: int) -> Iterator[tuple[int, int]]:
        """Cut resamples into runs whose weights fit the cache and the memory bound."""
        rows = max(1, min(ROWS, WEIGHTS_BYTES // (4 * self.units)))
        for first in range(start, stop, rows):
            yield first, min(first + rows, stop)


def _fits_float32(column: Array) -> bool:
    """Whether every resampled sum, in any order, is an exact float32 integer."""
    whole = bool(np.array_equal(column, np.rint(column)))
    return whole and float(np.abs(column).max(initial=0)) * len(column) < FLOAT32_EXACT


def _side_by_side(columns: list[Array], units: int) -> Array:
    """(n, K), C-contiguous."""
    return np.ascontiguousarray(np.array(columns).reshape(len(columns), units).T)
