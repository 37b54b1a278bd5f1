"""Soft pairwise accuracy against textbook loops, with cells that are missing."""

from itertools import combinations, product

import numpy as np
import pytest
from scipy import stats

from sigtest.meta_evaluation.statistics.soft import Draws, Paired, soft_accuracies
from sigtest.meta_evaluation.statistics.spread import interval

DRAWS = Draws(seed=3, stream=0, flips=19_999, resamples=399)


def scores(seed: int, systems: int = 4, segments: int = 12) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    human = rng.normal(size=(systems, segments)) + np.linspace(0, 1, systems)[:, None]
    return human, human + rng.normal(size=human.shape)


def exact_p(differences: np.ndarray) -> float:
    sums = [np.dot(signs, differences) for signs in product((1, -1), repeat=len(differences))]
    return float(np.mean(np.array(sums) >= differences.sum() - 1e-12))


def test_p_values_of_sign_flips_are_those_of_enumeration() -> None:
    human, _ = scores(1)
    found = Paired.of(human, np.ones(human.shape, dtype=bool)).p_values(DRAWS)
    expected = [exact_p(human[a] - human[b]) for a, b in combinations(range(4), 2)]
    assert found == pytest.approx(expected, abs=4 * 0.5 / np.sqrt(19_999))


@pytest.mark.parametrize("share", [1.0, 0.7])
def test_soft_accuracy_is_one_minus_the_mean_gap_of_p_values(share: float) -> None:
    human, metric = scores(2)
    rng = np.random.default_rng(5)
    present = rng.random(human.shape) < share
    (found,) = soft_accuracies(human, metric[None], present[None], [None], DRAWS)
    gaps = []
    for a, b in combinations(range(4), 2):
        both = present[a] & present[b]  # segment by segment, before anything is reshaped
        people, own = human[a] - human[b], metric[a] - metric[b]
        gaps.append(abs(exact_p(people[both]) - exact_p(own[both])))
    assert found.value == pytest.approx(1 - np.mean(gaps), abs=0.01)


def test_complete_and_ragged_sums_are_the_same_numbers() -> None:
    human, _ = scores(3, segments=40)
    complete = Paired.of(human, np.ones(human.shape, dtype=bool))
    as_ragged = Paired(complete.first, complete.second, complete.differences, None)
    assert complete.columns is not None
    assert complete.p_values(DRAWS) == pytest.approx(as_ragged.p_values(DRAWS), abs=1e-12)


def test_identical_systems_have_p_1_both_ways() -> None:
    human, _ = scores(4)
    human[1] = human[0]
    assert Paired.of(human, np.ones(human.shape, dtype=bool)).p_values(DRAWS)[0] == 1.0


def test_resampled_p_values_are_the_normal_limit() -> None:
    human, _ = scores(6, systems=2, segments=400)
    pairs = Paired.of(human, np.ones(human.shape, dtype=bool))
    drawn = pairs.resampled(DRAWS)
    d = human[0] - human[1]
    rng = np.random.default_rng(0)
    own = []
    for _ in range(2_000):
        again = rng.choice(d, 400)
        own.append(stats.norm.sf(again.sum() / np.sqrt((again**2).sum())))
    assert drawn.shape == (399, 1)
    quantiles = (0.1, 0.5, 0.9)
    scale = stats.norm.isf(np.quantile(drawn[:, 0], quantiles))
    assert scale == pytest.approx(stats.norm.isf(np.quantile(own, quantiles)), abs=0.25)


def test_given_p_values_take_the_place_of_segment_scores() -> None:
    human, metric = scores(7, systems=3)
    present = np.ones(human.shape, dtype=bool)
    better = np.array([[np.nan, 0.2, 0.3], [0.8, np.nan, 0.4], [0.7, 0.6, np.nan]])
    (found,) = soft_accuracies(human, metric[None], present[None], [better], DRAWS)
    people = Paired.of(human, present).p_values(DRAWS)
    assert found.value == pytest.approx(1 - np.mean(np.abs(people - [0.2, 0.3, 0.4])))
    assert not len(found.drawn)


def test_intervals_hold_their_own_value() -> None:
    """Systems a long way apart: gaps of resamples are wider than those of the sample."""
    for seed in range(12):
        rng = np.random.default_rng(seed)
        human = np.linspace(0, 3, 6)[:, None] + rng.normal(size=(6, 60))
        metric = human + 0.5 * rng.normal(size=human.shape)
        present = np.ones((1, *human.shape), dtype=bool)
        (found,) = soft_accuracies(human, metric[None], present, [None], DRAWS)
        low, high = interval(found.around, 0.05, 60)
        assert low <= found.value <= high
        assert found.around.max() <= 1.0
