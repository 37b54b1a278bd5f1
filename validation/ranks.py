"""Rank ranges: `python -m validation.ranks [--simulations 500]`.

How often do the rank ranges of all systems together hold the true ranks? Systems are compared by
the product's shifted bootstrap with Holm's correction on 300 units; scores are normal and share
half of their variance, as outputs for one test set do.
"""

from __future__ import annotations

import argparse

import numpy as np

from sigtest.arrays import Array
from sigtest.comparison.plan import Part, Plan
from sigtest.comparison.recipe import Recipe
from sigtest.decide.facts import gather
from sigtest.decide.summary import summarise
from sigtest.draws.product import fixed_point
from sigtest.draws.sample import Sample
from sigtest.metrics.scores import Scores
from validation.parallel import one_thread
from validation.settings import SEED

UNITS = 300
RANKS = 15  # part of every seed
SIZES = (6, 20)
NULLS = ("complete", "partial", "none")


def truths(systems: int, null: str) -> Array:
    """(S,) expected scores: all equal, half of them equal, or all different."""
    steps = 0.08 * np.arange(systems)
    if null == "complete":
        return np.zeros(systems)
    least = steps[systems // 2] if null == "partial" else 0.0
    expected: Array = np.maximum(steps, least)
    return expected


def held(systems: int, null: str, simulation: int) -> bool:
    """Whether all ranges of one simulated test set hold the true ranks."""
    rng = np.random.default_rng((SEED, RANKS, systems, NULLS.index(null), simulation))
    truth = truths(systems, null)
    scores = rng.normal(size=UNITS) + rng.normal(size=(systems, UNITS)) + truth[:, None]
    names = tuple(f"s{s:02}" for s in range(systems))
    seed = int(rng.integers(2**63))
    recipe = Recipe((Scores(),), tests=("bootstrap",), resamples=9_999, seed=seed)
    rows = np.stack([fixed_point(np.stack([row, np.ones(UNITS)], axis=1)) for row in scores])
    part = Part(names, names, UNITS, 0, None, "simulated", recipe)
    sample = Sample(part, [rows])
    report = summarise(Plan((part,)), [gather(sample, [sample.block(0, 9_999)])])
    for own, expected in zip(report.systems, truth, strict=True):
        low, high = own.ranks["scores"]["bootstrap"].range
        best = 1 + int(np.count_nonzero(truth > expected))
        worst = systems - int(np.count_nonzero(truth < expected))
        if low > best or high < worst:  # tied systems share all ranks between these
            return False
    return True


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(prog="python -m validation.ranks", description=__doc__)
    parser.add_argument("--simulations", type=int, default=500)
    options = parser.parse_args()
    one_thread()
    print("| systems, null | simulations | all true ranks held |")
    print("| --- | --- | --- |")
    for systems in SIZES:
        for null in NULLS:
            hits = sum(held(systems, null, i) for i in range(options.simulations))
            rate = hits / options.simulations
            print(f"| {systems}, {null} | {options.simulations:,} | {rate:.3f} |", flush=True)


if __name__ == "__main__":
    main()
