"""Agreement of annotators with themselves and with each other, as the report says it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from sigtest.arrays import Array, Counts
from sigtest.people.judgements import DUPLICATE, REPEAT, SYSTEM, Judgements, groups
from sigtest.people.quality import mates, scores_of
from sigtest.people.report import AgreementReport, KappaReport
from sigtest.people.request.asked import Asked
from sigtest.people.statistics.agreement import Pairs, kappas, pairs_within
from sigtest.people.statistics.tails import interval
from sigtest.requests.people import HumanRequest

DIGITS = 9  # of a place on the scale, in categories: further ones are rounding


@dataclass(frozen=True)
class Agreement:
    """What the report says, and what it leaves out.

    Attributes:
        rows: By criterion.
        left_out: Criteria with too many pairs of judgements.
    """

    rows: tuple[AgreementReport, ...]
    left_out: tuple[str, ...]


def of_scores(judgements: Judgements, asked: Asked) -> Agreement:
    """Agreement of scores, by criterion.

    Scores become categories: percentiles of all tested scores where these are standardised or
    their scale is unknown, equal intervals of the scale otherwise (LAW 2013, section 6).

    Args:
        judgements: Those that count, standardised if that was asked for.
        asked: Says how many categories, and the scale.
    """
    if not judgements.annotator.known:
        return Agreement((), ())
    rows, left_out = [], []
    names = judgements.criterion.names
    for criterion in asked.choices.criteria:
        own = judgements.take(judgements.criterion.codes == names.index(criterion))
        if criterion in asked.choices.lower:
            own = replace(own, raw=-own.raw)  # as given, which the scale is of
        labels, bins = _labels(own, asked)
        differences = scores_of(own)
        shown = Shown(criterion, bins, asked.choices.categories, asked.choices)
        same = mates(own, (REPEAT, DUPLICATE))
        rows += shown.row("same", labels, own.annotator.codes, same, differences)
        distinct = _distinct(own)
        if distinct is None:
            left_out.append(criterion)
        else:
            rows += shown.row("distinct", labels, own.annotator.codes, distinct, differences)
    return Agreement(tuple(rows), tuple(left_out))


@dataclass(frozen=True)
class Shown:
    """What the rows of one criterion have in common.

    Attributes:
        criterion: Its name.
        bins: How categories were made.
        categories: k.
        choices: Seed and level.
    """

    criterion: str
    bins: str
    categories: int
    choices: HumanRequest

    def row(
        self,
        judges: str,
        labels: Counts,
        annotators: Counts,
        pairs: Pairs,
        scores: Array | None = None,
    ) -> list[AgreementReport]:
        """The row of one kind of agreement; none where there is no pair."""
        found = kappas(labels, annotators, pairs, self.categories, self.choices.seed)
        if found is None:
            return []
        mean, sd = None, None
        if scores is not None:
            apart = np.abs(scores[pairs.first] - scores[pairs.second])
            mean = float(apart.mean())
            sd = float(apart.std(ddof=1)) if len(apart) > 1 else None
        cohen = None
        if found.cohen is not None:
            cohen = KappaReport(found.cohen, self._interval(found.cohen_draws))
        return [
            AgreementReport(
                criterion=self.criterion,
                judges=judges,
                categories=self.categories,
                bins=self.bins,
                pairs=len(pairs),
                agreed=found.agreed,
                share=found.share,
                uniform_chance=KappaReport(found.uniform, self._interval(found.uniform_draws)),
                cohen=cohen,
                mean_difference=mean,
                sd_difference=sd,
            )
        ]

    def _interval(self, draws: Array | None) -> tuple[float, float] | None:
        if draws is None:
            return None
        return interval(draws, self.choices.alpha)


def _labels(judgements: Judgements, asked: Asked) -> tuple[Counts, str]:
    """Category of each score, from 0, and how these were made."""
    k = asked.choices.categories
    scales = {source.scale for source in asked.sources}
    scale = next(iter(scales)) if len(scales) == 1 else None
    if scale is not None and not np.isfinite(judgements.z).any():
        low, high = scale
        place = ((judgements.raw - low) / (high - low) * k).round(DIGITS)
        return np.clip(np.floor(place), 0, k - 1).astype(np.int64), "intervals"
    tested = judgements.raw if not np.isfinite(judgements.z).all() else judgements.z
    edges = np.quantile(tested, np.arange(1, k) / k)
    return np.searchsorted(edges, tested, side="right").astype(np.int64), "percentiles"


def _distinct(judgements: Judgements) -> Pairs | None:
    """Pairs of judgements of one output by two annotators; nothing where there are too many."""
    rows = np.flatnonzero((judgements.kind == SYSTEM) & (judgements.annotator.codes >= 0))
    if not len(rows):
        return Pairs(rows, rows)
    item, _ = groups(judgements.system.codes[rows], judgements.segment.codes[rows])
    found = pairs_within(item)
    if found is None:
        return None
    pairs = Pairs(rows[found.first], rows[found.second])
    who = judgements.annotator.codes
    return pairs.take(who[pairs.first] != who[pairs.second])


def of_labels(
    shown: Shown, labels: Counts, annotators: Counts, items: Counts
) -> Sequence[AgreementReport]:
    """Agreement of labels, with oneself and with others; none where there are too many pairs.

    Args:
        shown: What the rows say of themselves.
        labels: (n,) from 0.
        annotators: (n,) who said so.
        items: (n,) number of what it was said about.
    """
    pairs = pairs_within(items)
    if pairs is None:
        return []
    same = annotators[pairs.first] == annotators[pairs.second]
    return [
        *shown.row("same", labels, annotators, pairs.take(same)),
        *shown.row("distinct", labels, annotators, pairs.take(~same)),
    ]
