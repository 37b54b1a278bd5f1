"""A report from what is kept of every system and pair: rows of numbers, made once.

A row is a function of what it is about and of the recipe, and of nothing else. So systems that
arrive one after the other cost their own rows only, and the report from rows is that of `compare`
on all systems at once, bit for bit.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sigtest.arrays import Array, Counts
from sigtest.comparison.plan import Part, Plan
from sigtest.decide.facts import Facts, Spread, differences, facts_of, spread_of
from sigtest.decide.summary import Gone, summarise
from sigtest.draws.totals import SwapFact, Totals
from sigtest.report import Report
from sigtest.significance import CORRECTIONS, resampling_tests, swap_test
from sigtest.significance.convolution import surely_on_grid
from sigtest.significance.exact import ExactP

# Columns of a pair's row; three counts of each test that looks at bootstrap draws follow.
LOW, HIGH, STDERR, SKEWNESS, SWAPS, EXACT, COUNT, PATTERNS, LOG10_P = range(9)
FIRST_COUNT = 9


def wants_kept(part: Part, m: int, table: Array) -> bool:
    """Whether a system's totals under swaps are worth keeping: not where pairs are convolved.

    Args:
        part: Its recipe is applied.
        m: The metric.
        table: (n, k) statistics of the system.
    """
    if swap_test(part.recipe.tests) is None:
        return False
    exact = part.recipe.exact != "never"
    return not (exact and surely_on_grid(part.recipe.metrics[m], table[None]))


def system_row(part: Part, m: int, totals: Totals) -> Array:
    """Score, interval and standard error of one system, its evenness, and its replicas' scores."""
    score = part.recipe.metrics[m].score_columns(totals.observed[m][:, None])
    spread = spread_of(totals.scores[m][None], part.recipe.alpha)
    own = [score, spread.low, spread.high, spread.stderr, totals.evenness[m : m + 1]]
    return np.concatenate([*own, totals.replica_scores[m]])


def pair_rows(
    part: Part, m: int, systems: Sequence[Totals], pairs: Counts, swaps: Sequence[SwapFact]
) -> Array:
    """What the draws say of pairs of systems, each a before b.

    Args:
        part: Its recipe is applied.
        m: The metric.
        systems: Their totals; `kept` is not looked at.
        pairs: (P, 2) places of both.
        swaps: What randomization says of each; of no meaning where no test asks for it.

    Returns:
        (P, 9 + 3 tests) numbers; whole ones are below 2**53 + 1.
    """
    recipe = part.recipe
    metric = recipe.metrics[m]
    observed = np.stack([totals.observed[m] for totals in systems], axis=1)
    draws = np.stack([totals.scores[m] for totals in systems])
    evenness = np.array([totals.evenness[m] for totals in systems])
    scores = metric.score_columns(observed)
    spread, counts = differences(recipe, m, pairs, scores, draws, evenness)
    exact = [_exact_columns(fact.exact) for fact in swaps]
    return np.column_stack(
        [
            spread.low,
            spread.high,
            spread.stderr,
            spread.skewness,
            [float(fact.count) for fact in swaps],
            np.array(exact).reshape(-1, 4),
            *(row for test in _drawn(part) for row in counts[test]),
        ]
    )


def no_rows(part: Part) -> Array:
    """(0, columns) rows of one metric, where there is no system or no pair."""
    return np.empty((0, FIRST_COUNT + 3 * len(_drawn(part))))


def report_of_rows(
    part: Part,
    systems: Sequence[Array],
    pairs: Sequence[Array],
    draws: Sequence[Array] = (),
    ranges: Sequence[Array] = (),
    gone: Gone | None = None,
) -> Report:
    """The report, as a comparison of these systems alone would give it.

    Args:
        part: What is compared.
        systems: For each metric (S, 5 + m) rows, from `system_row`.
        pairs: For each metric (P, 9 + 3 tests) rows of `part.pairs`, from `pair_rows`.
        draws: For each metric (S, R) bootstrap scores, where the correction is a joint one.
        ranges: For each metric (R,) ranges of permuted systems, where the correction is `tukey`.
        gone: Comparisons that stay in their family although a system of theirs has left.
    """
    facts = []
    for m in range(len(part.recipe.metrics)):
        if CORRECTIONS[part.recipe.correction].joint is not None and len(part.pairs):
            facts.append(_joint_facts(part, m, systems[m], pairs[m], draws[m], ranges))
        else:
            facts.append(_facts(part, systems[m], pairs[m]))
    return summarise(Plan((part,)), [facts], gone)


def _facts(part: Part, systems: Array, pairs: Array) -> Facts:
    """What rows say of one metric."""
    drawn = _drawn(part)
    low, high, stderr = systems[:, 1:4].T
    counts = dict.fromkeys(part.recipe.tests, pairs[:, SWAPS]) | {
        test: pairs[:, FIRST_COUNT + 3 * i : FIRST_COUNT + 3 * i + 3].T
        for i, test in enumerate(drawn)
    }
    return Facts(
        scores=systems[:, 0],
        score_spread=Spread(low, high, stderr, np.zeros(len(systems))),
        difference_spread=Spread(*pairs[:, [LOW, HIGH, STDERR, SKEWNESS]].T),
        counts={test: column.astype(np.int64) for test, column in counts.items()},
        exact=tuple(_exact_of(row) for row in pairs),
        joint_counts={},
        replica_scores=systems[:, 5:],
        evenness=systems[:, 4],
    )


def _joint_facts(
    part: Part, m: int, systems: Array, pairs: Array, draws: Array, ranges: Sequence[Array]
) -> Facts:
    """The same where the correction looks at all pairs' draws together."""
    return facts_of(
        part,
        m,
        scores=systems[:, 0],
        draws=draws,
        swaps=pairs[:, SWAPS].astype(np.int64),
        exact=tuple(_exact_of(row) for row in pairs),
        ranges=ranges[m] if ranges else np.empty(0),
        replica_scores=systems[:, 5:],
        evenness=systems[:, 4],
    )


def _drawn(part: Part) -> list[str]:
    """The tests that look at bootstrap draws, in the order of the recipe."""
    tests = resampling_tests(part.recipe.tests)
    return [name for name, test in tests.items() if test.draws == "counts"]


def _exact_columns(exact: ExactP | None) -> tuple[float, float, float, float]:
    """Whether there is an exact p-value, and what it is; NaN for counts that are not told."""
    if exact is None:
        return 0.0, np.nan, np.nan, np.nan
    count = np.nan if exact.count is None else float(exact.count)
    patterns = np.nan if exact.patterns is None else float(exact.patterns)
    return 1.0, count, patterns, exact.log10_p


def _exact_of(row: Array) -> ExactP | None:
    if not row[EXACT]:
        return None
    count, patterns = (None if np.isnan(row[c]) else int(row[c]) for c in (COUNT, PATTERNS))
    return ExactP(count, patterns, float(row[LOG10_P]))
