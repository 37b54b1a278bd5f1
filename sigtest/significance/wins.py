"""Wins over several test sets: how often one system is ahead, and whether that could be chance.

The unit here is the test set: few, and each a single difference. Both tests are exact.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from sigtest.arrays import Array, Counts
from sigtest.significance.base import Alternative, claim


@dataclass(frozen=True)
class Wins:
    """One pair over all test sets.

    Attributes:
        won: Test sets on which a is better.
        lost: On which b is.
        tied: On which neither is.
        sign_p: P-value of the sign test.
        rank_sum: Sum of the ranks of the test sets that a wins, by size of the difference.
        signed_rank_p: P-value of Wilcoxon's signed-rank test.
    """

    won: int
    lost: int
    tied: int
    sign_p: float
    rank_sum: float
    signed_rank_p: float


def wins(differences: Array, tolerance: Array, alternative: Alternative) -> Wins:
    """Both tests over oriented differences.

    Args:
        differences: (T,) differences a - b, positive where a is better.
        tolerance: (T,) slack within which each is tied.
        alternative: The claim; `greater` says that a is better.

    Demšar (2006), "Statistical Comparisons of Classifiers over Multiple Data Sets", sections 3.1.3
    and 3.1.4. Ties count for neither side.
    """
    moved = claim(differences, alternative)
    decided = np.abs(moved) > tolerance
    ahead = int(np.count_nonzero(moved[decided] > 0))
    behind = int(np.count_nonzero(decided)) - ahead
    ranks = doubled_ranks(np.abs(moved[decided]), float(tolerance.max(initial=0.0)))
    ahead_ranks = int(ranks[moved[decided] > 0].sum())
    for_a = ahead_ranks if alternative != "less" else int(ranks.sum()) - ahead_ranks
    one_sided = alternative != "two-sided"
    return Wins(
        won=ahead if alternative != "less" else behind,
        lost=behind if alternative != "less" else ahead,
        tied=len(differences) - ahead - behind,
        sign_p=_p(np.ones(ahead + behind, dtype=np.int64), ahead, one_sided),
        rank_sum=for_a / 2,
        signed_rank_p=_p(ranks, ahead_ranks, one_sided),
    )


def doubled_ranks(sizes: Array, tolerance: float) -> Counts:
    """Twice the rank of each size, 1 the smallest; sizes no further apart share the middle one."""
    order = np.argsort(sizes, kind="stable")
    ranks = np.empty(len(sizes), dtype=np.int64)
    opens = np.flatnonzero(np.diff(sizes[order], prepend=-math.inf) > tolerance)
    for first, last in pairwise([*opens.tolist(), len(sizes)]):
        ranks[order[first:last]] = first + 1 + last
    return ranks


def _p(weights: Counts, reached: int, one_sided: bool) -> float:
    """How likely fair coins win at least so much weight; or, two-sided, lose it.

    The distribution is counted: a product of 1 + x**w over the weights w (1 each for the sign
    test, doubled ranks for Wilcoxon's), in whole numbers, so that no tail is rounded away.
    """
    ways = [1]
    for weight in weights.tolist():
        longer = ways + [0] * weight
        for total, count in enumerate(ways):
            longer[total + weight] += count
        ways = longer
    upper, lower = sum(ways[reached:]), sum(ways[: reached + 1])
    extreme = upper if one_sided else min(2 * min(upper, lower), 2 ** len(weights))
    return extreme / 2 ** len(weights)
