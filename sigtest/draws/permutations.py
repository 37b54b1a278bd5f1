"""Sums after permuting the labels of all systems within each unit."""

import numpy as np

from sigtest.arrays import Array
from sigtest.compiled import compiled
from sigtest.draws.philox import Key, fill_words, keys

PERMUTATIONS = 2


def permuted_sums(seed: int, start: int, stop: int, rows: Array, stream: int = 0) -> Array:
    """Sums of every label's statistics in permutations `start` to `stop`.

    Args:
        seed: Of the recipe.
        start: First permutation.
        stop: One after the last.
        rows: (n, S, k) statistics, C-contiguous.
        stream: Separates the draws of several test sets.

    Returns:
        (k, S, R) sums.

    Carterette (2012), "Multiple Testing in Statistical Analysis of Systems-Based Information
    Retrieval Experiments", section 3.4: randomised Tukey HSD. Labels are shuffled as Fisher and
    Yates do, one 32-bit word a step; a step among s labels favours none by more than s / 2**32.
    """
    sums = np.zeros((rows.shape[2], rows.shape[1], stop - start))
    _fill_sums(keys(seed), start, stream, rows, sums)
    return sums


@compiled
def _fill_sums(key: Key, start: int, stream: int, rows: Array, sums: Array) -> None:
    units, systems, width = rows.shape
    calls = (systems + 2) // 4  # systems - 1 words a unit
    words = np.empty((4, units * calls), dtype=np.uint32)
    labels = np.empty(systems, dtype=np.int64)
    here = np.empty((systems, width))  # of one permutation, in the cache
    for r in range(sums.shape[2]):
        here[:] = 0.0
        fill_words(key, PERMUTATIONS, start + r, stream, words)
        for i in range(units):
            for s in range(systems):
                labels[s] = s
            for step in range(systems - 1):
                left = systems - step
                word = np.uint64(words[step % 4, i * calls + step // 4])
                chosen = step + np.int64((word * np.uint64(left)) >> np.uint64(32))
                taken = labels[step]
                labels[step] = labels[chosen]
                labels[chosen] = taken
            for s in range(systems):
                taken = labels[s]
                for j in range(width):
                    here[s, j] += rows[i, taken, j]
        for s in range(systems):
            for j in range(width):
                sums[j, s, r] = here[s, j]
