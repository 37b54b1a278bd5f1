"""From facts to the report: p-values, corrections, decisions, ranks, verdicts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import ndtri

from sigtest.cautions import cautions
from sigtest.facts import Facts
from sigtest.metrics import Metric
from sigtest.multiplicity import (
    adjust,
    critical_value,
    experimentwise_error,
    strictest_level,
    undecided,
)
from sigtest.plan import Plan
from sigtest.ranking import Rank, rank
from sigtest.report import (
    MetricReport,
    PairReport,
    Report,
    ScoreReport,
    SystemReport,
    TestSetReport,
)
from sigtest.significance import TESTS, SignificanceTest
from sigtest.significance.exact import ExactP
from sigtest.significance.montecarlo import p_interval, p_value
from sigtest.verdict import verdict
from sigtest.version import __version__

POWER = 0.8


@dataclass(frozen=True)
class Part:
    """One comparison of those that are corrected together.

    Attributes:
        plan: What is compared.
        facts: Of each metric, in the order of the recipe.
    """

    plan: Plan
    facts: Sequence[Facts]


def summarise(plan: Plan, facts: Sequence[Facts]) -> Report:
    """Build the report from the facts of each metric, in the order of the recipe."""
    return summarise_together([Part(plan, facts)])[0]


def summarise_together(parts: Sequence[Part]) -> list[Report]:
    """Build the reports of comparisons that share recipe, number of resamples and systems' names.

    All their pairs of one metric and test are one family for the correction.
    """
    recipe = parts[0].plan.recipe
    pairs: list[list[PairReport]] = [[] for _ in parts]
    for m in range(len(recipe.metrics)):
        for name in recipe.tests:
            for own, family in zip(pairs, _families(parts, m, TESTS[name]), strict=True):
                own += family
    comparisons = sum(len(part.plan.pairs) for part in parts)
    return [_report(part, own, comparisons) for part, own in zip(parts, pairs, strict=True)]


def _families(parts: Sequence[Part], m: int, test: SignificanceTest) -> list[list[PairReport]]:
    """The pairs of each comparison for one metric and test, corrected and explained."""
    plan = parts[0].plan
    family = [pair for part in parts for pair in _family(part.plan, m, part.facts[m], test)]
    if test.name in parts[0].facts[m].joint_counts:  # corrections for one comparison only
        family = _joined(plan, parts[0].facts[m], family)
    else:
        family = _corrected(plan, family)
    family = _explained(plan, m, family)
    size = len(plan.pairs)
    return [family[first : first + size] for first in range(0, len(family), size)]


def _report(part: Part, pairs: Sequence[PairReport], comparisons: int) -> Report:
    plan, facts, recipe = part.plan, part.facts, part.plan.recipe
    ranks: list[dict[str, dict[str, Rank]]] = [{} for _ in plan.systems]
    places = [(m, name) for m in range(len(recipe.metrics)) for name in recipe.tests]
    for i, (m, name) in enumerate(places):
        family = pairs[i * len(plan.pairs) : (i + 1) * len(plan.pairs)]
        placed = _ranks(plan, recipe.metrics[m], facts[m], family)
        for system, rank_ in zip(ranks, placed, strict=False):
            system.setdefault(recipe.labels[m], {})[name] = rank_
    return Report(
        signature=plan.signature,
        version=__version__,
        testset=TestSetReport(
            segments=plan.segments,
            references=plan.references,
            documents=plan.document_count or None,
            sha256=plan.testset,
        ),
        alpha=recipe.alpha,
        correction=recipe.correction,
        experimentwise_error=experimentwise_error(recipe.alpha, comparisons),
        metrics={
            label: MetricReport(metric.higher_is_better, metric.signature(plan.references))
            for label, metric in zip(recipe.labels, recipe.metrics, strict=True)
        },
        systems=tuple(
            SystemReport(name, _score_reports(plan, facts, s), ranks[s])
            for s, name in enumerate(plan.systems)
        ),
        pairs=tuple(pairs),
        warnings=cautions(plan, facts, comparisons),
    )


def _family(plan: Plan, m: int, facts: Facts, test: SignificanceTest) -> list[PairReport]:
    """All pairs of one metric and test, not yet corrected."""
    recipe = plan.recipe
    sides = test.sides(recipe.alternative)
    counts = facts.counts[test.name]
    p = p_value(counts, plan.resamples, sides)
    low, high = p_interval(counts, plan.resamples, sides)
    spread = facts.difference_spread
    family = []
    for i, (a, b) in enumerate(plan.pairs.tolist()):
        score_a, score_b = float(facts.scores[a]), float(facts.scores[b])
        pair = PairReport(
            a=plan.systems[a],
            b=plan.systems[b],
            metric=recipe.labels[m],
            test=test.name,
            alternative=test.shown_alternative(recipe.alternative),
            score_a=score_a,
            score_b=score_b,
            difference=score_a - score_b,
            ci=(float(spread.low[i]), float(spread.high[i])),
            stderr=float(spread.stderr[i]),
            count=int(counts[i]),
            resamples=plan.resamples,
            p_value=float(p[i]),
            log10_p=math.log10(p[i]),
            p_interval=(float(low[i]), float(high[i])),
            p_adjusted=float(p[i]),
            significant=False,
            undecided=False,
            resamples_needed=None,
            exact=False,
            calibrated=test.calibrated,
            detectable=(0.0, 0.0),
            verdict="",
        )
        exact = facts.exact[i] if test.draws == "swaps" else None
        family.append(_with_exact(pair, exact) if exact else pair)
    return family


def _with_exact(pair: PairReport, exact: ExactP) -> PairReport:
    p = exact.p_value
    return replace(
        pair,
        count=exact.count,
        resamples=exact.patterns,
        p_value=p,
        log10_p=exact.log10_p,
        p_interval=(p, p),
        exact=True,
    )


def _corrected(plan: Plan, family: list[PairReport]) -> list[PairReport]:
    """The family with adjusted p-values and decisions."""
    recipe = plan.recipe
    p = np.array([pair.p_value for pair in family])
    low, high = np.array([pair.p_interval for pair in family]).T
    adjusted = adjust(p, recipe.correction)
    unsure = undecided(p, low, high, recipe.correction, recipe.alpha)
    # the limit hardly differs between the pairs on one side of it
    limits = {
        side: critical_value(p, int(ours[0]), recipe.correction, recipe.alpha)
        for side in (True, False)
        if len(ours := np.flatnonzero(unsure & ((adjusted <= recipe.alpha) == side)))
    }
    corrected = []
    for i, pair in enumerate(family):
        needed = None
        if unsure[i]:
            sides = TESTS[pair.test].sides(recipe.alternative)
            limit = limits[bool(adjusted[i] <= recipe.alpha)]
            needed = resamples_to_settle(pair.p_value / sides, limit / sides, plan.resamples)
        corrected.append(_decided(plan, pair, float(adjusted[i]), bool(unsure[i]), needed))
    return corrected


def _joined(plan: Plan, facts: Facts, family: list[PairReport]) -> list[PairReport]:
    """The family under a correction that counted in the draws of all pairs together."""
    counts = facts.joint_counts[family[0].test]
    adjusted = p_value(counts, plan.resamples)
    low, high = p_interval(counts, plan.resamples)
    alpha = plan.recipe.alpha
    joined = []
    for i, pair in enumerate(family):
        p = float(adjusted[i])
        unsure = bool(low[i] <= alpha < high[i])
        needed = resamples_to_settle(p, alpha, plan.resamples) if unsure else None
        joined.append(_decided(plan, pair, p, unsure, needed))
    return joined


def _decided(
    plan: Plan, pair: PairReport, adjusted: float, unsure: bool, needed: int | None
) -> PairReport:
    return replace(
        pair,
        p_adjusted=adjusted,
        significant=adjusted <= plan.recipe.alpha,
        undecided=unsure,
        resamples_needed=needed,
    )


def resamples_to_settle(p: float, limit: float, resamples: int) -> int:
    """How many resamples put the 95 % interval of p on one side of `limit`, if p stays put.

    From the normal interval p +- 1.96 sqrt(p (1 - p) / R); at least twice as many as there were.
    """
    gap = max(abs(p - limit), 1.0 / (resamples + 1))
    return max(2 * resamples, math.ceil(1.96**2 * p * (1 - p) / gap**2))


def detectable_difference(stderr: float, level: float, sides: int) -> float:
    """Smallest true difference found significant at `level` with 80 % power, given its stderr."""
    return float(stderr * (ndtri(1.0 - level / sides) + ndtri(POWER)))


def _explained(plan: Plan, m: int, family: list[PairReport]) -> list[PairReport]:
    """The family with minimum detectable differences and verdicts."""
    recipe = plan.recipe
    higher = recipe.metrics[m].higher_is_better
    sides = 2 if recipe.alternative == "two-sided" else 1
    strictest = strictest_level(recipe.correction, len(family), recipe.alpha)
    explained = []
    for pair in family:
        detectable = (
            detectable_difference(pair.stderr, recipe.alpha, sides),
            detectable_difference(pair.stderr, strictest, sides),
        )
        pair = replace(pair, detectable=detectable)
        text = verdict(pair, higher, recipe.correction, len(family))
        explained.append(replace(pair, verdict=text))
    return explained


def _ranks(plan: Plan, metric: Metric, facts: Facts, family: Sequence[PairReport]) -> list[Rank]:
    """Ranks from the decisions of a family; none unless two-sided over all pairs."""
    if plan.recipe.baseline is not None or plan.recipe.alternative != "two-sided":
        return []
    sign = metric.sign
    beats = np.zeros((len(plan.systems), len(plan.systems)), dtype=np.bool_)
    for (a, b), pair in zip(plan.pairs.tolist(), family, strict=True):
        if pair.significant:
            winner, loser = (a, b) if sign * pair.difference > 0 else (b, a)
            beats[winner, loser] = True
    return rank(sign * facts.scores, beats)


def _score_reports(plan: Plan, facts: Sequence[Facts], s: int) -> dict[str, ScoreReport]:
    return {
        label: _score_report(known, s)
        for label, known in zip(plan.recipe.labels, facts, strict=True)
    }


def _score_report(facts: Facts, s: int) -> ScoreReport:
    replicas = facts.replica_scores[s]
    trained = len(replicas) > 1
    return ScoreReport(
        score=float(facts.scores[s]),
        ci=(float(facts.score_spread.low[s]), float(facts.score_spread.high[s])),
        stderr=float(facts.score_spread.stderr[s]),
        training_stderr=float(np.std(replicas, ddof=1)) if trained else None,
        replicas=tuple(replicas.tolist()) if trained else (),
    )
