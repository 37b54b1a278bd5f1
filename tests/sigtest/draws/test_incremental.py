"""A leaderboard put together from parts against the comparison of all systems at once."""

from collections.abc import Mapping, Sequence

import numpy as np
import pytest
from computed import read

from sigtest.comparison.comparison import Comparison, parse_comparison
from sigtest.comparison.plan import Part, Plan
from sigtest.decide.facts import facts_of
from sigtest.decide.summary import summarise
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
        totals: One a system; `kept` and `prints` are not looked at.
        swaps: By metric and the two systems' places, where a test asks for swaps.
    """
    facts = []
    pairs = [(int(a), int(b)) for a, b in plan.pairs]
    nothing = SwapFact(0, None)
    for m, metric in enumerate(plan.recipe.metrics):
        observed = np.stack([total.observed[m] for total in totals], axis=1)
        found = [swaps.get((m, a, b), nothing) for a, b in pairs]
        facts.append(
            facts_of(
                plan,
                m,
                scores=metric.score_columns(observed),
                draws=np.stack([total.scores[m] for total in totals]),
                swaps=np.array([fact.count for fact in found], dtype=np.int64),
                exact=tuple(fact.exact for fact in found),
                ranges=np.empty(0),
                replica_scores=np.stack([total.replica_scores[m] for total in totals]),
                evenness=np.array([total.evenness[m] for total in totals]),
                sums=observed.T,
                unlike=np.array(
                    [(totals[a].prints[m] != totals[b].prints[m]).sum() for a, b in plan.pairs]
                ),
            )
        )
    return summarise(Plan((plan,)), [facts])


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
