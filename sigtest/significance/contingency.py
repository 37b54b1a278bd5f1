"""Tests of two systems that are right or wrong on the same units: McNemar's, exact and mid-p."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from sigtest.arrays import Array, Flags
from sigtest.errors import InputError, RecipeError
from sigtest.significance import Alternative
from sigtest.significance.base import OwnP, OwnTest
from sigtest.significance.convolution import exact_signs

if TYPE_CHECKING:
    from sigtest.metrics import Metric


class McNemar(OwnTest):
    """Of the units on which only one system is right, does one have more than its half?

    Units on which both systems are right, or both wrong, say nothing of the difference. If the
    systems have equal expected accuracies, each of the others is as likely to be right for one as
    for the other, so that their number is binomial with probability 1/2. The p-value is exact, and
    the one that approximate randomization on accuracy has when every exchange is counted. The test
    never rejects too often, and with few such units too seldom; the mid-p variant makes up for it.

    McNemar (1947), "Note on the Sampling Error of the Difference between Correlated Proportions or
    Percentages"; Fagerland, Lydersen & Laake (2013), "The McNemar Test for Binary Matched-Pairs
    Data: Mid-p and Asymptotic Are Better Than Exact Conditional".

    Examples:
        Six units are right for the first system only, one for the second only: twice 8 / 2**7.

        >>> from sigtest.metrics.scores import Scores
        >>> a = np.array([[1.0, 1.0]] * 6 + [[0.0, 1.0]] + [[1.0, 1.0]] * 3)
        >>> b = np.array([[0.0, 1.0]] * 6 + [[1.0, 1.0]] + [[1.0, 1.0]] * 3)
        >>> McNemar().p(Scores(), a, b, "two-sided").p_value
        0.125
    """

    name = "mcnemar"
    title = "McNemar's exact test"
    papers = ("mcnemar-1947-note", "fagerland-etal-2013-mcnemar")
    null = "equal expected accuracies"

    def check(self, metric: Metric) -> None:
        if metric.fraction is None:
            raise RecipeError(
                f"{self.name} needs a metric that calls each unit right or wrong, such as the mean "
                f"of scores 0 and 1; {metric.name} does not.",
                field="tests",
            )

    def p(self, metric: Metric, a: Array, b: Array, alternative: Alternative) -> OwnP:
        only_a, only_b = self.discordant(metric, a, b)
        ones = np.ones(only_a + only_b, dtype=np.int64)
        found = exact_signs(ones, only_a - only_b, alternative)
        ahead = float(only_a - only_b)
        return OwnP(found.p_value, found.log10_p, exact=True, statistic=float(only_a), ahead=ahead)

    def discordant(self, metric: Metric, a: Array, b: Array) -> tuple[int, int]:
        """How many units are right for a only, and for b only.

        Raises:
            InputError: Units that are not right or wrong.
        """
        right_a, right_b = (self._right(metric, rows) for rows in (a, b))
        return int(np.count_nonzero(right_a & ~right_b)), int(np.count_nonzero(right_b & ~right_a))

    def _right(self, metric: Metric, rows: Array) -> Flags:
        self.check(metric)
        assert metric.fraction is not None
        scores, weights = metric.score(rows), rows[:, metric.fraction.denominator]
        other = np.flatnonzero(((scores != 0) & (scores != 1)) | (weights != weights[0]))
        if len(other):
            unit = int(other[0])
            raise InputError(
                f"{self.name} needs units of one weight that are right (1) or wrong (0); unit "
                f"{unit + 1} has {metric.label} {scores[unit]:g} and weight {weights[unit]:g}.",
                field="tests",
                line=unit + 1,
            )
        right = scores == 1
        return right if metric.higher_is_better else ~right


class McNemarMidP(McNemar):
    """McNemar's test that counts the observed table by half.

    The exact test's p-value takes few values, so that its level stays below alpha, with few units
    far below. Counting half the probability of what was observed corrects that; the level is then
    near alpha, and seldom above it. Where each system alone is right equally often, two-sided p is
    1 - f / 2 with f the probability of that (supplement of the paper). Where both systems are right
    on the same units p is 1.

    Fagerland, Lydersen & Laake (2013), as above; Lancaster (1961), "Significance Tests in
    Discrete Distributions".

    Examples:
        >>> from sigtest.metrics.scores import Scores
        >>> a = np.array([[1.0, 1.0]] * 6 + [[0.0, 1.0]])
        >>> b = np.array([[0.0, 1.0]] * 6 + [[1.0, 1.0]])
        >>> found = McNemarMidP().p(Scores(), a, b, "two-sided")
        >>> round(128 * found.p_value, 9)  # 2 (1 + 7) - 7 patterns
        9.0
    """

    name = "mcnemar_mid_p"
    title = "McNemar's test with mid-p"
    papers = ("mcnemar-1947-note", "fagerland-etal-2013-mcnemar")

    def p(self, metric: Metric, a: Array, b: Array, alternative: Alternative) -> OwnP:
        only_a, only_b = self.discordant(metric, a, b)
        units = only_a + only_b
        if units == 0:
            return OwnP(1.0, 0.0, exact=False, statistic=0.0)
        sides = 2 if alternative == "two-sided" else 1
        reached = {"greater": only_a, "less": only_b, "two-sided": max(only_a, only_b)}[alternative]
        ones = np.ones(units, dtype=np.int64)
        tail = exact_signs(ones, 2 * reached - units, "greater").log10_p
        observed = _log10_choose(units, reached) - units * math.log10(2)
        log10_p = math.log10(sides) + tail + math.log10(1 - 0.5 * 10 ** (observed - tail))
        if sides == 2 and only_a == only_b:  # both tails hold what was observed: 1 - f / 2
            log10_p = math.log10(1 - 0.5 * 10**observed)
        ahead = float(only_a - only_b)
        return OwnP.of_log10(min(0.0, log10_p), exact=False, statistic=float(only_a), ahead=ahead)


def _log10_choose(n: int, k: int) -> float:
    chosen = math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
    return chosen / math.log(10)
