"""What the resamples of one metric say, before any decision is made from it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from sigtest.arrays import Array, Counts
from sigtest.comparison.plan import Part
from sigtest.comparison.recipe import Recipe
from sigtest.draws.sample import Block, Sample, exact_p, oriented_differences
from sigtest.draws.samples import Blocks, Samples, mean
from sigtest.draws.studentised import (
    Studentised,
    in_errors,
    mean_errors,
    mean_tails,
    studentise,
)
from sigtest.significance import OwnP, own_tests, resampling_tests, swap_test
from sigtest.significance.base import SLACK, extremity, slack
from sigtest.significance.exact import ExactP
from sigtest.significance.intervals import (
    bootstrap_t_interval,
    percentile_interval,
    skewness,
    standard_deviation,
)
from sigtest.significance.joint import range_counts, step_down_counts
from sigtest.significance.tails import drawn_in

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
        counts: (P,) count of each test, by name.
        exact: (P,) randomization p-values for which every swap was counted.
        joint_counts: (P,) counts of the correction that looks at all pairs' draws together; by
            the name of the test it goes with.
        own: (P,) p-values of the tests that have one of their own, by name.
        replica_scores: (S, m) observed scores of each replica.
    """

    scores: Array
    score_spread: Spread
    difference_spread: Spread
    counts: dict[str, Counts]
    exact: tuple[ExactP | None, ...]
    joint_counts: dict[str, Counts]
    replica_scores: Array
    own: dict[str, tuple[OwnP, ...]] = field(default_factory=dict)


def gather(sample: Sample, blocks: list[Block]) -> list[Facts]:
    """The facts of every metric, from blocks that together hold every resample once."""
    ordered = sorted(blocks, key=lambda block: block.start)
    swaps = np.sum([block.swaps for block in ordered], axis=0)
    ranges = np.concatenate([block.ranges for block in ordered], axis=1)
    found = [
        facts_of(
            sample.part,
            m,
            scores=sample.scores[m],
            draws=np.concatenate([block.scores[m] for block in ordered], axis=1),
            swaps=swaps[m],
            exact=_exact(sample, m),
            ranges=ranges[m],
            replica_scores=sample.replica_scores[m],
            studentised=_studentised(sample, ordered, m),
        )
        for m in range(len(sample.metrics))
    ]
    return [replace(facts, own=_own(sample, m)) for m, facts in enumerate(found)]


def gather_all(samples: Samples, blocks: Sequence[Blocks]) -> list[list[Facts]]:
    """For each part, and of several for the whole, the facts of every metric.

    Args:
        samples: What was resampled.
        blocks: Together they hold every resample once.
    """
    ordered = sorted(blocks, key=lambda own: own[0].start)
    parts = samples.parts if samples.pooled is None else [*samples.parts, samples.pooled]
    facts = [gather(part, [own[t] for own in ordered]) for t, part in enumerate(parts)]
    return [*facts, _averaged(samples, ordered)] if samples.averaged else facts


def _averaged(samples: Samples, blocks: Sequence[Blocks]) -> list[Facts]:
    """The facts of the mean over test sets, from blocks in order."""
    whole = samples.plan.whole
    scores = samples.mean_scores
    draws = np.concatenate([mean([part.scores for part in own[:-1]]) for own in blocks], axis=2)
    swaps = np.sum([own[-1].swaps for own in blocks], axis=0)
    replicas = mean([part.replica_scores for part in samples.parts])
    return [
        facts_of(
            whole,
            m,
            scores=scores[m],
            draws=draws[m],
            swaps=swaps[m],
            exact=(None,) * len(whole.pairs),
            ranges=np.empty(0),
            replica_scores=replicas[m],
            studentised=_averaged_studentised(samples, blocks, m, scores[m], draws[m]),
        )
        for m in range(len(whole.recipe.metrics))
    ]


def _averaged_studentised(
    samples: Samples, blocks: Sequence[Blocks], m: int, scores: Array, draws: Array
) -> Studentised | None:
    """Means over test sets, in standard errors that follow from those of each."""
    moments = [part.moments for part in samples.parts if part.moments is not None]
    if not moments:
        return None
    observed = [known.observed[m] for known in moments]
    errors = [mean_errors([part.errors[m] for part in own[:-1]]) for own in blocks]
    whole = np.concatenate(errors, axis=1)
    own = mean_errors(observed)
    return studentise(samples.plan.pairs, scores, draws, own, whole, mean_tails(moments, m))


def facts_of(
    part: Part,
    m: int,
    *,
    scores: Array,
    draws: Array,
    swaps: Counts,
    exact: tuple[ExactP | None, ...],
    ranges: Array,
    replica_scores: Array,
    studentised: Studentised | None = None,
) -> Facts:
    """The facts of metric m.

    Args:
        part: What is compared.
        m: The metric.
        scores: (S,) observed scores.
        draws: (S, R) bootstrap scores.
        swaps: (P,) counts of extreme swapped differences; of no meaning where no test asks.
        exact: (P,) exact randomization p-values.
        ranges: (R,) ranges of permuted systems, empty unless the correction is `tukey`.
        replica_scores: (S, m) observed scores of each replica.
        studentised: Where the recipe asks for it.
    """
    difference_spread, counts = differences(part.recipe, m, part.pairs, scores, draws)
    score_spread = spread_of(draws, part.recipe.alpha)
    if studentised is not None:
        counts |= _studentised_counts(part, m, scores, studentised)
    if studentised is not None and part.recipe.interval == "bootstrap_t":
        a, b = part.pairs.T
        centres = np.concatenate([scores, scores[a] - scores[b]])
        own, values, tails = studentised.errors, studentised.values, studentised.tails
        low, high = bootstrap_t_interval(centres, own, values, tails, part.recipe.alpha)
        size = len(scores)
        score_spread = replace(score_spread, low=low[:size], high=high[:size])
        difference_spread = replace(difference_spread, low=low[size:], high=high[size:])
    joint: dict[str, Counts] = {}
    if (test := swap_test(part.recipe.tests)) is not None:
        counts[test.name] = swaps
    if part.recipe.correction == "max_t":
        joint["bootstrap"] = _max_t(part, m, scores, draws)
    if part.recipe.correction == "tukey":
        observed, tolerance = oriented_differences(part, m, scores)
        least = np.abs(observed) - tolerance
        joint["approximate_randomization"] = range_counts(least, ranges)
    return Facts(
        scores=scores,
        score_spread=score_spread,
        difference_spread=difference_spread,
        counts=counts,
        exact=exact,
        joint_counts=joint,
        replica_scores=replica_scores,
    )


def differences(
    recipe: Recipe, m: int, pairs: Counts, scores: Array, draws: Array
) -> tuple[Spread, dict[str, Counts]]:
    """Spread and bootstrap counts of the differences of (P, 2) pairs, a chunk of them at a time.

    Args:
        recipe: Its tests are applied, and its level.
        m: The metric.
        pairs: Which systems to compare.
        scores: (S,) observed scores.
        draws: (S, R) bootstrap scores.
    """
    sign = recipe.metrics[m].sign
    tests = [test for test in resampling_tests(recipe.tests).values() if test.draws == "counts"]
    counts = {test.name: np.empty(len(pairs), dtype=np.int64) for test in tests}
    spread = Spread(*(np.empty(len(pairs)) for _ in range(4)))
    for run in _chunks(len(pairs), draws.shape[1]):
        a, b = pairs[run].T
        drawn = draws[a] - draws[b]
        here = spread_of(drawn, recipe.alpha)
        spread.low[run], spread.high[run], spread.stderr[run] = here.low, here.high, here.stderr
        spread.skewness[run] = skewness(drawn)
        observed, tolerance = sign * (scores[a] - scores[b]), slack(scores[a], scores[b])
        for test in tests:
            counts[test.name][run] = test.count(
                observed, sign * drawn, tolerance, recipe.alternative
            )
    return spread, counts


def _studentised(sample: Sample, blocks: Sequence[Block], m: int) -> Studentised | None:
    if sample.moments is None:
        return None
    draws = np.concatenate([block.scores[m] for block in blocks], axis=1)
    errors = np.concatenate([block.errors[m] for block in blocks], axis=1)
    return sample.studentised(m, draws, errors)


def _studentised_counts(
    part: Part, m: int, scores: Array, studentised: Studentised
) -> dict[str, Counts]:
    """(P,) counts of the tests that look at studentised differences, by name."""
    recipe, size = part.recipe, len(scores)
    a, b = part.pairs.T
    sign = recipe.metrics[m].sign
    sizes = np.maximum(np.abs(scores[a]), np.abs(scores[b]))
    observed = sign * in_errors(scores[a] - scores[b], studentised.errors[size:], sizes)
    observed = drawn_in(observed, studentised.tails[size:], recipe.alternative)
    return {
        name: test.count(
            observed,
            sign * studentised.values[size:],
            SLACK * np.abs(observed),
            recipe.alternative,
        )
        for name, test in resampling_tests(recipe.tests).items()
        if test.draws == "studentised"
    }


def spread_of(draws: Array, alpha: float) -> Spread:
    """Intervals and standard errors of (N, R) draws."""
    low, high = percentile_interval(draws, alpha)
    return Spread(low, high, standard_deviation(draws), np.zeros(len(draws)))


def _max_t(part: Part, m: int, scores: Array, draws: Array) -> Counts:
    """(P,) step-down counts on the shared, centred, unstudentised draws."""
    recipe = part.recipe
    observed, tolerance = oriented_differences(part, m, scores)

    def extreme_draws(pair: int) -> Array:
        a, b = part.pairs[pair]
        difference = recipe.metrics[m].sign * (draws[a] - draws[b])
        return extremity(difference - difference.mean(), recipe.alternative)

    least = extremity(observed, recipe.alternative) - tolerance
    return step_down_counts(least, extreme_draws, draws.shape[1])


def _exact(sample: Sample, m: int) -> tuple[ExactP | None, ...]:
    table = sample.swap_tables[m]
    return tuple(exact_p(sample.part, m, table[a], table[b]) for a, b in sample.part.pairs)


def _own(sample: Sample, m: int) -> dict[str, tuple[OwnP, ...]]:
    """Of the units that are drawn: segments or documents, with all their replicas."""
    recipe, table = sample.part.recipe, sample.tables[m]
    return {
        name: tuple(
            test.p(recipe.metrics[m], table[a], table[b], recipe.alternative)
            for a, b in sample.part.pairs
        )
        for name, test in own_tests(recipe.tests).items()
    }


def _chunks(pairs: int, resamples: int) -> Iterator[slice]:
    rows = max(1, CHUNK // resamples)
    for first in range(0, pairs, rows):
        yield slice(first, min(first + rows, pairs))
