"""One set of scores, measured: every statistic of every metric, on all cells it shares."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sigtest.arrays import Array, Flags
from sigtest.meta_evaluation.question import MetricChoices
from sigtest.meta_evaluation.report import StatisticReport
from sigtest.meta_evaluation.scored import ScoredSet
from sigtest.meta_evaluation.statistics.measured import Measured
from sigtest.meta_evaluation.statistics.soft import Draws, soft_accuracies
from sigtest.meta_evaluation.statistics.spread import RESAMPLES, interval

FLIPS = 9_999  # at most, behind the p-values of soft accuracy
POOLED = ("accuracy", "soft_accuracy")  # statistics that have a value over several sets


@dataclass(frozen=True)
class Estimate:
    """One statistic of one metric.

    Attributes:
        value: NaN where it is not defined.
        n: What it is over.
        drawn: (B,) its values on bootstrap resamples; empty where there are none.
        units: How many units these are drawn from.
        epsilon: Largest gap that counts as a tie, where there is such.
    """

    value: float
    n: int
    drawn: Array
    units: int
    epsilon: float | None = None

    def report(self, alpha: float) -> StatisticReport:
        """As the report states it."""
        known = bool(np.isfinite(self.value))
        return StatisticReport(
            value=self.value if known else None,
            ci=interval(self.drawn, alpha, self.units) if known else None,
            n=self.n,
            epsilon=self.epsilon if known else None,
        )


def estimate(own: ScoredSet, measured: Measured) -> list[dict[str, Estimate]]:
    """For each metric of a set its statistics by name, in the order asked for."""
    choices = measured.choices
    found: list[dict[str, Estimate]] = [{} for _ in own.metrics]
    for shared in measured.own():
        for name, values in shared.values.items():
            drawn = shared.draws[name]
            for i, m in enumerate(shared.numbers):
                found[m][name] = Estimate(
                    value=float(values.values[i]),
                    n=int(values.n[i]),
                    drawn=np.empty(0) if drawn is None else drawn[i],
                    units=shared.units(values),
                    epsilon=None if values.epsilons is None else float(values.epsilons[i]),
                )
    if "soft_accuracy" in choices.statistics:
        for known, soft in zip(found, _soft(own, choices, measured.stream), strict=True):
            known["soft_accuracy"] = soft
    return [{name: known[name] for name in choices.statistics} for known in found]


def _soft(own: ScoredSet, choices: MetricChoices, stream: int) -> list[Estimate]:
    human, metrics = own.human_scores("segment"), own.metric_scores("segment")
    present: Flags = ~np.isnan(human) & ~np.isnan(metrics)
    draws = Draws(
        seed=choices.seed,
        stream=stream,
        flips=min(choices.resamples, FLIPS),
        resamples=min(choices.resamples, RESAMPLES),
    )
    given = [metric.better for metric in own.metrics]
    return [
        Estimate(soft.value, len(soft.gaps), soft.around, own.segments)
        for soft in soft_accuracies(human, metrics, present, given, draws)
    ]


def pooled(estimates: Sequence[Estimate]) -> Estimate:
    """One statistic over several sets: each counts by its number of pairs of systems."""
    known = [own for own in estimates if np.isfinite(own.value)]
    if not known:
        return Estimate(float("nan"), 0, np.empty(0), 0)
    shares = np.array([own.n for own in known], dtype=np.float64)
    total = float(shares.sum())
    drawn = np.empty(0)
    if all(len(own.drawn) for own in known):
        drawn = (shares[:, None] * np.array([own.drawn for own in known])).sum(axis=0) / total
    value = float((shares * np.array([own.value for own in known])).sum()) / total
    return Estimate(value, int(total), drawn, min(own.units for own in known))
