"""A leaderboard put together from parts against the comparison of all systems at once."""

from collections.abc import Mapping, Sequence

import numpy as np
import pytest
from computed import read

from sigtest.comparison.comparison import Comparison, parse_comparison
from sigtest.comparison.plan import Part
from sigtest.decide.facts import pair_rows, system_row
from sigtest.decide.summary import report_of_rows
from sigtest.draws.totals import (
    SwapFact,
    Totals,
    alone,
    exact_fact,
    resample,
    swap_fact,
    wants_statistics,
)
from sigtest.engine import compare, measure
from sigtest.report import Report


def leaderboard(
    plan: Part, totals: Sequence[Totals], swaps: Mapping[tuple[int, int, int], SwapFact]
) -> Report:
    """The report of all systems, from what is kept of each.

    Args:
        plan: Of all systems, in the order of `totals`.
        totals: One a system; `kept` is not looked at.
        swaps: By metric and the two systems' places, where a test asks for swaps.
    """
    nothing = SwapFact(0, None)
    metrics = range(len(plan.recipe.metrics))
    found = [[swaps.get((m, a, b), nothing) for a, b in plan.pairs.tolist()] for m in metrics]
    return report_of_rows(
        plan,
        [np.stack([system_row(plan, m, total) for total in totals]) for m in metrics],
        [pair_rows(plan, m, totals, plan.pairs, found[m]) for m in metrics],
        [np.stack([total.scores[m] for total in totals]) for m in metrics],
    )


def from_parts(comparison: Comparison) -> Report:
    plan = comparison.plan.parts[0]
    tables = [
        [
            measure(comparison.entries[0].testset, system, metric)
            for metric in comparison.recipe.metrics
        ]
        for system in comparison.entries[0].systems
    ]
    totals = [
        resample(alone(plan, s), [table[None] for table in tables[s]])
        for s in range(len(plan.systems))
    ]
    swaps = {}
    for m in range(len(plan.recipe.metrics)):
        for a, b in plan.pairs.tolist():
            needed = wants_statistics(plan, m, totals[a], totals[b])
            exact = exact_fact(plan, m, (tables[a][m], tables[b][m])) if needed else None
            swaps[m, a, b] = exact or swap_fact(plan, m, totals[a], totals[b])
    return leaderboard(plan, totals, swaps)


@pytest.mark.parametrize("alternative", ["two-sided", "less"])
def test_parts_give_the_report_of_all_at_once(example, alternative):
    comparison = parse_comparison(
        {
            "references": [read(example / "reference.en")],
            "systems": [
                {"name": path.stem, "hypotheses": read(path)}
                for path in sorted((example / "systems").iterdir())
            ],
            "metrics": ["bleu", "chrf", "ter", "nist"],
            "tests": ["approximate_randomization", "bootstrap", "paired_bootstrap"],
            "alternative": alternative,
            "resamples": 700,
        }
    )
    assert from_parts(comparison) == compare(comparison)


def test_few_differing_units_are_counted_exactly_from_parts():
    values = np.random.default_rng(0).normal(size=(3, 100))
    values[1, 12:] = values[0, 12:]
    comparison = parse_comparison(
        {
            "systems": [
                {"name": f"s{i}", "scores": {"x": row.tolist()}} for i, row in enumerate(values)
            ],
            "metrics": ["scores"],
            "resamples": 300,
        }
    )
    report = from_parts(comparison)
    assert report == compare(comparison)
    assert [pair.exact for pair in report.pairs] == [True, False, False]
