"""From facts to the report: p-values, corrections, decisions, ranks, verdicts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sigtest.comparison.plan import Plan
from sigtest.decide.decisions import Decisions, decide
from sigtest.decide.facts import Facts
from sigtest.decide.verdict import verdict
from sigtest.decide.warnings import cautions
from sigtest.metrics import Metric
from sigtest.report import (
    MetricReport,
    PairReport,
    Report,
    ScoreReport,
    SystemReport,
    TestSetReport,
)
from sigtest.significance import TESTS, SignificanceTest
from sigtest.significance.levels import experimentwise_error
from sigtest.significance.ranking import Rank, rank
from sigtest.version import __version__


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
    """The pairs of each comparison for one metric and test, decided as one family."""
    plan = parts[0].plan
    facts = [part.facts[m] for part in parts]
    unseen = np.zeros(len(plan.pairs), dtype=np.int64)  # where a test has a p-value of its own
    decisions = decide(
        plan.recipe,
        plan.resamples,
        test,
        counts=np.concatenate([known.counts.get(test.name, unseen) for known in facts]),
        known=[p for known in facts for p in known.own.get(test.name, known.exact)],
        joint_counts=facts[0].joint_counts.get(test.name),  # for one comparison only
    )
    size = len(plan.pairs)
    return [
        _pairs(part.plan, m, known, test, decisions, slice(first, first + size))
        for part, known, first in zip(parts, facts, range(0, size * len(parts), size), strict=True)
    ]


def _pairs(
    plan: Plan, m: int, facts: Facts, test: SignificanceTest, decisions: Decisions, rows: slice
) -> list[PairReport]:
    """The pairs of a comparison, which are some rows of their family.

    Columns become lists first: reading arrays number by number takes several times as long.
    """
    recipe = plan.recipe
    higher, comparisons = recipe.metrics[m].higher_is_better, len(decisions.p)
    alternative = test.shown_alternative(recipe.alternative)
    scores, spread = facts.scores.tolist(), facts.difference_spread
    plain, corrected = decisions.detectable
    columns = zip(
        range(rows.start, rows.stop),
        plan.pairs.tolist(),
        spread.low.tolist(),
        spread.high.tolist(),
        spread.stderr.tolist(),
        decisions.known[rows],
        decisions.counts[rows].tolist(),
        decisions.p[rows].tolist(),
        decisions.log10_p[rows].tolist(),
        decisions.low[rows].tolist(),
        decisions.high[rows].tolist(),
        decisions.adjusted[rows].tolist(),
        decisions.significant[rows].tolist(),
        decisions.undecided[rows].tolist(),
        strict=True,
    )
    pairs: list[PairReport] = []
    for row, (a, b), low, high, stderr, known, *decided in columns:
        count, p, log10_p, p_low, p_high, adjusted, significant, undecided = decided
        pair = PairReport(
            a=plan.systems[a],
            b=plan.systems[b],
            metric=recipe.labels[m],
            test=test.name,
            alternative=alternative,
            score_a=scores[a],
            score_b=scores[b],
            difference=scores[a] - scores[b],
            ci=(low, high),
            stderr=stderr,
            count=known.count if known else count,
            resamples=known.patterns if known else plan.resamples,
            p_value=p,
            log10_p=log10_p,
            p_interval=None if test.draws == "none" else (p_low, p_high),
            p_adjusted=adjusted,
            significant=significant,
            undecided=undecided,
            resamples_needed=decisions.needed.get(row),
            exact=known is not None and known.exact,
            calibrated=test.calibrated,
            detectable=(stderr * plain, stderr * corrected),
            verdict="",
        )
        shown = verdict(pair, higher, recipe.correction, comparisons)
        pairs.append(pair._replace(verdict=shown))
    return pairs


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
        label: score_report(
            float(known.scores[s]),
            float(known.score_spread.low[s]),
            float(known.score_spread.high[s]),
            float(known.score_spread.stderr[s]),
            known.replica_scores[s].tolist(),
        )
        for label, known in zip(plan.recipe.labels, facts, strict=True)
    }


def score_report(
    score: float, low: float, high: float, stderr: float, replicas: Sequence[float]
) -> ScoreReport:
    """What is said of a system in one metric.

    Args:
        score: Observed.
        low: Lower end of its interval.
        high: Upper end.
        stderr: Standard error of the score.
        replicas: Scores of the training replicas; one alone is the system itself.
    """
    trained = len(replicas) > 1
    return ScoreReport(
        score=score,
        ci=(low, high),
        stderr=stderr,
        training_stderr=float(np.std(replicas, ddof=1)) if trained else None,
        replicas=tuple(replicas) if trained else (),
    )
