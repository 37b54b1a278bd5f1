"""Quality control: can an annotator tell an output from a degraded copy, and repeat a judgement?

Graham, Baldwin, Moffat & Zobel 2013 (LAW), section 5, and 2014 (EACL), section 3. All tests look
at one annotator's own scores, so it does not matter whether these are standardised.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sigtest.arrays import Array, Counts, Flags
from sigtest.people.judgements import BAD_REF, DUPLICATE, REPEAT, Judgements, Pairs, mates
from sigtest.people.report import AnnotatorReport, AnnotatorsReport
from sigtest.people.statistics import paired_t, rank_sum, signed_rank, welch
from sigtest.requests.people import Quality
from sigtest.significance.ties import with_ties

KEPT, CARELESS, UNTESTABLE = "kept", "careless", "untestable"


@dataclass(frozen=True)
class Verdicts:
    """What quality control found.

    Attributes:
        report: Of all annotators.
        careless: (n,) judgements of careless annotators.
        untestable: (n,) judgements of annotators with too few pairs.
    """

    report: AnnotatorsReport
    careless: Flags
    untestable: Flags


def control(judgements: Judgements, asked: Quality | None, *, named: bool) -> Verdicts:
    """Test every annotator.

    Args:
        judgements: Of all kinds, with known annotators.
        asked: How annotators are tested; where nothing is asked they are, and all stay.
        named: Whether the report names them.
    """
    rule = asked or Quality()
    scores, who = judgements.scores, judgements.annotator.codes
    size = len(judgements.annotator.names)
    bad, again = mates(judgements, (BAD_REF,)), mates(judgements, (REPEAT, DUPLICATE))
    worse, moved = (
        _by_annotator(gaps, who[p.second], size)
        for gaps, p in zip(_gaps(scores, bad, again), (bad, again), strict=True)
    )
    n = np.bincount(who[who >= 0], minlength=size).tolist()
    seconds = _means(judgements.seconds, who, size)
    each = tuple(
        _annotator(
            rule, n[a], seconds[a], worse[a], moved[a], judgements.annotator.names[a] * named
        )
        for a in range(size)
    )
    verdicts = np.array([entry.verdict for entry in each] + [UNTESTABLE])[who]
    careless, untestable = verdicts == CARELESS, verdicts == UNTESTABLE
    report = summary(judgements.seconds, rule, each, filtered=asked is not None)
    return Verdicts(report, careless, untestable)


def _annotator(
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


def _means(seconds: Array, who: Counts, size: int) -> list[float | None]:
    known = np.isfinite(seconds) & (who >= 0)
    counts = np.bincount(who[known], minlength=size)
    sums = np.bincount(who[known], seconds[known], minlength=size)
    return [
        float(total / n) if n else None
        for total, n in zip(sums.tolist(), counts.tolist(), strict=True)
    ]
