"""Rank clusters and rank ranges against published ones, the definitions, and all orders that
decisions allow.

Of n systems, one that l others beat and that beats w others has ranks l + 1 to n - w. A cluster
ends where every system so far, by score, beats every system after it.
"""

from collections.abc import Mapping, Sequence
from itertools import permutations, product

import numpy as np
import pytest
from computed import report_of
from corpus import content

from sigtest.arrays import Flags
from sigtest.significance.intervals import Rank, rank

Place = tuple[int, int, int]  # cluster, first rank, last rank


def table(wins: Mapping[int, Sequence[int]], size: int) -> Flags:
    beats = np.zeros((size, size), dtype=np.bool_)
    for winner, losers in wins.items():
        beats[winner, list(losers)] = True
    return beats


def places(scores: list[float], beaten: Mapping[int, Sequence[int]]) -> list[Place]:
    """What `rank` says, from scores and the systems that each system beats."""
    found = rank(np.array(scores), table(beaten, len(scores)))
    return [(place.cluster, place.lowest, place.highest) for place in found]


def by_definition(scores: list[float], beats: np.ndarray) -> list[Place]:
    size = len(scores)
    order = sorted(range(size), key=lambda s: -scores[s])
    lines = [
        cut
        for cut in range(1, size)
        if all(beats[above, below] for above, below in product(order[:cut], order[cut:]))
    ]
    found = []
    for s in range(size):
        losses = sum(bool(beats[other, s]) for other in range(size))
        wins = sum(bool(beats[s, other]) for other in range(size))
        cluster = 1 + sum(cut <= order.index(s) for cut in lines)
        found.append((cluster, 1 + losses, size - wins))
    return found


# Human evaluation of WMT21 on Wikipedia, best system first: who beats whom at .05 (adwilcox-*.csv),
# how many each beats, its cluster (clusters.csv), and its range.
# github.com/wmt-conference/wmt21-news-systems @ 124f238, humaneval/facebook-wikipedia-2021
WMT21 = {
    "Xhosa to Zulu": (
        {0: (3, 4, 5), 1: (3, 4, 5), 2: (3, 4, 5), 3: (5,), 4: (5,)},
        [3, 3, 3, 1, 1, 0],
        [1, 1, 1, 2, 2, 3],
        [(1, 3), (1, 3), (1, 3), (4, 5), (4, 5), (6, 6)],
    ),
    "Zulu to Xhosa": (
        {0: (1, 2, 3, 4), 1: (3, 4), 2: (4,), 3: (4,)},
        [4, 2, 1, 1, 0],
        [1, 2, 2, 2, 3],
        [(1, 1), (2, 3), (2, 4), (3, 4), (5, 5)],
    ),
    "Bengali to Hindi": (
        {
            0: (2, 3, 4, 5, 6, 7, 8),
            1: (2, 3, 4, 5, 6, 7, 8),
            2: (5, 6, 7, 8),
            3: (6, 7, 8),
            4: (6, 7, 8),
            5: (8,),
            6: (8,),
            7: (8,),
        },
        [7, 7, 4, 3, 3, 1, 1, 1, 0],
        [1, 1, 2, 2, 2, 2, 2, 2, 3],
        [(1, 2), (1, 2), (3, 5), (3, 6), (3, 6), (4, 8), (6, 8), (6, 8), (9, 9)],
    ),
}


@pytest.mark.parametrize("pair", WMT21)
def test_wmt21_clusters(pair):
    """Clusters and last ranks (n - wins) as published; first ranks counted by hand."""
    beaten, wins, clusters, ranges = WMT21[pair]
    size = len(wins)
    found = places([float(size - place) for place in range(size)], beaten)
    assert [cluster for cluster, _, _ in found] == clusters
    assert [size - last for _, _, last in found] == wins
    assert [(first, last) for _, first, last in found] == ranges


@pytest.mark.parametrize("share", [0.0, 0.3, 0.7, 0.95, 1.0])
def test_ranks_equal_the_definition(share):
    rng = np.random.default_rng(1)
    for _ in range(300):
        size = int(rng.integers(1, 9))
        scores = rng.permutation(np.arange(float(size)))
        ahead = scores[:, None] > scores
        beats = ahead & (rng.random((size, size)) < share)
        found = rank(scores, beats)
        expected = by_definition(scores.tolist(), beats)
        assert [(place.cluster, place.lowest, place.highest) for place in found] == expected


def test_ranks_of_a_report_follow_from_its_pairs():
    """For a metric whose higher scores are better and one whose lower scores are."""
    body = {
        **content(1),
        "metrics": ["bleu", "ter", "nist"],
        "tests": ["approximate_randomization", "bootstrap"],
        "resamples": 999,
        "correction": "none",
        "alpha": 0.5,
    }
    report = report_of(body)
    names = [system["name"] for system in report["systems"]]
    seen = set()
    for metric, test in product(body["metrics"], body["tests"]):
        sign = 1 if report["metrics"][metric]["higher_is_better"] else -1
        scores = [sign * system["scores"][metric]["score"] for system in report["systems"]]
        beats = np.zeros((len(names), len(names)), dtype=np.bool_)
        for pair in report["pairs"]:
            if (pair["metric"], pair["test"]) == (metric, test) and pair["significant"]:
                a, b = names.index(pair["a"]), names.index(pair["b"])
                beats[(a, b) if scores[a] > scores[b] else (b, a)] = True
        expected = by_definition(scores, beats)
        for system, (cluster, first, last) in zip(report["systems"], expected, strict=True):
            found = system["ranks"][metric][test]
            assert (found["cluster"], found["range"]) == (cluster, [first, last])
            seen.add((cluster, first, last))
    assert len(seen) > 2


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


def test_published_clusters_and_ranges_of_wmt24():
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
def test_ranges_span_the_places_that_decisions_allow(seed):
    """Where wins are transitive, a range is what the possible orders of all systems span."""
    rng = np.random.default_rng(seed)
    size = int(rng.integers(2, 7))
    strength = rng.normal(size=size)
    beats = strength[:, None] > strength[None, :] + rng.choice([0.0, 0.3, 1.0])
    for found, places in zip(rank(strength, beats), allowed_places(beats), strict=True):
        assert (found.lowest, found.highest) == (min(places), max(places))


def test_equal_scores_keep_the_order_of_the_systems():
    """The first of two equal systems stands above: only its own wins can end a cluster."""
    scores, beats = np.array([5.0, 5.0, 1.0]), table({0: (1, 2), 1: (2,)}, 3)
    assert [found.cluster for found in rank(scores, beats)] == [1, 2, 3]
    turned = table({1: (0, 2), 0: (2,)}, 3)
    assert [found.cluster for found in rank(scores, turned)] == [1, 1, 2]


def test_one_system_stands_alone():
    assert rank(np.array([2.0]), np.zeros((1, 1), dtype=np.bool_)) == [Rank(1, 1, 1)]
    assert rank(np.empty(0), np.zeros((0, 0), dtype=np.bool_)) == []
