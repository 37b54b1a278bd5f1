"""The bootstraps simulated a second time, by compiled plain loops that share nothing.

Segments are drawn one by one with a Mersenne Twister, sums are added up one by one in float64, and
the papers' figures are loops over resamples. Only the metrics' formulas are sigtest's (part 2
checks those). Rates of the product must agree with rates of these loops.
"""

from __future__ import annotations

import numpy as np

from sigtest.arrays import Array, Counts
from sigtest.compiled import compiled
from validation.nulls import exchanged
from validation.populations import Population

# columns of `counts`: the same cells as those of the product's bootstraps
LOOP_CELLS: tuple[tuple[str, str, int], ...] = (
    ("bootstrap", "two-sided", 1),
    ("bootstrap", "greater", 1),
    ("bootstrap", "less", 1),
    ("paired_bootstrap", "two-sided", 2),
    ("paired_bootstrap", "greater", 1),
    ("paired_bootstrap", "less", 1),
    ("riezler_maxwell_bootstrap", "two-sided", 1),
)
SLACK = 1e-9


def loop_p_values(
    population: Population, n: int, resamples: int, rng: np.random.Generator
) -> Array:
    """(M, 7) p-values of one simulated null comparison, by `LOOP_CELLS`."""
    tables = exchanged(population, n, rng)
    rows = np.concatenate([table[s] for table in tables for s in (0, 1)], axis=1)
    sums = add_up(int(rng.integers(2**32)), np.ascontiguousarray(rows), resamples)
    observed = rows.sum(axis=0)
    p = np.empty((len(tables), len(LOOP_CELLS)))
    start = 0
    for m, metric in enumerate(population.metrics):
        k = metric.width
        sign = 1.0 if metric.higher_is_better else -1.0
        x, y = sums[:, start : start + k], sums[:, start + k : start + 2 * k]
        score_x = float(metric.score(observed[start : start + k]))
        score_y = float(metric.score(observed[start + k : start + 2 * k]))
        start += 2 * k
        slack = SLACK * max(abs(score_x), abs(score_y))
        difference = sign * (score_x - score_y)
        level = (
            metric.fraction is not None
            and not np.ptp(
                rows[:, [c + metric.fraction.denominator for c in (start - 2 * k, start - k)]],
                axis=0,
            ).any()
        )
        tau = difference if level else np.nan
        counts = count(sign * (metric.score(x) - metric.score(y)), difference, slack, tau)
        for c, (_, _, sides) in enumerate(LOOP_CELLS):
            p[m, c] = min(1.0, sides * (counts[c] + 1) / (resamples + 1))
    return p


@compiled
def add_up(seed: int, rows: Array, resamples: int) -> Array:
    """(R, K) sums of n rows drawn with replacement from (n, K) `rows`, one by one."""
    np.random.seed(seed)
    n, width = rows.shape
    sums = np.zeros((resamples, width))
    for r in range(resamples):
        for _ in range(n):
            i = np.random.randint(0, n)
            for k in range(width):
                sums[r, k] += rows[i, k]
    return sums


@compiled
def count(differences: Array, observed: float, slack: float, tau: float) -> Counts:
    """Counts by `LOOP_CELLS`; the figures are named in `textbook`; tau is NaN where not known."""
    resamples = len(differences)
    mean = 0.0
    tau_of_lengths = 0.0
    for r in range(resamples):
        mean += differences[r]
        tau_of_lengths += abs(differences[r])
    tau = mean / resamples if np.isnan(tau) else tau
    tau_of_lengths /= resamples
    counts = np.zeros(7, dtype=np.int64)
    for r in range(resamples):
        difference = differences[r]
        if abs(difference - tau) >= abs(observed) - slack:
            counts[0] += 1
        if difference - tau >= observed - slack:
            counts[1] += 1
        if difference - tau <= observed + slack:
            counts[2] += 1
        if difference <= slack:
            counts[4] += 1
        if difference >= -slack:
            counts[5] += 1
        if abs(difference) - tau_of_lengths >= abs(observed) - slack:
            counts[6] += 1
    counts[3] = min(counts[4], counts[5])
    return counts
