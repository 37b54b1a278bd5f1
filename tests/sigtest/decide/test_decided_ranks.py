"""Ranks, their confidence and metrics' power from decisions, against their definitions."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from test_verdict import PAIR

from sigtest.comparison.plan import Telling
from sigtest.decide.decisions import Limit, power_of, rank_confidence, rank_doubt, ranked, ranks_of
from sigtest.report import MetricReport, PairReport, ScoreReport, SystemReport

SYSTEMS = ["w", "x", "y", "z"]
SCORES = np.array([2.0, 5.0, 1.0, 4.5])


def pair(
    a: str, b: str, significant: bool, metric: str = "bleu", test: str = "bootstrap"
) -> PairReport:
    """A pair of which only the decision is asked for."""
    return replace(PAIR, a=a, b=b, metric=metric, test=test, significant=significant)


def test_ranges_count_who_is_better_and_who_is_worse():
    """x beats w and y; z beats y, which w does, too: no line is drawn but above y."""
    decided = {("w", "x"), ("x", "y"), ("y", "z"), ("w", "y")}
    pairs = [("w", "x"), ("w", "y"), ("w", "z"), ("x", "y"), ("x", "z"), ("y", "z")]
    found = ranks_of(SYSTEMS, SCORES, [pair(a, b, (a, b) in decided) for a, b in pairs])
    place = dict(zip(SYSTEMS, SCORES.tolist(), strict=True))
    for system, own in zip(SYSTEMS, found, strict=True):
        others = [
            place[a if b == system else b] - place[system] for a, b in decided if system in (a, b)
        ]
        lowest, highest = 1 + sum(d > 0 for d in others), 4 - sum(d < 0 for d in others)
        assert own.range == (lowest, highest)
        assert own.may_be_best == (lowest == 1)
    assert [own.cluster for own in found] == [1, 1, 2, 1]
    assert [own.may_be_best for own in found] == [False, True, False, True]


@pytest.mark.parametrize(("a", "b"), [("w", "x"), ("x", "w")])
@pytest.mark.parametrize("first", [2.0, 5.0, 8.0])
def test_who_is_ahead_by_the_test_wins_whatever_the_scores(a, b, first):
    scores, decided = np.array([first, 5.0]), pair(a, b, True)
    found = ranks_of([a, b], scores, [replace(decided, ahead=a)])
    assert [own.range for own in found] == [(1, 1), (2, 2)]
    turned = ranks_of([a, b], scores, [replace(decided, ahead=b)])
    assert [own.range for own in turned] == [(2, 2), (1, 1)]


def test_nothing_decided_is_one_cluster():
    found = ranks_of(SYSTEMS, SCORES, [pair("w", "x", False), pair("y", "z", False)])
    assert [(own.cluster, own.range, own.may_be_best) for own in found] == [(1, (1, 4), True)] * 4


def test_each_metric_and_test_ranks_by_its_own_pairs_and_its_own_way_up():
    """x is best by bleu, w by ter, of which less is better; each test decides its own pairs."""
    scores = {"w": (1.0, 30.0), "x": (3.0, 60.0), "y": (2.0, 40.0)}
    decided = {
        ("bleu", "bootstrap"): {("x", "y")},
        ("bleu", "mcnemar"): set(),
        ("bleu", "wilcoxon"): {("w", "y")},
        ("bleu", "permutation"): set(),
        ("ter", "bootstrap"): {("w", "x"), ("x", "y")},
        ("ter", "mcnemar"): {("w", "x"), ("w", "y"), ("x", "y")},
        ("ter", "wilcoxon"): {("x", "y")},
        ("ter", "permutation"): set(),
    }
    metrics = {"bleu": MetricReport(True, ""), "ter": MetricReport(False, "")}
    systems = [
        SystemReport(
            name,
            {
                label: ScoreReport(own, (own, own), 0.0)
                for label, own in zip(metrics, values, strict=True)
            },
        )
        for name, values in scores.items()
    ]
    pairs = [
        pair(a, b, (a, b) in own, *family)
        for family, own in decided.items()
        for a, b in combinations(scores, 2)
    ]

    found = ranked(systems, metrics, ["bootstrap", "mcnemar", "wilcoxon", "permutation"], pairs)

    assert [own.name for own in found] == ["w", "x", "y"]
    assert [own.scores for own in found] == [own.scores for own in systems]
    ranges = {
        family: [own.ranks[family[0]][family[1]].range for own in found] for family in decided
    }
    assert ranges == {
        ("bleu", "bootstrap"): [(1, 3), (1, 2), (2, 3)],
        ("bleu", "mcnemar"): [(1, 3), (1, 3), (1, 3)],
        ("bleu", "wilcoxon"): [(2, 3), (1, 3), (1, 2)],
        ("bleu", "permutation"): [(1, 3), (1, 3), (1, 3)],
        ("ter", "bootstrap"): [(1, 2), (3, 3), (1, 2)],
        ("ter", "mcnemar"): [(1, 1), (3, 3), (2, 2)],
        ("ter", "wilcoxon"): [(1, 3), (2, 3), (1, 2)],
        ("ter", "permutation"): [(1, 3), (1, 3), (1, 3)],
    }


@pytest.mark.parametrize(
    ("correction", "calibrated", "level"),
    [
        ("holm", (True, True), 0.97),
        ("max_t", (True, True), 0.97),
        ("benjamini_hochberg", (True, True), None),  # claims together may well be false
        ("none", (True, True), None),
        ("holm", (True, False), None),
        ("none", (False, False), None),
    ],
)
def test_confidence_is_that_of_familywise_corrections_of_calibrated_pairs(
    correction, calibrated, level
):
    pairs = [replace(PAIR, calibrated=own) for own in calibrated]
    assert rank_confidence(Limit(correction, 0.03, 6), pairs, None) == level
    assert rank_confidence(Limit(correction, 0.03, 6), pairs, "doubtful") is None


@pytest.mark.parametrize(("units", "skewness", "tests", "doubtful"), [
    (300, 0.09, ["approximate_randomization"], False),
    (299, 0.0, ["approximate_randomization"], True),
    (5_000, 0.11, ["approximate_randomization"], True),
    (50, 0.5, ["bootstrap_t", "mcnemar"], False),  # with rules of their own
    (50, 0.0, ["bootstrap_t", "sign_test", "paired_t"], True),
])  # fmt: skip
def test_ranks_of_another_hypothesis_are_doubted(units, skewness, tests, doubtful):
    found = rank_doubt(tests, Telling(units, 0.0), skewness)
    assert (found is not None) == doubtful
    if "sign_test" in tests:
        assert found is not None
        assert "the sign test (units won as often as lost) and the paired t-test" in found


def test_power_is_the_share_of_pairs_a_metric_separates():
    rows = [
        pair("w", "x", True),
        pair("w", "y", False),
        pair("x", "y", True),
        pair("w", "z", True),
        pair("w", "x", False, "chrf"),
        pair("w", "x", True, "chrf", "mcnemar"),
        pair("w", "y", False, "chrf", "mcnemar"),
    ]
    assert power_of(rows) == {
        "bleu": {"bootstrap": 3 / 4},
        "chrf": {"bootstrap": 0.0, "mcnemar": 1 / 2},
    }
