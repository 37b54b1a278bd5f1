"""What a correction asks of a single p-value of the family, and how sure its decisions are."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from sigtest.arrays import Array, Flags
from sigtest.significance import CORRECTIONS
from sigtest.significance.corrections import Correction, adjust, padded
from sigtest.significance.stepwise import rejected_alone

HALVINGS = 60  # of an interval of exponents: as near as a double can tell
LEAST = 1e-300


def undecided(
    p: Array,
    low: Array,
    high: Array,
    correction: str,
    alpha: float,
    family: int | None = None,
) -> Flags:
    """Which corrected decisions differ between the ends of their p-values' intervals.

    Each p is moved to its ends alone, the others staying where they are.

    Args:
        p: (k,) p-values of the pairs at hand.
        low: (k,) lower ends.
        high: (k,) upper ends.
        correction: Name of the correction.
        alpha: Level.
        family: Size of the family, where it holds more pairs than are at hand.

    Returns:
        (k,) flags.
    """
    at_low, at_high = (_rejected(p, end, correction, alpha, family) for end in (low, high))
    return at_low != at_high


def _rejected(p: Array, moved: Array, correction: str, alpha: float, family: int | None) -> Flags:
    """Whether each of (k,) hypotheses is rejected with its own p-value moved alone."""
    scale, direction = CORRECTIONS[correction].scale, CORRECTIONS[correction].direction
    if scale is not None and direction is not None:
        whole, ends = padded(p, family), padded(moved, family)
        return rejected_alone(whole, ends, scale, direction, alpha)[: len(p)]
    rejected = np.empty(len(p), dtype=np.bool_)
    for i in range(len(p)):
        one_moved = p.copy()
        one_moved[i] = moved[i]
        rejected[i] = adjust(one_moved, correction, family)[i] <= alpha
    return rejected


def critical_value(
    p: Array, i: int, correction: str, alpha: float, family: int | None = None
) -> float:
    """Largest value of p[i] at which comparison i is significant, the others staying put.

    Args:
        p: (k,) p-values of the pairs at hand.
        i: The comparison.
        correction: Name of the correction.
        alpha: Level.
        family: Size of the family, where it holds more pairs than are at hand.
    """
    low, high = 0.0, 1.0
    moved = p.copy()
    for _ in range(HALVINGS):
        # halves the exponent first, so that tiny values are found as precisely as large ones
        moved[i] = math.sqrt(max(low, LEAST) * high)
        if adjust(moved, correction, family)[i] <= alpha:
            low = moved[i]
        else:
            high = moved[i]
    return low


def smallest_attainable(
    correction: str, comparisons: int, smallest: float, family: int | None = None
) -> float:
    """Adjusted p-value of a family in which every p is the smallest that resampling can give.

    Args:
        correction: Name of the correction.
        comparisons: Pairs at hand.
        smallest: The smallest p-value.
        family: Size of the family, where it holds more pairs than are at hand.
    """
    if CORRECTIONS[correction].joint:
        return smallest
    return float(adjust(np.full(comparisons, smallest), correction, family)[0])


def strictest_level(correction: str, comparisons: int, alpha: float) -> float:
    """Level at which a lone small p-value is significant after correction."""
    return _strictest_level(CORRECTIONS[correction], comparisons, alpha)


@lru_cache(maxsize=256)
def _strictest_level(correction: Correction, comparisons: int, alpha: float) -> float:
    return critical_value(np.ones(comparisons), 0, correction.name, alpha)


def experimentwise_error(alpha: float, comparisons: int) -> float:
    """1 - (1 - alpha)**m: Riezler & Maxwell (2005), section 4.4."""
    return 1.0 - (1.0 - alpha) ** comparisons
