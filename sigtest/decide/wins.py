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
from sigtest.significance.wins import wins


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
        for p, (a, b) in enumerate(part.pairs.tolist()):
            reports.append(
                WinsReport(
                    a=part.systems[a],
                    b=part.systems[b],
                    metric=recipe.labels[m],
                    alternative=recipe.alternative,
                    differences=tuple((metric.sign * moved[:, p]).tolist()),
                    won=family[p].won,
                    lost=family[p].lost,
                    tied=family[p].tied,
                    rank_sum=family[p].rank_sum,
                    sign_test=signs[p],
                    signed_rank=ranks[p],
                )
            )
    return tuple(reports)


def decided_wins(p: Sequence[float], limit: Limit) -> list[SmallTest]:
    """Exact tests over test sets, corrected within all pairs of a metric."""
    adjusted = adjust(np.array(p), limit.correction, limit.family).tolist()
    return [
        SmallTest(own, corrected, corrected <= limit.alpha)
        for own, corrected in zip(p, adjusted, strict=True)
    ]
