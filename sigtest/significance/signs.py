"""Tests that look at the units one by one: who is ahead, and by a large or a small difference.

Both are exchanges of labels, counted completely: of signs alone, or of ranks.
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from sigtest.arrays import Array, Counts
from sigtest.significance import Alternative
from sigtest.significance.base import OwnP, OwnTest, extremity, row_differences
from sigtest.significance.convolution import exact_signs
from sigtest.special import log_ndtr

if TYPE_CHECKING:
    from sigtest.metrics import Metric

MOST_RANKED = 500  # a hundredth of a second; the distribution takes n**3 steps


class SignTest(OwnTest):
    """Is one system ahead on more units than the other?

    Units on which the two are tied are left out. If either system is as likely to be ahead on a
    unit, the number of units won is binomial with probability 1/2. How far a system is ahead does
    not matter, so that no unit can decide alone; for the same reason the system that wins more
    units may have the lower score.

    Dixon & Mood (1946), "The Statistical Sign Test"; Demšar (2006), section 3.1.4.

    Examples:
        Of nine units the first system wins eight: (1 + 9) / 2**9, twice.

        >>> from sigtest.metrics.scores import Scores
        >>> a = np.array([[5.0, 1.0]] * 8 + [[1.0, 1.0]])
        >>> b = np.array([[4.0, 1.0]] * 9)
        >>> SignTest().p(Scores(), a, b, "two-sided").p_value
        0.0390625
    """

    name = "sign_test"
    title = "the sign test"
    papers = ("dixon-mood-1946-sign", "demsar-2006-statistical")
    null = "units won as often as lost"
    caution = (
        "The sign test counts the units on which a system is ahead, however far: the system that "
        "wins more of them may have the lower score."
    )

    def p(self, metric: Metric, a: Array, b: Array, alternative: Alternative) -> OwnP:
        return sign_p(rank_differences(*row_differences(metric, a, b)), alternative)


class SignedRank(OwnTest):
    """Are the larger differences on one system's side?

    Units are ranked by the size of their difference, ties left out and equal sizes sharing the
    middle rank; the ranks of the units that a wins are summed (Wilcoxon 1945). If differences are
    symmetric about zero, every rank has either sign with probability 1/2. With up to 500 units
    the distribution of the sum is counted; above it is taken to be normal.

    Wilcoxon (1945), "Individual Comparisons by Ranking Methods"; Demšar (2006), section 3.1.3.

    Examples:
        >>> from sigtest.metrics.scores import Scores
        >>> a = np.array([[5.0, 1.0], [7.0, 1.0], [9.0, 1.0], [3.5, 1.0]])
        >>> b = np.array([[4.0, 1.0]] * 4)
        >>> found = SignedRank().p(Scores(), a, b, "greater")
        >>> found.statistic, found.p_value
        (9.0, 0.125)
    """

    name = "signed_rank"
    title = "Wilcoxon's signed-rank test"
    papers = ("wilcoxon-1945-individual", "demsar-2006-statistical")
    null = "differences that are symmetric about zero"
    caution = (
        "Wilcoxon's signed-rank test ranks the differences of units, so that large ones count for "
        "less than in the score: the system that it finds better may have the lower score."
    )

    def p(self, metric: Metric, a: Array, b: Array, alternative: Alternative) -> OwnP:
        return signed_rank_p(rank_differences(*row_differences(metric, a, b)), alternative)


def rank_differences(differences: Array, tolerance: Array) -> Counts:
    """Twice the rank of each size, with the sign of the difference; 0 where it is tied.

    Args:
        differences: (n,) oriented differences.
        tolerance: (n,) slack within which each is tied.
    """
    decided = np.abs(differences) > tolerance
    ranks = np.zeros(len(differences), dtype=np.int64)
    sizes = np.abs(differences[decided])
    ranks[decided] = doubled_ranks(sizes, float(tolerance.max(initial=0.0)))
    return np.where(differences < 0, -ranks, ranks)


def doubled_ranks(sizes: Array, tolerance: float) -> Counts:
    """Twice the rank of each size, 1 the smallest; sizes no further apart share the middle one."""
    order = np.argsort(sizes, kind="stable")
    ranks = np.empty(len(sizes), dtype=np.int64)
    opens = np.flatnonzero(np.diff(sizes[order], prepend=-math.inf) > tolerance)
    for first, last in pairwise([*opens.tolist(), len(sizes)]):
        ranks[order[first:last]] = first + 1 + last
    return ranks


def sign_p(ranks: Counts, alternative: Alternative) -> OwnP:
    """The sign test of signed ranks, of which only the signs matter."""
    decided = np.sign(ranks[ranks != 0])
    ahead = int(decided.sum())
    found = exact_signs(np.abs(decided), ahead, alternative)
    won = float(np.count_nonzero(ranks > 0))
    return OwnP(found.p_value, found.log10_p, exact=True, statistic=won, ahead=ahead)


def signed_rank_p(ranks: Counts, alternative: Alternative) -> OwnP:
    """Wilcoxon's test of doubled, signed ranks."""
    decided = ranks[ranks != 0]
    total, rank_sum = int(decided.sum()), int(decided[decided > 0].sum()) / 2
    if len(decided) <= MOST_RANKED:
        found = exact_signs(np.abs(decided), total, alternative)
        return OwnP(found.p_value, found.log10_p, exact=True, statistic=rank_sum, ahead=total)
    # middle ranks are in the variance as they are, so that no correction for ties is needed
    deviation = math.sqrt(float(np.square(decided, dtype=np.float64).sum()))
    reach = float(extremity(np.array(total / deviation), alternative))
    sides = 2 if alternative == "two-sided" else 1
    log_p = min(0.0, math.log(sides) + float(log_ndtr(-reach)))
    return OwnP.of_log10(log_p / math.log(10), exact=False, statistic=rank_sum, ahead=total)
