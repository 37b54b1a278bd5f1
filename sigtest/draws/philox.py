"""Philox4x32-10, the counter-based generator behind every draw.

Salmon, Moraes, Dror & Shaw (2011), "Parallel random numbers: as easy as 1, 2, 3", section 4.3.
A draw is a function of (seed, kind, resample, position) and of nothing else: block size, number
of workers, order and retries cannot change it, and more resamples extend the ones there are.

Counter words are (position, resample, kind, stream); the key is the seed. Stream 0 belongs to whole
test sets; each stratum, and each test set of a suite, has a stream of its own from 1 on.
"""

import numpy as np
import numpy.typing as npt

from sigtest.compiled import compiled

Words = npt.NDArray[np.uint32]
Key = npt.NDArray[np.uint64]

M0 = np.uint64(0xD2511F53)
M1 = np.uint64(0xCD9E8D57)
W0 = np.uint64(0x9E3779B9)
W1 = np.uint64(0xBB67AE85)
LOW = np.uint64(0xFFFFFFFF)
HALF = np.uint64(32)
ROUNDS = 10


def keys(seed: int) -> Key:
    """The (2,) key words of a seed from 0 to 2**64 - 1."""
    return np.array([seed & 0xFFFFFFFF, seed >> 32], dtype=np.uint64)


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
    c2 = np.full(shape, kind, dtype=np.uint64)
    c3 = np.full(shape, stream, dtype=np.uint64)
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
