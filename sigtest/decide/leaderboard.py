"""A leaderboard from what is kept of every system and pair: rows of numbers, made once.

A row is a function of what it is about, of the test set's settings and of nothing else, so that a
system that joins, is replaced or goes away leaves the rows of all others as they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from sigtest.arrays import Array, Counts
from sigtest.comparison.plan import Plan
from sigtest.data.choices import choose
from sigtest.decide.facts import Facts, Spread, differences, facts_of, spread_of
from sigtest.decide.summary import score_report, summarise
from sigtest.draws.incremental import SwapFact, Totals
from sigtest.errors import RecipeError
from sigtest.report import MetricReport, Report, ScoreReport, SystemReport, TestSetReport
from sigtest.significance import TESTS, own_tests
from sigtest.significance.convolution import surely_on_grid
from sigtest.significance.corrections import CORRECTIONS
from sigtest.significance.exact import ExactP
from sigtest.significance.levels import experimentwise_error
from sigtest.version import __version__

# Columns of a pair's row; the counts of the tests that look at bootstrap draws follow.
LOW, HIGH, STDERR, SWAPS, EXACT, COUNT, PATTERNS, LOG10_P = range(8)
FIRST_COUNT = 8


def settings_of(plan: Plan) -> Plan:
    """The plan of a new test set, whose settings a leaderboard can work with.

    Raises:
        RecipeError: A baseline, the correction `tukey`, or a test without draws.
    """
    if plan.recipe.baseline is not None:
        raise RecipeError("A leaderboard compares all pairs; leave pairs out.", field="pairs")
    _refuse_tukey(plan.recipe.correction)
    for test in own_tests(plan.recipe.tests):
        raise RecipeError(
            f"A leaderboard keeps no statistics that {test} could look at; take "
            "approximate_randomization or another test that draws.",
            field="tests",
        )
    # `auto` is for a number of pairs that is known beforehand
    resamples = plan.recipe.resolved(1)
    return replace(plan, recipe=replace(plan.recipe, resamples=resamples))


def shown(plan: Plan, metric: str, test: str, alpha: float, correction: str) -> Plan:
    """The plan of what one leaderboard shows: one metric and test of the test set.

    Args:
        plan: Of the test set and its systems.
        metric: Label of the metric.
        test: Name of the significance test.
        alpha: Level of decisions and intervals.
        correction: Correction for multiple comparisons.

    Raises:
        RecipeError: A metric or test that the test set has not, or an impossible choice.
    """
    recipe = plan.recipe
    choose(metric, recipe.labels, "metric", "metric of this test set")
    choose(test, recipe.tests, "test", "test of this test set")
    _refuse_tukey(correction)
    chosen = recipe.metrics[recipe.labels.index(metric)]
    restricted = replace(
        recipe, metrics=(chosen,), tests=(test,), alpha=alpha, correction=correction
    )
    return replace(plan, recipe=restricted)


def wants_kept(plan: Plan, m: int, table: Array) -> bool:
    """Whether a system's totals under swaps are worth keeping: not where pairs are convolved.

    Args:
        plan: Its recipe is applied.
        m: The metric.
        table: (n, k) statistics of the system.
    """
    if all(TESTS[test].draws != "swaps" for test in plan.recipe.tests):
        return False
    exact = plan.recipe.exact != "never"
    return not (exact and surely_on_grid(plan.recipe.metrics[m], table[None]))


def system_row(plan: Plan, m: int, totals: Totals) -> Array:
    """Score, interval and standard error of one system, and the scores of its replicas."""
    score = plan.recipe.metrics[m].score_columns(totals.observed[m][:, None])
    spread = spread_of(totals.scores[m][None], plan.recipe.alpha)
    return np.concatenate([score, spread.low, spread.high, spread.stderr, totals.replica_scores[m]])


def score_of(row: Array) -> ScoreReport:
    """What one row of `system_row` says."""
    score, low, high, stderr, *replicas = row.tolist()
    return score_report(score, low, high, stderr, replicas)


def pair_rows(
    plan: Plan, m: int, systems: Sequence[Totals], pairs: Counts, swaps: Sequence[SwapFact]
) -> Array:
    """What the draws say of pairs of systems, each a before b.

    Args:
        plan: Its recipe is applied.
        m: The metric.
        systems: Their totals; `kept` is not looked at.
        pairs: (P, 2) places of both.
        swaps: What randomization says of each; of no meaning where no test asks for it.

    Returns:
        (P, 8 + tests) numbers; whole ones are below 2**53 + 1.
    """
    recipe = plan.recipe
    metric = recipe.metrics[m]
    observed = np.stack([totals.observed[m] for totals in systems], axis=1)
    draws = np.stack([totals.scores[m] for totals in systems])
    spread, counts = differences(recipe, m, pairs, metric.score_columns(observed), draws)
    exact = [_exact_columns(fact.exact) for fact in swaps]
    return np.column_stack(
        [
            spread.low,
            spread.high,
            spread.stderr,
            [float(fact.count) for fact in swaps],
            np.array(exact).reshape(-1, 4),
            *(counts[test] for test in _drawn(plan)),
        ]
    )


def needs_draws(settings: Plan, plan: Plan) -> bool:
    """Whether a leaderboard needs the bootstrap scores themselves, and not their rows alone.

    Args:
        settings: The test set's own plan, for whose level the rows were made.
        plan: From `shown`.
    """
    joint = CORRECTIONS[plan.recipe.correction].joint
    return plan.recipe.alpha != settings.recipe.alpha or joint is not None


def report(
    settings: Plan, plan: Plan, systems: Array, pairs: Array, draws: Array | None = None
) -> Report:
    """The report of one metric and test, as a comparison of these systems alone would give it.

    Args:
        settings: The test set's own plan.
        plan: From `shown`, with the systems.
        systems: (S, 4 + m) rows.
        pairs: (P, 8 + tests) rows of `plan.pairs`.
        draws: (S, R) bootstrap scores, where `needs_draws`.
    """
    if len(plan.systems) < 2:
        return _without_pairs(plan, systems, draws)
    test = plan.recipe.tests[0]
    drawn = _drawn(settings)
    swaps = pairs[:, SWAPS].astype(np.int64)
    exact = tuple(_exact_of(row) for row in pairs)
    if draws is not None:
        facts = facts_of(
            plan,
            0,
            scores=systems[:, 0],
            draws=draws,
            swaps=swaps,
            exact=exact,
            ranges=np.empty(0),
            replica_scores=systems[:, 4:],
        )
    else:
        counts = pairs[:, FIRST_COUNT + drawn.index(test)] if test in drawn else swaps
        facts = Facts(
            scores=systems[:, 0],
            score_spread=Spread(*systems[:, 1:4].T),
            difference_spread=Spread(*pairs[:, [LOW, HIGH, STDERR]].T),
            counts={test: counts.astype(np.int64)},
            exact=exact,
            joint_counts={},
            replica_scores=systems[:, 4:],
        )
    return summarise(plan, [facts])


def _without_pairs(plan: Plan, systems: Array, draws: Array | None) -> Report:
    """Of one system or none: scores alone."""
    (metric,), (label,) = plan.recipe.metrics, plan.recipe.labels
    rows = systems.copy()
    if draws is not None and len(draws):
        spread = spread_of(draws, plan.recipe.alpha)
        rows[:, 1:4] = np.column_stack([spread.low, spread.high, spread.stderr])
    return Report(
        signature=plan.signature,
        version=__version__,
        testset=TestSetReport(
            segments=plan.segments,
            references=plan.references,
            documents=plan.document_count or None,
            sha256=plan.testset,
        ),
        alpha=plan.recipe.alpha,
        correction=plan.recipe.correction,
        experimentwise_error=experimentwise_error(plan.recipe.alpha, 0),
        metrics={label: MetricReport(metric.higher_is_better, metric.signature(plan.references))},
        systems=tuple(
            SystemReport(name, {label: score_of(row)}, {})
            for name, row in zip(plan.systems, rows, strict=True)
        ),
        pairs=(),
        warnings=(),
    )


def _drawn(plan: Plan) -> list[str]:
    """The tests that look at bootstrap draws, in the order of the recipe."""
    return [test for test in plan.recipe.tests if TESTS[test].draws == "counts"]


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


def _refuse_tukey(correction: str) -> None:
    if correction == "tukey":
        raise RecipeError(
            "correction tukey permutes the outputs of all systems at once, which a leaderboard "
            "does not keep; submit them as one comparison for it, or use holm or max_t here.",
            field="correction",
        )
