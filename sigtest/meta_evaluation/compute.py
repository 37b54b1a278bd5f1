"""From what is asked about metrics to the report: a function of scores and choices alone."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np

from sigtest.meta_evaluation.methods import sentences
from sigtest.meta_evaluation.question import MetricChoices, MetricQuestion
from sigtest.meta_evaluation.report import (
    MetaReport,
    MetricEvaluation,
    MetricPair,
    Place,
    ScoredSystem,
    SetReport,
)
from sigtest.meta_evaluation.scored import MetricScores, ScoredSet
from sigtest.meta_evaluation.significance.chance import Compared
from sigtest.meta_evaluation.significance.compare import compare_metrics
from sigtest.meta_evaluation.significance.decide import Decision, beating, decide, ranks
from sigtest.meta_evaluation.statistics.evaluation import POOLED, Estimate, estimate, pooled
from sigtest.meta_evaluation.statistics.measured import Measured
from sigtest.meta_evaluation.statistics.values import ScoreTable
from sigtest.meta_evaluation.warnings import cautions
from sigtest.progress import Progress, silent
from sigtest.report.methods import with_methods

Ranks = dict[int, dict[str, dict[str, Place]]]


@dataclass(frozen=True)
class Evaluated:
    """One set, measured and compared, before any correction.

    Attributes:
        own: The set.
        estimates: For each metric its statistics by name.
        compared: Pairs of its metrics, by statistic, test and pair.
    """

    own: ScoredSet
    estimates: list[dict[str, Estimate]]
    compared: list[Compared]


@dataclass(frozen=True)
class Family:
    """All pairs of one statistic and test, which are corrected together.

    Attributes:
        statistic: Its name.
        test: Its name.
        pairs: Pairs of all sets, one set after the other, with the number of the set.
    """

    statistic: str
    test: str
    pairs: list[tuple[int, Compared]]

    @property
    def rows(self) -> list[Compared]:
        """Pairs of all sets."""
        return [row for _, row in self.pairs]


def compute(question: MetricQuestion, progress: Progress | None = None) -> MetaReport:
    """Evaluate metrics against people.

    Args:
        question: Scores and choices.
        progress: Called with phase (`statistics`, `resampling`, `report`), done and total.

    Returns:
        The report; the same bits for the same scores, choices and version.
    """
    say = progress or silent
    found = []
    for number, own in enumerate(question.sets):
        say("statistics", number, len(question.sets))
        measured = Measured(ScoreTable(own, question.choices), question.choices, number)
        estimates = estimate(own, measured)
        compared = compare_metrics(measured, lambda done, of: say("resampling", done, of))
        found.append(Evaluated(own, estimates, compared))
    say("report", 0, 1)
    report = _report(question, found)
    say("report", 1, 1)
    return with_methods(report, sentences)


def _report(asked: MetricQuestion, found: Sequence[Evaluated]) -> MetaReport:
    choices = asked.choices
    families = _families(choices, found)
    placed: list[Ranks] = [{} for _ in found]
    for family in families:
        _place(family, found, choices, placed)
    leading = next((f for f in families if any(row.chances for row in f.rows)), None)
    beaten = _beating(leading, found, choices)
    metrics = [
        _metrics(own, ranks_, leading, choices) for own, ranks_ in zip(found, placed, strict=True)
    ]
    return MetaReport(
        **asked.stated,
        metrics=_overall(found, choices) if asked.several else metrics[0],
        sets=tuple(
            _set(own.own, labels, own_metrics if asked.several else ())
            for own, labels, own_metrics in zip(found, beaten, metrics, strict=True)
        ),
        pairs=tuple(pair for family in families for pair in _pairs(family, found, choices)),
        warnings=cautions(asked, [own.compared for own in found]),
    )


def _families(choices: MetricChoices, found: Sequence[Evaluated]) -> list[Family]:
    """Pairs by statistic and test, where there are any."""
    families = []
    for statistic, test in product(choices.statistics, choices.tests):
        pairs = [
            (number, row)
            for number, own in enumerate(found)
            for row in own.compared
            if (row.statistic, row.test) == (statistic, test)
        ]
        if pairs:
            families.append(Family(statistic, test, pairs))
    return families


def _place(
    family: Family, found: Sequence[Evaluated], choices: MetricChoices, placed: Sequence[Ranks]
) -> None:
    """Add the ranks that follow from a family to those of each set."""
    decided = list(zip(family.pairs, decide(family.rows, choices), strict=True))
    for number, own in enumerate(found):
        values = {
            m: known[family.statistic].value
            for m, known in enumerate(own.estimates)
            if math.isfinite(known[family.statistic].value)
        }
        rows = [row for (of, row), _ in decided if of == number]
        decisions = [decision for (of, _), decision in decided if of == number]
        for m, rank in ranks(values, rows, decisions).items():
            place = Place(rank.cluster, (rank.lowest, rank.highest))
            placed[number].setdefault(m, {}).setdefault(family.statistic, {})[family.test] = place


def _beating(
    leading: Family | None, found: Sequence[Evaluated], choices: MetricChoices
) -> list[tuple[str, ...]]:
    """For each set, labels of the metrics that beat the baseline."""
    baseline = choices.baseline
    beaten: list[list[str]] = [[] for _ in found]
    if leading is not None and baseline is not None:
        labels = [[metric.label for metric in own.own.metrics] for own in found]
        names = [(labels[number][row.a], labels[number][row.b]) for number, row in leading.pairs]
        sides = [1 - both.index(baseline) if baseline in both else None for both in names]
        won = beating(leading.rows, sides, choices).tolist()
        for (number, _), both, side, beats in zip(leading.pairs, names, sides, won, strict=True):
            if beats:
                beaten[number].append(both[side or 0])
    return [tuple(labels) for labels in beaten]


def _metrics(
    own: Evaluated, placed: Ranks, leading: Family | None, choices: MetricChoices
) -> tuple[MetricEvaluation, ...]:
    """The metrics of one set."""
    known = zip(own.own.metrics, own.estimates, strict=True)
    rows = [_metric(metric, estimates, choices.alpha) for metric, estimates in known]
    for m, places in placed.items():
        first = places.get(leading.statistic, {}).get(leading.test) if leading else None
        stands: dict[str, Any] = {"cluster": first.cluster, "range": first.range} if first else {}
        rows[m] = replace(rows[m], ranks=places, **stands)
    return tuple(rows)


def _metric(metric: MetricScores, known: dict[str, Estimate], alpha: float) -> MetricEvaluation:
    stated: dict[str, Any] = {name: own.report(alpha) for name, own in known.items()}
    return MetricEvaluation(metric.label, metric.higher, **stated)


def _overall(found: Sequence[Evaluated], choices: MetricChoices) -> tuple[MetricEvaluation, ...]:
    """Every metric over all sets that have it."""
    known: dict[str, list[tuple[MetricScores, dict[str, Estimate]]]] = {}
    for own in found:
        for both in zip(own.own.metrics, own.estimates, strict=True):
            known.setdefault(both[0].label, []).append(both)
    evaluations = []
    for rows in known.values():
        metric, first = rows[0]
        over = {n: pooled([each[n] for _, each in rows]) for n in POOLED if n in first}
        evaluations.append(_metric(metric, over, choices.alpha))
    return tuple(evaluations)


def _set(
    own: ScoredSet, beats: tuple[str, ...], metrics: tuple[MetricEvaluation, ...]
) -> SetReport:
    human = own.human_scores("system")[:, 0]
    scores = own.metric_scores("system")[:, :, 0]
    judged = 0
    if own.human_segment is not None:
        judged = int(np.count_nonzero(~np.isnan(own.human_segment).all(axis=0)))
    return SetReport(
        name=own.name,
        segments=own.segments,
        judged=judged,
        systems=tuple(
            ScoredSystem(
                name=name,
                human=_known(human[s]),
                scores={
                    metric.label: _known(metric.sign * row[s])
                    for metric, row in zip(own.metrics, scores, strict=True)
                },
            )
            for s, name in enumerate(own.systems)
        ),
        excluded=own.excluded,
        ignored=own.ignored,
        beats_baseline=beats,
        metrics=metrics,
    )


def _pairs(family: Family, found: Sequence[Evaluated], choices: MetricChoices) -> list[MetricPair]:
    """The pairs of a family with their decisions."""
    decided = zip(family.pairs, decide(family.rows, choices), strict=True)
    return [_pair(row, found[n].own, decision, choices) for (n, row), decision in decided]


def _pair(row: Compared, own: ScoredSet, decision: Decision, choices: MetricChoices) -> MetricPair:
    asked = row.chances.get(choices.alternative)
    greater, less = row.chances.get("greater"), row.chances.get("less")
    return MetricPair(
        a=own.metrics[row.a].label,
        b=own.metrics[row.b].label,
        statistic=row.statistic,
        test=row.test,
        unit=row.unit,
        alternative=choices.alternative,
        n=row.n,
        value_a=_known(row.value_a),
        value_b=_known(row.value_b),
        delta=_known(row.value_a - row.value_b),
        ci=row.ci,
        r12=row.r12,
        t=row.t,
        df=row.df,
        count=asked.count if asked else None,
        resamples=asked.patterns if asked else None,
        p_value=asked.p if asked else None,
        log10_p=asked.log10_p if asked else None,
        p_interval=asked.ends if asked else None,
        p_greater=greater.p if greater else None,
        p_less=less.p if less else None,
        p_adjusted=decision.adjusted,
        significant=decision.better is not None,
        conclusion=decision.better or "tie",
        undecided=decision.undecided,
        exact=row.exact,
        set=own.name,
    )


def _known(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None
