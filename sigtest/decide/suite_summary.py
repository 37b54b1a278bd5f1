"""From the facts of all test sets to a suite's report: one family of decisions, and wins."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sigtest.arrays import Array
from sigtest.comparison.plan import Plan
from sigtest.comparison.recipe import Recipe
from sigtest.comparison.suite_plan import SuitePlan
from sigtest.decide.facts import Facts
from sigtest.decide.summary import Part, summarise_together
from sigtest.draws.sample import oriented_differences
from sigtest.report.suite_report import Overall, SmallTest, SuiteReport, TestSetResult, WinsReport
from sigtest.significance.corrections import adjust
from sigtest.significance.wins import Wins, wins
from sigtest.version import __version__


def summarise_suite(plan: SuitePlan, facts: Sequence[Sequence[Facts]]) -> SuiteReport:
    """Build the report.

    Args:
        plan: What is compared.
        facts: For each test set and, last, for all together: those of every metric.
    """
    plans = [*plan.plans, plan.whole]
    *parts, whole = summarise_together(
        [Part(own, found) for own, found in zip(plans, facts, strict=True)]
    )
    scores = [np.array([own.scores for own in found]) for found in facts[:-1]]
    return SuiteReport(
        signature=plan.signature,
        version=__version__,
        alpha=whole.alpha,
        correction=whole.correction,
        comparisons=plan.size,
        testsets=tuple(map(TestSetResult, plan.names, parts)),
        overall=Overall(plan.average, whole.systems, whole.pairs),
        wins=_wins(plan.whole, scores),
        warnings=_cautions(plan),
    )


def _wins(plan: Plan, scores: Sequence[Array]) -> tuple[WinsReport, ...]:
    """Won, lost and tied test sets of every pair and metric; scores are (M, S), one a test set."""
    recipe = plan.recipe
    reports: list[WinsReport] = []
    for m, metric in enumerate(recipe.metrics):
        seen = [oriented_differences(plan, m, own[m]) for own in scores]
        moved = np.array([observed for observed, _ in seen])
        tolerance = np.array([slack for _, slack in seen])
        family = [
            wins(moved[:, p], tolerance[:, p], recipe.alternative) for p in range(len(plan.pairs))
        ]
        signs = _decided(recipe, [pair.sign_p for pair in family])
        ranks = _decided(recipe, [pair.signed_rank_p for pair in family])
        for p, pair in enumerate(family):
            differences = tuple((metric.sign * moved[:, p]).tolist())
            reports.append(_wins_report(plan, m, p, pair, differences, signs[p], ranks[p]))
    return tuple(reports)


def _decided(recipe: Recipe, p: Sequence[float]) -> list[SmallTest]:
    adjusted = adjust(np.array(p), recipe.correction).tolist()
    return [
        SmallTest(own, corrected, corrected <= recipe.alpha)
        for own, corrected in zip(p, adjusted, strict=True)
    ]


def _wins_report(
    plan: Plan,
    m: int,
    p: int,
    pair: Wins,
    differences: tuple[float, ...],
    sign_test: SmallTest,
    signed_rank: SmallTest,
) -> WinsReport:
    a, b = plan.pairs[p].tolist()
    return WinsReport(
        a=plan.systems[a],
        b=plan.systems[b],
        metric=plan.recipe.labels[m],
        alternative=plan.recipe.alternative,
        differences=differences,
        won=pair.won,
        lost=pair.lost,
        tied=pair.tied,
        rank_sum=pair.rank_sum,
        sign_test=sign_test,
        signed_rank=signed_rank,
    )


def _cautions(plan: SuitePlan) -> tuple[str, ...]:
    """What a reader of counts over few test sets should know."""
    recipe, testsets = plan.recipe, len(plan.names)
    sides = 2 if recipe.alternative == "two-sided" else 1
    least = sides * 0.5**testsets
    if least <= recipe.alpha:
        return ()
    return (
        f"The smallest p-value that {testsets} test sets can give in the sign test and the "
        f"signed-rank test is {least:g}, above alpha: neither can find a difference here.",
    )
