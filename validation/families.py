"""Simulated families of six systems: which are equal, and the p-values of all pairs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sigtest.arrays import Array, Flags
from sigtest.draws.product import fixed_point
from sigtest.metrics import METRICS
from validation.populations import Population

SYSTEMS = 6
FIRST, SECOND = np.triu_indices(SYSTEMS, 1)
Draw = Callable[[Population, int, np.random.Generator], list[Array]]


@dataclass(frozen=True)
class Family:
    """One kind of simulated family.

    Attributes:
        name: What tables call it.
        equal: (P,) pairs of systems between which there is no difference.
        draw: n units of six systems: one (6, n, k) table a metric.
    """

    name: str
    equal: Flags
    draw: Draw


def _all_equal(population: Population, n: int, rng: np.random.Generator) -> list[Array]:
    """All six labels shuffled on every segment: the complete null."""
    return _shuffled(population, n, rng, (range(SYSTEMS),))


def _two_groups(population: Population, n: int, rng: np.random.Generator) -> list[Array]:
    """The three best systems shuffled among themselves, and the other three."""
    return _shuffled(population, n, rng, (range(3), range(3, SYSTEMS)))


def _shuffled(
    population: Population, n: int, rng: np.random.Generator, groups: tuple[range, ...]
) -> list[Array]:
    drawn = rng.integers(population.segments, size=n)
    order = np.concatenate([rng.permuted(np.tile(np.array(g)[:, None], n), axis=0) for g in groups])
    return [table[order, drawn] for table in population.tables]


def _mean_scores(values: Array) -> list[Array]:
    """One (6, n, 2) table of (6, n) scores."""
    return [np.stack([fixed_point(np.stack([row, np.ones_like(row)], axis=1)) for row in values])]


def _unequal_null(population: Population, n: int, rng: np.random.Generator) -> list[Array]:
    """Equal means, very unequal spreads: systems that are no longer exchangeable."""
    spreads = np.array([0.1, 0.1, 0.1, 1.0, 1.0, 3.0])
    return _mean_scores(spreads[:, None] * rng.normal(size=(SYSTEMS, n)))


def equal_variances(population: Population, n: int, rng: np.random.Generator) -> list[Array]:
    """Six systems a step apart; all differences vary alike."""
    step = 3.0 / np.sqrt(n)
    means = step * np.arange(SYSTEMS)
    return _mean_scores(rng.normal(size=n) - means[:, None] + rng.normal(size=(SYSTEMS, n)))


def unequal_variances(population: Population, n: int, rng: np.random.Generator) -> list[Array]:
    """Two variants of one system, nearly alike, among four others that vary a hundredfold."""
    spreads = np.array([0.01, 0.01, 1.0, 1.0, 1.0, 1.0])
    means = np.zeros(SYSTEMS)
    means[1] = 5.0 * np.hypot(0.01, 0.01) / np.sqrt(n)
    return _mean_scores(spreads[:, None] * rng.normal(size=(SYSTEMS, n)) - means[:, None])


def _within(*groups: range) -> Flags:
    return np.array(
        [any(a in g and b in g for g in groups) for a, b in zip(FIRST, SECOND, strict=True)]
    )


COMPLETE = Family("complete null", _within(range(SYSTEMS)), _all_equal)
PARTIAL = Family("partial null", _within(range(3), range(3, SYSTEMS)), _two_groups)
UNEQUAL = Family("equal means, unequal spreads", _within(range(SYSTEMS)), _unequal_null)
EQUAL_POWER = Family("equal variances", np.zeros(15, dtype=np.bool_), equal_variances)
UNEQUAL_POWER = Family("very unequal variances", np.zeros(15, dtype=np.bool_), unequal_variances)


def synthetic() -> Population:
    """A population without segments, for families that make their own mean scores."""
    return Population("normal scores", (), (METRICS["scores"](),), ("mean score",), (), None)
