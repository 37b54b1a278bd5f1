"""PERM-BOTH against plain enumeration, through the engine and without it."""

import math
from itertools import combinations, product

import numpy as np
import pytest
from scipy import stats

from sigtest.data.testset import System, TestSet
from sigtest.engine import measure
from sigtest.meta_evaluation.significance.ordinal import ORDINAL, exchange_systems
from sigtest.meta_evaluation.significance.permutation import (
    ExchangeColumn,
    Pearson,
    exchange,
    from_counts,
    patterns,
    tails,
)
from sigtest.meta_evaluation.statistics.correlation import standardised
from sigtest.metrics.scores import Ratio
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
    return ExchangeColumn(Pearson(), np.array(rows), every_pair(len(scores)))


def run(own: ExchangeColumn, **choices: int):
    chosen = {"resamples": 999, "seed": 5, "stream": 0, **choices}
    return exchange({"x": own}, say=lambda done, of: None, **chosen)["x"]


def test_pearson_metric_is_scipy_and_additive() -> None:
    h, a, _ = metrics(1, 40, rounded=False)
    metric = Pearson()
    table = metric.statistics(TestSet(40), System("a", None, {"pearson": np.stack([a, h], 1)}))
    assert metric.score(table.sum(axis=0)) == pytest.approx(stats.pearsonr(a, h)[0], rel=1e-12)
    parts = table[:13].sum(axis=0) + table[13:].sum(axis=0)
    assert metric.score(parts) == pytest.approx(metric.score(table.sum(axis=0)), rel=1e-14)
    assert metric.score(np.array([5.0, 5, 5, 10, 10, 20])) == 0.0  # nothing varies


@pytest.mark.parametrize("rounded", [False, True])
@pytest.mark.parametrize("size", [4, 7, 10])
def test_pearson_of_few_systems_is_enumerated(size: int, rounded: bool) -> None:
    h, a, b = metrics(size, size, rounded)
    (found,) = run(column(h, a, b)).exact
    expected = enumerated(h, a, b, "pearson")
    assert {claim: found.of(claim).count for claim in ALTERNATIVES} == expected
    assert found.greater.patterns <= 2**size
    assert found.of("greater").p_value == found.greater.count / found.greater.patterns


@pytest.mark.parametrize("rounded", [False, True])
@pytest.mark.parametrize("size", [4, 7, 9])
def test_orders_of_few_systems_are_enumerated(size: int, rounded: bool) -> None:
    h, a, b = metrics(size, size, rounded)
    found = exchange_systems(h, a, b, np.ones((1, size), dtype=bool))
    for name, own in zip(ORDINAL, found, strict=True):
        expected = enumerated(h, a, b, name)
        scale = 2**size // own.tails.greater.patterns  # systems that do not differ
        assert {c: own.tails.of(c).count * scale for c in ALTERNATIVES} == expected
        assert {c: own.counts[c] * scale for c in ALTERNATIVES} == expected


@pytest.mark.parametrize("ties", [False, True])
def test_drawn_orders_agree_with_enumerated_ones(ties: bool) -> None:
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
    few = exchange_systems(*long, masks[:400])[1]
    assert few.tails is None
    assert few.counts["greater"] == sum(d >= observed - 1e-9 for d in differences)
    assert few.counts["two-sided"] == sum(abs(d) >= abs(observed) - 1e-9 for d in differences)
    assert drawn[1].counts["greater"] / 20_000 == pytest.approx(
        few.counts["greater"] / 400, abs=0.12
    )


def test_exchanges_of_many_cells_agree_with_a_textbook_loop() -> None:
    h, a, b = metrics(8, 300, rounded=False)
    found = run(column(h, a, b), resamples=4_999)
    assert found.exact == (None,)
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
    assert found.counts["greater"][0] / 4_999 == pytest.approx(expected, abs=4 * error)
    assert found.counts["greater"] + found.counts["less"] == 4_999


def test_a_metric_against_its_copy_on_another_scale_has_p_1() -> None:
    h, a, _ = metrics(2, 200, rounded=False)
    found = run(column(h, a, 3 * a - 7), resamples=199)
    counts = {claim: found.counts[claim][0] for claim in ALTERNATIVES}
    exact = found.exact[0]
    for claim in ALTERNATIVES:
        assert counts[claim] == 199 or exact.of(claim).p_value == 1.0
    few = exchange_systems(h[:9], a[:9], 3 * a[:9] - 7, np.ones((1, 9), dtype=bool))
    assert all(own.tails.of(claim).p_value == 1.0 for own in few for claim in ALTERNATIVES)


def test_draws_depend_on_seed_and_stream_alone() -> None:
    h, a, _ = metrics(4, 100, rounded=False)
    b, c = (h + metrics(seed, 100, rounded=False)[0] for seed in (5, 6))
    two, three = run(column(h, a, b)), run(column(h, a, b, c))
    for claim in ALTERNATIVES:
        assert three.counts[claim][0] == two.counts[claim][0]
    assert run(column(h, a, b)).counts["greater"] == two.counts["greater"]
    assert run(column(h, a, b), seed=6).counts["greater"] != two.counts["greater"]
    assert run(column(h, a, b), stream=1).counts["greater"] != two.counts["greater"]


def ratio(parts: np.ndarray, weights: np.ndarray) -> ExchangeColumn:
    return ExchangeColumn(Ratio(of="x"), np.stack([parts, weights], axis=2), every_pair(len(parts)))


def test_pairs_of_systems_on_segments_are_convolved() -> None:
    rng = np.random.default_rng(9)
    parts = (rng.random((2, 14)) < 0.6) * 1.0
    (found,) = run(ratio(parts, np.ones((2, 14)))).exact
    moved = parts[0] - parts[1]
    sums = [np.dot(signs, moved) for signs in product((1, -1), repeat=14)]
    share = 2.0**-14
    assert found.greater.p_value == pytest.approx(np.sum(sums >= moved.sum()) * share, rel=1e-12)
    assert found.less.p_value == pytest.approx(np.sum(sums <= moved.sum()) * share, rel=1e-12)
    beyond = np.sum(np.abs(sums) >= abs(moved.sum())) * share
    assert found.of("two-sided").p_value == pytest.approx(beyond, rel=1e-12)


def test_units_that_only_one_metric_has_are_exchanged_with_their_weight() -> None:
    parts = np.array([[0.9, 0.0, 0.7, 0.4, 0.5], [0.5, 0.8, 0.0, 0.6, 0.1]])
    weights = np.array([[1.0, 0, 1, 1, 1], [1, 1, 0, 1, 1]])
    (found,) = run(ratio(parts, weights)).exact
    observed = 0.625 - 0.5
    count = 0
    for kept in product((True, False), repeat=5):
        x = np.where(kept, parts[0], parts[1]).sum() / np.where(kept, *weights).sum()
        y = np.where(kept, parts[1], parts[0]).sum() / np.where(kept, *weights[::-1]).sum()
        count += x - y >= observed - 1e-9
    assert found.greater.count == count


def test_patterns_are_all_there_once() -> None:
    found = patterns(6)
    assert len({tuple(row) for row in found.tolist()}) == 64
    assert found[0].all()
    assert (np.count_nonzero(found[1:] != found[:-1], axis=1) == 1).all()


def test_doubled_tails_are_at_most_1() -> None:
    assert from_counts(40, 40, 6).of("two-sided").p_value == 1.0
    assert from_counts(3, 62, 6).of("two-sided").count == 6


def test_no_exact_p_where_more_than_20_units_differ() -> None:
    h, a, b = metrics(1, 21, rounded=False)
    metric = Pearson()
    tables = [
        measure(TestSet(21), System("m", None, {"pearson": np.stack([m, h], 1)}), metric)
        for m in (a, b)
    ]
    assert tails(metric, *tables) is None
    assert tails(metric, tables[0][:20], tables[1][:20]) is not None
