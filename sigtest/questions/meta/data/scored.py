"""Human and metric scores of the same systems, aligned: one set, of one pair of languages say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

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
    better: Array | None = None

    @property
    def sign(self) -> float:
        """1, or -1 for error rates: what turns a score so that greater is better."""
        return 1.0 if self.higher else -1.0


@dataclass(frozen=True)
class ScoredSet:
    """Validated when parsed; everything that follows may trust it.

    Attributes:
        name: Of the set; empty where there is only one.
        systems: Those that people judged and that are not excluded, S, in the order of the human
            scores.
        human_system: (S,) human scores of whole systems, or none.
        human_segment: (S, n) human scores of segments, NaN where not judged, or none.
        metrics: In input order.
        ignored: Systems that a metric scores and people did not judge.
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

    def as_json(self) -> dict[str, Any]:
        """A JSON object that `load` turns into this set."""
        return {
            "name": self.name,
            "systems": list(self.systems),
            "human": {"system": _listed(self.human_system), "segment": _listed(self.human_segment)},
            "metrics": [
                {
                    "label": metric.label,
                    "higher": metric.higher,
                    "system": _listed(metric.system),
                    "segment": _listed(metric.segment),
                    "better": _listed(metric.better),
                }
                for metric in self.metrics
            ],
            "ignored": list(self.ignored),
            "excluded": list(self.excluded),
            "notes": list(self.notes),
            "judgements": self.judgements,
        }

    @classmethod
    def load(cls, stored: Mapping[str, Any]) -> ScoredSet:
        """The set that `as_json` wrote."""
        return cls(
            name=stored["name"],
            systems=tuple(stored["systems"]),
            human_system=_array(stored["human"]["system"]),
            human_segment=_array(stored["human"]["segment"]),
            metrics=tuple(
                MetricScores(
                    label=metric["label"],
                    higher=metric["higher"],
                    system=_array(metric["system"]),
                    segment=_array(metric["segment"]),
                    better=_array(metric["better"]),
                )
                for metric in stored["metrics"]
            ),
            ignored=tuple(stored["ignored"]),
            excluded=tuple(stored["excluded"]),
            notes=tuple(stored["notes"]),
            judgements=stored["judgements"],
        )


def _listed(scores: Array | None) -> list[Any] | None:
    """As JSON, which has no NaN: null for a missing score."""
    if scores is None:
        return None
    rows = scores.tolist()
    if not np.isnan(scores).any():
        return rows
    if scores.ndim == 1:
        return [_known(value) for value in rows]
    return [[_known(value) for value in row] for row in rows]


def _known(value: float) -> float | None:
    return None if value != value else value


def _array(rows: Sequence[Any] | None) -> Array | None:
    return None if rows is None else np.array(rows, dtype=np.float64)
