"""PERM-BOTH against plain enumeration, through the engine and without it."""

import math
import tracemalloc
from itertools import combinations, product

import numpy as np
import pytest
from scipy import stats

from sigtest.draws.product import fixed_point
from sigtest.meta_evaluation.bootstrap import correlation_rows, correlations
from sigtest.meta_evaluation.significance import (
    ExchangeColumn,
    counted_chances,
    exact_correlations,
    exchange,
    exchange_systems,
)
from sigtest.meta_evaluation.statistics import standardised
from sigtest.significance import ALTERNATIVES


def share_alike(x: np.ndarray, h: np.ndarray) -> float:
    pairs = [(i, j) for i in range(len(h)) for j in range(i)]
    return float(np.mean([np.sign(x[i] - x[j]) == np.sign(h[i] - h[j]) for i, j in pairs]))


STATISTICS = {
    "pearson": lambda x, h: stats.pearsonr(x, h)[0],
    "spearman": lambda x, h: stats.spearmanr(x, h)[0],
    "kendall": lambda x, h: stats.kendalltau(x, h)[0],
    "accuracy": share_alike,
}


def enumerated(h: np.ndarray, a: np.ndarray, b: np.ndarray, name: str) -> dict[str, int]:
    """Counts of all exchanges of standardised scores, one after the other."""
    a, b = standardised(a).round(12), standardised(b).round(12)
    statistic = STATISTICS[name]
    observed = statistic(a, h) - statistic(b, h)
    counts = dict.fromkeys(ALTERNATIVES, 0)
    for kept in product((True, False), repeat=len(h)):
        x, y = np.where(kept, a, b), np.where(kept, b, a)
        difference = statistic(x, h) - statistic(y, h)
        counts["greater"] += difference >= observed - 1e-9
        counts["less"] += difference <= observed + 1e-9
        counts["two-sided"] += abs(difference) >= abs(observed) - 1e-9
    return counts


def metrics(seed: int, size: int, rounded: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    h = rng.normal(size=size)
    a, b = h + rng.normal(size=size), h + 2 * rng.normal(size=size)
    return (h.round(), a.round(), b.round()) if rounded else (h, a, b)


def every_pair(count: int) -> list[tuple[int, int]]:
    return list(combinations(range(count), 2))


def column(h: np.ndarray, *scores: np.ndarray) -> ExchangeColumn:
    rows = [np.stack([standardised(m), standardised(h)], axis=1) for m in scores]
    return ExchangeColumn.of_correlations(np.array(rows), every_pair(len(scores)))


def run(own: ExchangeColumn, **choices: int):
    chosen = {"resamples": 999, "seed": 5, "stream": 0, **choices}
    return exchange({"x": own}, say=lambda done, of: None, **chosen)["x"]


def test_pearson_is_scipys_and_its_rows_add_up():
    h, a, _ = metrics(1, 40, rounded=False)
    table = correlation_rows(np.stack([a, h], 1))
    whole = correlations(table.sum(axis=0))
    assert whole == pytest.approx(stats.pearsonr(a, h)[0], rel=1e-12)
    parts = table[:13].sum(axis=0) + table[13:].sum(axis=0)
    assert correlations(parts) == pytest.approx(whole, rel=1e-14)
    assert correlations(np.array([5.0, 5, 5, 10, 10, 20])) == 0.0  # nothing varies


@pytest.mark.parametrize("rounded", [False, True])
@pytest.mark.parametrize("size", [4, 7, 10])
def test_pearson_of_few_systems_is_enumerated(size, rounded):
    h, a, b = metrics(size, size, rounded)
    (found,) = run(column(h, a, b))
    expected = enumerated(h, a, b, "pearson")
    assert {claim: found[claim].count for claim in ALTERNATIVES} == expected
    assert found["greater"].resamples <= 2**size
    assert found["greater"].p_value == found["greater"].count / found["greater"].resamples


@pytest.mark.parametrize("rounded", [False, True])
@pytest.mark.parametrize("size", [4, 7, 9])
def test_orders_of_few_systems_are_enumerated(size, rounded):
    h, a, b = metrics(size, size, rounded)
    found = exchange_systems(h, a, b, np.ones((1, size), dtype=bool))
    for name, own in found.items():
        expected = enumerated(h, a, b, name)
        scale = 2**size // own["greater"].resamples  # systems that do not differ
        counts = {claim: own[claim].count * scale for claim in ALTERNATIVES}
        assert counts == expected


def test_systems_on_which_metrics_agree_take_no_memory_in_every_exchange():
    """Fourteen of 300 differ, turned round their mean, so that mean and spread stay the same."""
    rng = np.random.default_rng(1)
    h, a = rng.normal(size=(2, 300))
    b = np.concatenate([2 * a[:14].mean() - a[:14], a[14:]])
    tracemalloc.start()
    found = exchange_systems(h, a, b, np.ones((0, 300), dtype=bool))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert {own["greater"].resamples for own in found.values()} == {2**14}
    assert peak < 5 * 8192 * 300  # a number for each system and pattern takes eight bytes


@pytest.mark.parametrize("ties", [False, True])
def test_drawn_orders_agree_with_enumerated_ones(ties):
    h, a, b = metrics(3, 12, ties)
    rng = np.random.default_rng(1)
    masks = rng.random((20_000, 25)) < 0.5
    # thirteen more systems on which the metrics agree are never exchanged
    more = np.linspace(-3, 3, 13)
    long = [np.concatenate([v, more]) for v in (h, a, b)]
    a_, b_ = standardised(long[1]), standardised(long[2])
    drawn = exchange_systems(*long, masks)
    statistic = STATISTICS["kendall"]
    observed = statistic(a_, long[0]) - statistic(b_, long[0])
    differences = []
    for kept in masks[:400]:
        x, y = np.where(kept, a_, b_), np.where(kept, b_, a_)
        differences.append(statistic(x, long[0]) - statistic(y, long[0]))
    few = exchange_systems(*long, masks[:400])["kendall"]
    assert not few["greater"].exact
    assert few["greater"].count == sum(d >= observed - 1e-9 for d in differences)
    assert few["two-sided"].count == sum(abs(d) >= abs(observed) - 1e-9 for d in differences)
    assert drawn["kendall"]["greater"].count / 20_000 == pytest.approx(
        few["greater"].count / 400, abs=0.12
    )


def test_exchanges_of_many_cells_agree_with_a_textbook_loop():
    h, a, b = metrics(8, 300, rounded=False)
    (found,) = run(column(h, a, b), resamples=4_999)
    assert not found["greater"].exact
    rng = np.random.default_rng(3)
    z, y, g = standardised(a), standardised(b), standardised(h)
    observed = (z @ g - y @ g) / 300
    draws = []
    for _ in range(4_999):
        kept = rng.random(300) < 0.5
        first, second = np.where(kept, z, y), np.where(kept, y, z)
        draws.append(np.corrcoef(first, g)[0, 1] - np.corrcoef(second, g)[0, 1])
    expected = np.mean(np.array(draws) >= observed)
    error = math.sqrt(2 * expected * (1 - expected) / 4_999)
    assert found["greater"].count / 4_999 == pytest.approx(expected, abs=4 * error)
    assert found["greater"].count + found["less"].count == 4_999


def test_a_metric_against_its_copy_on_another_scale_has_p_1():
    h, a, _ = metrics(2, 200, rounded=False)
    (found,) = run(column(h, a, 3 * a - 7), resamples=199)
    assert all(found[claim].p_value == 1.0 for claim in ALTERNATIVES)
    few = exchange_systems(h[:9], a[:9], 3 * a[:9] - 7, np.ones((1, 9), dtype=bool))
    assert all(own[claim].p_value == 1.0 for own in few.values() for claim in ALTERNATIVES)


def test_draws_depend_on_seed_and_stream_alone():
    h, a, _ = metrics(4, 100, rounded=False)
    b, c = (h + metrics(seed, 100, rounded=False)[0] for seed in (5, 6))
    two, three = run(column(h, a, b)), run(column(h, a, b, c))
    for claim in ALTERNATIVES:
        assert three[0][claim] == two[0][claim]
    assert run(column(h, a, b)) == two
    assert run(column(h, a, b), seed=6)[0]["greater"] != two[0]["greater"]
    assert run(column(h, a, b), stream=1)[0]["greater"] != two[0]["greater"]


def ratio(parts: np.ndarray, weights: np.ndarray) -> ExchangeColumn:
    return ExchangeColumn.of_means(parts, weights, every_pair(len(parts)))


def test_pairs_of_systems_on_segments_are_convolved():
    rng = np.random.default_rng(9)
    parts = (rng.random((2, 14)) < 0.6) * 1.0
    (found,) = run(ratio(parts, np.ones((2, 14))))
    moved = parts[0] - parts[1]
    sums = [np.dot(signs, moved) for signs in product((1, -1), repeat=14)]
    share = 2.0**-14
    assert found["greater"].p_value == pytest.approx(np.sum(sums >= moved.sum()) * share, rel=1e-12)
    assert found["less"].p_value == pytest.approx(np.sum(sums <= moved.sum()) * share, rel=1e-12)
    beyond = np.sum(np.abs(sums) >= abs(moved.sum())) * share
    assert found["two-sided"].p_value == pytest.approx(beyond, rel=1e-12)


def test_units_that_only_one_metric_has_are_exchanged_with_their_weight():
    parts = np.array([[0.9, 0.0, 0.7, 0.4, 0.5], [0.5, 0.8, 0.0, 0.6, 0.1]])
    weights = np.array([[1.0, 0, 1, 1, 1], [1, 1, 0, 1, 1]])
    (found,) = run(ratio(parts, weights))
    observed = 0.625 - 0.5
    count = 0
    for kept in product((True, False), repeat=5):
        x = np.where(kept, parts[0], parts[1]).sum() / np.where(kept, *weights).sum()
        y = np.where(kept, parts[1], parts[0]).sum() / np.where(kept, *weights[::-1]).sum()
        count += x - y >= observed - 1e-9
    assert found["greater"].count == count


def test_doubled_tails_are_at_most_1():
    assert counted_chances(40, 40, 6)["two-sided"].p_value == 1.0
    assert counted_chances(3, 62, 6)["two-sided"].count == 6


def test_no_exact_p_where_more_than_20_units_differ():
    h, a, b = metrics(1, 21, rounded=False)
    tables = [fixed_point(correlation_rows(np.stack([m, h], 1))) for m in (a, b)]
    assert exact_correlations(*tables) is None
    assert exact_correlations(tables[0][:20], tables[1][:20]) is not None
