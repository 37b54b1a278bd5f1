"""What the resamples of one metric say, before any decision is made from it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from sigtest.arrays import Array, Counts
from sigtest.intervals import percentile_interval, standard_deviation
from sigtest.multiplicity import step_down_counts
from sigtest.sample import Block, Sample
from sigtest.significance.base import claim
from sigtest.significance.convolution import convolve_swaps
from sigtest.significance.exact import ExactP, enumerate_swaps

CHUNK = 1 << 21  # pseudo-statistics held at a time


@dataclass(frozen=True)
class Spread:
    """How scores or differences vary over bootstrap resamples.

    Attributes:
        low: Lower ends of the percentile intervals.
        high: Upper ends.
        stderr: Standard deviations.
    """

    low: Array
    high: Array
    stderr: Array


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
    """

    scores: Array
    score_spread: Spread
    difference_spread: Spread
    counts: dict[str, Counts]
    exact: tuple[ExactP | None, ...]
    joint_counts: dict[str, Counts]


def gather(sample: Sample, blocks: list[Block]) -> list[Facts]:
    """The facts of every metric, from blocks that together hold every resample once."""
    ordered = sorted(blocks, key=lambda block: block.start)
    scores = np.concatenate([block.scores for block in ordered], axis=2)
    swaps = np.sum([block.swaps for block in ordered], axis=0)
    ranges = np.concatenate([block.ranges for block in ordered], axis=1)
    return [_facts(sample, m, scores[m], swaps[m], ranges[m]) for m in range(len(sample.metrics))]


def _facts(sample: Sample, m: int, scores: Array, swaps: Counts, ranges: Array) -> Facts:
    recipe = sample.plan.recipe
    difference_spread, counts = _differences(sample, m, scores)
    joint: dict[str, Counts] = {}
    for test in sample.tests:
        if test.draws == "swaps":
            counts[test.name] = swaps
    if recipe.correction == "max_t":
        joint["bootstrap"] = _max_t(sample, m, scores)
    if recipe.correction == "tukey":
        observed, tolerance = sample.observed(m)
        least = np.abs(observed) - tolerance
        joint["approximate_randomization"] = len(ranges) - np.searchsorted(np.sort(ranges), least)
    return Facts(
        scores=sample.scores[m],
        score_spread=_spread(scores, recipe.alpha),
        difference_spread=difference_spread,
        counts=counts,
        exact=_exact(sample, m),
        joint_counts=joint,
    )


def _differences(sample: Sample, m: int, scores: Array) -> tuple[Spread, dict[str, Counts]]:
    """Spread and bootstrap counts of all differences, a chunk of pairs at a time."""
    recipe = sample.plan.recipe
    pairs = sample.plan.pairs
    observed, tolerance = sample.observed(m)
    tests = [test for test in sample.tests if test.draws == "counts"]
    counts = {test.name: np.empty(len(pairs), dtype=np.int64) for test in tests}
    spread = Spread(*(np.empty(len(pairs)) for _ in range(3)))
    for run in _chunks(len(pairs), scores.shape[1]):
        a, b = pairs[run].T
        differences = scores[a] - scores[b]
        here = _spread(differences, recipe.alpha)
        spread.low[run], spread.high[run], spread.stderr[run] = here.low, here.high, here.stderr
        oriented = sample.signs[m] * differences
        for test in tests:
            counts[test.name][run] = test.count(
                observed[run], oriented, tolerance[run], recipe.alternative
            )
    return spread, counts


def _spread(draws: Array, alpha: float) -> Spread:
    low, high = percentile_interval(draws, alpha)
    return Spread(low, high, standard_deviation(draws))


def _max_t(sample: Sample, m: int, scores: Array) -> Counts:
    """(P,) step-down counts on the shared, centred, unstudentised draws."""
    alternative = sample.plan.recipe.alternative
    observed, tolerance = sample.observed(m)

    def extremity(values: Array) -> Array:
        return np.abs(values) if alternative == "two-sided" else claim(values, alternative)

    def draws(pair: int) -> Array:
        a, b = sample.plan.pairs[pair]
        difference = sample.signs[m] * (scores[a] - scores[b])
        return extremity(difference - difference.mean())

    return step_down_counts(extremity(observed) - tolerance, draws, scores.shape[1])


def _exact(sample: Sample, m: int) -> tuple[ExactP | None, ...]:
    """Exact randomization p-values of all pairs, where the recipe wants them and there are any."""
    recipe = sample.plan.recipe
    pairs = sample.plan.pairs
    if sample.swap_test is None or recipe.exact == "never":
        return (None,) * len(pairs)
    metric, table = sample.metrics[m], sample.tables[m]
    found = []
    for a, b in pairs.tolist():
        exact = enumerate_swaps(metric, table[a], table[b], recipe.alternative)
        if exact is None and sample.linear[m]:
            exact = convolve_swaps(metric, table[a], table[b], recipe.alternative)
        found.append(exact)
    return tuple(found)


def _chunks(pairs: int, resamples: int) -> Iterator[slice]:
    rows = max(1, CHUNK // resamples)
    for first in range(0, pairs, rows):
        yield slice(first, min(first + rows, pairs))
