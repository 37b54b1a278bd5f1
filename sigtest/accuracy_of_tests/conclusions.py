"""Conclusions from one-sided p-values, and how those of tests agree with those of people."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sigtest.arrays import Array, Counts
from sigtest.significance.montecarlo import LEVEL, clopper_pearson
from sigtest.special import betainc, gammaincc

A_BETTER, TIE, B_BETTER = 1, 0, -1
NAMES = {A_BETTER: "a", TIE: "tie", B_BETTER: "b"}


@dataclass(frozen=True)
class Agreement:
    """How the conclusions of one metric and test agree with those of people.

    Attributes:
        correct: Pairs with the same conclusion.
        reversed: With opposite winners.
        claimed: With a winner by the test and none by people.
        missed: With a winner by people and none by the test.
        n: Pairs.
    """

    correct: int
    reversed: int
    claimed: int
    missed: int
    n: int

    @property
    def interval(self) -> tuple[float, float]:
        """95 % Clopper-Pearson interval of correct / n."""
        low, high = clopper_pearson(np.array([self.correct]), self.n, LEVEL)
        return float(low[0]), float(high[0])


def conclude(p_greater: Array, p_less: Array, alpha: float) -> Counts:
    """Winners of pairs, each claim at a level of its own.

    Args:
        p_greater: (..., P) one-sided p-values of a being better.
        p_less: (..., P) of b being better.
        alpha: Level of each.

    Returns:
        (..., P): 1 where a is better, -1 where b is, 0 for neither. Where both claims hold, which
        takes levels of one half, the smaller p-value decides.
    """
    better = (p_greater <= alpha) & (p_greater <= p_less)
    worse = (p_less <= alpha) & (p_less < p_greater)
    return better.astype(np.int64) - worse.astype(np.int64)


def combine(criteria: Sequence[Counts]) -> Counts:
    """The conclusion of the first criterion that separates a pair, adequacy before fluency.

    Graham, Mathur & Baldwin (2014), section 4.
    """
    combined = criteria[0].copy()
    for later in criteria[1:]:
        combined = np.where(combined == TIE, later, combined)
    return combined


def agreement(found: Counts, human: Counts) -> Agreement:
    """Hold (P,) conclusions of a test against those of people."""
    return Agreement(
        correct=int(np.count_nonzero(found == human)),
        reversed=int(np.count_nonzero(found * human == -1)),
        claimed=int(np.count_nonzero((found != TIE) & (human == TIE))),
        missed=int(np.count_nonzero((found == TIE) & (human != TIE))),
        n=len(human),
    )


def chi_square(correct: Counts, n: int) -> tuple[float, float | None]:
    """Pearson's chi-square of a table of correct and wrong, one row a metric, without Yates.

    Args:
        correct: (k,) correct pairs of each metric.
        n: Pairs of each.

    Returns:
        The statistic and its p-value with k - 1 degrees of freedom; no p-value where all metrics
        are right, or wrong, on all pairs.
    """
    right = float(correct.mean())
    wrong = n - right
    if right == 0 or wrong == 0:
        return 0.0, None
    gaps = (correct - right) ** 2
    statistic = float((gaps / right + gaps / wrong).sum())
    return statistic, float(gammaincc((len(correct) - 1) / 2.0, statistic / 2.0))


def against_half(correct: int, n: int) -> tuple[float, float]:
    """Exact binomial p-values of a share of 1/2: two-sided, and for the share being larger."""
    greater, less = _at_least(correct, n), _at_least(n - correct, n)
    return min(1.0, 2.0 * min(greater, less)), greater


def _at_least(count: int, n: int) -> float:
    """P(X >= count) of n fair coins."""
    return 1.0 if count <= 0 else float(betainc(count, n - count + 1, 0.5))
