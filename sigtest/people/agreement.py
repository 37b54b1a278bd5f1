"""Agreement of annotators with themselves and with each other: kappa, with two ideas of chance."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from sigtest.arrays import Array, Counts
from sigtest.draws.weights import counts_plain
from sigtest.people.judgements import (
    DUPLICATE,
    REPEAT,
    SYSTEM,
    Judgements,
    Pairs,
    groups,
    mates,
    pairs_within,
)
from sigtest.people.report import AgreementReport, KappaReport
from sigtest.people.statistics import interval
from sigtest.requests.people import HumanRequest

MOST_JUDGES = 1_500  # of whom all pairs are kept in a matrix
RESAMPLES = 999
STREAM = 3  # of the draws of judges
EXPECTED_BITS = 26
MOST_EMPTY = 0.1  # share of resamples without a pair, above which there is no interval
DIGITS = 9  # of a place on the scale, in categories: further ones are rounding


def score_agreement(
    judgements: Judgements, choices: HumanRequest, scale: tuple[float, float] | None
) -> tuple[list[AgreementReport], list[str]]:
    """Agreement of scores by criterion, and the criteria with too many pairs of judgements.

    Scores become categories: equal intervals of the scale where it is known and scores are not
    standardised, percentiles of all tested scores otherwise (LAW 2013, section 6).

    Args:
        judgements: Those that count, standardised if that was chosen.
        choices: Criteria, categories, level and seed.
        scale: Lowest and highest score, where that is known.
    """
    rows: list[AgreementReport] = []
    left_out: list[str] = []
    if not judgements.annotator.known:
        return rows, left_out
    for criterion in choices.criteria:
        place = judgements.criterion.names.index(criterion)
        some = judgements.take(judgements.criterion.codes == place)
        if criterion in choices.lower:
            some = replace(some, raw=-some.raw)  # as in the files, which the scale is of
        labels, bins = _labels(some, choices.categories, scale)
        scheme = Scheme(criterion, bins, choices.categories, choices.alpha, choices.seed)
        who = some.annotator.codes
        rows += scheme.rows("same", labels, who, mates(some, (REPEAT, DUPLICATE)), some.scores)
        outputs = np.flatnonzero((some.kind == SYSTEM) & (who >= 0))
        item, _ = groups(some.system.codes[outputs], some.segment.codes[outputs])
        pairs = pairs_within(item)
        if pairs is None:
            left_out.append(criterion)
            continue
        pairs = Pairs(outputs[pairs.first], outputs[pairs.second])
        distinct = pairs.take(who[pairs.first] != who[pairs.second])
        rows += scheme.rows("distinct", labels, who, distinct, some.scores)
    return rows, left_out


def _labels(
    judgements: Judgements, k: int, scale: tuple[float, float] | None
) -> tuple[Counts, str]:
    """Category of each score, from 0, and how these were made."""
    if scale is not None and not judgements.standardised:
        low, high = scale
        place = ((judgements.raw - low) / (high - low) * k).round(DIGITS)
        return np.clip(np.floor(place), 0, k - 1).astype(np.int64), "intervals"
    tested = judgements.z if np.isfinite(judgements.z).all() else judgements.raw
    edges = np.quantile(tested, np.arange(1, k) / k)
    return np.searchsorted(edges, tested, side="right").astype(np.int64), "percentiles"


@dataclass(frozen=True)
class Scheme:
    """How agreement by one criterion is measured.

    Attributes:
        criterion: Its name.
        bins: How categories were made.
        categories: k.
        alpha: Intervals have level 1 - alpha.
        seed: Of the draws of judges.
    """

    criterion: str
    bins: str
    categories: int
    alpha: float
    seed: int

    def rows(
        self,
        judges: str,
        labels: Counts,
        annotators: Counts,
        pairs: Pairs,
        scores: Array | None = None,
    ) -> list[AgreementReport]:
        """The row of one kind of agreement; none where there is no pair."""
        measured = kappas(labels, annotators, pairs, self.categories, self.seed)
        if measured is None:
            return []
        mean = sd = None
        if scores is not None:
            apart = np.abs(scores[pairs.first] - scores[pairs.second])
            mean, sd = float(apart.mean()), float(apart.std(ddof=1)) if len(apart) > 1 else None
        cohen = measured.cohen
        return [
            AgreementReport(
                criterion=self.criterion,
                judges=judges,
                categories=self.categories,
                bins=self.bins,
                pairs=len(pairs),
                agreed=measured.agreed,
                share=measured.share,
                uniform_chance=self._kappa(measured.uniform, measured.uniform_draws),
                cohen=None if cohen is None else self._kappa(cohen, measured.cohen_draws),
                mean_difference=mean,
                sd_difference=sd,
            )
        ]

    def _kappa(self, value: float, draws: Array | None) -> KappaReport:
        return KappaReport(value, None if draws is None else interval(draws, self.alpha))


@dataclass(frozen=True)
class Kappas:
    """Agreement of one kind.

    Attributes:
        agreed: Pairs in the same category.
        share: Of all pairs.
        uniform: Kappa with chance 1 / k.
        cohen: Kappa with chance from each judge's own shares of the categories.
        uniform_draws: (R,) the same when judges are drawn anew; nothing where too few are there.
        cohen_draws: (R,) likewise.
    """

    agreed: int
    share: float
    uniform: float
    cohen: float | None
    uniform_draws: Array | None
    cohen_draws: Array | None


def kappas(
    labels: Counts, judges: Counts, pairs: Pairs, categories: int, seed: int
) -> Kappas | None:
    """Agreement over pairs of judgements; nothing where there is none.

    Kappa is (P_a - P_e) / (1 - P_e). `uniform` has P_e = 1 / k (Graham, Baldwin, Moffat & Zobel
    2013, section 6; Bennett, Alpert & Goldstein 1954). `cohen` has the chance that two judges agree
    who use each category as often as they did in these pairs; for two judges it is Cohen's (1960).

    Args:
        labels: (n,) category of each judgement, from 0.
        judges: (n,) number of each judgement's judge.
        pairs: Of judgements, in which the judges are the same throughout or differ throughout.
        categories: k.
        seed: Of the draws of judges.
    """
    if not len(pairs):
        return None
    same = labels[pairs.first] == labels[pairs.second]
    who = np.stack([judges[pairs.first], judges[pairs.second]])
    present, numbered = np.unique(who, return_inverse=True)
    first, second = numbered.reshape(who.shape)
    repeats = bool((first == second).all())
    raters = (first, second + len(present) * repeats)  # first and second time: two raters
    expected = _expected(raters, labels[pairs.first], labels[pairs.second], categories)
    # whole multiples of a power of two, so that weighted sums are the same on every machine
    rounded = np.rint(expected * 2.0**EXPECTED_BITS) / 2.0**EXPECTED_BITS
    columns = np.stack([np.ones(len(pairs)), same, rounded])
    share, chance = float(same.mean()), float(expected.mean())
    uniform_draws, cohen_draws = _draws(columns, first, second, repeats, categories, seed)
    return Kappas(
        agreed=int(np.count_nonzero(same)),
        share=share,
        uniform=(share - 1 / categories) / (1 - 1 / categories),
        cohen=(share - chance) / (1 - chance) if chance < 1 else None,
        uniform_draws=uniform_draws,
        cohen_draws=cohen_draws,
    )


def _expected(
    raters: tuple[Counts, Counts], first: Counts, second: Counts, categories: int
) -> Array:
    """(p,) chance that the two raters of each pair agree, given how they use the categories."""
    size = int(max(raters[0].max(), raters[1].max())) + 1
    rater, label = np.concatenate(raters), np.concatenate([first, second])
    flat = np.bincount(rater * categories + label, minlength=size * categories)
    counts = flat.reshape(size, categories).astype(np.float64)
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1.0)
    return np.einsum("pk,pk->p", shares[raters[0]], shares[raters[1]])


def _draws(
    columns: Array, first: Counts, second: Counts, repeats: bool, categories: int, seed: int
) -> tuple[Array | None, Array | None]:
    """Both kappas when judges are drawn anew; a pair counts as often as both of its judges do."""
    size = int(max(first.max(), second.max())) + 1
    if size < 2 or size > MOST_JUDGES:
        return None, None
    weights = counts_plain(seed, 0, RESAMPLES, size, STREAM).astype(np.float64)
    if repeats:
        table = np.stack([np.bincount(first, column, size) for column in columns])
        pairs, agreed, expected = (weights @ table.T).T
    else:
        place, start = groups(first, second)
        sums = []
        for column in columns:  # over pairs of judges, weighted by how often both were drawn
            matrix = np.zeros((size, size))
            matrix[first[start], second[start]] = np.bincount(place, column)
            sums.append(np.einsum("ra,ra->r", weights @ matrix, weights))
        pairs, agreed, expected = sums
    whole = pairs > 0.5
    if np.mean(~whole) > MOST_EMPTY:
        return None, None
    share, chance = agreed[whole] / pairs[whole], expected[whole] / pairs[whole]
    uniform = (share - 1 / categories) / (1 - 1 / categories)
    defined = chance < 1
    cohen = (share[defined] - chance[defined]) / (1 - chance[defined])
    return uniform, cohen if np.mean(~defined) <= MOST_EMPTY else None
