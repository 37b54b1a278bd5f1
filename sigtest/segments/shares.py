"""Each segment's share of the difference between two systems.

A score is a function of sums. On the straight way from the sums of b to those of a it changes by
the whole difference, and at each point of the way each segment pushes it by the gradient times what
the segment adds. The share of a segment is the mean of its pushes (Aumann & Shapley 1974, "Values
of Non-Atomic Games"; as integrated gradients, Sundararajan, Taly & Yan 2017). Shares sum to the
difference whatever the metric; where scores are means they are plain differences over n.
"""

from __future__ import annotations

import numpy as np

from sigtest.arrays import Array
from sigtest.metrics import Metric

METHOD = "Aumann-Shapley"
POINTS = 32  # of the way, at which gradients are taken (Gauss and Legendre)
STEP = 1e-5  # of a sum, for its gradient


def segment_shares(metric: Metric, table: Array, replicas: int = 1) -> Array:
    """Shares of the difference score(a) - score(b), which they sum to.

    Args:
        metric: The metric.
        table: (2, m n, k) statistics of a and b; segments of one replica after those of another.
        replicas: m.

    Returns:
        (n,) shares in units of the metric, not oriented; those of all replicas together.
    """
    sums = table.sum(axis=1)
    score_a, score_b = metric.score(sums)
    difference = float(score_a - score_b)
    slopes = _exact_slopes(metric, sums)
    if slopes is None:
        slopes = _mean_gradient(metric, sums)
    moved = (table[0] - table[1]).reshape(replicas, -1, table.shape[2]).sum(axis=0)
    return _summing_to(difference, moved @ slopes, moved, sums)


def _exact_slopes(metric: Metric, sums: Array) -> Array | None:
    """Slopes of a score that is linear between a and b: a fraction over one denominator."""
    if metric.fraction is None:
        return None
    top, bottom = metric.fraction.numerator, metric.fraction.denominator
    if sums[0, bottom] != sums[1, bottom]:
        return None
    further = sums.copy()
    if sums[0, top] == sums[1, top]:
        further[1, top] += 1.0
    rise = metric.score(further[0]) - metric.score(further[1])
    slopes = np.zeros(sums.shape[1])
    slopes[top] = rise / (further[0, top] - further[1, top])
    return slopes


def _mean_gradient(metric: Metric, sums: Array) -> Array:
    """(k,) the gradient of the score, averaged over the way from b to a."""
    nodes, weights = np.polynomial.legendre.leggauss(POINTS)
    way = sums[1] + np.outer((nodes + 1) / 2, sums[0] - sums[1])  # (Q, k)
    steps = STEP * np.maximum(np.abs(sums).max(axis=0), 1.0)
    aside = np.diag(steps)
    ahead = way[:, None, :] + aside  # (Q, k, k): each sum in turn a step further
    behind = np.where(way[:, None, :] >= aside, way[:, None, :] - aside, way[:, None, :])
    width = np.einsum("qjj->qj", ahead - behind)
    gradients = (metric.score(ahead) - metric.score(behind)) / width
    return np.nan_to_num(weights / 2 @ gradients)


def _summing_to(difference: float, shares: Array, moved: Array, sums: Array) -> Array:
    """Shares with what gradients miss: a jump where sums leave 0, or rounding, spread by size.

    Where a system has no match of one length, its smoothed BLEU is no limit of those near it: the
    jump is of the segments with such matches, in equal parts for each length.
    """
    opens = (sums == 0).any(axis=0) & (sums != 0).any(axis=0)
    if opens.any():
        parts = moved[:, opens] / moved[:, opens].sum(axis=0)
        return np.asarray(shares + (difference - float(shares.sum())) * parts.mean(axis=1))
    weight = np.abs(shares)
    total = float(weight.sum())
    if total == 0:
        return shares
    return np.asarray(shares + (difference - float(shares.sum())) * weight / total)
