"""Comparisons with the best: `python -m validation.best --keep FILE`.

Twenty systems, whose items are as hard for one as for the other. Where all are equally good each is
a true best, and the question is how often one of them is said not to be; with equal steps between
them there is one best, and the question is how many others are excluded: by comparisons with the
best, and by paired t-tests of all pairs with Holm's correction, two-sided. Of the last kind,
half of the systems are normal and half fail rarely and badly (minus a lognormal): there differences
are skewed, true bests are the normal ones, and no bound is held.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
from scipy.special import stdtr

from sigtest.arrays import Array
from sigtest.significance.best import LEAST_UNITS, best_p
from sigtest.significance.corrections import adjust
from validation import kept
from validation.kept import Found, Task
from validation.settings import SEED

LEVEL = 0.05
LEAST = 0.94  # of true bests that stay, at .05
RESAMPLES = 999
LENGTH = 100  # simulations a run
BEST = 33  # part of every seed
SYSTEMS = 20
STEP = 0.05  # between two systems, in standard deviations of an item (of its logit, of 0 and 1)
ITEMS = (LEAST_UNITS, 100, 300)
KINDS = ("normal", "0 and 1", "lognormal", "half fail rarely")
GAPS = ("equal", "steps")
PAIRS = np.array(list(combinations(range(SYSTEMS), 2)))


def population(rng: np.random.Generator, kind: str, items: int, gaps: str) -> Array:
    """(S, n) scores; the first system is a best one."""
    behind = STEP * np.arange(SYSTEMS)[:, None] * (gaps == "steps")
    hard, noise = rng.normal(size=items), rng.normal(size=(SYSTEMS, items))
    if kind == "normal":
        return hard + noise - behind
    if kind == "half fail rarely":
        failing = np.arange(SYSTEMS)[:, None] % 2 == 1
        return hard + np.where(failing, np.exp(0.5) - np.exp(noise), 2.16 * noise) - behind
    if kind == "lognormal":
        return np.exp(noise + 0.5 * hard) - behind
    return (rng.random((SYSTEMS, items)) < 1 / (1 + np.exp(-(1 + hard - behind)))).astype(float)


def excluded_by_pairs(values: Array) -> int:
    """How many systems are significantly worse than some other."""
    a, b = values[PAIRS[:, 0]], values[PAIRS[:, 1]]
    spread = (a - b).std(axis=1, ddof=1)
    n = values.shape[1]
    gap = (a - b).mean(axis=1)
    t = np.divide(np.abs(gap) * np.sqrt(n), spread, out=np.zeros_like(gap), where=spread > 0)
    found = adjust(2 * stdtr(n - 1.0, -t), "holm") <= LEVEL
    return len({int(worse) for worse in np.where(gap > 0, PAIRS[:, 1], PAIRS[:, 0])[found]})


def simulated(task: Task) -> Found:
    """Of LENGTH boards: true bests that stay, in all, and how many others either way excludes."""
    kind, items, gaps, run = str(task[0]), int(task[1]), str(task[2]), int(task[3])
    rng = np.random.default_rng((SEED, BEST, KINDS.index(kind), items, GAPS.index(gaps), run))
    alike = slice(None, None, 2 if kind == KINDS[-1] else 1)  # systems of the first one's kind
    stay = excluded = apart = 0.0
    for _ in range(LENGTH):
        values = population(rng, kind, items, gaps)
        weights = rng.multinomial(items, np.full(items, 1 / items), size=RESAMPLES)
        draws = np.ascontiguousarray(values @ weights.T / items)
        errors = (draws[PAIRS[:, 0]] - draws[PAIRS[:, 1]]).std(axis=1)
        seen = values.mean(axis=1)
        p = best_p(seen, draws, seen, PAIRS, errors, items)
        stay += (p > LEVEL)[alike].mean() if gaps == "equal" else p[0] > LEVEL
        excluded += np.count_nonzero(p <= LEVEL)
        apart += excluded_by_pairs(values)
    return {"stay": [stay], "excluded": [excluded], "apart": [apart]}


def rate(runs: list[Found], name: str) -> float:
    """Mean over boards."""
    return float(sum(run[name][0] for run in runs)) / (LENGTH * len(runs))


def told(found: dict[Task, Found]) -> str:
    """A row for each population; true bests that stay too seldom stand out."""
    together: dict[tuple[str | int, ...], list[Found]] = {}
    for task, run in found.items():
        together.setdefault(task[:3], []).append(run)
    rows = []
    for (kind, items, gaps), runs in together.items():
        stay = rate(runs, "stay")
        shown = f"{stay:.3f}" if stay >= LEAST else f"**{stay:.3f}**"
        others = [f"{rate(runs, name):.2f}" for name in ("excluded", "apart")]
        rows.append([str(kind), str(items), str(gaps), f"{LENGTH * len(runs):,}", shown, *others])
    head = (
        "scores",
        "items",
        "systems",
        "simulations",
        "a true best stays",
        "excluded",
        "by pairs",
    )
    return f"{kept.table(head, rows)}\n\nBound: {LEAST}."


def main() -> None:
    """Make the runs that are missing, and print what all of them say; 1 below the bound."""
    options = kept.arguments("best", __doc__, 2_000)
    tasks: list[Task] = [
        (kind, items, gaps, run)
        for kind in KINDS
        for items in ITEMS
        for gaps in GAPS
        for run in range(-(-options.simulations // LENGTH))
    ]
    found = kept.resumed(options.keep, tasks, simulated)
    block = told(found)
    print(block)
    if options.write:
        kept.write("best", block)
    if any("**" in row for row in block.splitlines() if not row.startswith(f"| {KINDS[-1]}")):
        raise SystemExit(f"a true best stays in less than {LEAST}")


if __name__ == "__main__":
    main()
