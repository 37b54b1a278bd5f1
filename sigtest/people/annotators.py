"""Annotators: whether they can tell outputs from degraded copies, and how far they agree.

Quality control follows Graham, Baldwin, Moffat & Zobel 2013 (LAW), section 5, and 2014 (EACL),
section 3. Its tests look at one annotator's scores, so it does not matter whether these are
standardised. Agreement is kappa, with two ideas of chance.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np

from sigtest.arrays import Array, Counts
from sigtest.draws.weights import counts_plain
from sigtest.people.judgements import (
    BAD_REF,
    DUPLICATE,
    REPEAT,
    SYSTEM,
    Judgements,
    Pairs,
    groups,
    mates,
    pairs_within,
)
from sigtest.people.report import AgreementReport, AnnotatorReport, AnnotatorsReport, KappaReport
from sigtest.people.statistics import interval, paired_t, rank_sum, signed_rank, welch
from sigtest.requests.people import HumanRequest, Quality
from sigtest.significance.intervals import with_ties

KEPT, CARELESS, UNTESTABLE = "kept", "careless", "untestable"
MOST_JUDGES = 1_500  # of whom all pairs are kept in a matrix
RESAMPLES = 999
STREAM = 3  # of the draws of judges
EXPECTED_BITS = 26
MOST_EMPTY = 0.1  # share of resamples without a pair, above which there is no interval
DIGITS = 9  # of a place on the scale, in categories: further ones are rounding


def control(judgements: Judgements, quality: Quality | None, *, named: bool) -> AnnotatorsReport:
    """Test every annotator.

    Args:
        judgements: Of all kinds, with known annotators.
        quality: How annotators are tested; without it they are tested, too, and all stay.
        named: Whether the report names them.
    """
    rule = quality or Quality()
    scores, who = judgements.scores, judgements.annotator.codes
    size = len(judgements.annotator.names)
    bad, again = mates(judgements, (BAD_REF,)), mates(judgements, (REPEAT, DUPLICATE))
    worse, moved = (
        _by_annotator(gaps, who[p.second], size)
        for gaps, p in zip(_gaps(scores, bad, again), (bad, again), strict=True)
    )
    n = np.bincount(who[who >= 0], minlength=size).tolist()
    timed = np.isfinite(judgements.seconds) & (who >= 0)
    often = np.bincount(who[timed], minlength=size).tolist()
    total = np.bincount(who[timed], judgements.seconds[timed], minlength=size).tolist()
    seconds = [s / times if times else None for s, times in zip(total, often, strict=True)]
    names = [name * named for name in judgements.annotator.names]
    each = tuple(map(partial(tested, rule), n, seconds, worse, moved, names))
    return summary(judgements.seconds, rule, each, filtered=quality is not None)


def tested(
    rule: Quality, n: int, seconds: float | None, worse: Array, moved: Array, name: str
) -> AnnotatorReport:
    """Tests of one annotator, from degraded - output and repeat - first."""
    tests: dict[str, float | None] = dict.fromkeys(
        ("paired_t", "signed_rank", "welch", "mann_whitney", "repeats_t")
    )
    if len(worse) > 1:
        if np.ptp(worse) > 0 or not worse.any():  # equal steps down are no carelessness
            tests["paired_t"] = paired_t(worse).less
        tests["signed_rank"] = signed_rank(worse).less
    if len(moved) > 1:
        both = paired_t(moved)
        tests["repeats_t"] = min(1.0, 2 * min(both.greater, both.less))
    if len(worse) > 1 and len(moved) > 1:
        distances = np.abs(moved)
        tests["welch"] = welch(distances, -worse).less
        tests["mann_whitney"] = rank_sum(np.sort(distances), np.sort(-worse)).less
    needs = len(worse)
    if rule.test in {"welch", "mann_whitney"}:
        needs = min(len(worse), len(moved))
    p = tests[rule.test]
    if p is None or needs < rule.min_pairs:
        verdict = UNTESTABLE
    else:
        verdict = KEPT if p < rule.threshold else CARELESS
    return AnnotatorReport(
        n=n,
        seconds=seconds,
        bad_references=len(worse),
        repeats=len(moved),
        verdict=verdict,
        name=name or None,
        **tests,
    )


def summary(
    seconds: Array, rule: Quality, each: tuple[AnnotatorReport, ...], *, filtered: bool
) -> AnnotatorsReport:
    """What is said of all annotators.

    Args:
        seconds: (n,) time of each judgement, NaN where unknown.
        rule: How annotators are tested.
        each: What is said of each of them.
        filtered: Whether careless and untestable ones are left out.
    """
    verdicts = [entry.verdict for entry in each]
    untestable_stay = rule.untestable == "keep"
    kept = verdicts.count(KEPT) + verdicts.count(UNTESTABLE) * untestable_stay
    known = seconds[np.isfinite(seconds)]
    return AnnotatorsReport(
        n=len(each),
        kept=kept if filtered else len(each),
        careless=verdicts.count(CARELESS),
        untestable=verdicts.count(UNTESTABLE),
        filtered=filtered,
        test=rule.test,
        threshold=rule.threshold,
        min_pairs=rule.min_pairs,
        judgements=sum(entry.n for entry in each),
        judgements_kept=sum(entry.n for entry in each if entry.verdict == KEPT),
        assumption_a=sum(
            entry.verdict == KEPT
            and entry.repeats_t is not None
            and entry.repeats_t >= rule.threshold
            for entry in each
        ),
        seconds=float(known.sum()) if len(known) else None,
        seconds_per_judgement=float(np.median(known)) if len(known) else None,
        each=each,
    )


def _gaps(scores: Array, *pairs: Pairs) -> list[Array]:
    """For each sort of pairs (p,) score of the second less that of the first; equal sizes tied."""
    gaps = np.concatenate([scores[p.second] - scores[p.first] for p in pairs])
    sizes = with_ties(np.abs(gaps), float(np.abs(scores).max(initial=0.0)))
    return np.split(np.copysign(sizes, gaps), np.cumsum([len(p) for p in pairs])[:-1])


def _by_annotator(values: Array, who: Counts, size: int) -> list[Array]:
    """Values of each annotator."""
    order = np.argsort(who, kind="stable")
    ends = np.cumsum(np.bincount(who, minlength=size))[:-1]
    return np.split(values[order], ends)


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
    rows, left_out = list[AgreementReport](), list[str]()
    if not judgements.annotator.known:
        return rows, left_out
    for criterion in choices.criteria:
        place = judgements.criterion.names.index(criterion)
        some = judgements.take(judgements.criterion.codes == place)
        if criterion in choices.lower:
            some = replace(some, raw=-some.raw, z=-some.z)  # as in the files
        # one that nobody named is not that of scores which all stay in its lower half
        believed = scale and (choices.scale or some.raw.max() > sum(scale) / 2)
        labels, bins = _labels(some, choices.categories, scale if believed else None)
        who = some.annotator.codes
        pairs = {"same": mates(some, (REPEAT, DUPLICATE))}
        outputs = np.flatnonzero((some.kind == SYSTEM) & (who >= 0))
        item, _ = groups(some.system.codes[outputs], some.segment.codes[outputs])
        within = pairs_within(item)
        if within is None:
            left_out.append(criterion)
        else:
            both = Pairs(outputs[within.first], outputs[within.second])
            pairs["distinct"] = both.take(who[both.first] != who[both.second])
        made = criterion, bins, choices.categories, labels
        rows += agreement(*made, who, pairs, choices, some.scores)
    return rows, left_out


def _labels(
    judgements: Judgements, k: int, scale: tuple[float, float] | None
) -> tuple[Counts, str]:
    """Category of each score, from 0, and how these were made."""
    if scale is not None and not judgements.standardised:
        low, high = scale
        place = ((judgements.raw - low) / (high - low) * k).round(DIGITS)
        return np.clip(np.floor(place), 0, k - 1).astype(int), "intervals"
    tested = judgements.z if np.isfinite(judgements.z).all() else judgements.raw
    edges = np.quantile(tested, np.arange(1, k) / k)
    return np.searchsorted(edges, tested, side="right").astype(int), "percentiles"


def agreement(
    criterion: str,
    bins: str,
    categories: int,
    labels: Counts,
    annotators: Counts,
    pairs: Mapping[str, Pairs],
    choices: HumanRequest,
    scores: Array | None = None,
) -> Iterator[AgreementReport]:
    """Rows of the kinds of agreement by one criterion that have pairs.

    Args:
        criterion: Its name.
        bins: How categories were made.
        categories: k.
        labels: (n,) category of each judgement.
        annotators: (n,) number of each judgement's annotator.
        pairs: Of judgements, for each kind of judges.
        choices: Level and seed.
        scores: (n,) scores, where there are any.
    """

    def kappa(value: float, draws: Array | None) -> KappaReport:
        return KappaReport(value, None if draws is None else interval(draws, choices.alpha))

    for judges, own in pairs.items():
        if not len(own):
            continue
        measured = kappas(labels, annotators, own, categories, choices.seed)
        mean = sd = None
        if scores is not None:
            apart = np.abs(scores[own.first] - scores[own.second])
            mean, sd = float(apart.mean()), float(apart.std(ddof=1)) if len(apart) > 1 else None
        cohen, draws = measured.cohen
        yield AgreementReport(
            criterion, judges, categories, bins, len(own), measured.agreed,
            measured.agreed / len(own), kappa(*measured.uniform),
            None if cohen is None else kappa(cohen, draws), mean, sd,
        )  # fmt: skip


class Kappas(NamedTuple):
    """Agreement of one kind.

    Attributes:
        agreed: Pairs in the same category.
        uniform: Kappa with chance 1 / k, and the same when judges are drawn anew (R,); no draws
            where too few judges are there.
        cohen: Likewise with chance from each judge's own shares of the categories.
    """

    agreed: int
    uniform: tuple[float, Array | None]
    cohen: tuple[float | None, Array | None]


def kappas(labels: Counts, judges: Counts, pairs: Pairs, categories: int, seed: int) -> Kappas:
    """Agreement over pairs of judgements, of which there is one at least.

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
        int(np.count_nonzero(same)),
        ((share - 1 / categories) / (1 - 1 / categories), uniform_draws),
        ((share - chance) / (1 - chance) if chance < 1 else None, cohen_draws),
    )


def _expected(
    raters: tuple[Counts, Counts], first: Counts, second: Counts, categories: int
) -> Array:
    """(p,) chance that the two raters of each pair agree, given how they use the categories."""
    size = int(max(raters[0].max(), raters[1].max())) + 1
    rater, label = np.concatenate(raters), np.concatenate([first, second])
    flat = np.bincount(rater * categories + label, minlength=size * categories)
    counts = flat.reshape(size, categories).astype(float)
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1.0)
    return np.einsum("pk,pk->p", shares[raters[0]], shares[raters[1]])


def _draws(
    columns: Array, first: Counts, second: Counts, repeats: bool, categories: int, seed: int
) -> tuple[Array | None, Array | None]:
    """Both kappas when judges are drawn anew; a pair counts as often as both of its judges do."""
    size = int(max(first.max(), second.max())) + 1
    if size < 2 or size > MOST_JUDGES:
        return None, None
    weights = counts_plain(seed, 0, RESAMPLES, size, STREAM).astype(float)
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
