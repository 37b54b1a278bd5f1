"""Simulated comparisons, and their p-values on the product's own path from draws to p.

A null comparison is n segments drawn with replacement from two real systems' segments, the systems
exchanged on each with probability one half: then no system is better, whatever the metric.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from sigtest.arrays import Array, Counts
from sigtest.comparison.plan import Part
from sigtest.draws.sample import Sample, known_means
from sigtest.requests.recipe import Recipe
from sigtest.significance import ALTERNATIVES, Alternative, resampling_tests
from sigtest.significance.base import SLACK
from sigtest.significance.exact import convolve_swaps, enumerate_swaps
from sigtest.significance.intervals import drawn_in, p_value
from sigtest.significance.resampling import centres
from validation.populations import Population

MOST_SWAPPED = 10  # units of which all swaps are listed in every simulation


def cells() -> list[tuple[str, Alternative]]:
    """Every test that draws, with every alternative that it knows."""
    return [
        (name, alternative)
        for name, test in resampling_tests().items()
        for alternative in ALTERNATIVES
        if alternative == "two-sided" or test.stated_alternative(alternative) == alternative
    ]


def sample_of(
    population: Population,
    tables: list[Array],
    seed: int,
    resamples: int,
    documents: tuple[str, ...] | None = None,
    **choices: Any,
) -> Sample:
    """The product's sample of these statistics, one (S, n, k) table a metric."""
    given = {"tests": tuple(resampling_tests()), "exact": "never", **choices}
    recipe = Recipe(metrics=population.metrics, resamples=resamples, seed=seed, **given)
    named = len(population.systems) == len(tables[0])
    names = population.systems if named else tuple(f"s{s}" for s in range(len(tables[0])))
    part = Part(names, names, tables[0].shape[1], 1, documents, "simulated", recipe)
    return Sample(part, tables)


def exchanged(population: Population, n: int, rng: np.random.Generator) -> list[Array]:
    """One (2, n, k) table a metric: segments with replacement, labels exchanged by coins."""
    drawn = rng.integers(population.segments, size=n)
    first = rng.integers(2, size=n)
    systems = np.stack([first, 1 - first])
    return [table[systems, drawn] for table in population.tables]


def differences(sample: Sample) -> dict[str, list[Array]]:
    """Oriented differences of the first pair by kind of draws: (R,) each, one a metric."""
    resamples = sample.part.resamples
    booted = [np.empty(resamples) for _ in sample.metrics]
    swapped = [np.empty(resamples) for _ in sample.metrics]
    studentised = [np.empty(resamples) for _ in sample.metrics]
    pair = slice(len(sample.part.systems), len(sample.part.systems) + 1)
    for first, last in sample.swap_columns.row_blocks(0, resamples):
        scores = sample.bootstrap_scores(first, last)
        kept = sample.swapped_sums(first, last)
        for m, metric in enumerate(sample.metrics):
            ((values,), *_) = sample.studentised[m].resampled(pair, first, last)
            studentised[m][first:last] = metric.sign * values
            booted[m][first:last] = metric.sign * (scores[m, 0] - scores[m, 1])
            ((_, drawn),) = sample.swap_differences(m, kept[m])
            swapped[m][first:last] = drawn[0]
    return {"counts": booted, "swaps": swapped, "studentised": studentised}


def p_values(sample: Sample) -> Array:
    """(M, C) resampled p-values of a pair, in the order of `cells`."""
    drawn = differences(sample)
    asked = cells()
    p = np.empty((len(sample.metrics), len(asked)))
    for m, metric in enumerate(sample.metrics):
        plain = sample.observed[m]
        means = known_means(metric, plain[0], *sample.evenness[m, :, None])
        known = sample.studentised[m]
        t = metric.sign * known.t[2:]
        for c, (name, alternative) in enumerate(asked):
            held = drawn_in(t, known.tails[2:], alternative)
            seen = {"counts": plain, "swaps": plain, "studentised": (held, SLACK * np.abs(held))}
            test = resampling_tests()[name]
            observed, tolerance = seen[test.draws]
            draws = drawn[test.draws][m][None]
            if test.draws == "counts":
                centre = centres(test, draws, means, np.zeros(1))[0]
                test = test.around(centre)
            count = test.count(observed, draws, tolerance, alternative)
            p[m, c] = p_value(count, sample.part.resamples, test.sides(alternative))[0]
    return p


def exact_p_values(sample: Sample) -> Array:
    """(M, 3) exact p-values by alternative; nan where the product has none this cheaply."""
    p = np.full((len(sample.metrics), len(ALTERNATIVES)), np.nan)
    for m, (metric, table) in enumerate(zip(sample.metrics, sample.tables, strict=True)):
        way = enumerate_swaps if table.shape[1] <= MOST_SWAPPED else convolve_swaps
        for c, alternative in enumerate(ALTERNATIVES):
            found = way(metric, table[0], table[1], alternative)
            if found is not None:
                p[m, c] = found.p_value
    return p


def subsets(n: int) -> Iterator[Counts]:
    """Every one of the 2**n ways to exchange n units: (n,) of 0 and 1."""
    bits = np.arange(n)
    for pattern in range(2**n):
        yield (pattern >> bits) & 1
