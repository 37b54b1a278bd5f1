"""Part 2: the product's counts against the papers' plain loops, on the same draws."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import partial

import numpy as np
from scipy.stats import binomtest

from sigtest.arrays import Array, Weights
from sigtest.draws.weights import bootstrap_counts, swap_masks
from sigtest.metrics import Metric
from sigtest.significance import ALTERNATIVES, resampling_tests
from validation import fixtures, textbook
from validation.formulas import formula_of
from validation.parallel import spread
from validation.results import Check, all_hold
from validation.settings import SEED

LOOPS: Mapping[str, Callable[..., dict[str, int]]] = {
    "approximate_randomization": textbook.approximate_randomization,
    "bootstrap": textbook.bootstrap,
    "bootstrap_t": textbook.bootstrap_t,
    "paired_bootstrap": textbook.paired_bootstrap,
    "riezler_maxwell_bootstrap": textbook.riezler_maxwell_bootstrap,
}

ESTIMATED = ("bootstrap", "riezler_maxwell_bootstrap")  # centres, but for the first one's of MEANS
MEANS = ("grid", "real", "ratio")  # of segments that weigh the same

Cell = tuple[str, str, str]  # metric, test, alternative


def loop_counts(
    metric: Metric, table: Array, kept: Weights, drawn: list[list[int]]
) -> dict[str, dict[str, int]]:
    """Counts of every loop for the first two systems, by test and alternative."""
    formula = formula_of(metric)
    sign = 1.0 if metric.higher_is_better else -1.0
    x, y = list(table[0]), list(table[1])
    return {
        name: loop(
            lambda sums: sign * formula(sums),
            x,
            y,
            (kept > 0).tolist() if resampling_tests()[name].draws == "swaps" else drawn,
        )
        for name, loop in LOOPS.items()
    }


def as_lists(counts: Weights) -> list[list[int]]:
    """Bootstrap counts as the segments that a loop would have drawn."""
    units = np.arange(counts.shape[1])
    return [np.repeat(units, row.astype(int)).tolist() for row in counts]


def counts_equal_plain_loops(
    datasets: int = 1,
    n: int = 16,
    resamples: int = 120,
    slow: bool = False,
    workers: int = 1,
) -> Check:
    """Counts of the report equal those of the loops, exactly."""
    task = partial(_loop_task, n=n, resamples=resamples, slow=slow)
    problems: list[str] = []
    cases = 0
    for count, found in spread(task, [SEED + d for d in range(datasets)], workers):
        cases += count
        problems += found
    named = ", ".join(metric.spelling for metric in fixtures.metrics(slow))
    return all_hold(
        "counts equal plain loops",
        f"Every count of the report equals, exactly, that of the paper's loop on the same draws "
        f"({resamples} resamples of {n} segments, scores by other programs), for every test and "
        f"alternative and for {named}.",
        problems,
        cases,
    )


def _loop_task(content: int, n: int, resamples: int, slow: bool) -> tuple[int, list[str]]:
    chosen = fixtures.metrics(slow)
    wanted: dict[Cell, int] = {}
    kept = swap_masks(content, 0, resamples, n)
    drawn = as_lists(bootstrap_counts(content, 0, resamples, n))
    made = fixtures.comparison(content, n, chosen=chosen)
    for metric, table in zip(chosen, fixtures.tables(made), strict=True):
        label = made.recipe.labels[chosen.index(metric)]
        for test, counts in loop_counts(metric, table, kept, drawn).items():
            wanted.update({(label, test, alt): count for alt, count in counts.items()})
    problems = []
    for alternative in ALTERNATIVES:
        made = fixtures.comparison(
            content,
            n,
            chosen=chosen,
            tests=tuple(LOOPS),
            alternative=alternative,
            resamples=resamples,
            seed=content,
        )
        for pair in fixtures.firsts(made):
            shown = alternative if pair.alternative == alternative else "two-sided"
            count = wanted[pair.metric, pair.test, shown]
            if pair.count != count:
                problems.append(f"{pair.metric} {pair.test} {shown}: {pair.count}, not {count}")
    return len(ALTERNATIVES) * len(chosen) * len(LOOPS), problems


def p_values_follow_from_counts() -> Check:
    """The report's p-values and their intervals, from its own counts."""
    problems = []
    cases = 0
    for alternative in ALTERNATIVES:
        made = fixtures.comparison(
            SEED, 16, tests=tuple(LOOPS), alternative=alternative, resamples=199
        )
        for pair in fixtures.firsts(made):
            cases += 1
            sides = 2 if (pair.test, alternative) == ("paired_bootstrap", "two-sided") else 1
            count = pair.count or 0
            p = min(1.0, sides * (count + 1) / 200)
            low, high = binomtest(count, 199).proportion_ci(method="exact")
            wanted = (p, math.log10(p), min(1.0, sides * low), min(1.0, sides * high))
            found = (pair.p_value, pair.log10_p, *(pair.p_interval or ()))
            known = pair.test == "bootstrap" and pair.metric.startswith(MEANS)
            wider = pair.test in ESTIMATED and not known
            wider &= found[2] <= wanted[2] * (1 + 1e-9) and found[3] >= wanted[3] * (1 - 1e-9)
            if not np.allclose(found[: 2 if wider else 4], wanted[: 2 if wider else 4], rtol=1e-9):
                problems.append(f"{pair.metric} {pair.test} {alternative}: {pair.p_value}, not {p}")
    return all_hold(
        "p-values follow from counts",
        "p = (c + 1)/(R + 1), twice that (at most 1) for the two-sided paired bootstrap, and its "
        "Clopper-Pearson interval as SciPy has it (1e-9), in every test, alternative and metric; "
        "at least as wide where the centre is an estimate.",
        problems,
        cases,
    )


def every_test_has_its_loop() -> Check:
    """A new significance test or metric cannot come without its plain loop or formula."""
    missing = [name for name in resampling_tests() if name not in LOOPS]
    cases = len(resampling_tests())
    for metric in fixtures.metrics():
        cases += 1
        try:
            formula_of(metric)
        except LookupError as error:
            missing.append(str(error))
    return all_hold(
        "every test has its loop",
        "Each registered significance test that draws has its plain loop and each metric an "
        "independent formula in the validation.",
        missing,
        cases,
    )
