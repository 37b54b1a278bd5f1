"""Segments as sequences of integers, the form in which compiled kernels read text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from sigtest.arrays import Counts

Symbols: TypeAlias = npt.NDArray[np.int32]
Places: TypeAlias = npt.NDArray[np.int16] | npt.NDArray[np.int32]

SEPARATOR = -1
"""A symbol that equals none, itself included: between references, and for words they lack."""

# What `str.isspace` and `str.split` call white space. A test compares it with this Python's.
WHITE_SPACE = (
    *range(0x09, 0x0E),
    *range(0x1C, 0x21),
    *(0x85, 0xA0, 0x1680),
    *range(0x2000, 0x200B),
    *(0x2028, 0x2029, 0x202F, 0x205F, 0x3000),
)
SPACES = np.zeros(0x110000, dtype=np.bool_)  # by code point
SPACES[list(WHITE_SPACE)] = True


@dataclass(frozen=True, eq=False)
class Sequences:
    """Consecutive sequences in one array: the i-th is `symbols[starts[i] : starts[i + 1]]`.

    Attributes:
        symbols: Code points, or numbers of words.
        starts: (sequences + 1,) where each begins.
    """

    symbols: Symbols
    starts: Counts

    def __len__(self) -> int:
        return len(self.starts) - 1

    @property
    def lengths(self) -> Counts:
        """(sequences,) number of symbols of each."""
        return np.diff(self.starts)


def boundaries(lengths: Counts) -> Counts:
    """(n + 1,) where consecutive sequences of these lengths begin, and where the last ends."""
    starts = np.zeros(len(lengths) + 1, dtype=np.int64)
    np.cumsum(lengths, out=starts[1:])
    return starts


def code_points(lines: Sequence[str]) -> Sequences:
    """One sequence of code points a line."""
    data = "".join(lines).encode("utf-32-le", "surrogatepass")
    lengths = np.fromiter(map(len, lines), dtype=np.int64, count=len(lines))
    return Sequences(np.frombuffer(data, dtype="<u4").astype(np.int32), boundaries(lengths))


def ngram_totals(lengths: Counts, order: int) -> Counts:
    """(n, order) number of n-grams of each length in sequences of these lengths."""
    return np.maximum(lengths[:, None] - np.arange(order), 0)
