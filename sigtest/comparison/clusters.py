"""Standard errors of means over items that come in clusters: what leaderboards of models print."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sigtest.arrays import Array, Counts
from sigtest.data.testset import System, TestSet
from sigtest.metrics.labels import Accuracy
from sigtest.metrics.scores import Scores
from sigtest.requests.recipe import Recipe


@dataclass(frozen=True)
class ClusteredError:
    """How exact a mean of one system is.

    Attributes:
        system: Whose.
        metric: Label of the metric.
        stderr: See `clustered_error`.
    """

    system: str
    metric: str
    stderr: float


def errors_of(
    testset: TestSet, system: System, recipe: Recipe, cluster: Counts
) -> dict[str, float]:
    """Those of all means of a system, where clusters (documents) are the unit, two or more.

    Strata and several training runs have another variance; there are none for these.

    Args:
        testset: With the documents.
        system: One of those that are compared.
        recipe: How.
        cluster: (n,) number of each segment's cluster, from 0.

    Returns:
        Standard errors by the labels of metrics.
    """
    several = len(system.runs) > 1
    if recipe.unit != "document" or recipe.stratified or several or not cluster.any():
        return {}
    return {
        label: clustered_error(table[:, 0], table[:, 1], cluster)
        for label, metric in zip(recipe.labels, recipe.metrics, strict=True)
        if isinstance(metric, Accuracy | Scores)
        for table in [metric.statistics(testset, system.runs[0])]
        if table[:, 1].any()
    }


def clustered_error(values: Array, weights: Array, cluster: Counts) -> float:
    """Standard error of the mean of values that are alike within clusters (Liang and Zeger, 1986).

    The square root of G / (G - 1) times the sum over G clusters of the squared sums of residuals,
    over the sum of weights: of statsmodels the clustered covariance of a regression on a constant,
    of Inspect `stderr(cluster=...)`. Miller (2024), appendix A.

    Args:
        values: (n,) times their weights.
        weights: (n,) mostly ones.
        cluster: (n,) numbers of their clusters, from 0.
    """
    total = weights.sum()
    residuals = values - values.sum() / total * weights
    sums = np.bincount(cluster, residuals)
    return float(np.sqrt((sums**2).sum() * len(sums) / (len(sums) - 1)) / total)
