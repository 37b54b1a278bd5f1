"""Sums of a few columns under resamples, added up while units are drawn: no weights, no product.

Drawing a row of weights and reading it again costs more than two or three columns do: means of
scores need no more. Statistics are in fixed point, so that these sums are exact in any order, and
the draws are those of `weights`: not a bit differs from the product's.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sigtest.arrays import Array
from sigtest.compiled import compiled
from sigtest.draws.philox import Key, fill_words, keys
from sigtest.draws.weights import COUNTS, SWAPS

Tables = npt.NDArray[np.complex128]

UNITS = 4  # that are exchanged or kept together: one table of 16 sums for them
WORD = 32  # units to a random word


class FewColumns:
    """A few columns, two side by side: the processor adds both at once.

    Two numbers are the parts of a complex one, which is added part by part.

    Args:
        columns: (n, K) statistics in fixed point.
    """

    def __init__(self, columns: Array) -> None:
        self.units, self.width = columns.shape
        self._same = (columns == columns[:1]).all(axis=0)
        self._first = columns[0]
        self._varying = _side_by_side(columns[:, ~self._same])
        self._tables = _tables(_side_by_side(columns))

    def drawn(self, seed: int, start: int, stop: int, stream: int) -> Array:
        """(K, R) sums under resamples `start` to `stop` of the bootstrap."""
        found = np.empty((len(self._varying), stop - start), dtype=np.complex128)
        if len(found):
            _add_drawn(keys(seed), start, stream, self._varying, found)
        sums = np.empty((self.width, stop - start))
        sums[~self._same] = _apart(found)[: np.count_nonzero(~self._same)]
        sums[self._same] = self.units * self._first[self._same, None] + 0.0  # never -0
        return sums

    def kept(self, seed: int, start: int, stop: int, stream: int) -> Array:
        """(K, R) sums of the units that keep their labels in swaps `start` to `stop`."""
        found = np.empty((len(self._tables), stop - start), dtype=np.complex128)
        _add_kept(keys(seed), start, stream, self._tables, found)
        return _apart(found)[: self.width]


def _side_by_side(columns: Array) -> Tables:
    """(n, K) to (pairs, n), the last with zeros where K is odd."""
    units, width = columns.shape
    pairs = np.zeros((-(-width // 2), units), dtype=np.complex128)
    for j, column in enumerate(columns.T):
        part = pairs[j // 2].imag if j % 2 else pairs[j // 2].real
        part[:] = column
    return pairs


def _apart(pairs: Tables) -> Array:
    """(pairs, R) to (columns, R)."""
    return np.stack([pairs.real, pairs.imag], axis=1).reshape(-1, pairs.shape[1])


def _tables(pairs: Tables) -> Tables:
    """(pairs, n) to (pairs, groups, 16): sums of each group's units by which of them are kept."""
    groups = -(-pairs.shape[1] // WORD) * (WORD // UNITS)
    padded = np.zeros((len(pairs), groups * UNITS), dtype=np.complex128)
    padded[:, : pairs.shape[1]] = pairs
    units = padded.reshape(len(pairs), groups, UNITS)
    tables = np.zeros((len(pairs), groups, 1 << UNITS), dtype=np.complex128)
    for bit in range(UNITS):
        without = tables[:, :, : 1 << bit]
        tables[:, :, 1 << bit : 2 << bit] = without + units[:, :, bit, None]
    return tables


@compiled
def _add_drawn(key: Key, start: int, stream: int, pairs: Tables, sums: Tables) -> None:
    units = pairs.shape[1]
    whole = units // 4
    size, half = np.uint64(units), np.uint64(32)
    words = np.empty((4, (units + 3) // 4), dtype=np.uint32)
    for r in range(sums.shape[1]):
        fill_words(key, COUNTS, start + r, stream, words)
        for p in range(pairs.shape[0]):
            pair = pairs[p]
            # four sums, which need not wait for each other
            a = b = c = d = 0j
            for j in range(whole):
                a += pair[(np.uint64(words[0, j]) * size) >> half]
                b += pair[(np.uint64(words[1, j]) * size) >> half]
                c += pair[(np.uint64(words[2, j]) * size) >> half]
                d += pair[(np.uint64(words[3, j]) * size) >> half]
            for w in range(units - 4 * whole):
                a += pair[(np.uint64(words[w, whole]) * size) >> half]
            sums[p, r] = (a + b) + (c + d)


@compiled
def _add_kept(key: Key, start: int, stream: int, tables: Tables, sums: Tables) -> None:
    used = tables.shape[1] // 8
    words = np.empty((4, (used + 3) // 4), dtype=np.uint32)
    low = np.uint64(15)
    for r in range(sums.shape[1]):
        fill_words(key, SWAPS, start + r, stream, words)
        for p in range(tables.shape[0]):
            table = tables[p]
            a = b = c = d = 0j
            for word in range(used):
                bits, group = np.uint64(words[word % 4, word // 4]), 8 * word
                a += table[group, bits & low]
                b += table[group + 1, (bits >> np.uint64(4)) & low]
                c += table[group + 2, (bits >> np.uint64(8)) & low]
                d += table[group + 3, (bits >> np.uint64(12)) & low]
                a += table[group + 4, (bits >> np.uint64(16)) & low]
                b += table[group + 5, (bits >> np.uint64(20)) & low]
                c += table[group + 6, (bits >> np.uint64(24)) & low]
                d += table[group + 7, bits >> np.uint64(28)]
            sums[p, r] = (a + b) + (c + d)
