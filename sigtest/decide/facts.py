"""What the resamples of one metric say, before any decision is made from it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from sigtest.arrays import Array, Counts
from sigtest.comparison.plan import Part
from sigtest.draws.sample import Block, Sample, exact_p, oriented_differences
from sigtest.draws.samples import Blocks, Samples, mean
from sigtest.draws.studentised import Studentised
from sigtest.draws.units import known_means
from sigtest.requests.recipe import Recipe
from sigtest.significance import OwnP, own_tests, resampling_tests, swap_test
from sigtest.significance.base import extremity, slack
from sigtest.significance.bootstrap import Bootstrap
from sigtest.significance.counting import centres
from sigtest.significance.exact import ExactP
from sigtest.significance.intervals import (
    percentile_interval,
    skewness,
    standard_deviation,
)
from sigtest.significance.joint import range_counts, step_down_counts

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
        own: (P,) p-values of the tests that have one of their own, by name.
        replica_scores: (S, m) observed scores of each replica.
        evenness: (S,) from `units.evenness`.
    """

    scores: Array
    score_spread: Spread
    difference_spread: Spread
    counts: dict[str, Counts]
    exact: tuple[ExactP | None, ...]
    joint_counts: dict[str, Counts]
    replica_scores: Array
    evenness: Array
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
            evenness=sample.evenness[m],
            studentised=sample.studentised[m : m + 1],
            reached=_reached(sample.part, ordered, m),
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
    evenness = np.min([part.evenness for part in samples.parts], axis=0)
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
            evenness=evenness[m],
            studentised=samples.studentised[m : m + 1],
            reached=_reached(whole, [own[-1] for own in blocks], m),
        )
        for m in range(len(whole.recipe.metrics))
    ]


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
    evenness: Array,
    studentised: Sequence[Studentised] = (),
    reached: Mapping[str, Counts] | None = None,
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
        evenness: (S,) from `units.evenness`.
        studentised: One, where the recipe asks for it.
        reached: (P,) counts of tests that look at studentised differences, by name.
    """
    difference_spread, counts = differences(part.recipe, m, part.pairs, scores, draws, evenness)
    score_spread = spread_of(draws, part.recipe.alpha)
    counts |= reached or {}
    if studentised and part.recipe.interval == "bootstrap_t":
        low, high = studentised[0].intervals(draws.shape[1], part.recipe.alpha)
        size = len(scores)
        score_spread = replace(score_spread, low=low[:size], high=high[:size])
        difference_spread = replace(difference_spread, low=low[size:], high=high[size:])
    joint: dict[str, Counts] = {}
    if (test := swap_test(part.recipe.tests)) is not None:
        counts[test.name] = swaps
    if part.recipe.correction == "max_t":
        joint["bootstrap"] = _max_t(part, m, scores, draws, evenness)
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
        evenness=evenness,
    )


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
        evenness: (S,) from `units.evenness`.
    """
    sign = recipe.metrics[m].sign
    tests = [test for test in resampling_tests(recipe.tests).values() if test.draws == "counts"]
    counts = {test.name: np.empty((3, len(pairs)), dtype=np.int64) for test in tests}
    spread = Spread(*(np.empty(len(pairs)) for _ in range(4)))
    for run in _chunks(len(pairs), draws.shape[1]):
        a, b = pairs[run].T
        drawn = draws[a] - draws[b]
        here = spread_of(drawn, recipe.alpha)
        spread.low[run], spread.high[run], spread.stderr[run] = here.low, here.high, here.stderr
        spread.skewness[run] = skewness(drawn)
        observed, tolerance = sign * (scores[a] - scores[b]), slack(scores[a], scores[b])
        drawn *= sign
        means = known_means(recipe.metrics[m], observed, evenness[a], evenness[b])
        for test in tests:
            counts[test.name][:, run] = [
                test.around(centre).count(observed, drawn, tolerance, recipe.alternative)
                for centre in centres(test, drawn, means, here.stderr)
            ]
    return spread, counts


def _reached(part: Part, blocks: Sequence[Block], m: int) -> dict[str, Counts]:
    """(P,) counts of the tests that look at studentised differences, by name."""
    counts = np.sum([block.studentised for block in blocks], axis=0)
    tests = resampling_tests(part.recipe.tests).items()
    return {name: counts[m] for name, test in tests if test.draws == "studentised"}


def spread_of(draws: Array, alpha: float) -> Spread:
    """Intervals and standard errors of (N, R) draws."""
    low, high = percentile_interval(draws, alpha)
    return Spread(low, high, standard_deviation(draws), np.zeros(len(draws)))


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
            mean, stderr = means[pair : pair + 1], standard_deviation(difference)
            found = centres(BOOTSTRAP, difference, mean, stderr)
            return extremity(difference[0] - found[end % len(found)], recipe.alternative)

        return step_down_counts(least, extreme_draws, draws.shape[1])

    return np.stack([counts(end) for end in range(3 if np.isnan(means).any() else 1)])


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
