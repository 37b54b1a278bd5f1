"""Sign test and signed-rank test over test sets: SciPy, printed numbers, all sign patterns."""

import json
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from sigtest.significance import ALTERNATIVES
from sigtest.significance.signs import doubled_ranks, signed_rank_p
from sigtest.significance.wins import wins


def decided(differences: list[float], alternative: str = "two-sided"):
    given = np.array(differences)
    return wins(given, np.full(len(given), 1e-9), alternative)


@pytest.mark.parametrize("alternative", ALTERNATIVES)
@pytest.mark.parametrize("size", [1, 2, 5, 12, 30])
def test_p_values_equal_scipy_where_nothing_is_tied(size: int, alternative: str) -> None:
    differences = np.random.default_rng(size).normal(0.3, 1, size).tolist()
    found = decided(differences, alternative)
    won = sum(d > 0 for d in differences)
    assert (found.won, found.lost, found.tied) == (won, size - won, 0)
    sign = stats.binomtest(won, size, alternative=alternative).pvalue
    rank = stats.wilcoxon(differences, alternative=alternative, method="exact")
    assert found.sign_p == pytest.approx(sign, rel=1e-12)
    assert found.signed_rank_p == pytest.approx(rank.pvalue, rel=1e-12)
    plus = stats.wilcoxon(differences, alternative="greater", method="exact").statistic
    assert found.rank_sum == plus


def test_okita_2010_table_4(oracles: Path) -> None:
    """BLEU of four systems on twelve data sets; enumeration with middle ranks, SciPy 1.17.1."""
    rows = json.loads((oracles / "classification.json").read_text())["mwe_sign_tests"]["tests"]
    for row in rows:
        found = decided(row["differences"])
        assert found.won == row["wins_x"]
        assert found.rank_sum == row["signed_rank_W_plus"]
        assert found.sign_p == row["sign_test_p_two_sided"]
        assert found.signed_rank_p == row["signed_rank_p_two_sided_exact_midranks"]


@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_tied_sizes_share_ranks_as_all_sign_patterns_say(alternative: str) -> None:
    differences = [0.5, -0.5, 0.5, 1.0, 2.0, -1.0, 3.0]
    found = decided(differences, alternative)
    ranks = stats.rankdata(np.abs(differences))
    assert found.rank_sum == ranks[np.array(differences) > 0].sum()
    sums = np.array([ranks @ np.array(bits) for bits in product([0, 1], repeat=7)])
    tails = (sums >= found.rank_sum).mean(), (sums <= found.rank_sum).mean()
    expected = {"greater": tails[0], "less": tails[1], "two-sided": min(1, 2 * min(tails))}
    assert found.signed_rank_p == expected[alternative]


def test_ties_count_for_neither_side() -> None:
    found = decided([0.0, 1e-12, 2.0, -1.0])
    assert (found.won, found.lost, found.tied) == (1, 1, 2)
    assert found.sign_p == 1


@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_identical_systems_have_p_one(alternative: str) -> None:
    found = decided([0.0, 0.0, 0.0], alternative)
    assert (found.sign_p, found.signed_rank_p, found.tied) == (1, 1, 3)


def test_rounding_breaks_no_tie_of_sizes() -> None:
    assert doubled_ranks(np.array([0.3, 0.1 + 0.2, 0.1]), 1e-9).tolist() == [5, 5, 2]


def test_sizes_that_are_just_the_slack_apart_share_a_rank() -> None:
    assert doubled_ranks(np.array([1.0, 1.25, 1.75]), 0.25).tolist() == [3, 3, 6]
    assert doubled_ranks(np.array([1.0, 1.25, 1.75]), 0.125).tolist() == [2, 4, 6]


@pytest.mark.parametrize(("units", "tied", "counted"), [(500, 99, True), (501, 0, False)])
def test_up_to_500_units_are_counted_besides_ties(units: int, tied: int, counted: bool) -> None:
    signs = np.random.default_rng(units).choice([-1, 1], units)
    ranks = np.append(2 * np.arange(1, units + 1) * signs, np.zeros(tied, dtype=int))
    for alternative in ALTERNATIVES:
        found = signed_rank_p(ranks, alternative)
        assert (found.exact, found.statistic) == (counted, ranks[ranks > 0].sum() / 2)
        normal = stats.wilcoxon(ranks, alternative=alternative, method="asymptotic")
        assert found.p_value == pytest.approx(normal.pvalue, rel=0.02)
