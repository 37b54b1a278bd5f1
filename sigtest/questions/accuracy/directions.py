"""A comparison run for both one-sided claims on the same draws.

The one module that runs what the engine compares.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sigtest.arrays import Array
from sigtest.comparison.comparison import Comparison
from sigtest.draws.samples import Samples
from sigtest.engine import BLOCK, measure, reduce
from sigtest.progress import Progress
from sigtest.questions.accuracy.asked import Tested
from sigtest.report import Report
from sigtest.significance import Alternative

CLAIMS: tuple[Alternative, ...] = ("greater", "less")


def one_sided(comparison: Comparison, say: Progress) -> Tested:
    """P-values of every pair, metric and test for the claims that a is better, and that b is.

    Draws are addressed by seed and resample, so that both claims look at the same ones.

    Args:
        comparison: On one test set, without correction.
        say: Called with phase (`statistics`, `resampling`), done and total.
    """
    tables = _measure(comparison, say)
    steps = 2 * comparison.plan.resamples
    found = []
    for number, claim in enumerate(CLAIMS):
        recipe = replace(comparison.recipe, alternative=claim)
        samples = Samples(replace(comparison, recipe=recipe).plan, [tables])
        resamples, blocks = samples.plan.resamples, []
        for start in range(0, resamples, BLOCK):
            say("resampling", number * resamples + start, steps)
            blocks.append(samples.block(start, min(start + BLOCK, resamples)))
        found.append(_p_values(reduce(samples, blocks), comparison))
    plan = comparison.plan
    return Tested(
        systems=plan.systems,
        pairs=tuple((plan.systems[a], plan.systems[b]) for a, b in plan.pairs.tolist()),
        metrics=comparison.recipe.labels,
        tests=comparison.recipe.tests,
        p_greater=found[0],
        p_less=found[1],
        signature=f"claims:{'+'.join(CLAIMS)}|{plan.signature}",
    )


def _measure(comparison: Comparison, say: Progress) -> list[Array]:
    """One (S, m n, k) array a metric."""
    (entry,) = comparison.entries
    metrics = comparison.recipe.metrics
    total = len(entry.systems) * len(metrics)
    tables = []
    for m, metric in enumerate(metrics):
        rows = []
        for s, system in enumerate(entry.systems):
            say("statistics", m * len(entry.systems) + s, total)
            rows.append(measure(entry.testset, system, metric))
        tables.append(np.stack(rows))
    return tables


def _p_values(report: Report, comparison: Comparison) -> Array:
    """(M, T, P) p-values; the report has them by metric, test and pair."""
    metrics, tests = len(comparison.recipe.metrics), len(comparison.recipe.tests)
    return np.array([pair.p_value for pair in report.pairs]).reshape(metrics, tests, -1)
