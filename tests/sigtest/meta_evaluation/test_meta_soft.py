"""Soft pairwise accuracy against textbook loops, with cells that are missing."""

from itertools import combinations, product

import numpy as np
import pytest
from scipy import stats
from scored import SYSTEMS, request
from sentences import sentences

from sigtest.meta_evaluation.bootstrap import Draws, flipped, interval, soft_accuracies
from sigtest.meta_evaluation.compute import compute
from sigtest.meta_evaluation.question import parse

DRAWS = Draws(seed=3, stream=0, flips=19_999, resamples=399)


def scores(seed: int, systems: int = 4, segments: int = 12) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    human = rng.normal(size=(systems, segments)) + np.linspace(0, 1, systems)[:, None]
    return human, human + rng.normal(size=human.shape)


def exact_p(differences: np.ndarray) -> float:
    sums = [np.dot(signs, differences) for signs in product((1, -1), repeat=len(differences))]
    return float(np.mean(np.array(sums) >= differences.sum() - 1e-12))


def test_p_values_of_sign_flips_are_those_of_enumeration():
    human, _ = scores(1)
    found, _ = flipped(human, np.ones(human.shape, dtype=bool), DRAWS)
    expected = [exact_p(human[a] - human[b]) for a, b in combinations(range(4), 2)]
    assert found == pytest.approx(expected, abs=4 * 0.5 / np.sqrt(19_999))


@pytest.mark.parametrize("share", [1.0, 0.7])
def test_soft_accuracy_is_one_minus_the_mean_gap_of_p_values(share):
    human, metric = scores(2)
    rng = np.random.default_rng(5)
    present = rng.random(human.shape) < share
    scored = np.where(present, metric, np.nan)
    (found,) = soft_accuracies(human, scored[None], [None], DRAWS)
    gaps = []
    for a, b in combinations(range(4), 2):
        both = present[a] & present[b]  # segment by segment, before anything is reshaped
        people, own = human[a] - human[b], metric[a] - metric[b]
        gaps.append(abs(exact_p(people[both]) - exact_p(own[both])))
    assert found.value == pytest.approx(1 - np.mean(gaps), abs=0.01)


def test_complete_and_ragged_sums_are_the_same_numbers():
    human, _ = scores(3, systems=5, segments=40)
    ragged = np.ones(human.shape, dtype=bool)
    ragged[4, 1:] = False
    among = [i for i, pair in enumerate(combinations(range(5), 2)) if 4 not in pair]
    for complete, some in zip(
        flipped(human[:4], ragged[:4], DRAWS), flipped(human, ragged, DRAWS), strict=True
    ):
        assert complete == pytest.approx(some[..., among], abs=1e-12)


def test_identical_systems_have_p_1_both_ways():
    human, _ = scores(4)
    human[1] = human[0]
    assert flipped(human, np.ones(human.shape, dtype=bool), DRAWS)[0][0] == 1.0


def test_resampled_p_values_are_the_normal_limit():
    human, _ = scores(6, systems=2, segments=400)
    _, drawn = flipped(human, np.ones(human.shape, dtype=bool), DRAWS)
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


def test_given_p_values_take_the_place_of_segment_scores():
    human, metric = scores(7, systems=3)
    present = np.ones(human.shape, dtype=bool)
    better = np.array([[np.nan, 0.2, 0.3], [0.8, np.nan, 0.4], [0.7, 0.6, np.nan]])
    (found,) = soft_accuracies(human, metric[None], [better], DRAWS)
    people, _ = flipped(human, present, DRAWS)
    assert found.value == pytest.approx(1 - np.mean(np.abs(people - [0.2, 0.3, 0.4])))
    assert not len(found.drawn)


def test_intervals_hold_their_own_value():
    """Systems a long way apart: gaps of resamples are wider than those of the sample."""
    for seed in range(12):
        rng = np.random.default_rng(seed)
        human = np.linspace(0, 3, 6)[:, None] + rng.normal(size=(6, 60))
        metric = human + 0.5 * rng.normal(size=human.shape)
        (found,) = soft_accuracies(human, metric[None], [None], DRAWS)
        low, high = interval(found.drawn, 0.05, 60)
        assert low <= found.value <= high
        assert found.drawn.max() <= 1.0


def test_segments_with_one_judged_system_have_no_soft_accuracy():
    body = request(segments=12, resamples=99)
    for k, name in enumerate(SYSTEMS):
        row = body["human"]["scores"]["segment"][name]
        row[:] = [score if j % len(SYSTEMS) == k else None for j, score in enumerate(row)]
    body["metrics"]["BLEU"]["pairs"] = [{"a": "Aspen", "b": "Birch", "p_greater": 0.2}]
    for level in ("system", "segment"):
        report = compute(parse({**body, "level": level}))
        assert [metric.soft_accuracy.value for metric in report.metrics] == [None] * 3
        assert report.metrics[0].pearson.value is not None
        (warning,) = [words for words in sentences(report) if "two systems" in words]
        assert "oft pairwise accuracy" in warning
        assert "COMET, BLEU, TER" in warning
