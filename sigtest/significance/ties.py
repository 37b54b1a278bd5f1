"""Numbers that only rounding tells apart, made equal, so that tests and counts see their ties."""

from __future__ import annotations

import math

import numpy as np

from sigtest.arrays import Array

ROUNDING = 1e-13  # difference over largest size, below which only rounding tells numbers apart
DIGITS = 15


def with_ties(x: Array, largest: float) -> Array:
    """Numbers that only rounding tells apart made equal: to the greatest of them.

    So that means or differences that tie in decimals are tied, however they were computed.

    Args:
        x: (N,) numbers.
        largest: Size of the largest number that they were computed from.
    """
    order = np.argsort(x, kind="stable")
    closes = np.flatnonzero(np.diff(x[order], append=math.inf) > ROUNDING * largest)
    made = np.empty_like(x)
    made[order] = x[order][np.repeat(closes, np.diff(closes, prepend=-1))]
    return made


def as_printed(scores: Array) -> Array:
    """Scores with 15 significant digits.

    R writes the means that the organisers' tests read that way: with more digits or fewer, ties
    come or go, and published p-values are missed by half a percent.
    """
    return np.array([float(f"{score:.{DIGITS}g}") for score in scores.tolist()], dtype=np.float64)
