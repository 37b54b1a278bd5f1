"""Wins over several test sets: how often one system is ahead, and whether that could be chance.

The unit here is the test set: few, and each a single difference. Both tests are exact.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sigtest.arrays import Array
from sigtest.significance import Alternative
from sigtest.significance.signs import rank_differences, sign_p, signed_rank_p


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
    ranks = rank_differences(differences, tolerance)
    won, lost = int(np.count_nonzero(ranks > 0)), int(np.count_nonzero(ranks < 0))
    return Wins(
        won=won,
        lost=lost,
        tied=len(differences) - won - lost,
        sign_p=sign_p(ranks, alternative).p_value,
        rank_sum=int(ranks[ranks > 0].sum()) / 2,
        signed_rank_p=signed_rank_p(ranks, alternative).p_value,
    )
