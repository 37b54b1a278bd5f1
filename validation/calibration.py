"""Part 3, calibration: how often true null hypotheses are rejected, cell by cell."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy.stats import binom, hypergeom, norm

from sigtest.arrays import Array
from sigtest.significance import ALTERNATIVES
from validation.nulls import cells, exact_p_values, exchanged, p_values, sample_of
from validation.parallel import runs, spread
from validation.plainloop import LOOP_CELLS, loop_p_values
from validation.populations import Population
from validation.results import Check, all_hold
from validation.settings import ALPHAS, FOUR_ERRORS, SEED, SMALL_CHANCE, Settings

EXACT = "approximate_randomization, exact"
ENOUGH, FEWEST = 20_000, 30
NULLS, PLAIN = 3, 4  # first entry of the seeds of each kind of simulation


@dataclass(frozen=True)
class Cell:
    """One population, size, metric, test and alternative.

    Attributes:
        rates: Share of simulations with p <= alpha, one for each of `ALPHAS`.
        simulations: How many there were.
        excess: Largest F(t) - t of the p-values' distribution function F.
    """

    population: str
    n: int
    metric: str
    test: str
    alternative: str
    rates: tuple[float, ...]
    simulations: int
    excess: float

    @property
    def name(self) -> str:
        """What a failed check calls it."""
        return f"{self.population} n={self.n} {self.metric} {self.test} {self.alternative}"

    @property
    def over(self) -> tuple[bool, ...]:
        """Whether each rate is above what a test of that level does once in a million."""
        return tuple(
            rate > limit(alpha, self.simulations)
            for rate, alpha in zip(self.rates, ALPHAS, strict=True)
        )


def limit(alpha: float, simulations: int) -> float:
    """The 1 - 1e-6 quantile of a rate whose true value is alpha."""
    return float(binom.ppf(1 - SMALL_CHANCE, simulations, alpha)) / simulations


def measured(populations: list[Population], settings: Settings) -> list[Cell]:
    """Simulate null comparisons on the product's own path."""
    found: list[Cell] = []
    for number, population in enumerate(populations):
        for n in settings.sizes:
            length = max(10, min(500, 20_000 // n))
            task = partial(_null_task, population, number, n, settings.resamples)
            blocks = spread(task, runs(settings.simulations, length), settings.workers)
            p = np.concatenate(blocks)  # (simulations, M, C + 3)
            for m, label in enumerate(population.labels):
                for c, (test, alternative) in enumerate(_columns()):
                    if not np.isnan(p[0, m, c]):
                        cell = _cell(p[:, m, c])
                        found.append(Cell(population.name, n, label, test, alternative, *cell))
    return found


def by_plain_loops(populations: list[Population], settings: Settings) -> list[Cell]:
    """Simulate the bootstraps again, with other draws and loops that share nothing."""
    found: list[Cell] = []
    for number, population in enumerate(populations):
        for n in settings.sizes:
            length = max(5, min(250, 10_000 // n))
            task = partial(_plain_task, population, number, n, settings.resamples)
            blocks = spread(task, runs(settings.textbook[n], length), settings.workers)
            p = np.concatenate(blocks)
            for m, label in enumerate(population.labels):
                for c, (test, alternative, _) in enumerate(LOOP_CELLS):
                    cell = _cell(p[:, m, c])
                    found.append(Cell(population.name, n, label, test, alternative, *cell))
    return found


def _columns() -> list[tuple[str, str]]:
    """Resampled cells, then exact ones."""
    return [*cells(), *((EXACT, alternative) for alternative in ALTERNATIVES)]


def _null_task(
    population: Population, number: int, n: int, resamples: int, run: tuple[int, int]
) -> Array:
    """(simulations, M, C + 3) p-values; every simulation has draws of its own."""
    found = []
    for i in range(*run):
        rng = np.random.default_rng((SEED, NULLS, number, n, i))
        tables = exchanged(population, n, rng)
        sample = sample_of(population, tables, int(rng.integers(2**63)), resamples)
        found.append(np.concatenate([p_values(sample), exact_p_values(sample)], axis=1))
    return np.array(found)


def _plain_task(
    population: Population, number: int, n: int, resamples: int, run: tuple[int, int]
) -> Array:
    return np.array(
        [
            loop_p_values(
                population, n, resamples, np.random.default_rng((SEED, PLAIN, number, n, i))
            )
            for i in range(*run)
        ]
    )


def _cell(p: Array) -> tuple[tuple[float, ...], int, float]:
    """Rates, simulations and excess of one cell's p-values."""
    # p = (c + 1) / (R + 1) is rounded: 1e-12 keeps alpha itself inside
    rates = tuple(float(np.mean(p <= alpha + 1e-12)) for alpha in ALPHAS)
    ordered = np.sort(p)
    last = np.append(ordered[1:] != ordered[:-1], True)  # F jumps at these
    reached = np.arange(1, len(p) + 1) / len(p)
    return rates, len(p), float((reached - ordered)[last].max())


def randomization_keeps_its_level(found: list[Cell]) -> Check:
    """No cell of approximate randomization, resampled or exact, is above the limit."""
    ours = [cell for cell in found if cell.test.startswith("approximate_randomization")]
    problems = [
        f"{cell.name}: {rate:.4f} at {alpha}"
        for cell in ours
        for rate, alpha, over in zip(cell.rates, ALPHAS, cell.over, strict=True)
        if over
    ]
    shown = _limits(ours)
    return all_hold(
        "randomization keeps its level",
        "Every rejection rate of approximate randomization is at most the binomial 1 - 1e-6 "
        f"quantile of its level ({shown}), resampled and exact.",
        problems,
        len(ours) * len(ALPHAS),
    )


def _limits(found: list[Cell]) -> str:
    simulations = min((cell.simulations for cell in found), default=1)
    shown = " / ".join(f"{limit(alpha, simulations):.5g}" for alpha in ALPHAS)
    return f"{shown} at {' / '.join(map(str, ALPHAS))} with {simulations:,} simulations"


def randomization_is_super_uniform(found: list[Cell]) -> Check:
    """F(t) <= t for every t, not only at the usual levels."""
    ours = [cell for cell in found if cell.test.startswith("approximate_randomization")]
    problems = [
        f"{cell.name}: F exceeds t by {cell.excess:.4f}"
        for cell in ours
        if cell.excess > dkw_bound(cell.simulations)
    ]
    bound = dkw_bound(min((cell.simulations for cell in ours), default=1))
    return all_hold(
        "randomization is super-uniform",
        "The distribution function of each cell's p-values exceeds the diagonal nowhere by more "
        f"than {bound:.4f}: the one-sided Dvoretzky-Kiefer-Wolfowitz bound (Massart 1990) that "
        "uniform p-values exceed once in a million.",
        problems,
        len(ours),
    )


def dkw_bound(simulations: int) -> float:
    """sqrt(ln(1 / 1e-6) / 2 N)."""
    return math.sqrt(math.log(1 / SMALL_CHANCE) / (2 * simulations))


@dataclass(frozen=True)
class Agreement:
    """A bootstrap cell of the product beside that of the plain loops."""

    product: Cell
    plain: Cell
    alpha: float
    errors: float  # between the two rates: what is as rare as so many standard errors


def agreements(found: list[Cell], plain: list[Cell]) -> list[Agreement]:
    """Every cell that both have, at every level."""
    known = {(c.population, c.n, c.metric, c.test, c.alternative): c for c in found}
    paired = []
    for cell in plain:
        product = known[cell.population, cell.n, cell.metric, cell.test, cell.alternative]
        for a, alpha in enumerate(ALPHAS):
            sizes = product.simulations, cell.simulations
            counts = round(product.rates[a] * sizes[0]), round(cell.rates[a] * sizes[1])
            paired.append(Agreement(product, cell, alpha, errors_apart(counts, sizes)))
    return paired


def errors_apart(counts: tuple[int, int], sizes: tuple[int, int]) -> float:
    """How far two binomial counts are apart, in standard errors of a normal difference.

    Exact and conditional on their sum (Fisher 1935): at .001, a few thousand simulations have only
    a handful of rejections, and the normal approximation finds four standard errors far too often.
    For large counts the two are the same.
    """
    total = sum(counts)
    law = hypergeom(sum(sizes), total, sizes[0])
    tail = min(float(law.cdf(counts[0])), float(law.sf(counts[0] - 1)))
    return float(norm.isf(min(0.5, tail)))


def bootstraps_agree_with_plain_loops(paired: list[Agreement]) -> Check:
    """The bootstraps' rates, right or wrong, are those of the papers' procedures."""
    problems = [
        f"{pair.product.name} at {pair.alpha}: {pair.errors:.1f} standard errors"
        for pair in paired
        if pair.errors > FOUR_ERRORS
    ]
    return all_hold(
        "bootstraps agree with plain loops",
        "Each rejection rate of a bootstrap is within four standard errors of the same procedure "
        "written as plain loops with another generator: the exact test of two binomial counts "
        "(Fisher) finds nothing rarer than four standard errors of a normal difference.",
        problems,
        len(paired),
    )


def few_units_are_justified(found: list[Cell], below: int) -> Check:
    """The warning for bootstraps on few units says something true."""
    problems = []
    # 2,000 simulations cannot tell .062 from .05 at 1e-6; 20,000 can
    largest = below if min(cell.simulations for cell in found) >= ENOUGH else FEWEST
    sizes = sorted({cell.n for cell in found if cell.n < largest})
    for n in sizes:
        over = [
            cell.over[0]
            for cell in found
            if cell.n == n and cell.test == "bootstrap" and cell.alternative == "two-sided"
        ]
        if not any(over):
            problems.append(f"n={n}: no metric's bootstrap is above its level")
    return all_hold(
        "the warning for few units is true",
        f"At every n below {largest} the two-sided bootstrap's rate at .05 is above the binomial "
        "1 - 1e-6 quantile for some metric: the report is right to warn.",
        problems,
        len(sizes),
    )
