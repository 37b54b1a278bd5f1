"""From judgements to the report of a human evaluation."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from sigtest.arrays import Array
from sigtest.people import agreements, conclusions, ranked
from sigtest.people.gain import gains
from sigtest.people.methods import sentences
from sigtest.people.preparing import Prepared
from sigtest.people.rankings import Rankings
from sigtest.people.report import (
    CriterionReport,
    HumanReport,
    JudgedPair,
    JudgedSystem,
)
from sigtest.people.request.asked import Asked, Source
from sigtest.people.scores import Units
from sigtest.people.warnings import cautions
from sigtest.progress import Progress, silent
from sigtest.report.methods import with_methods
from sigtest.requests.people import HumanRequest
from sigtest.significance.ranking import Rank
from sigtest.special import stdtrit

WHISKER = 1.5  # interquartile ranges


def compute(question: Asked, progress: Progress | None = None) -> HumanReport:
    """Compute a human evaluation in this process.

    Args:
        question: Judgements and choices.
        progress: Called with phase (`judgements`, `pairs`, `agreement`), done and total.
    """
    say = progress or silent
    if isinstance(question.judgements, Rankings):
        report = ranked.compute(question, question.judgements)
    else:
        report = _of_scores(question, say)
    return with_methods(report, sentences)


def _of_scores(asked: Asked, say: Progress) -> HumanReport:
    say("judgements", 0, 1)
    prepared = asked.prepared
    say("judgements", 1, 1)
    choices = asked.choices
    pairs = _pairs(prepared, choices, say)
    say("agreement", 0, 1)
    agreement = agreements.of_scores(prepared.judgements, asked)
    gain = gains(prepared.segments, prepared.systems, choices)
    return HumanReport(
        **asked.stated,
        tested="z" if prepared.pooled.standardised else "raw",
        sources=tuple(map(Source.report, asked.sources, prepared.dropped)),
        annotators=prepared.annotators,
        systems=_systems(prepared, pairs, choices),
        pairs=tuple(_as_given(row, prepared, choices) for rows in pairs.values() for row in rows),
        agreement=agreement.rows,
        gain=gain,
        warnings=tuple(cautions(asked, prepared, pairs, agreement.left_out)),
    )


def _pairs(
    prepared: Prepared, choices: HumanRequest, say: Progress
) -> dict[str, Sequence[JudgedPair]]:
    """Decided pairs by criterion; the combined conclusions last, where there are several."""
    pairs: dict[str, Sequence[JudgedPair]] = {}
    draws = (choices.resamples, choices.seed)
    for done, (criterion, observed) in enumerate(prepared.observed.items()):
        say("pairs", done, len(prepared.observed))
        found = conclusions.compare_pairs(
            observed, prepared.systems, criterion, str(choices.test), draws
        )
        pairs[criterion] = conclusions.decide(found, choices.alpha, choices.correction)
    if len(pairs) > 1:
        pairs[conclusions.COMBINED] = conclusions.combine(pairs)
    return pairs


def _systems(
    prepared: Prepared, pairs: Mapping[str, Sequence[JudgedPair]], choices: HumanRequest
) -> tuple[JudgedSystem, ...]:
    names, alpha = prepared.systems, choices.alpha
    ranked_by: dict[str, list[Rank]] = {}
    for criterion, rows in pairs.items():
        alone = prepared.observed.get(criterion)  # nothing for combined conclusions
        means = alone.means if alone else None
        ranked_by[criterion] = conclusions.ranks(rows, names, means)
    leading = list(ranked_by.values())[-1]
    single = len(prepared.observed) == 1  # what was tested are the units of that criterion
    found = []
    for s, name in enumerate(names):
        tested = {criterion: own.scores[s] for criterion, own in prepared.observed.items()}
        criteria = {}
        for criterion, own in tested.items():
            units, sign = prepared.units[criterion], _sign([criterion], choices)
            figures = _figures(units, own, s, alpha, ranked_by[criterion][s], sign)
            figures["n_segments"] = prepared.segments[criterion].size(s)
            drawn = own if units.standardised else sign * own
            criteria[criterion] = CriterionReport(**figures, box=box(drawn))
        pooled = prepared.averaged
        every = next(iter(tested.values())) if single else pooled.tested[pooled.of(s)]
        figures = _figures(pooled, every, s, alpha, leading[s], _sign(list(tested), choices))
        figures["n_segments"] = prepared.pooled.size(s)
        found.append(JudgedSystem(name=name, **figures, criteria=criteria))
    return tuple(found)


def _sign(criteria: Sequence[str], choices: HumanRequest) -> float:
    """What turns scores back into those that were given; NaN where some are turned round."""
    signs = {1.0 if choices.higher_is_better[name] else -1.0 for name in criteria}
    return signs.pop() if len(signs) == 1 else math.nan


def _as_given(row: JudgedPair, prepared: Prepared, choices: HumanRequest) -> JudgedPair:
    """A pair with the difference of scores as they were given, where these were tested."""
    if prepared.averaged.standardised:
        return row
    sign = _sign([row.decided_by or row.criterion], choices)
    return replace(row, difference=sign * row.difference + 0.0)


def _figures(
    units: Units, tested: Array, system: int, alpha: float, stands: Rank, sign: float
) -> dict[str, Any]:
    """What is said of a system by one criterion, and by all; raw scores as they were given."""
    place = units.of(system)
    return {
        "n_judgements": int(units.judged[place].sum()),
        "raw": _mean(sign * units.raw[place]),
        "z": _mean(units.z[place]),
        "sd": float(tested.std(ddof=1)) if len(tested) > 1 else None,
        "ci": mean_interval(tested if units.standardised else sign * tested, alpha),
        "cluster": stands.cluster,
        "range": (stands.lowest, stands.highest),
    }


def _mean(scores: Array) -> float | None:
    return float(scores.mean()) + 0.0 if np.isfinite(scores).all() else None


def mean_interval(scores: Array, alpha: float) -> tuple[float, float] | None:
    """Student's interval of a mean at level 1 - alpha; nothing for a single or unknown score."""
    if len(scores) < 2 or np.isnan(scores).any():
        return None
    mean = float(scores.mean())
    half = float(stdtrit(len(scores) - 1, 1 - alpha / 2) * scores.std(ddof=1))
    half /= math.sqrt(len(scores))
    return mean - half, mean + half


def box(scores: Array) -> tuple[float, float, float, float, float]:
    """Whisker, quartile, median, quartile, whisker, as Tukey (1977) draws them."""
    low, middle, high = np.quantile(scores, [0.25, 0.5, 0.75]).tolist()
    reach = WHISKER * (high - low)
    inside = scores[(scores >= low - reach) & (scores <= high + reach)]
    return float(inside.min()), low, middle, high, float(inside.max())
