"""From the statistics of segments to those of units: what is exchanged, and what is drawn.

The bootstrap draws segments (or documents) with all replicas of all systems together. Exchanges
are made within each replica, so that their units are segments times replicas. Without replicas
the two are the same.
"""

from __future__ import annotations

import numpy as np

from sigtest.arrays import Array
from sigtest.comparison.plan import Plan
from sigtest.draws.product import fixed_point
from sigtest.metrics import Metric


def units_of_swaps(plan: Plan, table: Array) -> Array:
    """Statistics of what is exchanged, one replica after the other.

    Args:
        plan: What is compared; m replicas of n segments in U units of resampling.
        table: (S, m n, k) statistics, from `measure`.

    Returns:
        (S, m U, k).
    """
    if plan.recipe.unit == "segment":
        return table
    systems, rows, width = table.shape
    replica = np.arange(rows) // plan.segments
    unit = replica * plan.document_count + np.tile(plan.document_index, plan.replicas)
    summed = np.zeros((systems, plan.replicas * plan.document_count, width))
    for s in range(systems):
        np.add.at(summed[s], unit, table[s])
        summed[s] = fixed_point(summed[s])
    return summed


def units_of_draws(plan: Plan, swapped: Array) -> Array:
    """(S, m U, k) statistics of what is exchanged to (S, U, k) of what the bootstrap draws.

    Sums of fixed-point numbers: U draws of m numbers each stay exact without another rounding.
    """
    return swapped if plan.replicas == 1 else by_replica(plan, swapped).sum(axis=1)


def replica_scores(plan: Plan, metric: Metric, swapped: Array) -> Array:
    """(S, m) score of each replica on the whole test set, from (S, m U, k) statistics."""
    return metric.score(by_replica(plan, swapped).sum(axis=2))


def by_replica(plan: Plan, table: Array) -> Array:
    """(S, m n, k) to (S, m, n, k)."""
    systems, rows, width = table.shape
    return table.reshape(systems, plan.replicas, rows // plan.replicas, width)
