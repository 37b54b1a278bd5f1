"""Skewed differences of mean zero: `python -m validation.skewed --simulations 20000 --keep FILE`.

Readers of a p-value mean equal expected scores. Here expected scores are equal and differences are
skewed, so that labels are not exchangeable: the tests of exchangeable labels promise nothing, and
those of equal expected scores are put to the proof. Runs are kept in FILE, one line each, and a
run that is there is not made again: stop it when you like, and go on later with more simulations.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict

import numpy as np

from sigtest.arrays import Array
from sigtest.comparison.plan import Part
from sigtest.comparison.recipe import Recipe
from sigtest.decide.facts import gather
from sigtest.draws.product import fixed_point
from sigtest.draws.sample import Sample
from sigtest.metrics.scores import Scores
from sigtest.significance.montecarlo import p_value
from validation.parallel import one_thread, runs, spread
from validation.settings import SEED

TESTS = ("approximate_randomization", "bootstrap", "bootstrap_t", "paired_bootstrap")
INTERVALS = ("percentile", "bootstrap_t")
SIZES = (20, 50, 300)
LEVEL = 0.05
RESAMPLES = 999
LENGTH = 100  # simulations a line of the file
SKEWED = 13  # part of every seed

Draw = Callable[[np.random.Generator, int], Array]


def exponential(rng: np.random.Generator, n: int) -> Array:
    """Skewness 2."""
    return rng.exponential(size=n) - 1.0


def lognormal(rng: np.random.Generator, n: int) -> Array:
    """Skewness 6.2."""
    return rng.lognormal(size=n) - float(np.exp(0.5))


def rare(rng: np.random.Generator, n: int) -> Array:
    """Failures on 3 % of the units hold all the loss; a small gain everywhere else."""
    lost = rng.random(n) < 0.03
    return np.where(lost, -0.97, 0.03) + 0.01 * rng.normal(size=n)


def normal(rng: np.random.Generator, n: int) -> Array:
    """Symmetric: labels are exchangeable here."""
    return rng.normal(size=n)


POPULATIONS: dict[str, Draw] = {
    draw.__name__: draw for draw in (normal, exponential, lognormal, rare)
}


class Run(TypedDict):
    """What some simulations of one population at one size gave, as the file has it."""

    population: str
    n: int
    first: int
    last: int
    rejected: list[list[int]]
    missed: list[list[int]]


@dataclass(frozen=True)
class Cell:
    """What happened in one population at one size.

    Attributes:
        population: Name.
        n: Units.
        simulations: How many.
        rejected: (tests, 2) rejections at .05 of the claims `greater` and `less`.
        missed: (intervals, 2) intervals wholly above, and wholly below, the truth.
    """

    population: str
    n: int
    simulations: int
    rejected: Array
    missed: Array


def simulated(task: tuple[str, int, int, int]) -> Run:
    """Run simulations `first` to `last` of a population at a size."""
    name, n, first, last = task
    rejected = np.zeros((len(TESTS), 2), dtype=int)
    missed = np.zeros((len(INTERVALS), 2), dtype=int)
    for i in range(first, last):
        rng = np.random.default_rng((SEED, SKEWED, list(POPULATIONS).index(name), n, i))
        d, seed = POPULATIONS[name](rng, n), int(rng.integers(2**63))
        # a claim of its own for each kind of interval: neither depends on the other
        for k, claim in enumerate(("greater", "less")):
            sample = _sample(d, seed, INTERVALS[k], claim)
            facts = gather(sample, [sample.block(0, RESAMPLES)])[0]
            ends = facts.difference_spread
            missed[k] += [ends.low[0] > 0, ends.high[0] < 0]
            p = np.array([p_value(facts.counts[test], RESAMPLES)[0] for test in TESTS])
            rejected[:, k] += p <= LEVEL
    return {
        "population": name,
        "n": n,
        "first": first,
        "last": last,
        "rejected": rejected.tolist(),
        "missed": missed.tolist(),
    }


def _sample(d: Array, seed: int, interval: str, claim: str) -> Sample:
    """The product's sample of two systems that differ by d."""
    recipe = Recipe(
        (Scores(),),
        tests=TESTS,
        alternative=claim,  # type: ignore[arg-type]  # one of its literals
        resamples=RESAMPLES,
        seed=seed,
        exact="never",
        interval=interval,  # type: ignore[arg-type]  # one of its literals
    )
    ones = np.ones_like(d)
    rows = [fixed_point(np.stack([row, ones], axis=1)) for row in (d, np.zeros_like(d))]
    part = Part(("a", "b"), ("a", "b"), len(d), 0, None, "simulated", recipe)
    return Sample(part, [np.stack(rows)])


def kept(path: Path) -> list[Run]:
    """The runs of a file; a last line that was cut off is none."""
    lines = path.read_text().splitlines(keepends=True) if path.exists() else []
    return [json.loads(line) for line in lines if line.endswith("\n")]


def cells(found: Sequence[Run]) -> list[Cell]:
    """Runs put together."""
    together: dict[tuple[str, int], list[Run]] = defaultdict(list)
    for run in found:
        together[run["population"], run["n"]].append(run)
    return [
        Cell(
            name,
            n,
            sum(r["last"] - r["first"] for r in own),
            np.sum([r["rejected"] for r in own], axis=0),
            np.sum([r["missed"] for r in own], axis=0),
        )
        for (name, n), own in sorted(together.items())
    ]


def told(found: Sequence[Cell]) -> str:
    """Two Markdown tables: one-sided sizes and coverage, each side."""
    head = "| differences, n | simulations | " + " | ".join(TESTS) + " |"
    lines = [head, "| --- | --- |" + " --- |" * len(TESTS)]
    for cell in found:
        rates = [f"{g:.3f} / {less:.3f}" for g, less in cell.rejected / cell.simulations]
        lines.append(
            f"| {cell.population}, {cell.n} | {cell.simulations:,} | {' | '.join(rates)} |"
        )
    lines += ["", "| differences, n | percentile | bootstrap-t |", "| --- | --- | --- |"]
    for cell in found:
        rates = [
            f"{1 - above - below:.3f} ({above:.3f} above, {below:.3f} below)"
            for above, below in cell.missed / cell.simulations
        ]
        lines.append(f"| {cell.population}, {cell.n} | {' | '.join(rates)} |")
    return "\n".join(lines)


def main() -> None:
    """Make the runs that are missing, and print what all of them say."""
    parser = argparse.ArgumentParser(prog="python -m validation.skewed", description=__doc__)
    parser.add_argument("--simulations", type=int, default=1_000)
    parser.add_argument("--keep", type=Path, required=True, help="file of finished runs")
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    one_thread()
    there = {(r["population"], r["n"], r["first"], r["last"]) for r in kept(options.keep)}
    for first, last in runs(options.simulations, LENGTH):
        tasks = [(name, n, first, last) for name in POPULATIONS for n in SIZES]
        wanted = [task for task in tasks if task not in there]
        for found in spread(simulated, wanted, options.workers) if wanted else ():
            with options.keep.open("a") as file:
                file.write(json.dumps(found) + "\n")
    print(told(cells(kept(options.keep))))


if __name__ == "__main__":
    main()
