"""Part 4, coverage: how often intervals hold the truth."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial

import numpy as np

from sigtest.arrays import Array, Flags
from sigtest.significance.intervals import percentile_interval
from validation.nulls import sample_of
from validation.parallel import runs, spread
from validation.populations import Population
from validation.results import Check, Part, Table, all_hold
from validation.settings import SEED, Settings

COVERAGE = 5
BAND = (0.935, 0.960)
FROM_UNITS = 300
# P(Z > 4.753) = 1e-6: how far a rate at the edge of the band may fall outside by chance
MILLIONTH = 4.753
WHAT = ("score of a", "score of b", "difference")


@dataclass(frozen=True)
class Coverage:
    """How often one kind of 95 % interval held the population's value."""

    population: str
    n: int
    metric: str
    what: str
    rate: float
    simulations: int


def measured(populations: list[Population], settings: Settings) -> list[Coverage]:
    """Simulate test sets drawn from the populations, and their intervals."""
    found = []
    for number, population in enumerate(populations):
        for n, simulations in settings.coverage.items():
            length = max(10, min(500, 20_000 // n))
            task = partial(_task, population, number, n, settings.resamples)
            held = np.concatenate(spread(task, runs(simulations, length), settings.workers))
            for m, label in enumerate(population.labels):
                for w, what in enumerate(WHAT):
                    rate = float(held[:, m, w].mean())
                    found.append(Coverage(population.name, n, label, what, rate, simulations))
    return found


def _task(
    population: Population, number: int, n: int, resamples: int, run: tuple[int, int]
) -> Flags:
    """(simulations, M, 3) whether score of a, score of b and difference were covered."""
    truth = _score_and_difference(
        np.array(
            [
                m.score(t.sum(axis=1))
                for m, t in zip(population.metrics, population.tables, strict=True)
            ]
        )[:, :, None]
    )[..., 0]
    held = []
    for i in range(*run):
        rng = np.random.default_rng((SEED, COVERAGE, number, n, i))
        drawn = rng.integers(population.segments, size=n)
        tables = [table[:, drawn] for table in population.tables]
        sample = sample_of(population, tables, int(rng.integers(2**63)), resamples)
        scores = np.concatenate(
            [
                sample.bootstrap_scores(*rows)
                for rows in sample.swap_columns.row_blocks(0, resamples)
            ],
            axis=2,
        )
        draws = _score_and_difference(scores)
        low, high = percentile_interval(draws.reshape(-1, resamples), 0.05)
        held.append(((low <= truth.ravel()) & (truth.ravel() <= high)).reshape(truth.shape))
    return np.array(held)


def _score_and_difference(scores: Array) -> Array:
    """(M, 2, R) scores of a and b to (M, 3, R): both and their difference."""
    return np.concatenate([scores, scores[:, :1] - scores[:, 1:]], axis=1)


def intervals_cover(found: list[Coverage], quick: bool) -> Check:
    """Coverage within the band for large test sets."""
    looked_at = [cell for cell in found if cell.n >= FROM_UNITS]
    problems = []
    for cell in looked_at:
        low, high = (_allowed(edge, cell.simulations, quick) for edge in BAND)
        below, above = BAND[0] - low, BAND[1] + high
        if not below <= cell.rate <= above:
            problems.append(f"{cell.population} n={cell.n} {cell.metric} {cell.what}: {cell.rate}")
    reason = (
        f", widened by {MILLIONTH} binomial standard errors of so few simulations (1e-6)"
        if quick
        else ""
    )
    return all_hold(
        "intervals cover",
        f"For n >= {FROM_UNITS}, 95 % intervals of scores and differences hold the population's "
        f"value in {BAND[0]:.1%} to {BAND[1]:.1%} of simulated test sets{reason}.",
        problems,
        len(looked_at),
    )


def _allowed(edge: float, simulations: int, quick: bool) -> float:
    return MILLIONTH * math.sqrt(edge * (1 - edge) / simulations) if quick else 0.0


def part(populations: list[Population], settings: Settings) -> Part:
    """Checks and tables of the intervals."""
    found = measured(populations, settings)
    check = intervals_cover(found, settings.quick)
    sizes = tuple(settings.coverage)
    groups: dict[tuple[str, str, str], dict[int, float]] = {}
    for cell in found:
        groups.setdefault((cell.population, cell.metric, cell.what), {})[cell.n] = cell.rate
    rows = tuple((*key, *(f"{rates[n]:.4f}" for n in sizes)) for key, rates in groups.items())
    simulated = ", ".join(f"{s:,} at n = {n:,}" for n, s in settings.coverage.items())
    large = [cell.rate for cell in found if cell.n >= FROM_UNITS]
    return Part(
        4,
        "Coverage of the intervals",
        "Does a 95 % interval hold the true value in 95 % of test sets?",
        (check,),
        text=(
            "Test sets are n segments drawn with replacement from a real set, whose own scores "
            f"are the truth ({simulated}; {settings.resamples:,} resamples each). The intervals "
            f"are the report's: percentile, unshifted. Below {FROM_UNITS} units they are too "
            "short, as percentile intervals are; the rates are published and not judged.",
        ),
        tables=(
            Table(
                "Coverage of 95 % intervals",
                ("population", "metric", "of", *(f"n = {n:,}" for n in sizes)),
                rows,
                "Binomial standard error of .95: "
                + ", ".join(
                    f"{math.sqrt(0.95 * 0.05 / s):.4f} at n = {n:,}"
                    for n, s in settings.coverage.items()
                )
                + ".",
            ),
        ),
        headline=(
            f"95 % intervals cover {min(large):.1%} to {max(large):.1%} from {FROM_UNITS} units on."
        ),
    )
