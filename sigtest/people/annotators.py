"""Annotators: whether they can tell outputs from degraded copies, and how far they agree.

Quality control follows Graham, Baldwin, Moffat & Zobel 2013 (LAW), section 5, and 2014 (EACL),
section 3. Its tests look at one annotator's scores, so it does not matter whether these are
standardised. Agreement is kappa, with two ideas of chance.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np

from sigtest.arrays import Array, Counts
from sigtest.draws.weights import counts_plain
from sigtest.people.judgements import Comparisons, Judgements, Kind, groups, mates, pairs_within
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


def steps(judgements: Judgements) -> tuple[list[Array], list[Array]]:
    """By annotator, scores of degraded copies less those of outputs, and of repeats less of firsts.

    Sizes that only rounding tells apart are tied.
    """
    scores, who, made = judgements.scores, judgements.annotator, list[list[Array]]()
    pairs = mates(judgements, (Kind.BAD_REF,)), mates(judgements, (Kind.REPEAT, Kind.DUPLICATE))
    gaps = np.concatenate(
        [scores[second] - scores[first] for first, second in map(np.transpose, pairs)]
    )
    sizes = with_ties(np.abs(gaps), float(np.abs(scores).max(initial=0.0)))
    for p, own in zip(pairs, np.split(np.copysign(sizes, gaps), [len(pairs[0])]), strict=True):
        codes = who.codes[p[:, 1]]
        ends = np.cumsum(np.bincount(codes, minlength=len(who.names)))[:-1]
        made.append(np.split(own[np.argsort(codes, kind="stable")], ends))
    worse, moved = made
    return worse, moved


def control(judged: Judgements | Comparisons, choices: HumanRequest) -> AnnotatorsReport | None:
    """Test every annotator, if any is known.

    Without quality control they are tested, too, and all stay. Comparisons have no copies.
    """
    quality, who, size = choices.quality, judged.annotator.codes, len(judged.annotator.names)
    if not size:
        return None
    rule, moves = quality or Quality(), ([np.empty(0)] * size,) * 2
    seconds = np.full(len(judged), math.nan)
    if isinstance(judged, Judgements):
        seconds, moves = judged.seconds, steps(judged)
    n = np.bincount(who[who >= 0], minlength=size).tolist()
    timed = np.isfinite(seconds) & (who >= 0)
    often = np.bincount(who[timed], minlength=size).tolist()
    total = np.bincount(who[timed], seconds[timed], minlength=size).tolist()
    means = [s / times if times else None for s, times in zip(total, often, strict=True)]
    names = [name * choices.show_annotators for name in judged.annotator.names]
    each = tuple(map(partial(tested, rule), n, means, *moves, names))
    verdicts = [entry.verdict for entry in each]
    untestable_stay = rule.untestable == "keep"
    kept = verdicts.count(KEPT) + verdicts.count(UNTESTABLE) * untestable_stay
    known = seconds[np.isfinite(seconds)]
    return AnnotatorsReport(
        n=size,
        kept=kept if quality else size,
        careless=verdicts.count(CARELESS),
        untestable=verdicts.count(UNTESTABLE),
        filtered=quality is not None,
        test=rule.test,
        threshold=rule.threshold,
        min_pairs=rule.min_pairs,
        judgements=sum(n),
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
        some = judgements.take(judgements.criterion.among([criterion]))
        if criterion in choices.lower:
            some = replace(some, raw=-some.raw, z=-some.z)  # as in the files
        # one that nobody named is not that of scores which all stay in its lower half
        believed = scale and (choices.scale or some.raw.max() > sum(scale) / 2)
        labels, bins = _labels(some, choices.categories, scale if believed else None)
        who = some.annotator.codes
        pairs = {"same": mates(some, (Kind.REPEAT, Kind.DUPLICATE))}
        outputs = np.flatnonzero((some.kind == Kind.SYSTEM) & (who >= 0))
        item, _ = groups(some.system.codes[outputs], some.segment.codes[outputs])
        within = pairs_within(item)
        if within is None:
            left_out.append(criterion)
        else:
            first, second = outputs[within].T
            pairs["distinct"] = outputs[within][who[first] != who[second]]
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
    pairs: Mapping[str, Counts],
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
        pairs: (p, 2) rows of judgements, for each kind of judges.
        choices: Level and seed.
        scores: (n,) scores, where there are any.
    """
    for judges, own in pairs.items():
        if not len(own):
            continue
        agreed, *measured = kappas(labels, annotators, own, categories, choices.seed)
        uniform, cohen = (
            KappaReport(value, None if draws is None else interval(draws, choices.alpha))
            for value, draws in measured
        )
        mean = sd = None
        if scores is not None:
            apart = np.abs(np.diff(scores[own])[:, 0])
            mean, sd = float(apart.mean()), float(apart.std(ddof=1)) if len(apart) > 1 else None
        yield AgreementReport(
            criterion, judges, categories, bins, len(own), agreed, agreed / len(own),
            uniform, None if math.isnan(cohen.value) else cohen, mean, sd,
        )  # fmt: skip


class Kappas(NamedTuple):
    """Agreement of one kind.

    Attributes:
        agreed: Pairs in the same category.
        uniform: Kappa with chance 1 / k, and the same when judges are drawn anew (R,); no draws
            where too few judges are there.
        cohen: Likewise with chance from each judge's own shares of the categories; NaN where that
            is 1.
    """

    agreed: int
    uniform: tuple[float, Array | None]
    cohen: tuple[float, Array | None]


def kappas(labels: Counts, judges: Counts, pairs: Counts, categories: int, seed: int) -> Kappas:
    """Agreement over pairs of judgements, of which there is one at least.

    Kappa is (P_a - P_e) / (1 - P_e). `uniform` has P_e = 1 / k (Graham, Baldwin, Moffat & Zobel
    2013, section 6; Bennett, Alpert & Goldstein 1954). `cohen` has the chance that two judges agree
    who use each category as often as they did in these pairs; for two judges it is Cohen's (1960).

    Args:
        labels: (n,) category of each judgement, from 0.
        judges: (n,) number of each judgement's judge.
        pairs: (p, 2) rows of judgements, whose judges are the same throughout or differ throughout.
        categories: k.
        seed: Of the draws of judges.
    """
    label, other = labels[pairs].T
    same = label == other
    present, numbered = np.unique(judges[pairs].T, return_inverse=True)
    first, second = numbered.reshape(2, -1)
    repeats = bool((first == second).all())
    raters = (first, second + len(present) * repeats)  # first and second time: two raters
    expected = _expected(raters, label, other, categories)
    # whole multiples of a power of two, so that weighted sums are the same on every machine
    rounded = np.rint(expected * 2.0**EXPECTED_BITS) / 2.0**EXPECTED_BITS
    columns = np.stack([np.ones(len(pairs)), same, rounded])
    uniform_draws, cohen_draws = _draws(columns, first, second, repeats, categories, seed)
    share, chance = same.mean(), expected.mean()
    cohen = float(_kappa(share, chance)) if chance < 1 else math.nan
    return Kappas(
        int(np.count_nonzero(same)),
        (float(_kappa(share, 1 / categories)), uniform_draws),
        (cohen, cohen_draws),
    )


def _kappa(share: Array, chance: Array | float) -> Array:
    return (share - chance) / (1 - chance)


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
    place, other = first * size + second, 1.0 if repeats else weights
    pairs, agreed, expected = (
        ((weights @ np.bincount(place, column, size**2).reshape(size, -1)) * other).sum(axis=1)
        for column in columns
    )
    whole = pairs > 0.5
    if np.mean(~whole) > MOST_EMPTY:
        return None, None
    share, chance = agreed[whole] / pairs[whole], expected[whole] / pairs[whole]
    defined = chance < 1
    cohen = _kappa(share[defined], chance[defined])
    return _kappa(share, 1 / categories), cohen if np.mean(~defined) <= MOST_EMPTY else None
