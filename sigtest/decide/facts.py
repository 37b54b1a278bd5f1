"""What the resamples of one metric say, before any decision is made from it.

Facts follow from blocks of draws, or from rows: what is kept of every system and pair of a
leaderboard. A row is a function of what it is about and of the recipe, and of nothing else. So
systems that arrive one after the other cost their own rows only, and the report from rows is that
of `compare` on all systems at once, bit for bit.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from sigtest.arrays import Array, Counts
from sigtest.comparison.plan import Part
from sigtest.draws.sample import (
    Block,
    Blocks,
    MeanSample,
    Sample,
    Samples,
    known_means,
    mean,
    oriented_differences,
)
from sigtest.draws.totals import SwapFact, Totals
from sigtest.requests.recipe import Recipe
from sigtest.significance import intervals, resampling_tests, swap_test, units_tests
from sigtest.significance.base import UnitP, extremity, slack
from sigtest.significance.best import best_p, most_draws
from sigtest.significance.corrections import range_counts, step_down_counts
from sigtest.significance.exact import ExactP, surely_on_grid
from sigtest.significance.resampling import Bootstrap, centres

BOOTSTRAP = Bootstrap()
CHUNK = 1 << 16  # pseudo-statistics held at a time: they stay in the cache


@dataclass(frozen=True)
class Spread:
    """How scores or differences vary over bootstrap resamples.

    Attributes:
        low: Lower ends of the percentile intervals.
        high: Upper ends.
        stderr: Standard deviations.
        skewness: Third standardised moments; of no meaning for scores.
    """

    low: Array
    high: Array
    stderr: Array
    skewness: Array


@dataclass(frozen=True)
class Facts:
    """Everything a report says of one metric is a function of these, alpha and the correction.

    Attributes:
        scores: (S,) observed scores.
        score_spread: Over (S,) systems.
        difference_spread: Over (P,) differences a - b, not oriented.
        counts: (P,) count of each test, by name; of tests on bootstrap draws (3, P): where their
            centre is an estimate, the counts at both ends of its 95 % interval follow.
        exact: (P,) randomization p-values for which every swap was counted.
        joint_counts: The same of the correction that looks at all pairs' draws together; by the
            name of the test it goes with.
        unit_p: (P,) p-values of the tests that have one of their own, by name.
        sums: (S, k) summed statistics, for metrics that are `counted`; nothing where scores of
            several test sets are averaged.
        replica_scores: (S, m) observed scores of each replica.
        evenness: (S,) from `sample.evenness`.
        unlike: (P,) units whose statistics differ between a and b; nothing where the metric's
            intervals are not those of shares.
        best: (3, S) p-values of comparisons with the best, and both ends of their intervals;
            nothing against a baseline, of two systems
            and of fewer than 30 units.
    """

    scores: Array
    score_spread: Spread
    difference_spread: Spread
    counts: dict[str, Counts]
    exact: tuple[ExactP | None, ...]
    joint_counts: dict[str, Counts]
    replica_scores: Array
    evenness: Array
    unlike: Counts
    unit_p: Mapping[str, tuple[UnitP, ...]] = field(default_factory=dict)
    sums: Array | None = None
    best: Array | None = None


# From blocks ------------------------


def gather(
    sample: Sample | MeanSample, blocks: Sequence[Block], parts: Sequence[Sequence[Block]] = ()
) -> list[Facts]:
    """The facts of every metric.

    Args:
        sample: What was resampled.
        blocks: Together they hold every resample once.
        parts: Of means, the blocks of each test set, in the same order.
    """
    part, recipe = sample.part, sample.part.recipe
    blocks = sorted(blocks, key=lambda block: block.start)
    swaps = np.sum([block.swaps for block in blocks], axis=0)
    studentised = np.sum([block.studentised for block in blocks], axis=0)
    tests = resampling_tests(recipe.tests).items()
    reaching = [name for name, test in tests if test.draws == "studentised"]
    swapped, found = swap_test(recipe.tests), []
    for m, (scores, evenness) in enumerate(zip(sample.scores, sample.evenness, strict=True)):
        draws = mean(
            [np.concatenate([b.scores[m] for b in own], axis=1) for own in parts or [blocks]]
        )
        ranges = np.concatenate([block.ranges[m] for block in blocks])
        score_spread = spread_of(draws, recipe.alpha)
        spread, counts = differences(recipe, m, part.pairs, scores, draws, evenness)
        for reached in studentised[m : m + 1]:
            counts |= dict.fromkeys(reaching, reached)
        if swapped is not None:
            counts[swapped.name] = swaps[m]
        for own in sample.studentised[m : m + 1] if recipe.interval == "bootstrap_t" else ():
            low, high = own.intervals(draws.shape[1], recipe.alpha)
            size = len(scores)
            score_spread = replace(score_spread, low=low[:size], high=high[:size])
            spread = replace(spread, low=low[size:], high=high[size:])
        found.append(
            Facts(
                scores=scores,
                score_spread=score_spread,
                difference_spread=spread,
                counts=counts,
                exact=sample.exact(m),
                joint_counts=_joint_counts(part, m, scores, draws, evenness, ranges),
                replica_scores=sample.replica_scores[m],
                evenness=evenness,
                unlike=np.array(
                    [
                        (table[a] != table[b]).any(axis=1).sum()
                        for table in sample.tables[m : m + 1]
                        for a, b in part.pairs
                        if recipe.labels[m] in part.shares
                    ]
                ),
                # of the units that are drawn: segments or documents, with all their replicas
                unit_p={
                    name: tuple(
                        test.p(recipe.metrics[m], seen[a], seen[b], recipe.alternative)
                        for a, b in part.pairs
                    )
                    for name, test in units_tests(recipe.tests).items()
                    for seen in (sample.words if test.by_word else sample.tables)[m : m + 1]
                },
                sums=next((own[:, :, 0].T for own in sample.totals[m:]), None),
                best=_best(part, m, scores, draws, evenness, spread.stderr),
            )
        )
    return found


def gather_all(samples: Samples, blocks: Sequence[Blocks]) -> list[list[Facts]]:
    """For each part, and of several for the whole, the facts of every metric.

    Args:
        samples: What was resampled.
        blocks: Together they hold every resample once.
    """
    *each, last = zip(*sorted(blocks, key=lambda own: own[0].start), strict=True)
    *parts, whole = samples.all
    facts = [gather(part, own) for part, own in zip(parts, each, strict=True)]
    return [*facts, gather(whole, last, each if isinstance(whole, MeanSample) else ())]


def _joint_counts(
    part: Part, m: int, scores: Array, draws: Array, evenness: Array, ranges: Array | None
) -> dict[str, Counts]:
    """Counts of the correction that looks at all pairs' draws together, by the test it goes with.

    Args:
        part: What is compared.
        m: The metric.
        scores: (S,) observed scores.
        draws: (S, R) bootstrap scores.
        evenness: (S,) from `sample.evenness`.
        ranges: (R,) ranges of permuted systems, where the correction is `tukey`.
    """
    if part.recipe.correction == "max_t":
        return {"bootstrap": _max_t(part, m, scores, draws, evenness)}
    if ranges is not None and part.recipe.correction == "tukey":
        observed, tolerance = oriented_differences(part, m, scores)
        return {"approximate_randomization": range_counts(np.abs(observed) - tolerance, ranges)}
    return {}


def _best(
    part: Part, m: int, scores: Array, draws: Array | None, evenness: Array, stderr: Array
) -> Array | None:
    if not part.with_best or draws is None:
        return None
    metric = part.recipe.metrics[m]
    known = ~np.isnan(known_means(metric, scores, evenness, evenness))
    seen, drawn = metric.sign * scores, metric.sign * draws[:, : most_draws(len(scores))]
    centre = np.where(known, seen, drawn.mean(axis=1))
    p = best_p(seen, drawn, centre, part.pairs, stderr, part.units)
    count = np.rint(np.maximum(0, p * (drawn.shape[1] + 1) - 1)).astype(int)
    return np.stack([p, *intervals.p_interval(count, drawn.shape[1])])


def differences(
    recipe: Recipe, m: int, pairs: Counts, scores: Array, draws: Array, evenness: Array
) -> tuple[Spread, dict[str, Counts]]:
    """Spread and bootstrap counts of the differences of (P, 2) pairs, a chunk of them at a time.

    Args:
        recipe: Its tests are applied, and its level.
        m: The metric.
        pairs: Which systems to compare.
        scores: (S,) observed scores.
        draws: (S, R) bootstrap scores.
        evenness: (S,) from `sample.evenness`.
    """
    sign = recipe.metrics[m].sign
    tests = [test for test in resampling_tests(recipe.tests).values() if test.draws == "counts"]
    counts = {test.name: np.empty((3, len(pairs)), int) for test in tests}
    spread = Spread(*(np.empty(len(pairs)) for _ in range(4)))
    rows = max(1, CHUNK // draws.shape[1])
    for first in range(0, len(pairs), rows):
        run = slice(first, first + rows)
        a, b = pairs[run].T
        drawn = draws[a] - draws[b]
        here = spread_of(drawn, recipe.alpha)
        spread.low[run], spread.high[run], spread.stderr[run] = here.low, here.high, here.stderr
        spread.skewness[run] = intervals.skewness(drawn)
        observed, tolerance = sign * (scores[a] - scores[b]), slack(scores[a], scores[b])
        drawn *= sign
        means = known_means(recipe.metrics[m], observed, evenness[a], evenness[b])
        for test in tests:
            counts[test.name][:, run] = [
                test.around(centre).count(observed, drawn, tolerance, recipe.alternative)
                for centre in centres(test, drawn, means, here.stderr)
            ]
    return spread, counts


def spread_of(draws: Array, alpha: float) -> Spread:
    """Intervals and standard errors of (N, R) draws."""
    low, high = intervals.percentile_interval(draws, alpha)
    return Spread(low, high, intervals.standard_deviation(draws), np.zeros(len(draws)))


def _max_t(part: Part, m: int, scores: Array, draws: Array, evenness: Array) -> Counts:
    """(1, P) or (3, P) step-down counts on the shared, centred, unstudentised draws."""
    recipe = part.recipe
    observed, tolerance = oriented_differences(part, m, scores)
    means = known_means(recipe.metrics[m], observed, *evenness[part.pairs.T])
    least = extremity(observed, recipe.alternative) - tolerance

    def counts(end: int) -> Counts:
        def extreme_draws(pair: int) -> Array:
            a, b = part.pairs[pair]
            difference = recipe.metrics[m].sign * (draws[a] - draws[b])[None]
            mean, stderr = means[pair : pair + 1], intervals.standard_deviation(difference)
            found = centres(BOOTSTRAP, difference, mean, stderr)
            return extremity(difference[0] - found[end % len(found)], recipe.alternative)

        return step_down_counts(least, extreme_draws, draws.shape[1])

    return np.stack([counts(end) for end in range(3 if np.isnan(means).any() else 1)])


# From rows ------------------------

# Columns of a pair's row; three counts of each test that looks at bootstrap draws follow.
LOW, HIGH, STDERR, SKEWNESS, SWAPS, EXACT, COUNT, PATTERNS, LOG10_P, UNLIKE = range(10)
FIRST_COUNT = 10
FIRST_REPLICA = 5  # number of a system's row; sums follow its replicas' scores


def wants_swap_sums(part: Part, m: int, table: Array) -> bool:
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
    """Score, interval, standard error, evenness, replicas' scores and sums of one system.

    Rows of all metrics are of one length: sums are those of the widest that is `counted`.
    """
    score = part.recipe.metrics[m].score_columns(totals.observed[m][:, None])
    spread = spread_of(totals.scores[m][None], part.recipe.alpha)
    first = [score, spread.low, spread.high, spread.stderr, totals.evenness[m : m + 1]]
    metrics = part.recipe.metrics
    sums = np.zeros(max((own.width for own in metrics if own.counted), default=0))
    if metrics[m].counted:
        sums[: metrics[m].width] = totals.observed[m]
    return np.concatenate([*first, totals.replica_scores[m], sums])


def pair_rows(
    part: Part, m: int, systems: Sequence[Totals], pairs: Counts, swaps: Sequence[SwapFact]
) -> Array:
    """What the draws say of pairs of systems, each a before b.

    Args:
        part: Its recipe is applied.
        m: The metric.
        systems: Their totals; `swap_sums` are not looked at.
        pairs: (P, 2) places of both.
        swaps: What randomization says of each; of no meaning where no test asks for it.

    Returns:
        (P, 10 + 3 tests) numbers; whole ones are below 2**53 + 1.
    """
    recipe = part.recipe
    observed = np.stack([totals.observed[m] for totals in systems], axis=1)
    draws = np.stack([totals.scores[m] for totals in systems])
    evenness = np.array([totals.evenness[m] for totals in systems])
    scores = recipe.metrics[m].score_columns(observed)
    spread, counts = differences(recipe, m, pairs, scores, draws, evenness)
    # whether there is an exact p-value, and what it is; NaN for counts that are not told
    exact = [
        (0.0, np.nan, np.nan, np.nan)
        if (own := fact.exact) is None
        else (1.0, *(np.nan if n is None else n for n in (own.count, own.patterns)), own.log10_p)
        for fact in swaps
    ]
    return np.column_stack(
        [
            spread.low,
            spread.high,
            spread.stderr,
            spread.skewness,
            [float(fact.count) for fact in swaps],
            np.array(exact).reshape(-1, 4),
            [np.sum(systems[a].prints[m] != systems[b].prints[m]) for a, b in pairs.tolist()],
            *(row for test in _drawn(part) for row in counts[test]),
        ]
    )


def no_rows(part: Part) -> Array:
    """(0, columns) rows of one metric, where there is no system or no pair."""
    return np.empty((0, FIRST_COUNT + 3 * len(_drawn(part))))


def facts_of_rows(
    part: Part, m: int, systems: Array, pairs: Array, draws: Array | None, ranges: Array | None
) -> Facts:
    """What rows say of metric m.

    Args:
        part: What is compared.
        m: The metric.
        systems: (S, 5 + m + sums) rows, from `system_row`.
        pairs: (P, 10 + 3 tests) rows of `part.pairs`, from `pair_rows`.
        draws: (S, R) bootstrap scores, where the correction is a joint one; the first of them where
            systems are compared with the best.
        ranges: (R,) ranges of permuted systems, where the correction is `tukey`.
    """
    exact = tuple(
        None
        if not row[EXACT]
        else ExactP(_known(row[COUNT]), _known(row[PATTERNS]), float(row[LOG10_P]))
        for row in pairs
    )
    scores, low, high, stderr, evenness = systems[:, :5].T
    replica_scores, sums = np.split(systems[:, FIRST_REPLICA:], [part.replicas], axis=1)
    joint = {}
    if draws is not None and len(pairs):
        joint = _joint_counts(part, m, scores, draws, evenness, ranges)
    counts = dict.fromkeys(part.recipe.tests, pairs[:, SWAPS]) | {
        test: pairs[:, FIRST_COUNT + 3 * i : FIRST_COUNT + 3 * i + 3].T
        for i, test in enumerate(_drawn(part))
    }
    return Facts(
        scores=scores,
        score_spread=Spread(low, high, stderr, np.zeros(len(systems))),
        difference_spread=Spread(*pairs[:, [LOW, HIGH, STDERR, SKEWNESS]].T),
        counts={test: column.astype(int) for test, column in counts.items()},
        exact=exact,
        joint_counts=joint,
        replica_scores=replica_scores,
        evenness=evenness,
        unlike=pairs[:, UNLIKE].astype(int),
        best=_best(part, m, scores, draws, evenness, pairs[:, STDERR]),
        sums=sums,
    )


def _known(number: float) -> int | None:
    return None if np.isnan(number) else int(number)


def _drawn(part: Part) -> list[str]:
    """The tests that look at bootstrap draws, in the order of the recipe."""
    tests = resampling_tests(part.recipe.tests)
    return [name for name, test in tests.items() if test.draws == "counts"]
