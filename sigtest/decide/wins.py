"""Which system wins on how many of several test sets, and whether that could be chance."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sigtest.arrays import Array
from sigtest.comparison.plan import Part
from sigtest.decide.decisions import Limit
from sigtest.draws.sample import oriented_differences
from sigtest.report import SmallTest, WinsReport
from sigtest.significance.corrections import adjust
from sigtest.significance.wins import Wins, wins


def count_wins(part: Part, scores: Sequence[Array]) -> tuple[WinsReport, ...]:
    """Won, lost and tied test sets of every pair and metric; scores are (M, S) of each test set."""
    recipe = part.recipe
    reports: list[WinsReport] = []
    for m, metric in enumerate(recipe.metrics):
        seen = [oriented_differences(part, m, own[m]) for own in scores]
        moved = np.array([observed for observed, _ in seen])
        tolerance = np.array([slack for _, slack in seen])
        family = [
            wins(moved[:, p], tolerance[:, p], recipe.alternative) for p in range(len(part.pairs))
        ]
        limit = Limit(recipe.correction, recipe.alpha, recipe.comparisons(len(family)))
        signs = decided_wins([pair.sign_p for pair in family], limit)
        ranks = decided_wins([pair.signed_rank_p for pair in family], limit)
        for p, pair in enumerate(family):
            differences = tuple((metric.sign * moved[:, p]).tolist())
            reports.append(_wins_report(part, m, p, pair, differences, signs[p], ranks[p]))
    return tuple(reports)


def decided_wins(p: Sequence[float], limit: Limit) -> list[SmallTest]:
    """Exact tests over test sets, corrected within all pairs of a metric."""
    adjusted = adjust(np.array(p), limit.correction, limit.family).tolist()
    return [
        SmallTest(own, corrected, corrected <= limit.alpha)
        for own, corrected in zip(p, adjusted, strict=True)
    ]


def _wins_report(
    part: Part,
    m: int,
    p: int,
    pair: Wins,
    differences: tuple[float, ...],
    sign_test: SmallTest,
    signed_rank: SmallTest,
) -> WinsReport:
    a, b = part.pairs[p].tolist()
    return WinsReport(
        a=part.systems[a],
        b=part.systems[b],
        metric=part.recipe.labels[m],
        alternative=part.recipe.alternative,
        differences=differences,
        won=pair.won,
        lost=pair.lost,
        tied=pair.tied,
        rank_sum=pair.rank_sum,
        sign_test=sign_test,
        signed_rank=signed_rank,
    )
