"""Standard errors in every resample: what the bootstrap-t divides by.

A score is a function of sums, so that near the observed sums it moves as a sum of the units'
influence values does: the gradient there, times the unit's statistics. The variance of such a sum
in a resample needs sums of influence values and of their squares, and for a pair of systems of the
squares of their differences: a few more columns of the one product. For means all that is exact;
for corpus scores it approximates the resample's own standard error.

How far one-sided claims err under heavy tails follows from the observed influence values, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sigtest.arrays import Array, Counts, Weights
from sigtest.bounds import FAR
from sigtest.comparison.plan import Part
from sigtest.draws.product import Columns, fixed_point
from sigtest.metrics import Metric
from sigtest.significance.base import SLACK
from sigtest.significance.tails import NOTHING, heaviness

STEP = 1e-6  # of a gradient's difference quotient, relative to the sum of absolute statistics


@dataclass(frozen=True)
class Studentised:
    """Scores of systems, then differences of pairs, in standard errors; N is S + P.

    Attributes:
        errors: (N,) standard errors of what was observed.
        values: (N, R) how far each resample is from what was observed, in its own standard errors.
        tails: (N,) from `heaviness`.
    """

    errors: Array
    values: Array
    tails: Array


class Moments:
    """What standard errors in resamples follow from.

    Within strata, which draw their units on their own, variances are those of the strata, summed.

    Args:
        part: Its pairs, and its strata.
        metrics: M of them.
        tables: One (S, n, k) array of statistics a metric.
        totals: One (k, S, 1) array of their sums a metric.
    """

    def __init__(
        self,
        part: Part,
        metrics: Sequence[Metric],
        tables: Sequence[Array],
        totals: Sequence[Array],
    ) -> None:
        self.pairs = part.pairs
        self.systems, units = tables[0].shape[:2]
        self.influences = [influence(*own) for own in zip(metrics, tables, totals, strict=True)]
        none = np.zeros(units, dtype=np.int64)
        self.strata: Counts = part.strata if part.labels is not None else none
        self._strata = [np.flatnonzero(self.strata == h) for h in range(int(self.strata.max()) + 1)]
        self._columns = [
            self._squared([own[:, inside] for own in self.influences]) for inside in self._strata
        ]
        whole = np.ones((1, units), dtype=np.float32)
        self._whole = [
            [sums[self.systems :] for (sums,) in columns.sums(whole[:, inside])]
            for inside, columns in zip(self._strata, self._columns, strict=True)
        ]
        self.observed: Array = self.errors(whole)[:, :, 0]
        self.tails: Array = np.stack(
            [tails_of(self.pairs, own, self.strata) for own in self.influences]
        )

    def errors(self, weights: Weights) -> Array:
        """(M, N, R) standard errors of scores, then differences, under (R, n) weights."""
        a, b = self.pairs.T
        variances: Array = np.zeros(1)
        strata = zip(self._strata, self._columns, self._whole, strict=True)
        for inside, columns, whole in strata:
            alone = len(self._strata) == 1
            drawn = weights if alone else np.ascontiguousarray(weights[:, inside])
            found, units = [], len(inside)
            for (sums,), most in zip(columns.sums(drawn), whole, strict=True):
                linear, squares = sums[: self.systems], sums[self.systems :]
                both = np.concatenate([linear, linear[a] - linear[b]])
                variance = squares - both**2 / units
                variance[variance <= NOTHING * np.maximum(squares, most)] = 0.0
                # Bessel's correction, and that for few clusters where units are documents
                found.append(variance * (units / max(1, units - 1)))
            variances = variances + np.stack(found)
        return np.sqrt(variances)

    def _squared(self, found: Sequence[Array]) -> Columns:
        """Influence values of one stratum, their squares, and those of their differences."""
        a, b = self.pairs.T
        columns = []
        for own in found:
            if len(self._strata) > 1:
                own = own - own.mean(axis=1, keepdims=True)
            both = np.concatenate([own, own**2, (own[a] - own[b]) ** 2])
            columns.append(np.ascontiguousarray(fixed_point(both.T).T)[:, :, None])
        return Columns(columns)


def studentise(
    pairs: Counts, observed: Array, draws: Array, own: Array, errors: Array, tails: Array
) -> Studentised:
    """Scores of systems and differences of pairs in standard errors.

    Args:
        pairs: (P, 2) systems.
        observed: (S,) scores.
        draws: (S, R) scores.
        own: (N,) standard errors of what was observed.
        errors: (N, R) standard errors in each resample.
        tails: (N,) from `heaviness`.
    """
    a, b = pairs.T
    moved = draws - observed[:, None]
    differences = (draws[a] - draws[b]) - (observed[a] - observed[b])[:, None]
    size = np.abs(observed)
    sizes = np.concatenate([size, np.maximum(size[a], size[b])])
    values = in_errors(np.concatenate([moved, differences]), errors, sizes[:, None])
    return Studentised(own, values, tails)


def mean_errors(errors: Sequence[Array]) -> Array:
    """Standard errors of means over test sets, which are independent, from those of each."""
    total = errors[0] ** 2
    for other in errors[1:]:
        total = total + other**2
    found: Array = np.sqrt(total) / len(errors)
    return found


def tails_of(pairs: Counts, own: Array, strata: Counts) -> Array:
    """(N,) `heaviness` of (S, n) influence values, then of differences of (P, 2) pairs of them."""
    a, b = pairs.T
    return np.concatenate([heaviness(own, strata), heaviness(own[a] - own[b], strata)])


def mean_tails(parts: Sequence[Moments], m: int) -> Array:
    """(N,) `heaviness` of means of metric m over test sets, whose strata are those of the whole."""
    first = np.cumsum([0, *(int(part.strata.max()) + 1 for part in parts)])
    strata = [part.strata + start for part, start in zip(parts, first[:-1], strict=True)]
    own = np.concatenate([part.influences[m] for part in parts], axis=1)
    return tails_of(parts[0].pairs, own, np.concatenate(strata))


def influence(metric: Metric, table: Array, total: Array) -> Array:
    """How much each unit adds to each score, near the observed sums: (S, n), of mean 0.

    Davison & Hinkley (1997), "Bootstrap Methods and their Application", section 2.7.2. The
    gradient is a difference quotient, which is exact for means but for rounding.

    Args:
        metric: Scores the sums.
        table: (S, n, k) statistics.
        total: (k, S, 1) their sums.
    """
    values = np.zeros(table.shape[:2])
    for j in range(table.shape[2]):
        step = STEP * np.abs(table[:, :, j]).sum(axis=1)
        up, down = total.copy(), total.copy()
        up[j, :, 0] += step
        down[j, :, 0] -= step
        rise = (metric.score_columns(up) - metric.score_columns(down))[:, 0]
        run = (up - down)[j, :, 0]
        slope = np.divide(rise, run, out=np.zeros_like(rise), where=run > 0)
        values += slope[:, None] * table[:, :, j]
    return values - values.mean(axis=1, keepdims=True)


def in_errors(moved: Array, errors: Array, sizes: Array) -> Array:
    """`moved` in standard errors; where these are 0, nothing for what is rounding, else far away.

    Args:
        moved: How far from where.
        errors: Standard errors.
        sizes: What the moved numbers' rounding is relative to.
    """
    fixed = np.where(np.abs(moved) <= SLACK * sizes, 0.0, np.copysign(FAR, moved))
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        ratio = moved / errors
    return np.where(errors > 0, np.clip(ratio, -FAR, FAR), fixed)
