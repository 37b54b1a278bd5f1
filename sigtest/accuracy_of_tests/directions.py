"""A comparison run for both one-sided claims on the same draws.

The one module that runs what the engine compares.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from sigtest.accuracy_of_tests.asked import Tested
from sigtest.comparison.comparison import Comparison
from sigtest.draws.samples import Samples
from sigtest.engine import drawn, measure_all, reduce
from sigtest.progress import Progress
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
    recipe, plan = comparison.recipe, comparison.plan
    p: dict[tuple[str, str], list[float]] = {}  # of the better and the worse, as is claimed
    claims = CLAIMS if recipe.baseline else CLAIMS[:1]  # of all pairs it is made in both orders
    for number, claim in enumerate(claims):
        one = replace(comparison, recipe=recipe.but(alternative=claim))
        samples = Samples(one.plan, tables)
        report = reduce(samples, drawn(samples, partial(_say_both, say, number, len(claims))))
        for pair in report.pairs:  # by metric, then test
            both = (pair.a, pair.b) if claim == "greater" else (pair.b, pair.a)
            p.setdefault(both, []).append(pair.p_value)
    pairs = tuple((plan.systems[a], plan.systems[b]) for a, b in plan.pairs.tolist())
    shape = len(recipe.metrics), len(recipe.tests), -1
    return Tested(
        systems=plan.systems,
        pairs=pairs,
        metrics=recipe.labels,
        tests=recipe.tests,
        p_greater=np.array([p[a, b] for a, b in pairs]).T.reshape(shape),
        p_less=np.array([p[b, a] for a, b in pairs]).T.reshape(shape),
        signature=f"claims:{'+'.join(CLAIMS)}|{plan.signature}",
    )


def _say_both(say: Progress, number: int, of: int, phase: str, done: int, total: int) -> None:
    """How far one claim is, as a part of all."""
    say(phase, number * total + done, of * total)
