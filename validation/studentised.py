"""The bootstrap-t where labels are exchangeable: `python -m validation.studentised --keep FILE`.

Nulls as in part 3: segments of two real systems, drawn with replacement and exchanged by coins, so
that neither is better by any metric. Corpus scores are no means, and their standard errors in
resamples come from influence values; these are the rates at which that rejects.
"""

from __future__ import annotations

from collections import defaultdict
from functools import cache

import numpy as np

from sigtest.arrays import Array
from validation import kept
from validation.beside import drawn, sample_beside
from validation.kept import Found, Task
from validation.nulls import exchanged
from validation.populations import (
    CLOSE_SYSTEMS,
    TEXT_METRICS,
    Corpus,
    Population,
    corpora,
    population,
)
from validation.settings import SEED

SIZES = (50, 100, 200, 300)
LEVEL = 0.05
MOST = 0.058  # of one-sided tests at .05
RESAMPLES = 999
LENGTH = 50
STUDENTISED = 17  # part of every seed


@cache
def _population(number: int) -> Population:
    corpus: Corpus = corpora()[number]
    return population(corpus, CLOSE_SYSTEMS[corpus.name], TEXT_METRICS)


def simulated(task: Task) -> Found:
    """Rejections of `two-sided`, `greater`, `less` by metric."""
    number, n, run = (int(part) for part in task)
    drawn_from = _population(number)
    rng = np.random.default_rng((SEED, STUDENTISED, number, n, run))
    each = [exchanged(drawn_from, n, rng) for _ in range(LENGTH)]
    tables: list[Array] = [np.concatenate(own) for own in zip(*each, strict=True)]
    sample = sample_beside(
        drawn_from.metrics,
        tables,
        tuple((2 * i, 2 * i + 1) for i in range(LENGTH)),
        tests=("bootstrap_t",),
        resamples=RESAMPLES,
        seed=int(rng.integers(2**63)),
    )
    return {
        label: [int(k) for k in (seen.p_values("bootstrap_t") <= LEVEL + 1e-12).sum(axis=1)]
        for label, seen in zip(drawn_from.labels, drawn(sample), strict=True)
    }


def told(found: dict[Task, Found]) -> str:
    """Rates by metric, test set and size."""
    together: dict[tuple[int, int], list[Found]] = defaultdict(list)
    for (number, n, _), run in found.items():
        together[int(number), int(n)].append(run)
    rows = []
    for (number, n), runs in sorted(together.items()):
        for label in runs[0]:
            rates = np.sum([run[label] for run in runs], axis=0) / (LENGTH * len(runs))
            shown = [f"**{r:.4f}**" if r > MOST else f"{r:.4f}" for r in rates.tolist()]
            size = f"{LENGTH * len(runs):,}"
            rows.append([f"{label}, {corpora()[number].name}, {n}", size, *shown])
    header = ("metric, test set, n", "simulations", "two-sided", "greater", "less")
    return kept.table(header, rows)


def main() -> None:
    """Make the runs that are missing, and print what all of them say."""
    options = kept.arguments("studentised", __doc__, 20_000)
    tasks: list[Task] = [
        (number, n, run)
        for run in range(-(-options.simulations // LENGTH))
        for n in SIZES
        for number in range(len(corpora()))
    ]
    block = told(kept.resumed(options.keep, tasks, simulated))
    print(block)
    if options.write:
        kept.write("studentised", block)


if __name__ == "__main__":
    main()
