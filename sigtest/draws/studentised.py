"""Scores and differences in the standard errors of each resample: what the bootstrap-t counts.

A score is a function of sums, so that near them it moves as a sum of the units' influence values
does: the gradient there, times the unit's statistics. In a resample the gradient is that at its
own sums, and units stand as often as they were drawn. Of means and ratios that is the textbook's
standard error, also where units weigh unequally; of other corpus scores it is the delta method's.

How far one-sided claims err under heavy tails follows from the observed influence values, too.
"""

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from sigtest.arrays import Array, Counts, Weights
from sigtest.bounds import FAR
from sigtest.cached import cached_property
from sigtest.compiled import compiled
from sigtest.draws.product import ROWS, WEIGHTS_BYTES, DistinctColumns
from sigtest.metrics import Metric
from sigtest.requests.recipe import Recipe
from sigtest.significance import Alternative, resampling_tests
from sigtest.significance.base import SLACK, ResamplingTest
from sigtest.significance.intervals import bootstrap_t_interval, drawn_in, heaviness

STEP = 1e-6  # of a gradient's difference quotient, relative to the sum of absolute statistics
ROUNDING = 2.0**-50  # times units, of the largest one: what fixed point rounded does not vary
TOGETHER = 1 << 23  # numbers held at a time: pairs whose resamples are looked at together
NOBODY = -1  # a system against nobody, whose score is 0, is its own score


class Moments:
    """One metric on one test set: what scores and their standard errors follow from.

    Within strata, which draw their units on their own, variances are those of the strata, summed.

    Args:
        metric: Scores sums.
        table: (S, n, k) statistics of units, in fixed point.
        strata: (n,) number of each unit's stratum, from 0.
        weights: Gives the (R, n) weights of the resamples from one to before another.
    """

    def __init__(
        self, metric: Metric, table: Array, strata: Counts, weights: Callable[[int, int], Weights]
    ) -> None:
        self.metric, self.strata, self.weights = metric, strata, weights
        self._inside = [np.flatnonzero(strata == h) for h in range(int(strata.max()) + 1)]
        self._tables = [np.ascontiguousarray(table[:, inside]) for inside in self._inside]
        self._columns = [DistinctColumns([own]) for own in self._tables]
        self._sizes = np.abs(table).sum(axis=1).T[:, :, None]  # (k, S, 1)
        self._largest = np.abs(table).max(axis=1).T[:, :, None]
        self._signed = self._sizes != np.abs(table.sum(axis=1).T[:, :, None])
        self.influences = influence(metric, table, table.sum(axis=1).T[:, :, None])

    def measured(self, rows: Counts, weights: Weights) -> tuple[Array, Array]:
        """(N, R) differences of (N, 2) systems under (R, n) weights, and their standard errors.

        Davison & Hinkley (1997), "Bootstrap Methods and their Application", section 5.2.
        """
        drawn = [np.ascontiguousarray(weights[:, inside]) for inside in self._inside]
        sums = [own.sums(part)[0] for own, part in zip(self._columns, drawn, strict=True)]
        total = added(sums)
        slopes = gradient(self.metric, total, self._sizes)
        slopes[~self._signed & (total == 0)] = 0.0  # no unit of the resample has any of these
        variances = np.zeros((len(rows), len(weights)))
        for table, counts, own in zip(self._tables, drawn, sums, strict=True):
            units = table.shape[1]
            means = added(slopes * own) / units
            seen = np.ascontiguousarray(counts.T, np.float64)
            squares = _squares(seen, table, slopes, means, rows)
            # Bessel's correction, and that for few clusters where units are documents
            variances += squares * (units / max(1, units - 1))
        most = ROUNDING * len(self.strata)
        least = most * _between(added(np.abs(slopes) * self._largest), rows, 1.0)
        variances[variances <= len(self.strata) * least**2] = 0.0
        return _between(self.metric.score_columns(total), rows, -1.0), np.sqrt(variances)


class Studentised:
    """Scores of systems, then differences of pairs, in standard errors: N is S + P rows.

    Of several test sets it is about means over them, whose draws are independent.

    Args:
        moments: Of one metric, one a test set.
        pairs: (P, 2) systems.

    Attributes:
        observed: (N,) what was observed.
        errors: (N,) its standard errors.
        t: (N,) the former in the latter.
    """

    def __init__(self, moments: Sequence[Moments], pairs: Counts) -> None:
        self.moments = moments
        self.systems = len(moments[0].influences)
        alone = np.stack([np.arange(self.systems), np.full(self.systems, NOBODY)], axis=1)
        self.rows = np.concatenate([alone, pairs])
        whole = [np.ones((1, len(own.strata)), np.float32) for own in moments]
        found = [own.measured(self.rows, one) for own, one in zip(moments, whole, strict=True)]
        self.observed, self.errors = (own[:, 0] for own in _mean(found))
        a, b = np.append(np.abs(self.observed[: self.systems]), 0.0)[self.rows.T]
        self._sizes = np.maximum(a, b)
        self.t = in_errors(self.observed, self.errors, self._sizes)

    @cached_property
    def tails(self) -> Array:
        """(N,) `heaviness` of influence values; test sets are strata of the whole."""
        first = np.cumsum([0, *(int(own.strata.max()) + 1 for own in self.moments)])
        parts = [own.strata + start for own, start in zip(self.moments, first[:-1], strict=True)]
        own = np.concatenate([part.influences for part in self.moments], axis=1)
        strata, padded = np.concatenate(parts), np.append(own, np.zeros_like(own[:1]), axis=0)
        return np.concatenate(
            [heaviness((padded[a] - padded[b])[None], strata) for a, b in self.rows]
        )

    def resampled(self, run: slice, start: int, stop: int) -> tuple[Array, Array, Array]:
        """How far resamples `start` to `stop` of some rows are from what was observed.

        Returns:
            (N, R) the distances in standard errors of the resample, the distances, and the errors.
        """
        rows = self.rows[run]
        moved, errors = (np.empty((len(rows), stop - start)) for _ in range(2))
        most = max(len(own.strata) for own in self.moments)
        step = max(1, min(ROWS, WEIGHTS_BYTES // (8 * most)))
        for first in range(start, stop, step):
            last = min(first + step, stop)
            here = slice(first - start, last - start)
            found = [own.measured(rows, own.weights(first, last)) for own in self.moments]
            moved[:, here], errors[:, here] = _mean(found)
        moved -= self.observed[run, None]
        return in_errors(moved, errors, self._sizes[run, None]), moved, errors

    def count(
        self, test: ResamplingTest, sign: float, alternative: Alternative, start: int, stop: int
    ) -> Counts:
        """(P,) how many of resamples `start` to `stop` reach what was observed of the pairs."""
        t = sign * self.t
        t = t if alternative == "two-sided" else drawn_in(t, self.tails, alternative)
        counts = [np.empty(0, int)]
        for run in self._runs(self.systems, stop - start):
            values, tolerance = self.resampled(run, start, stop)[0], SLACK * np.abs(t[run])
            counts.append(test.count(t[run], sign * values, tolerance, alternative))
        return np.concatenate(counts)

    def intervals(self, resamples: int, alpha: float) -> Array:
        """(2, N) ends of the intervals at level 1 - alpha."""
        ends = []
        for run in self._runs(0, resamples):
            values = self.resampled(run, 0, resamples)[0]
            known = self.observed[run], self.errors[run], values, self.tails[run]
            ends.append(bootstrap_t_interval(*known, alpha))
        return np.concatenate(ends, axis=1)

    def _runs(self, first: int, resamples: int) -> Iterator[slice]:
        """Cut the rows into runs whose resamples fit the memory that is meant for them."""
        step = max(1, TOGETHER // resamples)
        for start in range(first, len(self.rows), step):
            yield slice(start, start + step)


def count_studentised(
    known: Sequence[Studentised], recipe: Recipe, start: int, stop: int
) -> Counts:
    """(M, P) counts of the test that looks at studentised differences; M is 0 without one."""
    tests = [t for t in resampling_tests(recipe.tests).values() if t.draws == "studentised"]
    return np.array(
        [
            own.count(test, metric.sign, recipe.alternative, start, stop)
            for own, metric in zip(known, recipe.metrics, strict=bool(known))
            for test in tests
        ],
        int,
    )


def gradient(metric: Metric, sums: Array, sizes: Array) -> Array:
    """How fast scores move with each of the sums: (k, S, R) to (k, S, R).

    Difference quotients; of ratios exact but for rounding.

    Args:
        metric: Scores the sums.
        sums: (k, S, R) sums.
        sizes: (k, S, 1) sums of absolute statistics, of which steps are small parts.
    """
    slopes, near = np.zeros(sums.shape), sums.copy()
    ratio = metric.fraction
    for j, (own, size) in enumerate(zip(sums, sizes, strict=True)):
        if ratio is not None and j == ratio.denominator:
            np.divide(-metric.score_columns(sums), own, out=slopes[j], where=own != 0)
            continue
        step = size if ratio is not None else STEP * size
        near[j] = up = own + step
        rise = metric.score_columns(near)
        near[j] = down = own - step
        rise -= metric.score_columns(near)
        np.divide(rise, up - down, out=slopes[j], where=up > down)
        near[j] = own
    return slopes


def influence(metric: Metric, table: Array, total: Array) -> Array:
    """How much each unit adds to each score, near the observed sums: (S, n), of mean 0.

    Davison & Hinkley (1997), section 2.7.2.

    Args:
        metric: Scores the sums.
        table: (S, n, k) statistics.
        total: (k, S, 1) their sums.
    """
    slopes = gradient(metric, total, np.abs(table).sum(axis=1).T[:, :, None])
    values = added(slopes * table.transpose(2, 0, 1))
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


def _mean(found: Sequence[tuple[Array, Array]]) -> tuple[Array, Array]:
    """Means over test sets, which are independent, and their errors, from those of each."""
    scores, errors = zip(*found, strict=True)
    return added(scores) / len(found), np.sqrt(added([own**2 for own in errors])) / len(found)


def added(arrays: Sequence[Array] | Array) -> Array:
    """Element by element, always in this order: `np.sum` may group by an array's shape."""
    total: Array = sum(arrays[1:], start=arrays[0])
    return total


def _between(own: Array, rows: Counts, sign: float) -> Array:
    """(S, R) numbers of systems to (N, R) of the first of each row and, with a sign, the second."""
    padded = np.append(own, np.zeros_like(own[:1]), axis=0)
    a, b = rows.T
    return padded[a] + sign * padded[b]


@compiled
def _squares(weights: Array, table: Array, slopes: Array, means: Array, rows: Counts) -> Array:
    """Sums of squared differences of influence values, around the resample's own means.

    Args:
        weights: (n, R) how often each unit stands in each resample.
        table: (S, n, k) statistics.
        slopes: (k, S, R) gradients of the scores.
        means: (S, R) means of influence values.
        rows: (N, 2) systems.

    Returns:
        (N, R), each added up unit by unit.
    """
    systems, units, width = table.shape
    resamples = weights.shape[1]
    found = np.zeros((len(rows), resamples))
    moved = np.zeros((systems + 1, resamples))  # the last is nobody's
    for i in range(units):
        for s in range(systems):
            for r in range(resamples):
                moved[s, r] = -means[s, r]
            for j in range(width):
                statistic = table[s, i, j]
                if statistic != 0.0:
                    for r in range(resamples):
                        moved[s, r] += slopes[j, s, r] * statistic
        for p in range(len(rows)):
            a, b = rows[p, 0], rows[p, 1]
            for r in range(resamples):
                apart = moved[a, r] - moved[b, r]
                found[p, r] += weights[i, r] * apart * apart
    return found
