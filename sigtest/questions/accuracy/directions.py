"""A comparison run for both one-sided claims on the same draws.

The one module that runs what the engine compares.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from sigtest.arrays import Array
from sigtest.comparison.comparison import Comparison
from sigtest.draws.samples import Samples
from sigtest.engine import drawn, measure_all, reduce
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
    tables = measure_all(comparison, say)
    found = []
    for number, claim in enumerate(CLAIMS):
        recipe = replace(comparison.recipe, alternative=claim)
        samples = Samples(replace(comparison, recipe=recipe).plan, tables)
        blocks = drawn(samples, partial(_say_both, say, number))
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


def _say_both(say: Progress, number: int, phase: str, done: int, total: int) -> None:
    """How far one claim is, as a part of both."""
    say(phase, number * total + done, len(CLAIMS) * total)


def _p_values(report: Report, comparison: Comparison) -> Array:
    """(M, T, P) p-values; the report has them by metric, test and pair."""
    metrics, tests = len(comparison.recipe.metrics), len(comparison.recipe.tests)
    return np.array([pair.p_value for pair in report.pairs]).reshape(metrics, tests, -1)
