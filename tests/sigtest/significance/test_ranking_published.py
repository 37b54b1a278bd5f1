"""Rank clusters and rank ranges against published ones and the definitions, one system at a time.

Of n systems, one that l others beat and that beats w others has ranks l + 1 to n - w. A cluster
ends where every system so far, by score, beats every system after it.
"""

from itertools import product

import numpy as np
import pytest
from computed import report_of
from corpus import content

from sigtest.significance.ranking import rank

Place = tuple[int, int, int]  # cluster, first rank, last rank


def places(scores: list[float], beaten: dict[int, tuple[int, ...]]) -> list[Place]:
    """What `rank` says, from scores and the systems that each system beats."""
    beats = np.zeros((len(scores), len(scores)), dtype=np.bool_)
    for winner, losers in beaten.items():
        beats[winner, list(losers)] = True
    found = rank(np.array(scores), beats)
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
def test_wmt21_clusters(pair: str) -> None:
    """Clusters and last ranks (n - wins) as published; first ranks counted by hand."""
    beaten, wins, clusters, ranges = WMT21[pair]
    size = len(wins)
    found = places([float(size - place) for place in range(size)], beaten)
    assert [cluster for cluster, _, _ in found] == clusters
    assert [size - last for _, _, last in found] == wins
    assert [(first, last) for _, first, last in found] == ranges


def test_ranges_reach_over_what_is_not_decided() -> None:
    """By hand, best first: a beats c, d and e; b beats d; nothing else is decided."""
    found = places([9.0, 8.0, 7.0, 6.0, 5.0], {0: (2, 3, 4), 1: (3,)})
    assert found == [(1, 1, 2), (1, 1, 4), (1, 2, 5), (1, 3, 5), (1, 2, 5)]


def test_systems_need_not_come_best_first() -> None:
    """By hand: the second is the best and beats both others, which tie."""
    assert places([1.0, 3.0, 2.0], {1: (0, 2)}) == [(2, 2, 3), (1, 1, 1), (2, 2, 3)]


def test_a_line_needs_every_one_above_to_beat_every_one_below() -> None:
    """By hand: each beats the next and the one after, but the first does not beat the last."""
    beaten = {0: (1, 2), 1: (2, 3), 2: (3,)}
    assert places([4.0, 3.0, 2.0, 1.0], beaten) == [(1, 1, 2), (1, 2, 2), (1, 3, 3), (1, 3, 4)]


def test_all_decided_and_none_decided() -> None:
    decided = places([3.0, 2.0, 1.0], {0: (1, 2), 1: (2,)})
    assert decided == [(1, 1, 1), (2, 2, 2), (3, 3, 3)]
    assert places([3.0, 2.0, 1.0], {}) == [(1, 1, 3)] * 3
    assert places([1.0], {}) == [(1, 1, 1)]


@pytest.mark.parametrize("share", [0.3, 0.7, 0.95])
def test_ranks_equal_the_definition(share: float) -> None:
    rng = np.random.default_rng(1)
    for _ in range(300):
        size = int(rng.integers(1, 9))
        scores = rng.permutation(np.arange(float(size)))
        ahead = scores[:, None] > scores
        beats = ahead & (rng.random((size, size)) < share)
        found = rank(scores, beats)
        expected = by_definition(scores.tolist(), beats)
        assert [(place.cluster, place.lowest, place.highest) for place in found] == expected


def test_ranks_of_a_report_follow_from_its_pairs() -> None:
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
