"""P-values of pairs of metrics for every claim, and what they rest on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from sigtest.meta_evaluation.significance.permutation import ExactTails, Exchanges
from sigtest.significance import ALTERNATIVES, Alternative
from sigtest.significance.exact import ExactP
from sigtest.significance.montecarlo import p_interval, p_value

Interval = tuple[float, float]


@dataclass(frozen=True)
class Chance:
    """A p-value for one claim, and what it rests on.

    Attributes:
        p: The p-value.
        log10_p: Its decimal logarithm.
        ends: Its 95 % interval; the p-value twice where it is exact.
        count: Differences that reach the observed one; nothing where that is not counted.
        patterns: Exchanges counted or drawn; nothing likewise.
    """

    p: float
    log10_p: float
    ends: Interval
    count: int | None = None
    patterns: int | None = None


@dataclass(frozen=True)
class Compared:
    """One pair of metrics under one statistic and test.

    Attributes:
        a: Number of the first metric.
        b: Of the second.
        statistic: Its name.
        test: Its name.
        unit: What is exchanged: `system`, `cell`, `segment`, `pair` of systems on a segment; or
            `none` for a test without draws.
        n: Cells that people and both metrics have.
        value_a: The statistic of a on these cells.
        value_b: Of b.
        ci: Interval of the difference, where there is one.
        chances: A p-value for each claim; none where the test is not defined.
        exact: Whether the p-values are exact.
        r12: Correlation of the two metrics, for `pearson` over all cells.
        t: Williams' statistic.
        df: Its degrees of freedom.
    """

    a: int
    b: int
    statistic: str
    test: str
    unit: str
    n: int
    value_a: float
    value_b: float
    ci: Interval | None
    chances: Mapping[Alternative, Chance] = field(default_factory=dict)
    exact: bool = True
    r12: float | None = None
    t: float | None = None
    df: int | None = None


@dataclass(frozen=True)
class ExchangeResults:
    """What exchanges between metrics say of all pairs under one statistic.

    Attributes:
        unit: What was exchanged.
        exchanges: Counts and exact p-values; none of a pair for which the test is not defined.
        resamples: R.
        defined: Which pairs it is defined for.
    """

    unit: str
    exchanges: Exchanges
    resamples: int
    defined: tuple[bool, ...]

    def row(self, row: Compared, pair: int) -> Compared:
        """A pair with its p-values."""
        row = replace(row, unit=self.unit, test="perm_both")
        if not self.defined[pair]:
            return row
        exact = self.exchanges.exact[pair]
        chances = {claim: self._chance(claim, pair, exact) for claim in ALTERNATIVES}
        return replace(row, chances=chances, exact=exact is not None)

    def _chance(self, claim: Alternative, pair: int, exact: ExactTails | None) -> Chance:
        if exact is not None:
            return _exact(exact.of(claim))
        count = self.exchanges.counts[claim][pair : pair + 1]
        p = float(p_value(count, self.resamples)[0])
        low, high = p_interval(count, self.resamples)
        ends = float(low[0]), float(high[0])
        return Chance(p, float(np.log10(p)), ends, int(count[0]), self.resamples)


def _exact(found: ExactP) -> Chance:
    p = found.p_value
    return Chance(p, found.log10_p, (p, p), found.count, found.patterns)
