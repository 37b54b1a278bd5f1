"""Tables 1 and 2 of Graham, Mathur & Baldwin (2014) from their counts; chi-square and binomial."""

import json

import numpy as np
import pytest
from scipy import stats

from sigtest.accuracy_of_tests.compute import (
    accuracy_row,
    against_half,
    chi_square,
    combine,
    compute,
    conclude,
    parse,
)

# Table 1 (es-en, 66 pairs) and Table 2 (en-es, 55 pairs): correct, n, percent, interval
PRINTED = [
    (53, 66, 80.3, 68.7, 89.1),  # BLEU, alpha .05
    (54, 66, 81.8, 70.4, 90.2),  # NIST and METEOR, alpha .05
    (48, 66, 72.7, 60.4, 83.0),
    (34, 55, 61.8, 47.7, 74.6),
    (32, 55, 58.2, 44.1, 71.3),
]


@pytest.mark.parametrize(("correct", "n", "percent", "low", "high"), PRINTED)
def test_printed_cells(correct, n, percent, low, high):
    found = np.repeat([1, 0], [correct, n - correct])
    row = accuracy_row(found, np.ones(n, dtype=np.int64), "bleu", "bootstrap", 0.05)
    assert (row.correct, row.missed) == (correct, n - correct)
    assert round(100 * row.share, 1) == percent
    assert [round(100 * end, 1) for end in row.ci] == [low, high]


def counts(row: dict) -> dict:
    """A row of the tables as p-values: the right conclusion on so many of its pairs."""
    n, correct = row["n"], row["correct"]
    systems = [f"S{i}" for i in range(next(k for k in range(99) if k * (k - 1) // 2 == n))]
    pairs = [(a, b) for i, a in enumerate(systems) for b in systems[i + 1 :]]
    people = [{"a": a, "b": b, "p_greater": 1e-6, "p_less": 1.0} for a, b in pairs]
    tested = [
        {"a": a, "b": b, "metric": row["metric"], "test": row["test"],
         "p_greater": 1e-6 if i < correct else 0.9, "p_less": 1.0}
        for i, (a, b) in enumerate(pairs)
    ]  # fmt: skip
    return {"human": {"pairs": people}, "comparison": {"pairs": tested}, "alphas": [row["alpha"]]}


def test_every_figure_of_both_tables(oracles):
    table = json.loads((oracles / "seed_tables.json").read_text())["graham_2014_tables_1_2"]
    assert len(table["rows"]) == 72
    for row in table["rows"]:
        (found,) = compute(parse(counts(row))).rows
        assert (found.correct, found.n) == (row["correct"], row["n"])
        assert round(100 * found.share, 1) == row["percent"]
        assert [round(100 * end, 1) for end in found.ci] == row["cp95_percent"]
        assert (found.metric, found.test, found.alpha) == (row["metric"], row["test"], row["alpha"])


def test_chi_square_and_binomial_of_the_oracles(oracles):
    oracle = json.loads((oracles / "intervals.json").read_text())
    for case in oracle["chi_square_k_metrics"]:
        statistic, p = chi_square(np.array(case["correct"]), case["n"])
        assert statistic == pytest.approx(case["statistic"], abs=1e-9)
        assert p == pytest.approx(case["p"], abs=1e-9)
    for case in oracle["binomial"]:
        if case["p0"] == 0.5:
            both, greater = against_half(case["successes"], case["n"])
            assert both == pytest.approx(case["p_two_sided"], abs=1e-9)
            assert greater == pytest.approx(case["p_greater"], abs=1e-9)


@pytest.mark.parametrize("correct", [[53, 54, 54, 52], [10, 40], [0, 3, 66]])
def test_chi_square_is_scipys_without_yates(correct):
    table = np.array([correct, [66 - c for c in correct]])
    expected = stats.chi2_contingency(table, correction=False)
    statistic, p = chi_square(np.array(correct), 66)
    assert (statistic, p) == pytest.approx((expected.statistic, expected.pvalue), rel=1e-10)


@pytest.mark.parametrize("correct", [0, 66])
def test_chi_square_of_equal_extremes_has_no_p(correct):
    assert chi_square(np.array([correct, correct]), 66) == (0.0, None)


@pytest.mark.parametrize(("correct", "n"), [(0, 10), (5, 10), (33, 55), (66, 66), (40, 66)])
def test_binomial_is_scipys(correct, n):
    expected = (
        stats.binomtest(correct, n).pvalue,
        stats.binomtest(correct, n, alternative="greater").pvalue,
    )
    assert against_half(correct, n) == pytest.approx(expected, rel=1e-10)


def test_conclusions_are_three_way():
    greater, less = np.array([0.04, 0.97, 0.4, 0.05]), np.array([0.97, 0.04, 0.6, 0.96])
    assert conclude(greater, less, 0.05).tolist() == [1, -1, 0, 1]
    assert conclude(greater, less, 0.01).tolist() == [0, 0, 0, 0]
    # both claims hold at so large a level: the smaller p-value decides
    assert conclude(np.array([0.4, 0.6]), np.array([0.6, 0.4]), 0.7).tolist() == [1, -1]


def test_errors_are_reversed_claimed_or_missed():
    found, human = np.array([1, 1, 1, 0, 0, -1]), np.array([1, -1, 0, 1, 0, 0])
    row = accuracy_row(found, human, "bleu", "bootstrap", 0.05)
    assert (row.correct, row.reversed, row.claimed, row.missed) == (2, 1, 2, 1)
    assert row.n == 6


def test_adequacy_decides_before_fluency():
    adequacy, fluency = np.array([1, 0, 0, -1]), np.array([-1, -1, 0, 1])
    assert combine([adequacy, fluency]).tolist() == [1, -1, 0, -1]
    assert adequacy.tolist() == [1, 0, 0, -1]
