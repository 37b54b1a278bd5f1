"""From the statistics of segments to those of units: what is exchanged, and what is drawn.

The bootstrap draws segments (or documents) with all replicas of all systems together. Exchanges
are made within each replica, so that their units are segments times replicas. Without replicas
the two are the same.
"""

from __future__ import annotations

import numpy as np

from sigtest.arrays import Array
from sigtest.comparison.plan import Part
from sigtest.draws.product import fixed_point
from sigtest.metrics import Metric

SMALLEST = 1e-300  # of what is divided by


def units_of_swaps(part: Part, table: Array) -> Array:
    """Statistics of what is exchanged, one replica after the other.

    Args:
        part: What is compared; m replicas of n segments in U units of resampling.
        table: (S, m n, k) statistics, from `measure`.

    Returns:
        (S, m U, k).
    """
    if part.recipe.unit == "segment":
        return table
    systems, rows, width = table.shape
    replica = np.arange(rows) // part.segments
    unit = replica * part.document_count + np.tile(part.document_index, part.replicas)
    summed = np.zeros((systems, part.replicas * part.document_count, width))
    for s in range(systems):
        np.add.at(summed[s], unit, table[s])
        summed[s] = fixed_point(summed[s])
    return summed


def segments_of_units(part: Part) -> int:
    """How many segments a unit has, at most."""
    return 1 if part.recipe.unit == "segment" else int(np.bincount(part.document_index).max())


def units_of_draws(part: Part, swapped: Array) -> Array:
    """(S, m U, k) statistics of what is exchanged to (S, U, k) of what the bootstrap draws.

    Sums of fixed-point numbers: U draws of m numbers each stay exact without another rounding.
    """
    return swapped if part.replicas == 1 else by_replica(part, swapped).sum(axis=1)


def evenness(part: Part, metric: Metric, table: Array) -> Array:
    """(S,) how many units of equal weight say as much as one unit does, from (S, U, k) statistics.

    The weight of a unit is its denominator where scores are ratios, else its number of segments;
    within strata. It is 1 where weights are equal: Kish (1965), "Survey Sampling", section 11.7.
    """
    weights = np.ones(table.shape[:2])
    if metric.fraction is not None:
        weights = table[:, :, metric.fraction.denominator]
    elif part.recipe.unit == "document":
        weights = weights * np.bincount(part.document_index)
    strata = part.strata if part.labels is not None else np.zeros(part.units, dtype=np.int64)
    shares = np.zeros(len(weights))
    for stratum in range(int(strata.max()) + 1):
        inside = weights[:, strata == stratum]
        most = np.maximum(inside.max(axis=1, keepdims=True), SMALLEST)
        inside = inside / most  # ones where all are equal, whose sums are exact
        shares += inside.sum(axis=1) ** 2 / np.maximum((inside**2).sum(axis=1), SMALLEST)
    return shares / part.units


def known_means(metric: Metric, observed: Array, even_a: Array, even_b: Array) -> Array:
    """(P,) means of what bootstrap differences are drawn from; NaN where these are not known.

    Those of means of units of equal weight are the observed differences.

    Args:
        metric: Whose scores differ.
        observed: (P,) differences.
        even_a: (P,) `evenness` of the first systems.
        even_b: (P,) that of the second ones.
    """
    known = (metric.fraction is not None) & (even_a == 1) & (even_b == 1)
    return np.where(known, observed, np.nan)


def replica_scores(part: Part, metric: Metric, swapped: Array) -> Array:
    """(S, m) score of each replica on the whole test set, from (S, m U, k) statistics."""
    return metric.score(by_replica(part, swapped).sum(axis=2))


def by_replica(part: Part, table: Array) -> Array:
    """(S, m n, k) to (S, m, n, k)."""
    systems, rows, width = table.shape
    return table.reshape(systems, part.replicas, rows // part.replicas, width)
