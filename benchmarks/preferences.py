"""Strengths from who was preferred to whom, from a file's text to the report, in CPU seconds.

    OPENBLAS_NUM_THREADS=1 python -m benchmarks.preferences

Comparisons are made up: 60 systems, 100,000 comparisons of 5,000 items by 200 judges, a fifth of
them ties. Kernels are compiled before anything is measured.
"""

import time

import numpy as np

from sigtest.kinds import KINDS, FormFile

SYSTEMS, COMPARISONS, ITEMS, JUDGES, TIES = 60, 100_000, 5_000, 200, 0.2
KIND = KINDS["human-evaluations"]


def battles(comparisons: int) -> FormFile:
    """A file of so many comparisons."""
    rng = np.random.default_rng(1)
    strengths = rng.normal(size=SYSTEMS)
    a = rng.integers(SYSTEMS, size=comparisons)
    b = (a + 1 + rng.integers(SYSTEMS - 1, size=comparisons)) % SYSTEMS
    ahead = rng.random(comparisons) < 1 / (1 + np.exp(strengths[b] - strengths[a]))
    winner = np.where(rng.random(comparisons) < TIES, "tie", np.where(ahead, "a", "b"))
    items, judges = (rng.integers(size, size=comparisons) for size in (ITEMS, JUDGES))
    rows = zip(a, b, winner, items, judges, strict=True)
    lines = [f"s{a},s{b},{winner},q{item},w{judge}" for a, b, winner, item, judge in rows]
    text = "\n".join(["model_a,model_b,winner,item,judge", *lines, ""])
    return FormFile("judgements", "battles.csv", text.encode())


def main() -> None:
    KIND.compute(KIND.parse({"resamples": 9}, [battles(1_000)]))
    file = battles(COMPARISONS)
    start = time.process_time()
    question = KIND.parse({}, [file])
    read = time.process_time()
    report = KIND.compute(question)
    end = time.process_time()
    print(
        f"{SYSTEMS} systems, {COMPARISONS:,} comparisons, {report.preferences.resamples:,} "
        f"resamples over {report.preferences.units:,} {report.preferences.unit}s: "
        f"read in {read - start:.2f} s, computed in {end - read:.2f} s"
    )


if __name__ == "__main__":
    main()
