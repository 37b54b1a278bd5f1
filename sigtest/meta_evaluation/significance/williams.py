"""Williams' test: does one metric correlate with people better than another?"""

from __future__ import annotations

import math
from dataclasses import dataclass

from sigtest.people.statistics import student
from sigtest.significance import Alternative

FEWEST = 4  # systems, as n - 3 degrees of freedom are left
PERFECT = 1.0 - 1e-12  # correlation of two metrics from which on only rounding tells them apart


@dataclass(frozen=True)
class Williams:
    """The test of one pair of metrics.

    Attributes:
        t: The statistic; positive where the first metric correlates better. Nothing where the two
            metrics are the same up to a line.
        df: Degrees of freedom, n - 3.
        p_greater: How likely so large a t is if neither is better.
        p_less: How likely so small a t is.
    """

    t: float | None
    df: int
    p_greater: float
    p_less: float

    def p_value(self, alternative: Alternative) -> float:
        """For the claim that the first metric is better, worse, or either."""
        if alternative == "greater":
            return self.p_greater
        if alternative == "less":
            return self.p_less
        return min(1.0, 2.0 * min(self.p_greater, self.p_less))


def williams(r12: float, r13: float, r23: float, n: int) -> Williams:
    """Test of two dependent correlations that share a variable.

    Args:
        r12: Correlation of the two metrics, with its sign.
        r13: Of the first metric with people.
        r23: Of the second.
        n: How many systems all three correlations are over; at least 4.

    Returns:
        The test; p-values of 1 where the metrics are the same up to a line.

    Williams (1959); Graham & Baldwin (2014), "Testing for Significance of Increased Correlation
    with Human Judgment", section 3.1. Degrees of freedom are n - 3, as in the paper.
    """
    if abs(r12) >= PERFECT:
        return Williams(None, n - 3, 1.0, 1.0)
    k = 1.0 - r12**2 - r13**2 - r23**2 + 2.0 * r12 * r13 * r23
    mean = (r13 + r23) / 2.0
    spread = 2.0 * max(k, 0.0) * (n - 1) / (n - 3) + mean**2 * (1.0 - r12) ** 3
    if spread <= 0.0:  # only where r13 = r23 = 0 and no variance is left
        return Williams(None, n - 3, 1.0, 1.0)
    t = (r13 - r23) * math.sqrt((n - 1) * (1.0 + r12)) / math.sqrt(spread)
    found = student(t, n - 3)
    return Williams(t, n - 3, found.greater, found.less)
