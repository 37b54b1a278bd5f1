"""One-sided tests of two samples and of pairs of scores; the interval of what was drawn."""

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from sigtest.arrays import Array, Counts, Flags
from sigtest.draws.product import fixed_point
from sigtest.draws.weights import swap_masks
from sigtest.significance.exact import subset_sums
from sigtest.significance.units import rank_differences, signed_rank_p
from sigtest.special import betainc, log_ndtr, ndtr

CONTINUITY = 0.5  # by how much a statistic of whole steps is moved towards its middle
EXACT_FLIPS = 20  # differences up to which all sign patterns are counted
TIED = 1e-12  # of the largest difference: sizes no further apart are tied
MEMORY = 32 << 20  # bytes of a block of differences, or of masks
ROWS = 256  # resamples at a time, where they fit
ROUNDING = 2.0**-48  # of the sum of all sizes: sums nearer than this are equal


class Tails(NamedTuple):
    """P-values of both one-sided claims.

    Attributes:
        statistic: What was computed: U, t, W, or a mean difference.
        greater: P-value of the claim that the first sample lies higher.
        less: P-value of the claim that it lies lower.
        log10: Decimal logarithm of the smaller one, exact where it is too small for a double.
        exact: Whether all sign patterns were counted.
    """

    statistic: float
    greater: float
    less: float
    log10: float
    exact: bool = False


def student(t: float, df: float) -> Tails:
    """From Student's t; both tails come from the incomplete beta function, so neither is rounded.

    An infinite t (differences that are all alike) has p-values 0 and 1.
    """
    if math.isnan(t):
        return Tails(0.0, 1.0, 1.0, 0.0)
    half = 0.0 if math.isinf(t) else 0.5 * float(betainc(df / 2, 0.5, df / (df + t * t)))
    greater, less = (half, 1.0 - half) if t > 0 else (1.0 - half, half)
    return Tails(t, greater, less, logarithm(half))


def logarithm(p: float) -> float:
    """Decimal logarithm of a p-value; of the smallest double where it is 0."""
    return math.log10(max(p, float(np.finfo(float).smallest_subnormal)))


def interval(draws: Array, alpha: float) -> tuple[float, float]:
    """Ends of the percentile interval at level 1 - alpha, by inverse-CDF quantiles."""
    low, high = np.quantile(draws, [alpha / 2, 1 - alpha / 2], method="inverted_cdf").tolist()
    return low, high


def rank_sum(x: Array, y: Array) -> Tails:
    """Wilcoxon's rank-sum test: does x lie higher than y? The statistic is U of x.

    Normal approximation with corrections for ties and continuity, as R's `wilcox.test` and the WMT
    organisers' scripts compute it (Graham, Mathur & Baldwin 2014, section 4).

    Args:
        x: (n,) scores, sorted, ties equal.
        y: (m,) scores, sorted, ties equal.
    """
    n, m = len(x), len(y)
    size = n + m
    first, last = (np.searchsorted(y, x, side=side) for side in ("left", "right"))
    u = 0.5 * float((first + last).sum())
    merged = np.sort(np.concatenate([x, y]), kind="stable")
    edges = np.flatnonzero(np.diff(merged, prepend=-math.inf, append=math.inf))
    tied = np.diff(edges).astype(float)
    ties = float((tied**3 - tied).sum()) / (size * (size - 1.0))
    variance = n * m / 12.0 * (size + 1.0 - ties)
    if variance <= 0:
        return Tails(u, 1.0, 1.0, 0.0)
    above, below = (
        (u - n * m / 2.0 + step) / math.sqrt(variance) for step in (-CONTINUITY, CONTINUITY)
    )
    log = min(float(log_ndtr(-above)), float(log_ndtr(below))) / math.log(10)
    return Tails(u, float(ndtr(-above)), float(ndtr(below)), log)


def welch(x: Array, y: Array) -> Tails:
    """Welch's t: is the mean of x greater than that of y? Satterthwaite's degrees of freedom."""
    own, other = x.var(ddof=1) / len(x), y.var(ddof=1) / len(y)
    spread = math.sqrt(own + other)
    difference = float(x.mean() - y.mean())
    if spread == 0:
        return student(math.copysign(math.inf, difference) if difference else math.nan, 1.0)
    df = (own + other) ** 2 / (own**2 / (len(x) - 1) + other**2 / (len(y) - 1))
    return student(difference / spread, float(df))


def paired_t(differences: Array) -> Tails:
    """Student's t of paired differences: is their mean greater than 0?

    Differences that are all alike leave no variance to hold them against: p is 1.
    """
    spread = float(differences.std(ddof=1))
    if spread == 0:
        return student(math.nan, 1.0)
    t = float(differences.mean()) / (spread / math.sqrt(len(differences)))
    return student(t, len(differences) - 1.0)


def signed_rank(differences: Array) -> Tails:
    """Wilcoxon's signed-rank test: do differences lie above 0? The statistic is the positive sum.

    Differences of 0 are left out. As in comparisons, the distribution is counted up to 500 others,
    and taken to be normal above.
    """
    slack = TIED * np.abs(differences).max(initial=0.0)
    ranks = rank_differences(differences, np.full(len(differences), slack))
    if not ranks.any():
        return Tails(0.0, 1.0, 1.0, 0.0)
    greater, less = signed_rank_p(ranks, "greater"), signed_rank_p(ranks, "less")
    statistic = float(ranks[ranks > 0].sum()) / 2
    return Tails(statistic, greater.p_value, less.p_value, min(greater.log10_p, less.log10_p))


def approximate_randomization(
    differences: Sequence[tuple[Counts, Array]], units: int, resamples: int, seed: int
) -> list[Tails]:
    """Would exchanging scores between two systems at random move the mean so far?

    One mask a resample serves all pairs. Where at most 20 units differ all patterns are counted.

    Args:
        differences: For each pair, the (m,) units both systems have, and a - b there.
        units: How many there are.
        resamples: R.
        seed: Of the recipe.

    Riezler & Maxwell (2005), Figure 1; p = (c + 1) / (R + 1).
    """
    width = max(1, MEMORY // (8 * max(units, 1)))
    return [
        tails
        for first in range(0, len(differences), width)
        for tails in _exchanged(differences[first : first + width], units, resamples, seed)
    ]


def _exchanged(
    differences: Sequence[tuple[Counts, Array]], units: int, resamples: int, seed: int
) -> Iterator[Tails]:
    table = np.zeros((units, len(differences)))
    for p, (places, given) in enumerate(differences):
        table[places, p] = given
    table = fixed_point(table)
    moved = np.count_nonzero(table, axis=0)
    exact = moved <= EXACT_FLIPS
    observed, slack = table.sum(axis=0), ROUNDING * np.abs(table).sum(axis=0)
    counts = np.tile(1 - exact, (2, 1))  # what was observed is among the patterns that are drawn

    def count(sums: Array, pairs: Flags | int) -> None:
        counts[0, pairs] += np.count_nonzero(sums >= (observed - slack)[pairs], axis=0)
        counts[1, pairs] += np.count_nonzero(sums <= (observed + slack)[pairs], axis=0)

    for p in np.flatnonzero(exact).tolist():
        halves = subset_sums(table[table[:, p] != 0, p][:, None])[0]
        count(2 * halves - observed[p], p)
    rows = max(1, min(ROWS, MEMORY // (8 * units)))
    for start in range(0, 0 if exact.all() else resamples, rows):
        kept = swap_masks(seed, start, min(start + rows, resamples), units)
        count(2.0 * (kept.astype(float) @ table[:, ~exact]) - observed[~exact], ~exact)
    tails = (counts / np.where(exact, 2 ** np.minimum(moved, EXACT_FLIPS), resamples + 1)).T
    for (_, given), (greater, less), whole in zip(differences, tails.tolist(), exact, strict=True):
        log = logarithm(min(greater, less))
        yield Tails(float(given.mean()), greater, less, log, bool(whole))
