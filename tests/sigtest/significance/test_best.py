"""Comparisons with the best, against a loop that follows the definition, and by hand."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
from scipy.stats import binomtest

import sigtest
from sigtest.report import Report
from sigtest.significance.best import best_p, most_draws


def textbook(scores: np.ndarray, draws: np.ndarray, units: int) -> list[float]:
    """One control after the other, one resample after the other."""
    found = []
    for i, own in enumerate(scores):
        errors = {
            j: float(np.std(draws[j] - draws[i])) * math.sqrt(units / (units - 1))
            for j in range(len(scores))
            if j != i
        }
        seen = max(
            (scores[j] - own) / math.sqrt(s**2 + (scores[j] - own) ** 2 / units)
            for j, s in errors.items()
        )
        reaching = 0
        for r in range(draws.shape[1]):
            moved = max(
                ((draws[j, r] - scores[j]) - (draws[i, r] - own)) / s for j, s in errors.items()
            )
            reaching += moved >= seen
        found.append((reaching + 1) / (draws.shape[1] + 1))
    return found


def resampled(values: np.ndarray, resamples: int, seed: int) -> np.ndarray:
    """(S, n) values of each unit to (S, R) means of resamples."""
    drawn = np.random.default_rng(seed).integers(values.shape[1], size=(resamples, values.shape[1]))
    return values[:, drawn].mean(axis=2)


def p_of(values: np.ndarray, draws: np.ndarray) -> list[float]:
    pairs = np.array(list(combinations(range(len(values)), 2)))
    errors = (draws[pairs[:, 0]] - draws[pairs[:, 1]]).std(axis=1)
    seen = values.mean(axis=1)
    return best_p(seen, draws, seen, pairs, errors, values.shape[1]).tolist()


@pytest.mark.parametrize("seed", range(3))
def test_p_is_that_of_the_definition(seed):
    rng = np.random.default_rng(seed)
    values = rng.exponential(size=(5, 40)) + rng.normal(size=40) + np.arange(5)[:, None] / 4
    draws = resampled(values, 199, seed)
    assert p_of(values, draws) == textbook(values.mean(axis=1), draws, 40)


def test_differences_that_never_vary():
    """Equal systems stay together; one that all units find worse has their sign test's p."""
    rng = np.random.default_rng(4)
    best = rng.normal(size=12)
    values = np.stack([best, best, best - 1.0, best - rng.exponential(size=12)])
    first, twin, worse, _ = p_of(values, resampled(values, 199, 5))
    assert first == twin > 0.9
    assert worse == pytest.approx(3 * 0.5**12)


def test_nothing_that_three_units_say_excludes_a_system():
    values = np.array([[1.0, 2.0, 3.0], [0.0, 1.0, 2.0], [0.0, 1.0, 2.0]])
    assert p_of(values, resampled(values, 99, 6))[1:] == [2 * 0.5**3] * 2


def compared(values: np.ndarray, **options: object) -> Report:
    scores = {f"s{i}": {"x": row.tolist()} for i, row in enumerate(values)}
    report = sigtest.compare(scores=scores, resamples=999, **options)
    assert isinstance(report, Report)
    return report


def best_of(report: Report) -> list[float | None]:
    (metric,) = report.metrics
    return [system.scores[metric].p_best for system in report.systems]


def test_less_may_be_better():
    values = np.random.default_rng(8).normal(size=(4, 60)) + np.arange(4)[:, None] / 2
    worse = {"name": "scores", "of": "x", "higher": False}
    assert best_of(compared(-values, metrics=[worse])) == best_of(compared(values))
    assert best_of(compared(values))[0] < 0.05 < best_of(compared(values))[3]  # type: ignore[operator]


@pytest.mark.parametrize(
    ("items", "systems", "there"), [(29, 3, False), (30, 3, True), (30, 2, False)]
)
def test_it_is_said_of_three_systems_and_thirty_units(items, systems, there):
    report = compared(np.random.default_rng(9).normal(size=(systems, items)))
    assert [p is not None for p in best_of(report)] == [there] * systems
    assert report.methods is not None
    assert ("Hsu" in report.methods.text) == there


def test_it_is_not_said_of_documents_of_very_unequal_size_nor_of_small_strata():
    values = np.random.default_rng(10).normal(size=(3, 400))
    sizes = np.where(np.arange(50) < 5, 62, 2)  # 5 documents have 310 of 400 segments
    documents = [f"d{i}" for i, size in enumerate(sizes) for _ in range(size)]
    large = compared(values, documents=documents, unit="document")
    assert best_of(large) == [None] * 3
    even = compared(values, documents=[f"d{i // 8}" for i in range(400)], unit="document")
    assert None not in best_of(even)
    pairs = compared(values, labels=[f"l{i // 2}" for i in range(400)], stratified=True)
    assert best_of(pairs) == [None] * 3


def test_many_systems_have_draws_enough_to_be_told_from_the_best():
    assert most_draws(3) > 999_999
    assert most_draws(2_000) == 999


def test_other_seeds_could_give_another_p_of_the_best():
    rng = np.random.default_rng(11)
    values = rng.normal(size=(4, 60)) + np.array([[0.4], [0.3], [0.1], [0.0]])
    scores = dict(zip("abcd", values, strict=True))
    report = sigtest.compare(scores=scores, resamples=1999)
    for system in report.systems:
        own = system.scores["scores"]
        assert own.p_best is not None
        count = round(own.p_best * 2000) - 1
        ends = binomtest(count, 1999).proportion_ci(0.95, method="exact")
        assert own.p_best_interval == pytest.approx((ends.low, ends.high))
