"""Tests of judgements, metrics, labels and folds: `python -m validation.further --keep FILE`.

How often does each reject at .05 where its null hypothesis is true? Every simulation goes through
the product's own functions. The last rows are classifiers compared over the folds of one data set,
whose training data overlap: the paired t-test takes folds as independent, and fails.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable

import numpy as np

from sigtest.arrays import Array, Flags
from sigtest.draws.product import fixed_point
from sigtest.meta_evaluation.bootstrap import correlation_rows, correlations
from sigtest.meta_evaluation.significance import (
    ExchangeColumn,
    certain,
    exact_correlations,
    exchange,
    exchange_systems,
    williams,
)
from sigtest.meta_evaluation.statistics import standardised
from sigtest.metrics import METRICS
from sigtest.metrics.scores import Scores
from sigtest.people.statistics import rank_sum, signed_rank
from sigtest.significance import ALTERNATIVES, units_tests
from sigtest.significance.base import UnitsTest
from validation import kept
from validation.beside import drawn, sample_beside
from validation.calibration import limit
from validation.kept import Found, Task
from validation.settings import SEED

LEVEL = 0.05
RESAMPLES = 999
LENGTH = 500  # simulations a run
FURTHER = 20  # part of every seed
FOLDS = 10

P = list[float]  # two-sided, greater, less
Simulate = Callable[[np.random.Generator], list[P]]


def _williams(n: int, between: float, with_people: float) -> Simulate:
    """Two metrics that correlate equally with people, over n systems."""

    def simulate(rng: np.random.Generator) -> list[P]:
        whole = np.full((3, 3), with_people)
        whole[0, 1] = whole[1, 0] = between
        np.fill_diagonal(whole, 1.0)
        x = rng.multivariate_normal(np.zeros(3), whole, size=(LENGTH, n)).swapaxes(1, 2)
        x -= x.mean(axis=2, keepdims=True)
        x /= np.sqrt((x**2).sum(axis=2, keepdims=True))
        r = np.einsum("sin,sjn->sij", x, x)
        tests = [williams(own[0, 1], own[0, 2], own[1, 2], n) for own in r]
        return [[certain(test)[claim].p_value for claim in ALTERNATIVES] for test in tests]

    return simulate


def _rank_sum(n: int, m: int, grades: int) -> Simulate:
    """Two systems that are judged alike, on a scale of few grades."""

    def simulate(rng: np.random.Generator) -> list[P]:
        x, y = (np.sort(rng.binomial(grades - 1, 0.7, size=(LENGTH, k)), axis=1) for k in (n, m))
        found = [rank_sum(a.astype(float), b.astype(float)) for a, b in zip(x, y, strict=True)]
        return [_both(own.greater, own.less) for own in found]

    return simulate


def _signed_rank(n: int) -> Simulate:
    """Differences of two systems that are judged alike, with ties and zeros."""

    def simulate(rng: np.random.Generator) -> list[P]:
        d = np.rint(2 * rng.standard_t(4, size=(LENGTH, n)))
        found = [signed_rank(own) for own in d]
        return [_both(own.greater, own.less) for own in found]

    return simulate


def _mcnemar(name: str, n: int) -> Simulate:
    """Two systems that are right on 80 % of the units, half of them difficult for both."""

    def simulate(rng: np.random.Generator) -> list[P]:
        chance = np.where(rng.random((LENGTH, 1, n)) < 0.5, 0.95, 0.65)
        right = (rng.random((LENGTH, 2, n)) < chance).astype(float)
        rows = np.stack([right, np.ones_like(right)], axis=3)
        return _own(units_tests()[name], rows)

    return simulate


def _own(test: UnitsTest, rows: Array) -> list[P]:
    """(simulations, 2, n, 2) statistics of scores."""
    return [[test.p(Scores(), a, b, claim).p_value for claim in ALTERNATIVES] for a, b in rows]


def _f1(n: int) -> Simulate:
    """Labels of which a fifth is positive, and two systems that find and invent equally many."""

    def simulate(rng: np.random.Generator) -> list[P]:
        gold = rng.random((LENGTH, 1, n)) < 0.2
        said = rng.random((LENGTH, 2, n)) < np.where(gold, 0.7, 0.1)
        rows = np.stack([2.0 * (gold & said), 1.0 * gold + said], axis=3)
        found = []
        for some in np.split(rows, LENGTH // 50):
            sample = sample_beside(
                [METRICS["f1"](positive="yes", classes="no+yes")],  # type: ignore[call-arg]
                [some.reshape(100, n, 2)],
                tuple((2 * i, 2 * i + 1) for i in range(50)),
                resamples=RESAMPLES,
                seed=int(rng.integers(2**63)),
            )
            found += drawn(sample)[0].p_values("approximate_randomization").T.tolist()
        return found

    return simulate


def _trio(rng: np.random.Generator, n: int) -> Array:
    """(simulations, 3, n) scores of people and of two metrics, which go with them equally well."""
    people = rng.normal(size=(LENGTH, 1, n))
    metrics = people + 0.8 * rng.normal(size=(LENGTH, 1, n)) + rng.normal(size=(LENGTH, 2, n))
    return np.concatenate([people, metrics], axis=1)


def _permuted(n: int) -> Simulate:
    """PERM-BOTH of Pearson's r: exact up to 20 systems, else resampled."""

    def simulate(rng: np.random.Generator) -> list[P]:
        rows = [[_cells(metric, own[0]) for metric in own[1:]] for own in _trio(rng, n)]
        if n <= 20:
            exact = [exact_correlations(a, b) for a, b in rows]
            return [
                [own[claim].p_value for claim in ALTERNATIVES] for own in exact if own is not None
            ]
        found = []
        for first in range(0, LENGTH, 50):
            some = np.array([one for both in rows[first : first + 50] for one in both])
            pairs = [(m, m + 1) for m in range(0, len(some), 2)]
            column = ExchangeColumn(correlations, exact_correlations, some, pairs)
            seed = int(rng.integers(2**63))
            chances = exchange({"r": column}, RESAMPLES, seed, 0, lambda done, of: None)["r"]
            found += [[own[claim].p_value for claim in ALTERNATIVES] for own in chances]
        return found

    return simulate


def _cells(metric: Array, people: Array) -> Array:
    """(n, 6) statistics in fixed point, as the product makes them of standardised scores."""
    scores = np.stack([standardised(metric), standardised(people)], axis=1)
    return fixed_point(correlation_rows(scores))


def _ordinal(name: str, n: int) -> Simulate:
    """PERM-BOTH of what looks at the order of systems."""

    def simulate(rng: np.random.Generator) -> list[P]:
        found = []
        for people, a, b in _trio(rng, n):
            exact = exchange_systems(people, a, b, np.empty((0, n), dtype=np.bool_))[name]
            found.append([exact[claim].p_value for claim in ALTERNATIVES])
        return found

    return simulate


def _folds(name: str) -> Simulate:
    """Two learners, equally good, over ten folds of one data set."""

    def simulate(rng: np.random.Generator) -> list[P]:
        rows = _accuracies(rng)
        return _own(units_tests()[name], np.stack([rows, np.ones_like(rows)], axis=3))

    return simulate


def _accuracies(rng: np.random.Generator, n: int = 60) -> Array:
    """(simulations, 2, folds) accuracies of two nearest-mean classifiers on features of their own.

    Both kinds of features tell the classes apart equally well, so that neither is better whatever
    the size of the training data; but all folds are of one data set, on which one may be.
    """
    label = np.tile(np.arange(n) % 2, (LENGTH, 1))
    features = rng.normal(size=(LENGTH, 2, n, 3)) + 0.45 * label[:, None, :, None]
    fold = np.argsort(rng.random((LENGTH, n)), axis=1) % FOLDS
    found = np.empty((LENGTH, 2, FOLDS))
    for f in range(FOLDS):
        train = (fold != f)[:, None, :, None]
        one, zero = (_mean(features, train & (label == k)[:, None, :, None]) for k in (1, 0))
        near_one = ((features - one) ** 2).sum(axis=3) < ((features - zero) ** 2).sum(axis=3)
        right: Flags = near_one == (label == 1)[:, None]
        test = (fold == f)[:, None, :]
        found[:, :, f] = (right & test).sum(axis=2) / test.sum(axis=2)
    return found


def _mean(features: Array, which: Flags) -> Array:
    total = (features * which).sum(axis=2, keepdims=True)
    mean: Array = total / which.sum(axis=2, keepdims=True)
    return mean


def _both(greater: float, less: float) -> P:
    return [min(1.0, 2 * min(greater, less)), greater, less]


CELLS: dict[str, Simulate] = {
    **{
        f"Williams, n = {n}, metrics {between:g}, people {people:g}": _williams(n, between, people)
        for n in (5, 8, 12, 20)
        for between, people in ((0.5, 0.6), (0.9, 0.9))
    },
    "rank sum, 7 grades, 20 and 20": _rank_sum(20, 20, 7),
    "rank sum, 7 grades, 100 and 60": _rank_sum(100, 60, 7),
    "rank sum, 101 grades, 300 and 300": _rank_sum(300, 300, 101),
    "signed rank, ties and zeros, n = 15": _signed_rank(15),
    "signed rank, ties and zeros, n = 100": _signed_rank(100),
    "McNemar, n = 30": _mcnemar("mcnemar", 30),
    "McNemar, n = 300": _mcnemar("mcnemar", 300),
    "McNemar with mid-p, n = 30": _mcnemar("mcnemar_mid_p", 30),
    "McNemar with mid-p, n = 300": _mcnemar("mcnemar_mid_p", 300),
    "randomization of F1, n = 50": _f1(50),
    "randomization of F1, n = 300": _f1(300),
    "PERM-BOTH, Pearson, 8 systems": _permuted(8),
    "PERM-BOTH, Pearson, 12 systems": _permuted(12),
    "PERM-BOTH, Pearson, 60 cells": _permuted(60),
    "PERM-BOTH, Spearman, 10 systems": _ordinal("spearman", 10),
    "PERM-BOTH, Kendall, 10 systems": _ordinal("kendall", 10),
    "PERM-BOTH, accuracy, 10 systems": _ordinal("accuracy", 10),
    "paired t over 10 folds of one data set": _folds("paired_t"),
    "corrected t over 10 folds of one data set": _folds("corrected_t"),
}


def simulated(task: Task) -> Found:
    """Rejections of `two-sided`, `greater` and `less`."""
    name, run = str(task[0]), int(task[1])
    rng = np.random.default_rng((SEED, FURTHER, list(CELLS).index(name), run))
    p = np.array(CELLS[name](rng))
    return {"rejected": [int(k) for k in (p <= LEVEL + 1e-12).sum(axis=0)], "of": [len(p)]}


def told(found: dict[Task, Found]) -> str:
    """Rates of every test; those above the binomial limit are bold."""
    together: dict[str, list[Found]] = defaultdict(list)
    for (name, _), run in found.items():
        together[str(name)].append(run)
    rows = []
    for name, runs in together.items():
        of = sum(int(run["of"][0]) for run in runs)
        rates = np.sum([run["rejected"] for run in runs], axis=0) / of
        most = limit(LEVEL, of)
        shown = [f"**{r:.4f}**" if r > most else f"{r:.4f}" for r in rates.tolist()]
        rows.append([name, f"{of:,}", *shown])
    return kept.table(["test", "simulations", "two-sided", "greater", "less"], rows)


def main() -> None:
    """Make the runs that are missing, and print what all of them say."""
    options = kept.arguments("further", __doc__, 20_000)
    tasks: list[Task] = [
        (name, run) for run in range(-(-options.simulations // LENGTH)) for name in CELLS
    ]
    block = told(kept.resumed(options.keep, tasks, simulated))
    print(block)
    if options.write:
        kept.write("further", block)


if __name__ == "__main__":
    main()
