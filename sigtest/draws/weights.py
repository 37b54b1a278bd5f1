"""Resamples as rows of weights over units: counts for the bootstrap, 0 or 1 for swaps."""

import numpy as np

from sigtest.arrays import Counts, Weights
from sigtest.compiled import COMPILED, compiled
from sigtest.draws.philox import Key, Words, fill_words, keys, words_plain

COUNTS = 0
SWAPS = 1


def bootstrap_counts(
    seed: int, start: int, stop: int, units: int, stream: int = 0, room: Weights | None = None
) -> Weights:
    """How often each unit is drawn in resamples `start` to `stop` of the bootstrap.

    Args:
        seed: Of the recipe.
        start: First resample.
        stop: One after the last.
        units: How many there are, and are drawn.
        stream: Separates the draws of several test sets or strata.
        room: Array of at least so many rows, the first of which are overwritten and returned.

    Returns:
        (stop - start, units) counts; each row sums to `units`.

    Koehn (2004), section 3.2. A 32-bit word picks a unit by multiplication, which favours none by
    more than units / 2**32 of its probability: 7e-7 for 3,000 units.
    """
    rows = _rows(stop - start, units, room)
    if COMPILED:
        _fill_counts(keys(seed), start, stream, rows)
    else:
        rows[:] = counts_plain(seed, start, stop, units, stream)
    return rows


def counts_plain(seed: int, start: int, stop: int, units: int, stream: int) -> Counts:
    """As `bootstrap_counts`, NumPy only: what few draws take is less than loading a kernel does."""
    resamples = np.arange(start, stop, dtype=np.uint64)
    words = words_plain(keys(seed), COUNTS, resamples, -(-units // 4), stream)
    index = (_in_order(words, units).astype(np.uint64) * np.uint64(units)) >> np.uint64(32)
    flat = index.astype(np.int64) + units * np.arange(stop - start)[:, None]  # one histogram
    return np.bincount(flat.ravel(), minlength=flat.size).reshape(flat.shape)


def stratified_counts(seed: int, start: int, stop: int, strata: Counts, stream: int) -> Weights:
    """The bootstrap within strata: each draws as many units as it has, from a stream of its own.

    Args:
        seed: Of the recipe.
        start: First resample.
        stop: One after the last.
        strata: (units,) number of each unit's stratum, from 0.
        stream: Of stratum 0; the others follow.

    Returns:
        (stop - start, units) counts; those of a stratum sum to its size.
    """
    rows = np.empty((stop - start, len(strata)), dtype=np.float32)
    for number in range(int(strata.max()) + 1):
        inside = np.flatnonzero(strata == number)
        rows[:, inside] = bootstrap_counts(seed, start, stop, len(inside), stream + number)
    return rows


def swap_masks(
    seed: int, start: int, stop: int, units: int, stream: int = 0, room: Weights | None = None
) -> Weights:
    """Which units keep their labels in resamples `start` to `stop` of randomization.

    Args:
        seed: Of the recipe.
        start: First resample.
        stop: One after the last.
        units: How many there are.
        stream: Separates the draws of several test sets.
        room: Array of at least so many rows, the first of which are overwritten and returned.

    Returns:
        (stop - start, units): 1 where a unit's outputs stay, 0 where they are exchanged.

    Riezler & Maxwell (2005), Figure 1: every unit is exchanged with probability one half.
    """
    rows = _rows(stop - start, units, room)
    if COMPILED:
        _fill_masks(keys(seed), start, stream, rows)
        return rows
    resamples = np.arange(start, stop, dtype=np.uint64)
    words = words_plain(keys(seed), SWAPS, resamples, -(-units // 128), stream)
    bits = np.arange(32, dtype=np.uint32)
    for row, drawn in zip(rows, _in_order(words, -(-units // 32)), strict=True):
        row[:] = ((drawn[:, None] >> bits) & np.uint32(1)).ravel()[:units]
    return rows


def _rows(count: int, units: int, room: Weights | None) -> Weights:
    return np.empty((count, units), dtype=np.float32) if room is None else room[:count]


def _in_order(words: Words, needed: int) -> Words:
    """(R, 4, calls) words to (R, needed): the four words of a call one after the other."""
    return np.swapaxes(words, 1, 2).reshape(len(words), -1)[:, :needed]


@compiled
def _fill_counts(key: Key, start: int, stream: int, rows: Weights) -> None:
    units = rows.shape[1]
    words = np.empty((4, (units + 3) // 4), dtype=np.uint32)
    tally = np.zeros(units, dtype=np.uint16)  # small: no unit is ever drawn 65,536 times
    for r in range(rows.shape[0]):
        fill_words(key, COUNTS, start + r, stream, words)
        for w in range(4):
            # word w of call j is draw 4 j + w; the last call may be used in part
            for j in range((units - w + 3) // 4):
                index = (np.uint64(words[w, j]) * np.uint64(units)) >> np.uint64(32)
                tally[index] += np.uint16(1)
        row = rows[r]
        for i in range(units):
            row[i] = np.float32(tally[i])
            tally[i] = np.uint16(0)


@compiled
def _fill_masks(key: Key, start: int, stream: int, rows: Weights) -> None:
    units = rows.shape[1]
    words = np.empty((4, (units + 127) // 128), dtype=np.uint32)
    for r in range(rows.shape[0]):
        fill_words(key, SWAPS, start + r, stream, words)
        row = rows[r]
        for word in range((units + 31) // 32):
            bits = words[word % 4, word // 4]
            first = word * 32
            for bit in range(min(32, units - first)):
                row[first + bit] = np.float32((bits >> np.uint32(bit)) & np.uint32(1))
