"""Human and metric scores of the same systems, aligned: one set, of one pair of languages say."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sigtest.arrays import Array


@dataclass(frozen=True)
class MetricScores:
    """One metric's scores of the systems of a set; NaN where it has none.

    Attributes:
        label: What the report calls it.
        higher: Whether greater is better.
        system: (S,) scores of whole systems, or none.
        segment: (S, n) scores of segments, or none.
        better: (S, S) one-sided p-values of a significance test for the row's system being better
            than the column's by this metric; none where they are to come from segment scores.
    """

    label: str
    higher: bool
    system: Array | None
    segment: Array | None
    better: Array | None

    @property
    def sign(self) -> float:
        """1, or -1 for error rates: what turns a score so that greater is better."""
        return 1.0 if self.higher else -1.0


@dataclass(frozen=True)
class ScoredSet:
    """Validated when parsed; everything that follows may trust it.

    Attributes:
        name: Of the set; empty where there is only one.
        systems: Those that people judged, that some metric scores and that are not excluded, S, in
            the order of the human scores.
        human_system: (S,) human scores of whole systems, or none.
        human_segment: (S, n) human scores of segments, NaN where not judged, or none.
        metrics: In input order.
        ignored: Systems that a metric scores and people did not judge.
        unscored: Systems that people judged and no metric scores.
        excluded: Systems left out as the request says.
        notes: What the report should warn of.
        judgements: Signature of the human evaluation that the human scores come from, if any.
    """

    name: str
    systems: tuple[str, ...]
    human_system: Array | None
    human_segment: Array | None
    metrics: tuple[MetricScores, ...]
    ignored: tuple[str, ...] = ()
    unscored: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    judgements: str = ""

    @property
    def segments(self) -> int:
        """Segments that segment scores are over; 0 without any."""
        return 0 if self.human_segment is None else int(self.human_segment.shape[1])

    def human_scores(self, level: str) -> Array:
        """(S, n) human scores at a level, NaN where there are none; n is 1 for whole systems."""
        return self._table(self.human_system if level == "system" else self.human_segment, level)

    def metric_scores(self, level: str) -> Array:
        """(M, S, n) scores of the metrics at a level, turned so that greater is better."""
        tables = [
            metric.sign * self._table(metric.system if level == "system" else metric.segment, level)
            for metric in self.metrics
        ]
        return np.array(tables)

    def _table(self, scores: Array | None, level: str) -> Array:
        columns = 1 if level == "system" else self.segments
        if scores is None:
            return np.full((len(self.systems), columns), np.nan)
        return scores.reshape(len(self.systems), columns)
