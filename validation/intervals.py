"""Intervals of plans and of metrics: `python -m validation.intervals --keep FILE`.

How often do 95 % intervals hold the truth? Those of a plan are of a standard error, by the shape
of the pilot's differences; those of a metric are of Pearson's r over systems, and of the expected
soft accuracy of test sets of that size, whose own value they should hold, too. Documents of
unequal size have influences e^z x, with z and x normal.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Callable

import numpy as np

from sigtest.arrays import Array
from sigtest.meta_evaluation.bootstrap import Draws, draw, interval, soft_accuracies
from sigtest.meta_evaluation.statistics import Cells, evaluate
from sigtest.plans.compute import stderr_factors
from validation import kept
from validation.kept import Found, Task
from validation.settings import SEED

INTERVALS = 23  # part of every seed
LENGTH = 50  # simulations a run
RHO = 0.6
Shape = Callable[[np.random.Generator, tuple[int, ...]], Array]
SHAPES: dict[str, tuple[Shape, float]] = {  # with their standard deviations
    "normal": (lambda rng, size: rng.normal(size=size), 1.0),
    "exponential": (lambda rng, size: rng.exponential(size=size), 1.0),
    "Student's t, df 5": (lambda rng, size: rng.standard_t(5, size=size), (5 / 3) ** 0.5),
    "lognormal": (lambda rng, size: rng.lognormal(size=size), float(np.sqrt(np.e**2 - np.e))),
    "unequal documents": (
        lambda rng, size: np.exp(rng.normal(size=size)) * rng.normal(size=size), float(np.e)
    ),
}  # fmt: skip
# The least coverage that the product answers for; what is below it is published as what it is.
LEAST = {
    **{("plan", "normal", n): 0.93 for n in (50, 200, 1_000)},
    **{("plan", "exponential", n): least for n, least in ((50, 0.88), (200, 0.90), (1_000, 0.92))},
    **{("plan", "Student's t, df 5", n): 0.88 for n in (50, 200, 1_000)},
    **{("plan", shape, n): least for shape in ("lognormal", "unequal documents")
       for n, least in ((50, 0.66), (200, 0.74), (1_000, 0.80))},
    **{("pearson", "normal", n): 0.93 for n in (10, 30, 60)},
    **{("pearson", "exponential", n): 0.91 for n in (10, 30, 60)},
    **{("soft", shape, n): 0.90 for shape in ("normal", "lognormal") for n in (50, 200)},
}  # fmt: skip


def simulated(task: Task) -> Found:
    """Intervals that hold the truth; of soft accuracy all ends and values instead."""
    what, shape, n, run = str(task[0]), str(task[1]), int(task[2]), int(task[3])
    rng = np.random.default_rng((SEED, INTERVALS, list(LEAST).index((what, shape, n)), run))
    simulate = {"plan": _plans, "pearson": _pearson, "soft": _soft}[what]
    ends = simulate(rng, shape, n)
    return {name: [float(x) for x in column] for name, column in zip(ENDS, ends.T, strict=True)}


ENDS = ("low", "high", "value", "truth")


def _plans(rng: np.random.Generator, shape: str, n: int) -> Array:
    """Ends, estimate and truth of standard errors of means; resamples without number."""
    make, spread = SHAPES[shape]
    rows = []
    for values in make(rng, (LENGTH, n)):
        stderr = values.std() / np.sqrt(n)
        low, high = stderr_factors(values, 1_000_000_000)
        rows.append((stderr * low, stderr * high, stderr, spread / np.sqrt(n)))
    return np.array(rows)


def _pearson(rng: np.random.Generator, shape: str, n: int) -> Array:
    make, _ = SHAPES[shape]
    rows = []
    for seed in rng.integers(2**31, size=LENGTH):
        human, noise = make(rng, (2, n, 1))
        own = Cells(human, (RHO * human + np.sqrt(1 - RHO**2) * noise)[None], np.full((n, 1), True))
        values = evaluate("pearson", own, "none")
        drawn = draw("pearson", own, values, Draws(int(seed), 0, 999, 999), "system")
        ends = interval(drawn[0], 0.05, n) if drawn is not None else None
        rows.append((*(ends or (-1.0, 1.0)), values.values[0], RHO))
    return np.array(rows)


def _soft(rng: np.random.Generator, shape: str, n: int) -> Array:
    """Six systems; the truth is the mean of all values, which is known when all runs are there."""
    make, _ = SHAPES[shape]
    rows = []
    for seed in rng.integers(2**31, size=LENGTH):
        human = np.linspace(0, 0.5, 6)[:, None] + make(rng, (6, n))
        metric = np.linspace(0, 0.5, 6)[:, None] + 0.5 * human + make(rng, (6, n))
        draws = Draws(int(seed), 0, 499, 399)
        (found,) = soft_accuracies(human, metric[None], [None], draws)
        ends = interval(found.drawn, 0.05, n)
        rows.append((*(ends or (0.0, 1.0)), found.value, np.nan))
    return np.array(rows)


def covered(found: dict[Task, Found]) -> dict[tuple[str, str, int], tuple[int, float, float]]:
    """For each case simulations, coverage, and the share of intervals that hold their value."""
    together: dict[tuple[str, str, int], list[Array]] = defaultdict(list)
    for (what, shape, n, _), run in found.items():
        columns = np.array([run[name] for name in ENDS])
        together[str(what), str(shape), int(n)].append(columns)
    shares: dict[tuple[str, str, int], tuple[int, float, float]] = {}
    for case, runs in together.items():
        low, high, value, truth = np.concatenate(runs, axis=1)
        truth = np.where(np.isnan(truth), value.mean(), truth)
        share, own = (float(np.mean((low <= x) & (x <= high))) for x in (truth, value))
        shares[case] = len(low), share, own
    return shares


def told(found: dict[Task, Found]) -> str:
    """Coverage of every case; what is below its bound is bold."""
    rows = []
    for (what, shape, n), (of, share, own) in covered(found).items():
        least = LEAST[what, shape, n]
        shown = f"{share:.3f}" if share >= least else f"**{share:.3f}**"
        rows.append([NAMES[what], shape, f"{n:,}", f"{of:,}", shown, f"{least:.2f}", f"{own:.3f}"])
    head = ["interval of", "shape", "n", "simulations", "coverage", "bound", "holds its value"]
    return kept.table(head, rows)


NAMES = {
    "plan": "a plan's standard error",
    "pearson": "Pearson's r over n systems",
    "soft": "soft accuracy, n segments",
}


def main() -> int:
    """Make the runs that are missing, and print what all of them say; 1 where a bound is missed."""
    options = kept.arguments("intervals", __doc__, 2_000)
    runs = {"plan": options.simulations, "pearson": options.simulations, "soft": 400}
    tasks: list[Task] = [
        (*case, run)
        for case in LEAST
        for run in range(-(-min(runs[case[0]], options.simulations) // LENGTH))
    ]
    found = kept.resumed(options.keep, tasks, simulated)
    print(told(found))
    if options.write:
        kept.write("intervals", told(found))
    return int(any(share < LEAST[case] for case, (_, share, _) in covered(found).items()))


if __name__ == "__main__":
    sys.exit(main())
