"""Bootstrap draws of the statistics against samples drawn out in full."""

import numpy as np
import pytest
from scipy import stats

from sigtest.draws.weights import bootstrap_counts
from sigtest.meta_evaluation.bootstrap import Draws, draw, interval
from sigtest.meta_evaluation.statistics import Cells, evaluate

ROWS = 40


def cells(systems: int, segments: int, seed: int = 1, ties: bool = False) -> Cells:
    rng = np.random.default_rng(seed)
    human = rng.normal(size=(systems, segments))
    metrics = human + rng.normal(size=(2, systems, segments))
    if ties:
        human, metrics = human.round(), metrics.round()
    present = rng.random(human.shape) < (0.8 if segments > 1 else 1.1)
    return Cells(human, metrics, present)


def drawn(statistic: str, own: Cells, level: str, group: str = "none") -> np.ndarray:
    found = evaluate(statistic, own, group)
    return draw(statistic, own, found, Draws(9, 0, 0, ROWS), level)


def accuracy_of(h: np.ndarray, m: np.ndarray, ids: np.ndarray) -> float:
    pairs = [(i, j) for i in range(len(h)) for j in range(i) if ids[i] != ids[j]]
    return float(np.mean([np.sign(h[i] - h[j]) == np.sign(m[i] - m[j]) for i, j in pairs]))


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("statistic", ["pearson", "spearman", "kendall", "accuracy"])
def test_resampled_systems_give_the_statistic_of_the_sample(statistic, ties):
    own = cells(9, 1, ties=ties)
    counts = bootstrap_counts(9, 0, ROWS, 9)
    found = drawn(statistic, own, "system")
    reference = {
        "pearson": lambda h, m, ids: stats.pearsonr(h, m)[0],
        "spearman": lambda h, m, ids: stats.spearmanr(h, m)[0],
        "kendall": lambda h, m, ids: stats.kendalltau(h, m)[0],
        "accuracy": accuracy_of,
    }[statistic]
    for r in range(ROWS):
        ids = np.repeat(np.arange(9), counts[r].astype(int))
        h, m = own.human[ids, 0], own.metrics[1, ids, 0]
        if np.ptp(h) and np.ptp(m):
            assert found[1, r] == pytest.approx(reference(h, m, ids), abs=1e-9)


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("statistic", ["pearson", "spearman"])
def test_resampled_segments_bring_all_their_cells(statistic, ties):
    own = cells(5, 30, ties=ties)
    counts = bootstrap_counts(9, 0, ROWS, 30)
    found = drawn(statistic, own, "segment")
    reference = stats.pearsonr if statistic == "pearson" else stats.spearmanr
    for r in range(ROWS):
        columns = np.repeat(np.arange(30), counts[r].astype(int))
        kept = own.present[:, columns]
        h, m = own.human[:, columns][kept], own.metrics[0][:, columns][kept]
        assert found[0, r] == pytest.approx(reference(h, m)[0], abs=1e-9)


@pytest.mark.parametrize("statistic", ["accuracy", "accuracy_ties", "kendall"])
def test_means_over_segments_are_means_over_the_drawn_ones(statistic):
    own = cells(6, 25)
    group = "item" if statistic == "kendall" else "none"
    found = evaluate(statistic, own, group)
    counts = bootstrap_counts(9, 0, ROWS, 25)
    shares = found.shares
    by_segment = np.zeros((2, 2, 25))
    for u, segment in enumerate(shares.segments):
        by_segment[0, :, segment] += shares.parts[:, u]
        by_segment[1, :, segment] += shares.weights[:, u]
    expected = (counts @ by_segment[0].T) / (counts @ by_segment[1].T)
    assert pytest.approx(expected, rel=1e-12) == drawn(statistic, own, "segment", group).T


@pytest.mark.parametrize(("level", "segments"), [("system", 1), ("segment", 30)])
@pytest.mark.parametrize("statistic", ["pearson", "spearman"])
def test_no_correlation_is_beyond_one(statistic, level, segments):
    scores = np.random.default_rng(4).normal(size=(5, segments))
    own = Cells(scores, np.stack([0.1 * scores, -3.0 * scores]), np.full(scores.shape, True))
    found = drawn(statistic, own, level)
    known = found[:, np.isfinite(found[0])]
    assert known == pytest.approx(np.array([1.0, -1.0])[:, None] * np.ones(known.shape))
    assert np.abs(known).max() <= 1.0


def test_tau_over_all_cells_has_no_draws():
    assert drawn("kendall", cells(4, 9), "segment") is None


def test_interval_leaves_out_what_is_not_defined():
    values = np.concatenate([np.linspace(0, 1, 101), [np.nan] * 9])
    assert interval(values, 0.1, 10_000) == pytest.approx((0.05, 0.95), abs=0.011)
    assert interval(np.full(20, np.nan), 0.1, 50) is None
    assert interval(np.empty(0), 0.1, 50) is None
    assert interval(values, 0.1, 1) is None


def test_interval_is_expanded_by_students_quantile():
    draws = np.random.default_rng(3).normal(size=9_999)
    for units in (4, 10, 30):
        share = stats.norm.cdf(np.sqrt(units / (units - 1)) * stats.t.ppf(0.025, units - 1))
        expected = np.quantile(draws, [share, 1 - share], method="inverted_cdf")
        assert interval(draws, 0.05, units) == pytest.approx(expected)


def test_intervals_cover_the_truth_about_as_often_as_they_say():
    rng = np.random.default_rng(7)
    hits, trials, rho, size = 0, 1_000, 0.6, 10
    for trial in range(trials):
        human = rng.normal(size=(size, 1))
        metric = rho * human + np.sqrt(1 - rho**2) * rng.normal(size=(size, 1))
        own = Cells(human, metric[None], np.ones((size, 1), dtype=bool))
        values = evaluate("pearson", own, "none")
        draws = draw("pearson", own, values, Draws(trial, 0, 0, 399), "system")
        low, high = interval(draws[0], 0.05, size)
        hits += low <= rho <= high
    assert stats.binomtest(hits, trials, 0.95).pvalue > 1e-4  # plain percentile intervals: .91
