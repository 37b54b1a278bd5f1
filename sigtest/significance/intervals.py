"""How sure numbers are: intervals of scores and of p-values, heavy tails, ties, ranks."""

import math
from dataclasses import dataclass

import numpy as np

from sigtest.arrays import Array, Counts, Flags
from sigtest.bounds import FAR
from sigtest.compiled import COMPILED, compiled
from sigtest.significance import Alternative
from sigtest.special import betaincinv, ndtri

BINS = 1024


def percentile_interval(draws: Array, alpha: float) -> tuple[Array, Array]:
    """Ends of the intervals at level 1 - alpha: (P, R) to (P,) and (P,).

    Inverse-CDF quantiles: the smallest draw that at least that share of the draws do not exceed
    (Hyndman & Fan 1996, definition 1).
    """
    size = draws.shape[1]
    low, high = (
        min(max(math.ceil(round(q * size, 9)) - 1, 0), size - 1) for q in (alpha / 2, 1 - alpha / 2)
    )
    if COMPILED:
        return _order_statistics(draws, low, high)
    ordered = np.partition(draws, (low, high), axis=1)
    return ordered[:, low], ordered[:, high]


def bootstrap_t_interval(
    observed: Array, errors: Array, values: Array, tails: Array, alpha: float
) -> tuple[Array, Array]:
    """Ends of the intervals at level 1 - alpha, from studentised draws (Hall 1988).

    Args:
        observed: (N,) what was observed.
        errors: (N,) its standard errors.
        values: (N, R) how far each resample lies from it, in standard errors of the resample.
        tails: (N,) how heavy those of the units are, from `heaviness`.
        alpha: One minus the level.

    Returns:
        Ends, (N,) and (N,); infinite on a side where so many resamples do not vary.
    """
    low, high = percentile_interval(values, alpha)
    return _end(observed, errors, high, tails), _end(observed, errors, low, tails)


def _end(observed: Array, errors: Array, quantile: Array, tails: Array) -> Array:
    far = np.abs(quantile) >= FAR
    end = observed - errors * moved_out(np.where(far, 0.0, quantile), tails)
    return np.where(far, -np.copysign(np.inf, quantile), end)


def skewness(draws: Array) -> Array:
    """Third standardised moment, (P, R) to (P,); 0 where draws hardly vary.

    Of a mean's bootstrap draws it is the skewness of units over the square root of their number.
    """
    return _skewness(np.ascontiguousarray(draws))


def standard_deviation(draws: Array) -> Array:
    """With R - 1, (P, R) to (P,); 0 for a single resample."""
    return np.std(draws, axis=1, ddof=min(1, draws.shape[1] - 1))


@compiled
def _skewness(draws: Array) -> Array:
    found = np.zeros(draws.shape[0])
    for p in range(draws.shape[0]):
        row = draws[p]
        total, most = 0.0, 0.0
        for r in range(len(row)):
            total += row[r]
        middle = total / len(row)
        second, third = 0.0, 0.0
        for r in range(len(row)):
            moved = row[r] - middle
            most = max(most, abs(row[r]))
            second += moved * moved
            third += moved * moved * moved
        variance = second / len(row)
        if variance > (1e-9 * most) ** 2:
            found[p] = third / len(row) / variance**1.5
    return found


@compiled
def _order_statistics(draws: Array, low: int, high: int) -> tuple[Array, Array]:
    """The values at two places of each sorted row, without sorting it.

    A histogram says in which bin each place lies; only the values in that bin are sorted.
    """
    rows = draws.shape[0]
    lows, highs = np.empty(rows), np.empty(rows)
    bins = np.empty(draws.shape[1], np.int64)
    counts = np.empty(BINS, np.int64)
    for p in range(rows):
        row = draws[p]
        least, most = row[0], row[0]
        for r in range(len(row)):
            least, most = min(least, row[r]), max(most, row[r])
        scale = (BINS - 1) / (most - least)
        if not math.isfinite(scale):  # all alike, or too near or too far for bins
            ordered = np.sort(row)
            lows[p], highs[p] = ordered[low], ordered[high]
            continue
        for r in range(len(row)):
            bins[r] = np.int64((row[r] - least) * scale)
        counts[:] = 0
        for r in range(len(row)):
            counts[bins[r]] += 1
        lows[p] = _in_bins(row, bins, counts, low)
        highs[p] = _in_bins(row, bins, counts, high)
    return lows, highs


@compiled
def _in_bins(row: Array, bins: Counts, counts: Counts, place: int) -> float:
    below, bin_ = 0, 0
    while below + counts[bin_] <= place:
        below += counts[bin_]
        bin_ += 1
    members = np.empty(counts[bin_])
    found = 0
    for r in range(len(row)):
        if bins[r] == bin_:
            members[found] = row[r]
            found += 1
    return np.sort(members)[place - below]


def wilson_interval(
    successes: Array, trials: Array | Counts | int, alpha: Array | float
) -> tuple[Array, Array]:
    """Ends of the intervals of (N,) proportions at level 1 - alpha, right near 0 and 1, too.

    Wilson (1927), "Probable Inference, the Law of Succession, and Statistical Inference".
    """
    z = ndtri(1 - alpha / 2)
    middle = (successes + z * z / 2) / (trials + z * z)
    spread = np.sqrt(successes * (trials - successes) / trials + z * z / 4)
    half = z * spread / (trials + z * z)
    return np.maximum(0.0, middle - half), np.minimum(1.0, middle + half)


def bonett_price_interval(
    ahead: Array, unlike: Array | Counts, trials: Array | int, alpha: Array | float
) -> tuple[Array, Array]:
    """Ends of the intervals of (N,) differences of two proportions of the same trials.

    Wald's interval after one trial more was added to each of the two ways to differ, and two to
    all: Bonett & Price (2012), "Adjusted Wald Confidence Interval for a Difference of Binomial
    Proportions Based on Paired Data", equation 6.

    Args:
        ahead: How many trials more the first one won.
        unlike: Trials that only one of the two won.
        trials: All of them.
        alpha: One minus the level.
    """
    middle = ahead / (trials + 2)
    variance = ((unlike + 2) / (trials + 2) - middle**2) / (trials + 2)
    half = ndtri(1 - alpha / 2) * np.sqrt(variance)
    return np.maximum(-1.0, middle - half), np.minimum(1.0, middle + half)


def newcombe_interval(first: Array, second: Array) -> tuple[Array, Array]:
    """Ends of the intervals of (N,) differences of two proportions of different trials.

    Newcombe (1998), "Interval Estimation for the Difference between Independent Proportions:
    Comparison of Eleven Methods", method 10. Against a known proportion, both of whose ends are
    itself, they are those of the first one less it.

    Args:
        first: (3, N) proportions and both ends of their Wilson intervals.
        second: (3, N) those that are subtracted.
    """
    (p, low, high), (q, below, above) = first, second
    # below a level of 0 the ends have changed sides
    down = np.copysign(np.hypot(p - low, above - q), p - low + above - q)
    up = np.copysign(np.hypot(high - p, q - below), high - p + q - below)
    return p - q - down, p - q + up


LEVEL = 0.95


def p_value(count: Counts, resamples: int, sides: int = 1) -> Array:
    """(c + 1) / (R + 1), never 0: Phipson & Smyth (2010), equation 2."""
    return np.minimum(1.0, sides * (count + 1) / (resamples + 1))


def p_interval(count: Counts, resamples: int, sides: int = 1) -> tuple[Array, Array]:
    """Clopper-Pearson interval, at 95 %, of the p-value that infinitely many resamples would give.

    Args:
        count: (P,) or (3, P) counts: where the centre of the draws is an estimate, also those at
            both ends of its interval.
        resamples: R.
        sides: How many times a count's p-value is taken.

    Returns:
        (P,) lower and upper ends, at most 1.
    """
    counts = np.atleast_2d(count)
    low, _ = clopper_pearson(counts.min(axis=0), resamples, LEVEL)
    _, high = clopper_pearson(counts.max(axis=0), resamples, LEVEL)
    return np.minimum(1.0, sides * low), np.minimum(1.0, sides * high)


def clopper_pearson(
    count: Array | Counts, trials: Array | int, level: Array | float
) -> tuple[Array, Array]:
    """Exact binomial confidence interval (Clopper & Pearson 1934), from beta quantiles."""
    tail = (1.0 - level) / 2.0
    c = np.asarray(count, np.float64)
    with np.errstate(invalid="ignore"):
        low = np.where(c > 0, betaincinv(c, trials - c + 1, tail), 0.0)
        high = np.where(c < trials, betaincinv(c + 1, trials - c, 1.0 - tail), 1.0)
    return low, high


NOTHING = 1e-12  # a variance below this share of the mean square is rounding
NEAR = 1e90  # its cube is a number
LEAST_UNITS = 4


def heaviness(values: Array, strata: Counts) -> Array:
    """Kurtosis - 1.5 skewness^2 of means of units, which may be stratified; at least 0.

    Times (1 + 2 z^2) z phi(z) / 6 it is by how much a one-sided bootstrap-t test of a mean exceeds
    its level, to second order: Hall (1988), "Theoretical Comparison of Bootstrap Confidence
    Intervals". Of n units of one stratum it is their own kurtosis and skewness over n; of several
    the cumulants of each are summed, since strata that vary unlike each other have no heavy tails
    for that. Its bias is taken off by the jackknife (Jones 1974). Where it is negative the test
    keeps its level, and where one unit holds all the variance nothing is known of it: 0.

    Args:
        values: (N, n) a row of units for each mean.
        strata: (n,) number of each unit's stratum, from 0; none is empty.
    """
    return np.array([_heaviness(row, strata) for row in values])


def _heaviness(row: Array, strata: Counts) -> float:
    """Of one row of n values."""
    most = float(np.abs(row).max(initial=0.0))
    if len(row) < LEAST_UNITS or most == 0:
        return 0.0
    first = row / most
    second = first * first
    powers = np.stack([first, second, second * first, second * second])
    units = np.bincount(strata).astype(np.float64)
    sums = np.stack([np.bincount(strata, power) for power in powers])
    each = _cumulants(sums / units, units)
    total = each.sum(axis=1, keepdims=True)
    left = units[strata] - 1
    less = _cumulants((sums[:, strata] - powers) / np.maximum(left, 1.0), units[strata])
    least = NOTHING * float(total[0, 0])
    whole = float(_excess(total, least)[0])
    without = _excess(total - each[:, strata] + less, least)
    found = whole - float(((without - whole) * left / units[strata]).sum())
    return max(found, 0.0) if math.isfinite(found) else 0.0


def _cumulants(moments: Array, units: Array) -> Array:
    """Second to fourth cumulant of sums of so many units each, (4, m) raw moments to (3, m)."""
    first, second, third, fourth = moments
    two = second - first**2
    three = third - 3 * first * second + 2 * first**3
    four = fourth - 4 * first * third + 6 * first**2 * second - 3 * first**4
    found: Array = units * np.stack([two, three, four - 3 * two**2])
    return np.where(two > NOTHING * second, found, 0.0)


def _excess(cumulants: Array, least: float) -> Array:
    """Kurtosis minus 1.5 skewness^2, (3, m) to (m,); NaN where no variance above `least` is."""
    two, three, four = cumulants
    two = np.where(two > least, two, np.nan)
    found: Array = four / two**2 - 1.5 * three**2 / two**3
    return found


def drawn_in(t: Array, tails: Array, alternative: Alternative) -> Array:
    """What one-sided claims hold against the resamples: the inverse of `moved_out`.

    Two-sided ones need nothing: over both sides the errors cancel.

    Args:
        t: (N,) what was observed, in standard errors.
        tails: (N,) from `heaviness`.
        alternative: The claim.
    """
    if alternative == "two-sided":
        return t
    heavy = (tails > 0) & np.isfinite(t)
    # the only root of the cubic tails / 3 x^3 + (1 + tails / 6) x = t
    cubic, linear = np.where(heavy, tails / 3, 1.0), 1 + tails / 6
    scale = 2 * np.sqrt(linear / (3 * cubic))
    known = np.where(heavy, t, 0.0)
    root = scale * np.sinh(np.arcsinh(3 * known / (scale * linear)) / 3)
    return np.where(heavy, root, t)


def moved_out(ends: Array, tails: Array) -> Array:
    """Quantiles of studentised draws, as far out as heavy tails ask for; `ends` and `tails` (N,).

    A test holds x against draws t where t + tails (t + 2 t^3) / 6 is held against x.
    """
    near = np.clip(ends, -NEAR, NEAR)
    return ends + tails * (near + 2 * near**3) / 6


ROUNDING = 1e-13  # difference over largest size, below which only rounding tells numbers apart
DIGITS = 15


def with_ties(x: Array, largest: float) -> Array:
    """Numbers that only rounding tells apart made equal: to the greatest of them.

    So that means or differences that tie in decimals are tied, however they were computed.

    Args:
        x: (N,) numbers.
        largest: Size of the largest number that they were computed from.
    """
    order = np.argsort(x, kind="stable")
    closes = np.flatnonzero(np.diff(x[order], append=math.inf) > ROUNDING * largest)
    made = np.empty_like(x)
    made[order] = x[order][np.repeat(closes, np.diff(closes, prepend=-1))]
    return made


def as_printed(scores: Array) -> Array:
    """Scores with 15 significant digits.

    R writes the means that the organisers' tests read that way: with more digits or fewer, ties
    come or go, and published p-values are missed by half a percent.
    """
    return np.array([float(f"{score:.{DIGITS}g}") for score in scores.tolist()], np.float64)


@dataclass(frozen=True)
class Rank:
    """Where a system stands for one metric and test.

    Attributes:
        cluster: 1-based cluster, 1 the best.
        lowest: 1 + number of systems significantly better.
        highest: number of systems - number significantly worse.
    """

    cluster: int
    lowest: int
    highest: int


def rank(scores: Array, beats: Flags) -> list[Rank]:
    """Clusters as WMT publishes them: a line where everyone above beats everyone below.

    Args:
        scores: (S,) oriented scores, greater being better.
        beats: (S, S) whether the row's system is significantly better than the column's.

    Returns:
        One rank a system, in the order of the systems.
    """
    size = len(scores)
    order = np.argsort(-scores, kind="stable")
    sorted_beats = beats[np.ix_(order, order)]
    clusters = np.empty(size, np.int64)
    cluster = 1
    for place, system in enumerate(order):
        if place and sorted_beats[:place, place:].all():
            cluster += 1
        clusters[system] = cluster
    better = beats.sum(axis=0)
    worse = beats.sum(axis=1)
    return [Rank(int(clusters[s]), int(1 + better[s]), int(size - worse[s])) for s in range(size)]
