"""Skewed differences of mean zero: `python -m validation.skewed --simulations 20000 --keep FILE`.

Readers of a p-value mean equal expected scores. Here expected scores are equal and differences are
skewed, so that labels are not exchangeable: the tests of exchangeable labels promise nothing, and
those of equal expected scores are put to the proof. `--write` puts the tables into docs/.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sigtest.arrays import Array
from sigtest.draws.product import fixed_point
from sigtest.metrics.scores import Scores
from sigtest.significance import ALTERNATIVES, resampling_tests, units_tests
from sigtest.significance.intervals import bootstrap_t_interval, percentile_interval
from validation import kept
from validation.asymmetric import POPULATIONS, TOLD, at_hand
from validation.beside import drawn, sample_beside
from validation.calibration import limit
from validation.kept import Found, Task
from validation.settings import SEED

SIZES = (20, 50, 300)
LEVEL = 0.05
RESAMPLES = 999
LENGTH = 100  # simulations a run, beside one another
BARS = tuple((name, n) for name in ("normal", "exponential", "lognormal") for n in (50, 300))
OTHER_SIMULATIONS = 4_000  # of cells that no bar is about
OWN_SIMULATIONS = 1_000  # of tests that look at units, one simulation at a time
SKEWED = 16  # part of every seed
COVERED = "Coverage of 95 % intervals, and how often they lie above and below the truth:"
INTERVALS = ("percentile intervals", "bootstrap-t intervals")
DRAWING = tuple(resampling_tests())
# McNemar's tests are about right and wrong
OWN = tuple(name for name in units_tests() if not name.startswith("mcnemar"))
MOSTLY_ASKED = ("approximate_randomization", "bootstrap", "bootstrap_t", "paired_bootstrap")


def simulated(task: Task) -> Found:
    """Rejections of `two-sided`, `greater`, `less`; intervals above and below; own tests."""
    name, n, run = str(task[0]), int(task[1]), int(task[2])
    rng = np.random.default_rng((SEED, SKEWED, list(POPULATIONS).index(name), n, run))
    d = np.stack([POPULATIONS[name](rng, n) for _ in range(LENGTH)])
    table = np.stack([_statistics(row) for row in (*d, np.zeros(n))])
    if len(task) > 3:
        return {test: _own(test, table) for test in OWN}
    sample = sample_beside(
        [Scores()],
        [table],
        tuple((i, LENGTH) for i in range(LENGTH)),
        tests=DRAWING,
        resamples=RESAMPLES,
        seed=int(rng.integers(2**63)),
        interval="bootstrap_t",
    )
    (seen,) = drawn(sample)
    found: Found = {test: _rejected(seen.p_values(test)) for test in DRAWING}
    plain = percentile_interval(seen.differences, LEVEL)
    t = bootstrap_t_interval(seen.observed, seen.errors, seen.studentised, seen.tails, LEVEL)
    for interval, (low, high) in zip(INTERVALS, (plain, t), strict=True):
        found[interval] = [int((low > 0).sum()), int((high < 0).sum())]
    return found


def _statistics(row: Array) -> Array:
    return fixed_point(np.stack([row, np.ones_like(row)], axis=1))


def _rejected(p: Array) -> list[int]:
    """(A, P) p-values to rejections of each alternative."""
    return [int(n) for n in (p <= LEVEL + 1e-12).sum(axis=1)]


def _own(name: str, table: Array) -> list[int]:
    test = units_tests()[name]
    p = [[test.p(Scores(), row, table[-1], claim).p_value for row in table[:-1]]
         for claim in ALTERNATIVES]  # fmt: skip
    return _rejected(np.array(p))


@dataclass(frozen=True)
class Cell:
    """What happened in one population at one size.

    Attributes:
        population: Name.
        n: Units.
        simulations: How many.
        own: How many of them the tests looked at that have a p-value of their own.
        rates: By test, shares of simulations rejected two-sided, `greater` and `less`.
        missed: By interval, shares wholly above the truth, and wholly below it.
    """

    population: str
    n: int
    simulations: int
    own: int
    rates: dict[str, list[float]]
    missed: dict[str, list[float]]

    @property
    def named(self) -> str:
        """As tables call it."""
        return f"{TOLD.get(self.population, self.population)}, {self.n}"

    def looked(self, test: str) -> int:
        """How many simulations a test looked at."""
        return self.own if test in OWN else self.simulations

    def shown(self, test: str, rates: Sequence[float]) -> str:
        """Rates of rejection; those above what chance allows are bold."""
        most = limit(LEVEL, self.looked(test))
        return " / ".join(f"**{r:.3f}**" if r > most else f"{r:.3f}" for r in rates)


def cells(found: dict[Task, Found]) -> list[Cell]:
    """Runs put together."""
    together: dict[tuple[str, int], list[Found]] = defaultdict(list)
    for (name, n, *_), run in found.items():
        together[str(name), int(n)].append(run)
    return [
        _cell(name, n, together[name, n])
        for name in POPULATIONS
        for n in SIZES
        if (name, n) in together
    ]


def _cell(name: str, n: int, runs: Sequence[Found]) -> Cell:
    """Shares of the simulations of all runs that looked at something."""

    def looked(key: str) -> list[Found]:
        return [run for run in runs if key in run]

    rates = {
        key: (np.sum([run[key] for run in looked(key)], axis=0) / (LENGTH * len(own))).tolist()
        for key in (*DRAWING, *OWN, *INTERVALS)
        if (own := looked(key))
    }
    return Cell(
        population=name,
        n=n,
        simulations=LENGTH * len(looked(DRAWING[0])),
        own=LENGTH * len(looked(OWN[0])),
        rates={key: rate for key, rate in rates.items() if key not in INTERVALS},
        missed={key: rates[key] for key in INTERVALS},
    )


def sizes(found: Sequence[Cell], tests: Sequence[str]) -> str:
    """One-sided rates of rejection at .05, of `greater` and of `less`; those too high are bold."""
    rows = [
        [
            cell.named,
            f"{cell.looked(tests[0]):,}",
            *(cell.shown(t, cell.rates[t][1:]) for t in tests),
        ]
        for cell in found
    ]
    return kept.table(["differences, n", "simulations", *tests], rows)


def two_sided(found: Sequence[Cell], tests: Sequence[str]) -> str:
    """Two-sided rates of rejection at .05."""
    rows = [[cell.named, *(cell.shown(t, cell.rates[t][:1]) for t in tests)] for cell in found]
    return kept.table(["differences, n", *tests], rows)


def coverage(found: Sequence[Cell]) -> str:
    """Coverage of 95 % intervals, and on which side they miss."""
    rows = []
    for cell in found:
        shown = [
            f"{1 - above - below:.3f} ({above:.3f} above, {below:.3f} below)"
            for above, below in cell.missed.values()
        ]
        rows.append([cell.named, *shown])
    return kept.table(["differences, n", *INTERVALS], rows)


def failures(found: Sequence[Cell]) -> str:
    """Where each test rejects more than it may, in a sentence each."""
    lines = []
    for test in (*DRAWING, *OWN):
        over = []
        for cell in found:
            most = limit(LEVEL, cell.looked(test))
            worst = max(cell.rates[test][1:])
            if worst > most:
                over.append(f"{cell.named} ({worst:.3f})")
        lines.append(f"- `{test}`: " + ("; ".join(over) if over else "nowhere here") + ".")
    for interval in INTERVALS:
        below = [
            f"{cell.named} ({1 - sum(cell.missed[interval]):.3f})"
            for cell in found
            if 1 - sum(cell.missed[interval]) < 0.935
        ]
        lines.append(
            f"- {interval} cover less than .935: "
            + ("; ".join(below) if below else "nowhere here") + "."
        )  # fmt: skip
    return "\n".join(lines)


def described(found: Sequence[Cell]) -> str:
    """How many simulations there were."""
    return (
        f"{RESAMPLES} resamples a simulation; tests with a p-value of their own look at the first "
        f"{min(cell.own for cell in found):,} simulations. Bold is above the binomial 1 - 1e-6 "
        "quantile of .05."
    )


def main() -> None:
    """Make the runs that are missing, and print what all of them say."""
    options = kept.arguments("skewed", __doc__, 20_000)
    cells_asked = [(name, n) for n in SIZES for name in at_hand()]
    tasks: list[Task] = [
        (*cell, run) for run in range(-(-options.simulations // LENGTH)) for cell in BARS
    ]
    few = range(min(options.simulations, OTHER_SIMULATIONS) // LENGTH)
    tasks += [(*cell, run) for run in few for cell in cells_asked if cell not in BARS]
    own = min(options.simulations, OWN_SIMULATIONS) // LENGTH
    tasks += [(*cell, run, "own") for run in range(own) for cell in cells_asked]
    found = cells(kept.resumed(options.keep, tasks, simulated))
    both = [described(found), sizes(found, MOSTLY_ASKED), COVERED, coverage(found)]
    print("\n\n".join(both))
    if options.write:
        kept.write("skewed-claims", "\n\n".join(both))
        every = (
            described(found),
            "One-sided rates at .05, of the claims `greater` / `less`:",
            sizes(found, DRAWING),
            sizes(found, OWN),
            "The null hypotheses of sign_test and signed_rank are others: as many units won as "
            "lost, and symmetry about zero. Both are false wherever differences are skewed.",
            "Two-sided rates at .05:",
            two_sided(found, (*DRAWING, *OWN)),
            COVERED,
            coverage(found),
            "Where each fails, one-sided:",
            failures(found),
        )
        kept.write("skewed", "\n\n".join(every))


if __name__ == "__main__":
    main()
