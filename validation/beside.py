"""Simulations beside one another: many pairs of systems in one comparison, one product for all.

The weights of a resample do not depend on data, so that data sets of one size can share them: the
product's own code then tests a hundred of them in the time of a few. What they share is the error
of drawing only; a hundred data sets a seed add less than a tenth to the variance of a rate.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sigtest.arrays import Array, Counts
from sigtest.cached import cached_property
from sigtest.comparison.plan import Part
from sigtest.draws.sample import Sample, known_means
from sigtest.draws.studentised import in_errors
from sigtest.metrics import Metric
from sigtest.requests.recipe import Recipe
from sigtest.significance import ALTERNATIVES, TESTS, Alternative
from sigtest.significance.base import SLACK, ResamplingTest, slack
from sigtest.significance.intervals import drawn_in, p_value
from sigtest.significance.resampling import centres

Pairs = tuple[tuple[int, int], ...]
CHUNK = 8  # pairs whose draws stay in the cache


@dataclass(frozen=True)
class Beside(Part):
    """A part of which only some pairs are compared: those of one simulation each.

    Attributes:
        chosen: Indices a, b of the systems, sorted.
    """

    chosen: Pairs = ()

    @cached_property
    def pairs(self) -> Counts:
        return np.array(self.chosen, dtype=np.int64)


def sample_beside(
    metrics: Sequence[Metric], tables: Sequence[Array], chosen: Pairs, **choices: Any
) -> Sample:
    """The product's sample of (S, n, k) statistics, one table a metric.

    Args:
        metrics: M of them.
        tables: In fixed point.
        chosen: The pairs that are compared.
        choices: What the recipe has besides.
    """
    recipe = Recipe(metrics=tuple(metrics), **{"exact": "never", "correction": "none", **choices})
    names = tuple(f"s{s:04}" for s in range(len(tables[0])))
    part = Beside(names, names, tables[0].shape[1], 0, None, "simulated", recipe, chosen=chosen)
    return Sample(part, list(tables))


@dataclass(frozen=True)
class Drawn:
    """Oriented draws of all pairs for one metric.

    Attributes:
        differences: (P, R) bootstrap differences.
        studentised: (P, R) the same in standard errors; no rows where nothing asks for them.
        errors: (P,) standard errors of what was observed.
        tails: (P,) how heavy the tails of units are.
        observed: (P,) differences.
        means: (P,) from `known_means`.
        tolerance: (P,) slack.
        swaps: (A, P) counts of swapped differences, one row an alternative.
    """

    differences: Array
    studentised: Array
    errors: Array
    tails: Array
    observed: Array
    means: Array
    tolerance: Array
    swaps: Counts

    def p_values(self, name: str) -> Array:
        """(A, P) p-values of one test, one row an alternative."""
        test, resamples = TESTS[name], self.differences.shape[1]
        assert isinstance(test, ResamplingTest)
        counts = [self._count(test, c, claim) for c, claim in enumerate(ALTERNATIVES)]
        return np.stack(
            [
                p_value(count, resamples, test.sides(claim))
                for count, claim in zip(counts, ALTERNATIVES, strict=True)
            ]
        )

    def _count(self, test: ResamplingTest, c: int, claim: Alternative) -> Counts:
        if test.draws == "swaps":
            return self.swaps[c]
        if test.draws == "counts":
            moved = centred(test, self.differences, self.means)
            return moved.count(self.observed, self.differences, self.tolerance, claim)
        t = in_errors(self.observed, self.errors, self.tolerance / SLACK)
        t = drawn_in(t, self.tails, claim)
        return test.count(t, self.studentised, SLACK * np.abs(t), claim)


def drawn(sample: Sample) -> list[Drawn]:
    """What the product draws of every metric."""
    part, resamples = sample.part, sample.part.resamples
    (a, b), size = part.pairs.T, len(part.systems)
    scores = np.empty((len(sample.metrics), size, resamples))
    rows = len(part.pairs) if sample.studentised else 0
    studentised = np.empty((len(sample.metrics), rows, resamples))
    swaps = np.zeros((len(sample.metrics), len(ALTERNATIVES), len(part.pairs)), dtype=np.int64)
    for first, last in sample.swap_columns.row_blocks(0, resamples):
        here = slice(first, last)
        scores[:, :, here] = sample.bootstrap_scores(first, last)
        for m, known in enumerate(sample.studentised):
            studentised[m, :, here] = known.resampled(slice(size, None), first, last)[0]
        if sample.swap_test is not None:
            for m, kept in enumerate(sample.swapped_sums(first, last)):
                swaps[m] += _swaps(sample, m, kept)
    return [
        Drawn(
            differences=metric.sign * (scores[m, a] - scores[m, b]),
            studentised=metric.sign * studentised[m],
            errors=sample.studentised[m].errors[size:] if rows else np.empty(0),
            tails=sample.studentised[m].tails[size:] if rows else np.empty(0),
            observed=metric.sign * (sample.scores[m, a] - sample.scores[m, b]),
            means=_means(sample, m),
            tolerance=slack(sample.scores[m, a], sample.scores[m, b]),
            swaps=swaps[m],
        )
        for m, metric in enumerate(sample.metrics)
    ]


def bootstrap_p_values(sample: Sample) -> Array:
    """(P,) two-sided p-values of the shifted bootstrap for the first metric, a few pairs at a time.

    As `drawn`, without holding the draws of all pairs at once.
    """
    resamples, test = sample.part.resamples, TESTS["bootstrap"]
    assert isinstance(test, ResamplingTest)
    blocks = sample.swap_columns.row_blocks(0, resamples)
    scores = np.concatenate([sample.bootstrap_scores(*rows)[0] for rows in blocks], axis=1)
    observed, tolerance = sample.observed[0]
    means = _means(sample, 0)
    counts = np.empty(len(sample.part.pairs), dtype=np.int64)
    for first in range(0, len(counts), CHUNK):
        run = slice(first, first + CHUNK)
        a, b = sample.part.pairs[run].T
        drawn_differences = sample.metrics[0].sign * (scores[a] - scores[b])
        moved = centred(test, drawn_differences, means[run])
        counts[run] = moved.count(observed[run], drawn_differences, tolerance[run], "two-sided")
    return p_value(counts, resamples)


def centred(test: ResamplingTest, draws: Array, means: Array) -> ResamplingTest:
    """The test with the centre of (P, R) bootstrap draws whose means may be known."""
    return test.around(centres(test, draws, means, np.zeros(len(draws)))[0])


def _means(sample: Sample, m: int) -> Array:
    """(P,) means of what bootstrap differences are drawn from, where they are known."""
    even_a, even_b = sample.evenness[m, sample.part.pairs.T]
    return known_means(sample.metrics[m], sample.observed[m][0], even_a, even_b)


def swap_p_values(sample: Sample) -> Array:
    """(A, P) p-values of randomization for the first metric, without any bootstrap."""
    resamples = sample.part.resamples
    blocks = sample.swap_columns.row_blocks(0, resamples)
    counts = [_swaps(sample, 0, sample.swapped_sums(*rows)[0]) for rows in blocks]
    return p_value(np.sum(counts, axis=0), resamples)


def _swaps(sample: Sample, m: int, kept: Array) -> Counts:
    """(A, P) counts of the swaps of one block, one row an alternative."""
    counts = np.zeros((len(ALTERNATIVES), len(sample.part.pairs)), dtype=np.int64)
    test = sample.swap_test
    assert test is not None
    observed, tolerance = sample.observed[m]
    for run, draws in sample.swap_differences(m, kept):
        for c, claim in enumerate(ALTERNATIVES):
            counts[c, run] = test.count(observed[run], draws, tolerance[run], claim)
    return counts
