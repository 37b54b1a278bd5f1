"""Pearson's r as a metric over cells: what people and a metric say of one system's segment."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sigtest.arrays import Array
from sigtest.compiled import compiled
from sigtest.data.testset import System, TestSet
from sigtest.metrics.base import Metric


@dataclass(frozen=True)
class Pearson(Metric):
    """Correlation with people, from six numbers a cell that may be added.

    The two "systems" of a comparison are two metrics, its "segments" are the cells. With m the
    metric's score and h the human one, a cell is (1, m, m^2, m h, h, h^2); the last two and the
    first are the same for all metrics, so that exchanging cells of two metrics exchanges the
    other three: PERM-BOTH of Deutsch, Dror & Roth (2021) is approximate randomization.

    Attributes:
        of: Which scores of a metric to take, (n, 2) numbers m and h: `pearson`, or `spearman`
            where they are ranks.
    """

    name = "pearson"

    of: str = "pearson"

    @property
    def label(self) -> str:
        return self.of

    @property
    def width(self) -> int:
        return 6

    @property
    def implementation(self) -> str:
        return "supplied"

    def statistics(self, testset: TestSet, system: System) -> Array:
        m, h = system.scores[self.of].T
        return np.stack([np.ones_like(m), m, m * m, m * h, h, h * h], axis=1)

    def formula(self, sums: Array) -> Array:
        return _correlations(sums)


@compiled
def _correlations(sums: Array) -> Array:
    """One correlation a column; 0 where a vector does not vary."""
    found = np.empty(sums.shape[1])
    for i in range(len(found)):
        n, m, mm, mh, h, hh = sums[:, i]
        spread = (n * mm - m * m) * (n * hh - h * h)
        found[i] = (n * mh - m * h) / np.sqrt(spread) if spread > 0.0 else 0.0
    return found
