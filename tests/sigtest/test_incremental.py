"""A leaderboard put together from parts against the comparison of all systems at once."""

from pathlib import Path

import numpy as np
import pytest

from sigtest.comparison import Comparison
from sigtest.engine import compare, measure
from sigtest.incremental import alone, leaderboard, resample, swap_fact, wants_statistics
from sigtest.report import Report
from sigtest.text import parse_lines


def from_parts(comparison: Comparison) -> Report:
    plan = comparison.plan
    tables = [
        [measure(comparison.testset, system, metric) for metric in comparison.recipe.metrics]
        for system in comparison.systems
    ]
    totals = [
        resample(alone(plan, s), [table[None] for table in tables[s]])
        for s in range(len(plan.systems))
    ]
    swaps = {}
    for m in range(len(plan.recipe.metrics)):
        for a, b in plan.pairs.tolist():
            needed = wants_statistics(plan, m, totals[a], totals[b])
            rows = (tables[a][m], tables[b][m]) if needed else None
            swaps[m, a, b] = swap_fact(plan, m, totals[a], totals[b], rows)
    return leaderboard(plan, totals, swaps)


@pytest.mark.parametrize("alternative", ["two-sided", "less"])
def test_parts_give_the_report_of_all_at_once(example: Path, alternative: str) -> None:
    def read(path: Path) -> list[str]:
        return list(parse_lines(path.read_bytes(), path.name))

    comparison = Comparison.of(
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


def test_few_differing_units_are_counted_exactly_from_parts() -> None:
    values = np.random.default_rng(0).normal(size=(3, 100))
    values[1, 12:] = values[0, 12:]
    comparison = Comparison.of(
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
