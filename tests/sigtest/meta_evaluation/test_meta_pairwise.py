"""Pairwise accuracy and tie calibration: textbook loops, unit values of mt-metrics-eval."""

from itertools import combinations

import numpy as np
import pytest

from sigtest.meta_evaluation.statistics import (
    Contests,
    accuracy,
    best_epsilon,
    by_group,
    called_right,
)


def column(*scores: float) -> np.ndarray:
    return np.array(scores)[:, None]


def calibrated(gold: np.ndarray, gaps: np.ndarray, contests: Contests) -> tuple[float, float]:
    epsilon = best_epsilon(gold, gaps, contests)
    return accuracy(called_right(gold, gaps, epsilon), contests), epsilon


def textbook(human: np.ndarray, metric: np.ndarray, present: np.ndarray, epsilon: float) -> float:
    """Mean over segments of the share of pairs, pair by pair."""
    shares = []
    for j in range(human.shape[1]):
        right = []
        for a, b in combinations(np.flatnonzero(present[:, j]), 2):
            gap = metric[a, j] - metric[b, j]
            seen = 0 if abs(gap) <= epsilon else np.sign(gap)
            right.append(np.sign(human[a, j] - human[b, j]) == seen)
        if right:
            shares.append(np.mean(right))
    return float(np.mean(shares))


def ragged(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    human = rng.integers(0, 4, (6, 30)) * 1.0
    return human, human + rng.integers(-2, 3, human.shape) / 2, rng.random(human.shape) < 0.7


def test_unit_values_of_mt_metrics_eval():
    # google-research/mt-metrics-eval, ties_test / stats_test: acc23, gold 1 2 2 3 4
    human, metric = column(1, 2, 2, 3, 4), column(2, 1, 1.5, 5, 3)
    contests = Contests.of(np.ones((5, 1), dtype=bool))
    gold, gaps = contests.gaps(human), contests.gaps(metric)
    assert accuracy(called_right(gold, gaps), contests) == 0.6
    assert accuracy(called_right(gold, gaps, 2.0), contests) == 0.4
    assert calibrated(gold, gaps, contests) == (0.7, 0.5)


def test_gaps_that_tie_in_decimals_become_ties_together():
    # as doubles .3 - .2 is less than .2 - .1: an epsilon between them would make all three right
    contests = Contests.of(np.ones((3, 1), dtype=bool))
    gold, gaps = contests.gaps(column(1, 2, 2)), contests.gaps(column(0.1, 0.2, 0.3))
    assert calibrated(gold, gaps, contests) == (2 / 3, 0.0)
    assert accuracy(called_right(gold, gaps, gaps[0]), contests) == 2 / 3


@pytest.mark.parametrize("epsilon", [0.0, 0.5, 1.0])
def test_segments_count_alike_however_many_pairs_they_have(epsilon):
    human, metric, present = ragged(1)
    contests = Contests.of(present)
    right = called_right(contests.gaps(human), contests.gaps(metric), epsilon)
    expected = textbook(human, metric, present, epsilon)
    assert accuracy(right, contests) == pytest.approx(expected, rel=1e-14)


@pytest.mark.parametrize("seed", range(5))
def test_calibration_finds_the_best_of_all_gaps(seed):
    human, metric, present = ragged(seed)
    contests = Contests.of(present)
    reached, epsilon = calibrated(contests.gaps(human), contests.gaps(metric), contests)
    tried = sorted({0.0, *np.abs(contests.gaps(metric)).tolist()})
    found = [textbook(human, metric, present, epsilon) for epsilon in tried]
    assert reached == pytest.approx(max(found), rel=1e-14)
    first = next(e for e, value in zip(tried, found, strict=True) if value >= max(found) - 1e-12)
    assert epsilon == first  # the smallest on a plateau


def test_equal_gaps_become_ties_together():
    # gaps 1, 1, 2; only the first pair is a tie for people, and it has the gap of the second
    human, metric = column(5, 5, 3), column(1, 2, 3)
    contests = Contests.of(np.ones((3, 1), dtype=bool))
    assert calibrated(contests.gaps(human), contests.gaps(metric), contests) == (1 / 3, 1.0)


def test_a_segment_with_one_system_has_no_contest():
    present = np.array([[True, True], [True, False], [False, False]])
    contests = Contests.of(present)
    assert contests.segment.tolist() == [0]
    assert np.isnan(accuracy(np.array([], dtype=bool), Contests.of(~present & present)))


def test_accuracy_within_a_vector_counts_all_pairs():
    human, metric = np.array([1.0, 2.0, 2.0, 4.0]), np.array([1.0, 3.0, 3.0, 2.0])
    found = by_group("accuracy", metric, human, np.array([0, 4]))
    assert found.tolist() == [4 / 6]
    assert np.isnan(by_group("accuracy", metric[:1], human[:1], np.array([0, 1])))
