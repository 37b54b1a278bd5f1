"""Resamples as rows of weights over units: counts for the bootstrap, 0 or 1 for swaps.

Philox4x32-10, the counter-based generator behind every draw: Salmon, Moraes, Dror & Shaw (2011),
"Parallel random numbers: as easy as 1, 2, 3", section 4.3. A draw is a function of (seed, kind,
resample, position) and of nothing else: block size, number of workers, order and retries cannot
change it, and more resamples extend the ones there are.

Counter words are (position, resample, kind, stream); the key is the seed. Stream 0 belongs to whole
test sets; each stratum, and each test set of a suite, has a stream of its own from 1 on.
"""

import numpy as np
import numpy.typing as npt

from sigtest.arrays import Array, Counts, Weights
from sigtest.compiled import COMPILED, compiled

Words = npt.NDArray[np.uint32]
Key = npt.NDArray[np.uint64]

M0 = np.uint64(0xD2511F53)
M1 = np.uint64(0xCD9E8D57)
W0 = np.uint64(0x9E3779B9)
W1 = np.uint64(0xBB67AE85)
LOW = np.uint64(0xFFFFFFFF)
HALF = np.uint64(32)
ROUNDS = 10

COUNTS = 0
SWAPS = 1
PERMUTATIONS = 2


def keys(seed: int) -> Key:
    """The (2,) key words of a seed from 0 to 2**64 - 1."""
    return np.array([seed & 0xFFFFFFFF, seed >> 32], np.uint64)


def words_plain(
    key: Key, kind: int, resamples: npt.NDArray[np.uint64], calls: int, stream: int
) -> Words:
    """Random words of several resamples, NumPy only.

    Args:
        key: (2,) key words.
        kind: What is drawn; separates the streams of different draws.
        resamples: (R,) numbers of the resamples.
        calls: Generator calls a resample; each gives four words.
        stream: Separates draws of the same kind.

    Returns:
        (R, 4, calls): word w of call j at [:, w, j].
    """
    shape = (len(resamples), calls)
    c0 = np.broadcast_to(np.arange(calls, dtype=np.uint64), shape)
    c1 = np.broadcast_to(resamples[:, None], shape)
    c2 = np.full(shape, kind, np.uint64)
    c3 = np.full(shape, stream, np.uint64)
    k0, k1 = key[0], key[1]
    for _ in range(ROUNDS):
        product0, product1 = c0 * M0, c2 * M1
        c0, c1, c2, c3 = (
            (product1 >> HALF) ^ c1 ^ k0,
            product1 & LOW,
            (product0 >> HALF) ^ c3 ^ k1,
            product0 & LOW,
        )
        k0, k1 = (k0 + W0) & LOW, (k1 + W1) & LOW
    return np.stack([c0, c1, c2, c3], axis=1).astype(np.uint32)


@compiled
def fill_words(key: Key, kind: int, resample: int, stream: int, words: Words) -> None:
    """Fill (4, calls) `words` with the random words of one resample, compiled.

    Written on plain numbers in one loop, which the compiler turns into vector instructions.
    """
    for j in range(words.shape[1]):
        c0, c1 = np.uint64(j), np.uint64(resample)
        c2, c3 = np.uint64(kind), np.uint64(stream)
        k0, k1 = key[0], key[1]
        for _ in range(ROUNDS):
            product0 = c0 * M0
            product1 = c2 * M1
            c0 = (product1 >> HALF) ^ c1 ^ k0
            c1 = product1 & LOW
            c2 = (product0 >> HALF) ^ c3 ^ k1
            c3 = product0 & LOW
            k0 = (k0 + W0) & LOW
            k1 = (k1 + W1) & LOW
        words[0, j] = np.uint32(c0)
        words[1, j] = np.uint32(c1)
        words[2, j] = np.uint32(c2)
        words[3, j] = np.uint32(c3)


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
    flat = index.astype(int) + units * np.arange(stop - start)[:, None]  # one histogram
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
    rows = np.empty((stop - start, len(strata)), np.float32)
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
    return np.empty((count, units), np.float32) if room is None else room[:count]


def _in_order(words: Words, needed: int) -> Words:
    """(R, 4, calls) words to (R, needed): the four words of a call one after the other."""
    return np.swapaxes(words, 1, 2).reshape(len(words), -1)[:, :needed]


@compiled
def _fill_counts(key: Key, start: int, stream: int, rows: Weights) -> None:
    units = rows.shape[1]
    words = np.empty((4, (units + 3) // 4), np.uint32)
    tally = np.zeros(units, np.uint16)  # small: no unit is ever drawn 65,536 times
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
    words = np.empty((4, (units + 127) // 128), np.uint32)
    for r in range(rows.shape[0]):
        fill_words(key, SWAPS, start + r, stream, words)
        row = rows[r]
        for word in range((units + 31) // 32):
            bits = words[word % 4, word // 4]
            first = word * 32
            for bit in range(min(32, units - first)):
                row[first + bit] = np.float32((bits >> np.uint32(bit)) & np.uint32(1))


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
    words = np.empty((4, units * calls), np.uint32)
    labels = np.empty(systems, np.int64)
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
