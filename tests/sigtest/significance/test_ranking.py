"""Rank ranges and clusters against published ones, and against all orders that decisions allow."""

from itertools import permutations

import numpy as np
import pytest

from sigtest.arrays import Flags
from sigtest.significance.ranking import Rank, rank

# Kocmi et al. (2024), "Findings of the WMT24 General Machine Translation Shared Task", human
# evaluation of Czech-Ukrainian: score, printed range; a new list a cluster. No other decisions
# give these ranges than the ones in WINS.
PRINTED = [
    [(92.8, "1-4"), (92.8, "1-4"), (92.3, "1-4"), (91.9, "1-4")],
    [(89.9, "5-5")],
    [(89.3, "6-9"), (88.6, "6-8"), (88.4, "6-8"), (87.0, "8-11"), (86.0, "9-10"), (84.9, "10-11")],
    [(80.8, "12-12")],
]
WINS = {
    **dict.fromkeys(range(4), range(4, 12)),
    4: range(5, 12),
    5: (9, 10, 11),
    6: (8, 9, 10, 11),
    7: (8, 9, 10, 11),
    8: (11,),
    9: (10, 11),
    10: (11,),
}


def table(wins: dict[int, object], size: int) -> Flags:
    beats = np.zeros((size, size), dtype=np.bool_)
    for winner, losers in wins.items():
        for loser in losers:
            beats[winner, loser] = True
    return beats


def test_published_clusters_and_ranges_of_wmt24() -> None:
    printed = [(cluster, *row) for cluster, rows in enumerate(PRINTED, start=1) for row in rows]
    scores = np.array([score for _, score, _ in printed])
    beats = table(WINS, 12)
    order = np.random.default_rng(0).permutation(12)  # systems come in any order
    order = np.array(sorted(order, key=lambda s: s in (0, 1)))  # the two that tie stay in theirs
    for place, found in zip(order, rank(scores[order], beats[np.ix_(order, order)]), strict=True):
        cluster, _, shown = printed[place]
        assert (found.cluster, f"{found.lowest}-{found.highest}") == (cluster, shown)


def allowed_places(beats: Flags) -> list[set[int]]:
    """Every place that each system has in some order where winners stand before losers."""
    size = len(beats)
    places: list[set[int]] = [set() for _ in range(size)]
    for order in permutations(range(size)):
        if not any(beats[b, a] for i, a in enumerate(order) for b in order[i + 1 :]):
            for place, system in enumerate(order, start=1):
                places[system].add(place)
    return places


@pytest.mark.parametrize("seed", range(12))
def test_ranges_span_the_places_that_decisions_allow(seed: int) -> None:
    """Where wins are transitive, a range is what the possible orders of all systems span."""
    rng = np.random.default_rng(seed)
    size = int(rng.integers(2, 7))
    strength = rng.normal(size=size)
    beats = strength[:, None] > strength[None, :] + rng.choice([0.0, 0.3, 1.0])
    for found, places in zip(rank(strength, beats), allowed_places(beats), strict=True):
        assert (found.lowest, found.highest) == (min(places), max(places))


@pytest.mark.parametrize("seed", range(12))
def test_a_cluster_ends_where_everyone_above_beats_everyone_below(seed: int) -> None:
    rng = np.random.default_rng(seed)
    size = int(rng.integers(2, 9))
    strength = rng.permutation(size).astype(float)
    beats = (strength[:, None] > strength[None, :]) & (rng.random((size, size)) < 0.9)
    clusters = [found.cluster for found in rank(strength, beats)]
    best_first = sorted(range(size), key=lambda s: -strength[s])
    assert clusters[best_first[0]] == 1
    for k in range(1, size):
        above, below = best_first[:k], best_first[k:]
        cut = all(beats[a, b] for a in above for b in below)
        assert clusters[below[0]] - clusters[above[-1]] == cut


def test_without_decisions_all_share_one_cluster_and_the_whole_range() -> None:
    found = rank(np.array([1.0, 3.0, 2.0]), np.zeros((3, 3), dtype=np.bool_))
    assert found == [Rank(1, 1, 3)] * 3


def test_equal_scores_keep_the_order_of_the_systems() -> None:
    """The first of two equal systems stands above: only its own wins can end a cluster."""
    scores, beats = np.array([5.0, 5.0, 1.0]), table({0: (1, 2), 1: (2,)}, 3)
    assert [found.cluster for found in rank(scores, beats)] == [1, 2, 3]
    turned = table({1: (0, 2), 0: (2,)}, 3)
    assert [found.cluster for found in rank(scores, turned)] == [1, 1, 2]


def test_one_system_stands_alone() -> None:
    assert rank(np.array([2.0]), np.zeros((1, 1), dtype=np.bool_)) == [Rank(1, 1, 1)]
    assert rank(np.empty(0), np.zeros((0, 0), dtype=np.bool_)) == []
