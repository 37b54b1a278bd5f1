"""Standard errors in every resample: what the bootstrap-t divides by.

A score is a function of sums, so that near the observed sums it moves as a sum of the units'
influence values does: the gradient there, times the unit's statistics. The variance of such a sum
in a resample needs sums of influence values and of their squares, and for a pair of systems of the
squares of their differences: a few more columns of the one product. For means all that is exact;
for corpus scores it approximates the resample's own standard error.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sigtest.arrays import Array, Weights
from sigtest.comparison.plan import Part
from sigtest.draws.product import Columns, fixed_point
from sigtest.metrics import Metric
from sigtest.significance.base import SLACK

STEP = 1e-6  # of a gradient's difference quotient, relative to the sum of absolute statistics
NOTHING = 1e-12  # a variance below this share of the mean square is rounding
FAR = 1e300  # where nothing varies, all that moved is far away


@dataclass(frozen=True)
class Studentised:
    """Scores of systems, then differences of pairs, in standard errors; N is S + P.

    Attributes:
        errors: (N,) standard errors of what was observed.
        values: (N, R) how far each resample is from what was observed, in its own standard errors.
    """

    errors: Array
    values: Array


class Moments:
    """What standard errors in resamples follow from.

    Args:
        part: Its pairs.
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
        self.systems, self.units = tables[0].shape[:2]
        self.observed = [m.score_columns(t)[:, 0] for m, t in zip(metrics, totals, strict=True)]
        columns = []
        for metric, table, total in zip(metrics, tables, totals, strict=True):
            own = influence(metric, table, total)
            a, b = self.pairs.T
            both = np.concatenate([own, own**2, (own[a] - own[b]) ** 2])
            columns.append(np.ascontiguousarray(fixed_point(both.T).T)[:, :, None])
        self._columns = Columns(columns)
        whole = np.ones((1, self.units), dtype=np.float32)
        self.errors: Array = np.stack([drawn[:, 0] for drawn in self._errors(whole)])  # (M, N)

    def studentise(self, weights: Weights, scores: Array) -> Array:
        """(R, n) weights and the (M, S, R) scores under them to (M, N, R) studentised values."""
        a, b = self.pairs.T
        values = []
        for drawn, observed, errors in zip(
            scores, self.observed, self._errors(weights), strict=True
        ):
            moved = drawn - observed[:, None]
            differences = (drawn[a] - drawn[b]) - (observed[a] - observed[b])[:, None]
            size = np.abs(observed)
            sizes = np.concatenate([size, np.maximum(size[a], size[b])])
            values.append(in_errors(np.concatenate([moved, differences]), errors, sizes[:, None]))
        return np.stack(values)

    def _errors(self, weights: Weights) -> list[Array]:
        """(N, R) standard errors under each resample, one array a metric."""
        a, b = self.pairs.T
        units, found = self.units, []
        for (sums,) in self._columns.sums(weights):
            linear, squares = sums[: self.systems], sums[self.systems :]
            both = np.concatenate([linear, linear[a] - linear[b]])
            variance = squares - both**2 / units
            variance[variance <= NOTHING * squares] = 0.0
            # Bessel's correction, and that for few clusters where units are documents
            found.append(np.sqrt(variance * (units / max(1, units - 1))))
        return found


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
