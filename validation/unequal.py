"""Documents of unequal size: `python -m validation.unequal --keep FILE`.

Units of which some hold many segments: sizes of lognormal law, and whole documents of a real test
set. Neither system is better in the population, and a mean over segments is a ratio of sums over
documents: the bootstrap-t divides by the ratio's standard error in each resample (Davison &
Hinkley 1997, section 5.2), which with few effective documents is not enough. These are its rates,
and how often reports called them calibrated.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from functools import cache

import numpy as np

from sigtest.arrays import Array
from sigtest.draws.product import fixed_point
from sigtest.metrics.scores import Scores
from sigtest.significance import TESTS
from sigtest.significance.intervals import bootstrap_t_interval, skewness
from validation import kept
from validation.beside import drawn, sample_beside
from validation.kept import Found, Task
from validation.populations import CLOSE_SYSTEMS, Population, corpora, population
from validation.settings import SEED

SIZES = (50, 100, 300, 1000)
LEVEL = 0.05
MOST = 0.07  # of one-sided tests at .05, where reports call them calibrated
RESAMPLES = 999
LENGTH = 50
UNEQUAL = 23  # part of every seed
LOGNORMAL = ("sizes alone", "sizes and effects")
REAL = "real documents"


@cache
def _real() -> Population | None:
    """The first test set with documents of which some are much longer."""
    known = [corpus for corpus in corpora() if corpus.documents]
    return population(known[0], CLOSE_SYSTEMS[known[0].name], ("chrf",)) if known else None


def documents(name: str, count: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """Sums of a difference over documents, and their sizes: (G,) each; the true ratio is 0."""
    if name == REAL:
        drawn_from = _real()
        assert drawn_from is not None
        scores = drawn_from.metrics[0].score(drawn_from.tables[0])
        d = scores[0] - scores[1]
        d -= d.mean()
        members = drawn_from.members
        sums, sizes = np.array([(d[own].sum(), len(own)) for own in members], dtype=float).T
        picked = rng.integers(len(members), size=count)
        return sums[picked], sizes[picked]
    logs = rng.normal(size=count)
    sizes = 10 * np.exp(logs)
    # of the ratio's population mean: E[W log W] = E[W] for a standard normal logarithm
    effects = rng.normal(size=count) + (logs - 1 if name == LOGNORMAL[1] else 0.0)
    return sizes * effects + np.sqrt(sizes) * rng.normal(size=count), sizes


def simulated(task: Task) -> Found:
    """Rejections of `two-sided`, `greater`, `less`: of all, and of those called calibrated."""
    name, n, run = str(task[0]), int(task[1]), int(task[2])
    rng = np.random.default_rng((SEED, UNEQUAL, (*LOGNORMAL, REAL).index(name), n, run))
    rows = []
    for _ in range(LENGTH):
        sums, sizes = documents(name, n, rng)
        rows += [np.stack([sums, sizes], axis=1), np.stack([0 * sums, sizes], axis=1)]
    sample = sample_beside(
        [Scores()],
        [np.stack([fixed_point(row) for row in rows])],
        tuple((2 * i, 2 * i + 1) for i in range(LENGTH)),
        tests=("bootstrap_t",),
        resamples=RESAMPLES,
        seed=int(rng.integers(2**63)),
        interval="bootstrap_t",
    )
    (seen,) = drawn(sample)
    evenness = sample.evenness[0, ::2]
    test = TESTS["bootstrap_t"]
    calibrated = np.array(
        [
            test.keeps_level(n, skewed, evenness=even)
            for skewed, even in zip(skewness(seen.differences), evenness, strict=True)
        ]
    )
    rejected = seen.p_values("bootstrap_t") <= LEVEL + 1e-12
    ends = bootstrap_t_interval(seen.observed, seen.errors, seen.studentised, seen.tails, LEVEL)
    return {
        "all": [LENGTH, *rejected.sum(axis=1).tolist()],
        "calibrated": [int(calibrated.sum()), *rejected[:, calibrated].sum(axis=1).tolist()],
        "units": [float(n * evenness.sum())],
        "covered": [int(((ends[0] <= 0) & (ends[1] >= 0)).sum())],
    }


def totals(found: dict[Task, Found]) -> dict[tuple[str, int], dict[str, Array]]:
    """What the runs of each population and number of documents counted together."""
    together: dict[tuple[str, int], list[Found]] = defaultdict(list)
    for (name, n, _), run in found.items():
        together[str(name), int(n)].append(run)
    return {
        cell: {key: np.sum([run[key] for run in runs], axis=0) for key in runs[0]}
        for cell, runs in together.items()
    }


def worse_side(total: dict[str, Array]) -> float | None:
    """The larger one-sided rate where reports call it calibrated; nothing where hardly any does."""
    size, greater, less = (int(total["calibrated"][i]) for i in (0, 2, 3))
    return max(greater, less) / size if size >= total["all"][0] / 100 else None


def told(found: dict[Task, Found]) -> str:
    """Rates by population and number of documents."""
    rows = []
    for (name, n), total in sorted(totals(found).items()):
        size, simulations = int(total["calibrated"][0]), int(total["all"][0])
        rates = [f"{share:.4f}" for share in (total["all"][1:] / simulations).tolist()]
        worst, kept_rates = worse_side(total), "-"
        if worst is not None:
            kept_rates = f"**{worst:.4f}**" if worst > MOST else f"{worst:.4f}"
        rows.append([
            f"{name}, {n}", f"{simulations:,}", f"{total['units'][0] / simulations:.0f}", *rates,
            f"{total['covered'][0] / simulations:.3f}", f"{size / simulations:.2f}", kept_rates,
        ])  # fmt: skip
    head = ("documents", "simulations", "effective", "two-sided", "greater", "less", "coverage",
            "calibrated", "of these the worse side")  # fmt: skip
    return kept.table(head, rows)


def main() -> int:
    """Make the runs that are missing, and print what all of them say; 1 where the bound is not."""
    options = kept.arguments("unequal", __doc__, 4_000)
    names = (*LOGNORMAL, REAL) if _real() else LOGNORMAL
    tasks: list[Task] = [
        (name, n, run)
        for run in range(-(-options.simulations // LENGTH))
        for n in SIZES
        for name in names
    ]
    found = kept.resumed(options.keep, tasks, simulated)
    print(told(found))
    if options.write:
        kept.write("unequal", told(found))
    return int(any((worse_side(total) or 0) > MOST for total in totals(found).values()))


if __name__ == "__main__":
    sys.exit(main())
