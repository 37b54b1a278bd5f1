"""Sums of two columns under resamples, added up while units are drawn: no weights, no product.

Writing a row of weights and reading it again costs more than two columns do, and means of two
systems' scores need no more. Statistics are in fixed point, so that these sums are exact in any
order, and the draws are those of `weights`: not a bit differs from the product's.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sigtest.arrays import Array, Counts
from sigtest.compiled import compiled
from sigtest.draws.philox import Key, fill_words, keys
from sigtest.draws.weights import COUNTS, SWAPS

Both = npt.NDArray[np.complex128]

TWO = 2
UNITS = 4  # that are kept or exchanged together: one table of 16 sums for them
WORD = 32  # units to a random word


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
        self._both = np.zeros(self.units, dtype=np.complex128)
        for part, column in zip(
            (self._both.real, self._both.imag), columns.T[~self._same], strict=False
        ):
            part[:] = column
        self._tables = _tables(self._both)

    def drawn(self, seed: int, start: int, stop: int, stream: int) -> Array:
        """(K, R) sums under resamples `start` to `stop` of the bootstrap."""
        sums = np.empty(stop - start, dtype=np.complex128)
        _add_drawn(keys(seed), start, stream, self._both, sums)
        return self._columns(sums, np.full(stop - start, self.units))

    def kept(self, seed: int, start: int, stop: int, stream: int) -> Array:
        """(K, R) sums of the units that keep their labels in swaps `start` to `stop`."""
        sums = np.empty(stop - start, dtype=np.complex128)
        counts = np.empty(stop - start, dtype=np.int64)
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
    padded = np.zeros(-(-len(both) // WORD) * WORD, dtype=np.complex128)
    padded[: len(both)] = both
    units = padded.reshape(-1, UNITS)
    tables = np.zeros((len(units), 1 << UNITS), dtype=np.complex128)
    for bit in range(UNITS):
        tables[:, 1 << bit : 2 << bit] = tables[:, : 1 << bit] + units[:, bit, None]
    return tables


@compiled
def _add_drawn(key: Key, start: int, stream: int, both: Both, sums: Both) -> None:
    units = len(both)
    whole = units // 4
    size, half = np.uint64(units), np.uint64(32)
    words = np.empty((4, (units + 3) // 4), dtype=np.uint32)
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
    words = np.empty((4, (used + 3) // 4), dtype=np.uint32)
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
