"""How much of everything a run does: the full run that writes the page, and the quick one."""

from __future__ import annotations

from dataclasses import dataclass

SEED = 20141212
ALPHAS = (0.05, 0.01, 0.001)
SMALL_CHANCE = 1e-6  # of failing a cell that is in order
FOUR_ERRORS = 4.0


@dataclass(frozen=True)
class Settings:
    """Sizes of a run; everything else is the same in both.

    Attributes:
        quick: Small enough for CI; nothing is written.
        sizes: Units of a simulated test set, n.
        simulations: Simulated null comparisons a cell.
        resamples: R of each; alpha * (R + 1) / 2 is whole for every alpha, so that even a doubled
            p-value can equal .05, .01 and .001.
        textbook: Simulations a size of the plain loops that the bootstraps must agree with.
        coverage: Simulations a size for the intervals.
        families: Simulated families of 6 systems, and simulated sets of documents.
        exhausted: Largest number of units whose swaps are all treated as observed.
        datasets: Random data sets a kind in parts 1 and 2.
        study_resamples: R in the study of the papers' test set.
        workers: Processes.
    """

    quick: bool
    sizes: tuple[int, ...]
    simulations: int
    resamples: int
    textbook: dict[int, int]
    coverage: dict[int, int]
    families: int
    exhausted: int
    datasets: int
    study_resamples: int
    workers: int = 2


FULL = Settings(
    quick=False,
    sizes=(10, 20, 50, 300, 2000),
    simulations=20_000,
    resamples=1_999,
    textbook={10: 10_000, 20: 10_000, 50: 10_000, 300: 4_000, 2000: 1_000},
    coverage={10: 10_000, 20: 10_000, 50: 10_000, 300: 20_000, 2000: 4_000},
    families=3_000,
    exhausted=10,
    datasets=12,
    study_resamples=9_999,
)

QUICK = Settings(
    quick=True,
    sizes=(10, 20, 50, 300),
    simulations=2_000,
    resamples=1_999,
    textbook={10: 1_000, 20: 1_000, 50: 1_000, 300: 300},
    coverage={50: 500, 300: 1_000},
    families=500,
    exhausted=7,
    datasets=3,
    study_resamples=1_999,
)
