"""Rank clusters and rank ranges from a table of decisions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sigtest.arrays import Array, Flags


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
    clusters = np.empty(size, dtype=np.int64)
    cluster = 1
    for place, system in enumerate(order):
        if place and sorted_beats[:place, place:].all():
            cluster += 1
        clusters[system] = cluster
    better = beats.sum(axis=0)
    worse = beats.sum(axis=1)
    return [Rank(int(clusters[s]), int(1 + better[s]), int(size - worse[s])) for s in range(size)]
