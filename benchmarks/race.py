"""A race with a look after every ten items: CPU seconds of the whole.

    python -m benchmarks.race

60 systems, 10,000 items; a look says which pairs are decided and since when, who may be the best,
which ranks are left, who may stop, and the interval of every pair. The report at the end, with its
courses and warnings, is timed apart.
"""

from __future__ import annotations

import time

import numpy as np

from sigtest.race.compute import Race

SYSTEMS, ITEMS, EVERY = 60, 10_000, 10


def main() -> None:
    names = [f"system-{s}" for s in range(SYSTEMS)]
    rng = np.random.default_rng(7)
    right = (rng.random((ITEMS, SYSTEMS)) < 0.6 + 0.002 * np.arange(SYSTEMS)).astype(float)
    scores = {"right or wrong": (right, (0, 1)), "normal": (rng.normal(right), None)}
    for what, (table, scale) in scores.items():
        batches = [
            dict(zip(names, table[start : start + EVERY].T.tolist(), strict=True))
            for start in range(0, ITEMS, EVERY)
        ]
        Race(names, scale=scale).add(batches[0])  # compiles
        race, started = Race(names, scale=scale), time.process_time()
        for batch in batches:
            race.add(batch)
            race.standing()
            race.sequences.intervals()
        looks, started = time.process_time() - started, time.process_time()
        report = race.report()
        spent = time.process_time() - started
        left = sum(system.may_be_best for system in report.systems)
        print(
            f"{what}: {len(batches):,} looks {looks:.1f} CPU s, the report {spent:.2f}; {left} of "
            f"{SYSTEMS} may be the best, {report.needed:,} of {report.observations:,} scores needed"
        )


if __name__ == "__main__":
    main()
