"""Exact p-values of randomization: every swap counted, or convolved.

With few units that differ all swaps are listed, for any metric. Where a score is a sum of integers
over a denominator that no exchange can change, the swapped difference is a sum of independent
+-d_i, whose distribution is a product of polynomials: Zmigrod, Vieira & Cotterell (2022), "Exact
Paired-Permutation Testing for Structured Test Statistics", section 4. p-values far below the
smallest double come from exponential tilting: the product is taken under the measure whose mean is
the observed sum, where nothing underflows.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from sigtest.arrays import Array, Counts
from sigtest.compiled import compiled
from sigtest.significance import Alternative
from sigtest.significance.base import SMALLEST_P, row_differences
from sigtest.significance.resampling import ApproximateRandomization

if TYPE_CHECKING:
    from sigtest.metrics import Metric

MOST_UNITS = 20
PATTERNS = 65_536  # swaps that are scored at a time


@dataclass(frozen=True)
class ExactP:
    """An exact p-value.

    Attributes:
        count: Swap patterns at least as extreme as the observed difference, where m is at most 40.
        patterns: All swap patterns, 2**m, where m is at most 40.
        log10_p: Decimal logarithm of count / patterns.
    """

    count: int | None
    patterns: int | None
    log10_p: float
    exact: ClassVar[bool] = True

    @property
    def p_value(self) -> float:
        """Count / patterns, but never below 1e-300."""
        if self.count is not None and self.patterns is not None:
            return self.count / self.patterns
        return max(SMALLEST_P, 10.0**self.log10_p)


def enumerate_swaps(metric: Metric, a: Array, b: Array, alternative: Alternative) -> ExactP | None:
    """The exact p-value from all 2**m swaps of the m units that differ, for any metric.

    Args:
        metric: Scores the swapped sums.
        a: (n, k) statistics of the first system, in fixed point.
        b: (n, k) statistics of the second.
        alternative: The claim.

    Returns:
        The p-value, or nothing where more than 20 units differ.

    Riezler & Maxwell (2005), section 3.2: with few units all 2**n permutations can be listed.
    """
    if np.count_nonzero(a[:, 0] != b[:, 0]) > MOST_UNITS:  # mostly enough, and sooner seen
        return None
    differing = (a != b).any(axis=1)
    units = int(np.count_nonzero(differing))
    if units > MOST_UNITS:
        return None
    moved = (a - b)[differing]
    whole_a, kept = a.sum(axis=0), b.sum(axis=0)  # kept of X when every differing unit is exchanged
    total = whole_a + kept
    low, high = moved[: units // 2], moved[units // 2 :]
    low_sums, high_sums = subset_sums(low), subset_sums(high)
    sign = metric.sign
    observed, tolerance = row_differences(metric, whole_a[None], kept[None])
    test = ApproximateRandomization()
    count = 0
    rows = PATTERNS // low_sums.shape[1]
    for first in range(0, high_sums.shape[1], rows):
        block = high_sums[:, first : first + rows, None] + low_sums[:, None, :]
        x = (kept[:, None, None] + block).reshape(metric.width, -1)
        y = total[:, None] - x
        draws = sign * (metric.score_columns(x) - metric.score_columns(y))
        count += int(test.count(observed, draws[None], tolerance, alternative)[0])
    count = max(count, 1)  # the observed pattern itself, whatever rounding did to it
    return ExactP(count, 2**units, math.log10(count) - units * math.log10(2))


def subset_sums(rows: Array) -> Array:
    """(k, 2**m) sums of all subsets of (m, k) rows."""
    sums = np.zeros((rows.shape[1], 1))
    for row in rows:
        sums = np.concatenate([sums, sums + row[:, None]], axis=1)
    return sums


MOST_POINTS = 1 << 22
MOST_DECIMALS = 9
NEGLIGIBLE = 1e-14  # tilted mass that may be cut off in all; the tail has at least a thousandth
MOST_STEPS = 2.0**63  # in all: whole numbers of 64 bits count no further
LARGEST_COUNT_BITS = 40  # a rounding error of p is less than half a pattern


def applies(metric: Metric, tables: Array) -> bool:
    """Whether no exchange of units among several systems can change a denominator.

    Args:
        metric: The metric.
        tables: (S, n, k) statistics.
    """
    if metric.fraction is None:
        return False
    denominators = tables[:, :, metric.fraction.denominator]
    return bool((denominators == denominators[0]).all() and denominators[0].sum() > 0)


def surely_on_grid(metric: Metric, tables: Array) -> bool:
    """Whether any two of several systems are sure to have an exact p-value.

    Args:
        metric: The metric.
        tables: (S, n, k) statistics.
    """
    if metric.fraction is None or not applies(metric, tables):
        return False
    numerators = tables[:, :, metric.fraction.numerator]
    whole = bool((numerators == np.rint(numerators)).all())
    return whole and 2 * float(np.abs(numerators).sum(axis=1).max()) < MOST_POINTS


def convolve_swaps(metric: Metric, a: Array, b: Array, alternative: Alternative) -> ExactP | None:
    """The exact p-value of a pair whose denominators no exchange can change.

    Args:
        metric: The metric.
        a: (n, k) statistics of the first system.
        b: (n, k) statistics of the second.
        alternative: The claim.

    Returns:
        The p-value with relative error below 1e-9; nothing for other metrics, where denominators
        differ, and where the differences lie on no grid or on one with more than 2**22 points.
    """
    if metric.fraction is None or not applies(metric, np.stack([a, b])):
        return None
    column = metric.fraction.numerator
    steps = on_grid(a[:, column] - b[:, column])
    if steps is None:
        return None
    total = int(steps.sum()) if metric.higher_is_better else -int(steps.sum())
    return exact_signs(np.abs(steps[steps != 0]), total, alternative)


def exact_signs(sizes: Counts, total: int, alternative: Alternative) -> ExactP:
    """The exact p-value of a sum of sizes whose signs are fair coins under the null hypothesis.

    Args:
        sizes: (m,) positive whole steps.
        total: The observed sum of sizes with their signs, positive where a is ahead.
        alternative: The claim.

    Returns:
        The p-value with relative error below 1e-9; 1 where there are no signs.
    """
    units = len(sizes)
    divisor = int(np.gcd.reduce(sizes)) or 1
    sizes, total = sizes // divisor, total // divisor
    if alternative == "two-sided":
        tails = 0.0 if total == 0 else math.log(2.0) + log_upper_tail(sizes, abs(total))
        log_p = min(0.0, tails)
    else:
        reach = total if alternative == "greater" else -total
        if reach > 0:
            log_p = log_upper_tail(sizes, reach)
        else:  # all but the sums that fall short; sums are two grid steps apart
            log_p = math.log1p(-math.exp(log_upper_tail(sizes, 2 - reach)))
    if units > LARGEST_COUNT_BITS:
        return ExactP(None, None, log_p / math.log(10))
    count = round(math.exp(log_p) * 2.0**units)
    return ExactP(count, 2**units, math.log10(count) - units * math.log10(2))


def on_grid(differences: Array) -> Counts | None:
    """Differences as whole steps of the coarsest decimal grid they lie on.

    Returns:
        (n,) steps without a common divisor, or nothing where there is no such grid with at most
        2**22 points.
    """
    for decimals in range(MOST_DECIMALS + 1):
        scaled = differences * 10.0**decimals
        steps = np.rint(scaled)
        # rounding only: relative to the differences, which may be in any unit
        near = np.abs(scaled - steps) <= 1e-9 * np.abs(scaled).max(initial=0)
        if near.all() and ((steps == 0) == (differences == 0)).all():
            if np.abs(steps).sum() >= MOST_STEPS:
                return None
            whole = steps.astype(int)
            divisor = int(np.gcd.reduce(whole)) or 1
            whole //= divisor
            return whole if np.abs(whole).sum() < MOST_POINTS else None
    return None


def log_upper_tail(sizes: Counts, reach: int) -> float:
    """Natural logarithm of P(sum of +-sizes >= reach) for fair, independent signs.

    Args:
        sizes: (m,) positive whole steps.
        reach: A positive number of steps; sums have the parity of sum(sizes).

    Returns:
        -inf where no signs reach so far.
    """
    most = int(sizes.sum())
    if reach > most:
        return -math.inf
    if reach == most:
        return -len(sizes) * math.log(2.0)
    values, copies = np.unique(sizes, return_counts=True)
    order = np.lexsort((values, -copies))  # the longest factor costs nothing where it is first
    return _log_upper_tail(values[order], copies[order], most, reach)


@compiled
def _log_upper_tail(values: Counts, copies: Counts, most: int, reach: int) -> float:
    tilt = _tilt(values, copies, reach)
    negligible = NEGLIGIBLE / len(values)
    low, low_first = _product(values[0::2], copies[0::2], tilt, negligible)
    high, high_first = _product(values[1::2], copies[1::2], tilt, negligible)
    # index u counts the steps taken upwards: the sum of signs is 2 u - most
    least = (most + reach) // 2 - low_first - high_first
    cumulant = 0.0  # log cosh(x) = x + log1p(exp(-2 x)) - log 2
    for i in range(len(values)):
        x = tilt * values[i]
        cumulant += copies[i] * (x + math.log1p(math.exp(-2.0 * x)) - math.log(2.0))
    tail = _tail(low, high, least, math.exp(-2.0 * tilt))
    return min(0.0, cumulant - tilt * reach + math.log(tail))


@compiled
def _tail(low: Array, high: Array, least: int, untilt: float) -> float:
    """Sum of low[u] high[v] untilt**(u + v - least) over u + v >= least.

    That is all that is wanted of the last convolution, and takes no more time than its factors.
    """
    beyond = low.copy()  # beyond[u]: sum of low[w] untilt**(w - u) over w >= u
    for u in range(len(low) - 2, -1, -1):
        beyond[u] += untilt * beyond[u + 1]
    tail = 0.0
    for v in range(len(high)):
        u = least - v
        if u < 0:
            tail += high[v] * beyond[0] * untilt ** (-u)
        elif u < len(low):
            tail += high[v] * beyond[u]
    return tail


@compiled
def _tilt(values: Counts, copies: Counts, mean: int) -> float:
    """A theta under which the sum has about the given mean: sum of v tanh(theta v) = mean.

    Any theta gives the exact tail; the nearer the mean, the less there is to cancel.
    """
    low, high = 0.0, 1.0 / values.max()
    while _mean(values, copies, high) < mean:
        low, high = high, 2.0 * high
    for _ in range(30):
        middle = (low + high) / 2.0
        if _mean(values, copies, middle) < mean:
            low = middle
        else:
            high = middle
    return low


@compiled
def _mean(values: Counts, copies: Counts, tilt: float) -> float:
    mean = 0.0
    for i in range(len(values)):
        mean += copies[i] * values[i] * math.tanh(tilt * values[i])
    return mean


@compiled
def _product(values: Counts, copies: Counts, tilt: float, negligible: float) -> tuple[Array, int]:
    """Tilted distribution of the steps taken upwards, and the index of its first entry."""
    mass, first = np.ones(1), 0
    for i in range(len(values)):
        binomial, skipped = _binomial(copies[i], tilt * values[i], negligible)
        mass, cut = _trimmed(_convolve(mass, binomial, values[i]), negligible)
        first += skipped * values[i] + cut
    return mass, first


@compiled
def _binomial(count: int, tilt: float, negligible: float) -> tuple[Array, int]:
    """How many of `count` signs are up, each with odds exp(2 tilt) to one: from the mode outwards.

    Returns:
        Probabilities, without ends that have less than `negligible` in all; the number that the
        first one is of.
    """
    down = math.exp(-2.0 * tilt)  # odds
    mode = min(count, int((count + 1) / (1.0 + down)))
    least = negligible / (count + 1)
    mass = np.zeros(count + 1)
    mass[mode] = 1.0
    low, high = mode, mode
    while low > 0 and mass[low] > least:
        mass[low - 1] = mass[low] * low / (count - low + 1) * down
        low -= 1
    while high < count and mass[high] > least:
        mass[high + 1] = mass[high] * (count - high) / (high + 1) / down
        high += 1
    kept = mass[low : high + 1]
    return kept / kept.sum(), low


@compiled
def _convolve(mass: Array, binomial: Array, step: int) -> Array:
    """Distribution of the sum of two counts, the second in units of `step`."""
    size = len(mass)
    result = np.zeros(size + step * (len(binomial) - 1))
    for b in range(len(binomial)):
        probability = binomial[b]
        shifted = result[b * step : b * step + size]
        for u in range(size):
            shifted[u] += probability * mass[u]
    return result


@compiled
def _trimmed(mass: Array, negligible: float) -> tuple[Array, int]:
    """Cut off ends of negligible mass, of about 1; also how many entries went at the start."""
    low, high = 0, len(mass) - 1
    lost = mass[low]
    while lost < negligible:
        low += 1
        lost += mass[low]
    lost = mass[high]
    while lost < negligible:
        high -= 1
        lost += mass[high]
    return mass[low : high + 1].copy(), low
