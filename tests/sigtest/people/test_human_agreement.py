"""Kappa: printed tables, statsmodels, and loops as a textbook writes them."""

import json
from itertools import combinations

import numpy as np
import pytest
from statsmodels.stats.inter_rater import cohens_kappa, to_table

from sigtest.draws.weights import bootstrap_counts
from sigtest.people.annotators import RESAMPLES, STREAM, agreement, kappas
from sigtest.people.judgements import pairs_within
from sigtest.requests.people import HumanRequest


def test_kappa_of_printed_agreement(oracles):
    """Tables 2 and 3 of LAW 2013: kappa follows from the share and the number of categories."""
    rows = json.loads((oracles / "human.json").read_text())["kappa"]["rows"]
    for row in rows:
        whole = round(row["pr_a"] * 1000)
        labels = np.array([0] * 2000)
        labels[1 : 2 * (1000 - whole) : 2] = 1
        pairs = np.stack([np.arange(0, 2000, 2), np.arange(1, 2000, 2)], axis=1)
        judges = np.zeros(2000, dtype=np.int64)
        found = kappas(labels, judges, pairs, row["categories"], 1)
        assert found.agreed / len(pairs) == row["pr_a"]
        assert found.uniform[0] == pytest.approx(row["kappa_uniform_chance"], abs=1e-12)
        if row["consistent_with_rounding_of_pr_a"]:
            assert found.uniform[0] == pytest.approx(
                row["printed"], abs=0.0015 if row["printed"] != round(row["printed"], 2) else 0.006
            )


def test_two_judges_have_cohens_kappa():
    rng = np.random.default_rng(4)
    first = rng.integers(0, 4, 120)
    second = np.where(rng.random(120) < 0.6, first, rng.integers(1, 4, 120))
    labels = np.concatenate([first, second])
    judges = np.repeat([5, 9], 120)
    pairs = np.stack([np.arange(120), np.arange(120, 240)], axis=1)
    found = kappas(labels, judges, pairs, 4, 1)
    table = to_table(np.stack([first, second], axis=1))[0]
    assert found.cohen[0] == pytest.approx(cohens_kappa(table).kappa, rel=1e-12)
    turned = kappas(labels, judges, pairs[:, ::-1], 4, 1)
    assert turned.cohen[0] == pytest.approx(found.cohen[0], rel=1e-12)


def test_one_judge_twice_has_cohens_kappa_of_first_and_second():
    rng = np.random.default_rng(8)
    first = rng.integers(0, 3, 90)
    second = np.where(rng.random(90) < 0.7, first, 2)
    pairs = np.stack([np.arange(90), np.arange(90, 180)], axis=1)
    labels = np.concatenate([first, second])
    found = kappas(labels, np.zeros(180, dtype=np.int64), pairs, 3, 1)
    table = to_table(np.stack([first, second], axis=1))[0]
    assert found.cohen[0] == pytest.approx(cohens_kappa(table).kappa, rel=1e-12)


def test_many_judges_as_a_loop_counts_them():
    rng = np.random.default_rng(2)
    items, judges = rng.integers(0, 40, 150), rng.integers(0, 7, 150)
    labels = rng.integers(0, 3, 150)
    both = [(i, j) for i, j in combinations(range(150), 2)
            if items[i] == items[j] and judges[i] != judges[j]]  # fmt: skip
    found = pairs_within(items)
    found = found[judges[found[:, 0]] != judges[found[:, 1]]]
    assert {tuple(sorted(p)) for p in found.tolist()} == set(both)
    assert len(found) == len(both)
    used = {judge: np.zeros(3) for judge in range(7)}
    for i, j in both:
        used[judges[i]][labels[i]] += 1
        used[judges[j]][labels[j]] += 1
    share = np.mean([labels[i] == labels[j] for i, j in both])
    chance = np.mean(
        [
            used[judges[i]] / used[judges[i]].sum() @ used[judges[j]] / used[judges[j]].sum()
            for i, j in both
        ]
    )
    kappa = kappas(labels, judges, found, 3, 1)
    assert kappa.agreed / len(found) == pytest.approx(share)
    assert kappa.uniform[0] == pytest.approx((share - 1 / 3) / (2 / 3))
    assert kappa.cohen[0] == pytest.approx((share - chance) / (1 - chance))


def test_draws_of_judges_weigh_each_pair_by_both():
    rng = np.random.default_rng(6)
    items, judges = np.repeat(np.arange(60), 4), np.tile(np.arange(12), 20)
    labels = rng.integers(0, 3, 240)
    pairs = pairs_within(items)
    pairs = pairs[judges[pairs[:, 0]] != judges[pairs[:, 1]]]
    found = kappas(labels, judges, pairs, 3, 99)
    weights = bootstrap_counts(99, 0, RESAMPLES, 12, STREAM).astype(float)
    same = labels[pairs[:, 0]] == labels[pairs[:, 1]]
    expected = []
    for row in weights:
        own = row[judges[pairs[:, 0]]] * row[judges[pairs[:, 1]]]
        if own.sum():
            expected.append(((own @ same) / own.sum() - 1 / 3) / (2 / 3))
    assert found.uniform[1] == pytest.approx(np.array(expected), abs=1e-12)


def test_draws_of_single_judges_weigh_their_own_repeats():
    rng = np.random.default_rng(7)
    judges = np.tile(np.arange(5), 24)
    labels = rng.integers(0, 2, 120)
    pairs = np.stack([np.arange(60), np.arange(60, 120)], axis=1)
    found = kappas(labels, judges, pairs, 2, 3)
    weights = bootstrap_counts(3, 0, RESAMPLES, 5, STREAM).astype(float)
    same = labels[pairs[:, 0]] == labels[pairs[:, 1]]
    own = weights[:, judges[pairs[:, 0]]]
    expected = ((own @ same) / own.sum(axis=1) - 0.5) / 0.5
    assert found.uniform[1] == pytest.approx(expected, abs=1e-12)


def test_too_many_pairs_are_left_alone():
    assert pairs_within(np.zeros(3000, dtype=np.int64)) is None
    assert len(pairs_within(np.zeros(1000, dtype=np.int64))) == 499_500
    assert len(pairs_within(np.arange(50))) == 0


def test_no_pair_has_no_kappa():
    nothing = np.empty(0, dtype=np.int64)
    pairs = {"same": np.stack([nothing, nothing], axis=1)}
    made = "adequacy", "intervals", 5, np.zeros(3), np.zeros(3)
    assert list(agreement(*made, pairs, HumanRequest())) == []
