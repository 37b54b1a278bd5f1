"""Means of scores computed elsewhere: against `scipy.stats.bootstrap` and COMET's way to resample.

    OPENBLAS_NUM_THREADS=1 python -m benchmarks.means

Two systems of 2,500 segments, CPU seconds of one process, in turn, numbers ready on all sides;
scores off any decimal grid, and 1 or 0 for right or wrong. sigtest draws all resamples and takes
counts, intervals of both scores and of the difference, and p from them. SciPy gives the percentile
interval of the paired difference alone. COMET 2's `compare` (comet/cli/compare.py) has no loop: it
draws the segments of all splits as one array, 40 % of them a split where sigtest draws as many as
there are, takes them out of an array of float32, averages, counts wins and ties, and adds a paired
t-test. The last column does the same split after split, as one would who has less memory.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial
from itertools import product

import numpy as np
from scipy.stats import bootstrap, ttest_rel

from benchmarks.task import sample_of
from sigtest.arrays import Array, Weights
from sigtest.comparison.comparison import parse_comparison
from sigtest.decide.facts import gather
from sigtest.draws.sample import Sample
from sigtest.significance.intervals import p_value

SEGMENTS = 2_500
SHARE = 0.4
TIE = 0.001
TESTS = ("bootstrap", "approximate_randomization")


def scores(kind: str) -> Array:
    """(2, n) scores of two systems that are much alike."""
    rng = np.random.default_rng(0)
    common = rng.normal(0.8, 0.1, SEGMENTS)
    values = common + rng.normal(0, 0.05, (2, SEGMENTS))
    return values if kind == "scores" else (values > 0.75).astype(np.float64)


def sample(values: Array, test: str, resamples: int) -> Sample:
    systems = [{"name": n, "scores": {"x": v.tolist()}} for n, v in zip("ab", values, strict=True)]
    return sample_of(
        parse_comparison(
            {
                "systems": systems,
                "metrics": [{"name": "scores", "of": "x"}],
                "tests": [test],
                "resamples": resamples,
            }
        )
    )


def sigtest(ready: Sample) -> None:
    resamples = ready.part.resamples
    (facts,) = gather(ready, [ready.block(0, resamples)])
    for count in facts.counts.values():
        p_value(count, resamples)


def scipy(values: Array, resamples: int) -> None:
    def difference(a: Array, b: Array, axis: int) -> Array:
        return np.asarray(a.mean(axis=axis) - b.mean(axis=axis))

    bootstrap(
        tuple(values),
        difference,
        paired=True,
        vectorized=True,
        method="percentile",
        n_resamples=resamples,
    )


def comet(values: Weights, splits: int) -> None:
    size = int(SHARE * SEGMENTS)
    drawn = np.random.choice(SEGMENTS, size=(size, splits), replace=True)
    _results(values, np.take(values, drawn, axis=1).mean(axis=1))


def comet_loop(values: Weights, splits: int) -> None:
    size = int(SHARE * SEGMENTS)
    means = np.empty((2, splits))
    for split in range(splits):
        drawn = np.random.choice(SEGMENTS, size=size, replace=True)
        means[:, split] = values[0, drawn].mean(), values[1, drawn].mean()
    _results(values, means)


def _results(values: Weights, means: Array | Weights) -> None:
    moved = means[0] - means[1]
    np.count_nonzero(np.abs(moved) < TIE)
    np.count_nonzero(moved >= TIE), np.count_nonzero(moved <= -TIE)
    means[0].mean(), means[1].mean()
    ttest_rel(values[0], values[1])


def spent(run: Callable[[], None]) -> float:
    """CPU seconds of one run."""
    since = time.thread_time()
    run()
    return time.thread_time() - since


def ratios(
    ours: Callable[[], None], theirs: Sequence[Callable[[], None]], runs: int
) -> list[float]:
    """Median CPU seconds of ours, and the median of each of theirs over ours, run in turn."""
    ours()
    taken = np.array([[spent(run) for run in (ours, *theirs)] for _ in range(runs)])
    over = np.median(taken[:, 1:] / taken[:, :1], axis=0)
    return [float(np.median(taken[:, 0])), *over.tolist()]


def main() -> None:
    print(f"2 systems, {SEGMENTS} segments; CPU ms of sigtest, and times as long as that")
    print(f"{'':10} {'test':26} {'R':>6} {'sigtest':>8} {'SciPy':>7} {'COMET':>7} {'loop':>7}")
    for kind in ("scores", "accuracy"):
        values = scores(kind)
        single = values.astype(np.float32)  # as COMET keeps them
        for test, (resamples, runs) in product(TESTS, ((300, 25), (9_999, 5))):
            ready = sample(values, test, resamples)
            theirs = [
                partial(scipy, values, resamples),
                partial(comet, single, resamples),
                partial(comet_loop, single, resamples),
            ]
            mine, *over = ratios(partial(sigtest, ready), theirs, runs)
            columns = " ".join(f"{ratio:7.1f}" for ratio in over)
            print(f"{kind:10} {test:26} {resamples:6} {1000 * mine:8.2f} {columns}", flush=True)


if __name__ == "__main__":
    main()
