"""max-T and randomised Tukey: textbook loops, and loops over the draws of whole comparisons."""

from dataclasses import replace

import numpy as np
import pytest
from computed import sample_of
from sentences import sentences

from sigtest.comparison.comparison import parse_comparison
from sigtest.draws.weights import bootstrap_counts, permuted_sums
from sigtest.engine import compare
from sigtest.errors import RecipeError
from sigtest.requests.recipe import Recipe
from sigtest.significance.corrections import range_counts, step_down_counts


def test_step_down_equals_the_textbook_loop():
    """Romano & Wolf 2005, algorithm 1, one hypothesis after the other."""
    rng = np.random.default_rng(4)
    draws = np.abs(rng.normal(size=(8, 300)))
    observed = np.abs(rng.normal(size=8)) * 2
    order = sorted(range(8), key=lambda i: -observed[i])
    expected = [0] * 8
    at_least = 0
    for place, i in enumerate(order):
        remaining = order[place:]
        count = 0
        for r in range(300):
            count += max(draws[j, r] for j in remaining) >= observed[i]
        at_least = max(at_least, count)
        expected[i] = at_least
    assert step_down_counts(observed, lambda i: draws[i], 300).tolist() == expected


def test_step_down_counts_rise_towards_less_extreme_pairs():
    """The more extreme pair is reached more often by chance; the other must not overtake it."""
    draws = np.array([[0.0, 0.0, 0.0, 0.0], [3.0, 3.0, 3.0, 0.0]])
    assert step_down_counts(np.array([1.0, 2.0]), lambda i: draws[i], 4).tolist() == [3, 3]
    draws = np.array([[1.5, 1.5, 0.0, 0.0], [3.0, 0.0, 0.0, 0.0]])
    assert step_down_counts(np.array([1.0, 2.0]), lambda i: draws[i], 4).tolist() == [2, 1]


def test_step_down_counts_ties_with_the_limit_and_negative_draws():
    """One-sided statistics may lie below zero."""
    draws = np.array([[-2.0, -1.0, -3.0]])
    assert step_down_counts(np.array([-2.0]), lambda i: draws[i], 3).tolist() == [2]


def test_ranges_that_reach_a_difference_are_counted():
    ranges = np.array([3.0, 1.0, 2.0, 2.0])
    found = range_counts(np.array([0.5, 1.0, 2.0, 2.5, 3.0, 3.1]), ranges)
    assert found.tolist() == [4, 4, 3, 1, 1, 0]


@pytest.mark.parametrize(
    ("correction", "test"), [("max_t", "approximate_randomization"), ("tukey", "bootstrap")]
)
def test_joint_corrections_go_with_one_test(correction, test):
    with pytest.raises(RecipeError, match=f"{correction} goes with"):
        Recipe.of({"correction": correction, "tests": [test]})


def test_tukey_needs_all_pairs_two_sided():
    for choice in ({"alternative": "greater"}, {"pairs": {"baseline": "A"}}):
        with pytest.raises(RecipeError, match="all pairs, two-sided"):
            Recipe.of({"correction": "tukey", **choice})


def scores_request(values: np.ndarray, **recipe: object) -> dict:
    return {
        "systems": [
            {"name": f"s{i}", "scores": {"x": row.tolist()}} for i, row in enumerate(values)
        ],
        "metrics": ["scores"],
        "resamples": 199,
        "exact": "never",
        **recipe,
    }


def test_max_t_equals_a_loop_over_the_bootstrap_draws():
    values = np.random.default_rng(0).integers(0, 5, (4, 40)).astype(float)
    values[0] += 0.6
    comparison = parse_comparison(scores_request(values, tests=["bootstrap"], correction="max_t"))
    report = compare(comparison)
    counts = bootstrap_counts(comparison.recipe.seed, 0, 199, 40).astype(float)
    means = counts @ values.T / 40
    pairs = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]
    draws = {p: means[:, p[0]] - means[:, p[1]] for p in pairs}
    # the mean of what is drawn from is known, and on this lattice atoms are counted
    centred = {p: np.abs(d - (values[p[0]] - values[p[1]]).mean()) for p, d in draws.items()}
    observed = {p: abs(values[p[0]].mean() - values[p[1]].mean()) for p in pairs}
    order = sorted(pairs, key=lambda p: -observed[p])
    adjusted, least = {}, 0.0
    for place, pair in enumerate(order):
        highest = np.max([centred[p] for p in order[place:]], axis=0)
        least = max(least, (np.count_nonzero(highest >= observed[pair] - 1e-9) + 1) / 200)
        adjusted[pair] = least
    assert [pair.p_adjusted for pair in report.pairs] == [adjusted[p] for p in pairs]


def test_permutations_keep_each_units_outputs_and_shuffle_them_fairly():
    # one unit, so that sums are the permuted rows themselves
    rows = np.arange(5.0).reshape(1, 5, 1)
    sums = permuted_sums(1, 0, 12_000, rows)[0]
    assert (np.sort(sums, axis=0) == np.arange(5.0)[:, None]).all()
    _, counts = np.unique(sums, axis=1, return_counts=True)
    assert len(counts) == 120
    # chi-square with 119 degrees of freedom: 1 - 1e-6 quantile 206
    assert ((counts - 100) ** 2 / 100).sum() < 206


def test_permuted_sums_do_not_depend_on_the_block():
    rows = np.random.default_rng(0).integers(0, 9, (30, 6, 2)).astype(float)
    whole = permuted_sums(3, 0, 20, rows)
    assert (permuted_sums(3, 7, 11, rows) == whole[:, :, 7:11]).all()
    assert (whole.sum(axis=1) == rows.sum(axis=(0, 1))[:, None]).all()


def test_tukey_holds_each_difference_against_the_range():
    values = np.random.default_rng(2).integers(0, 5, (4, 30)).astype(float)
    values[3] += 1
    comparison = parse_comparison(scores_request(values, correction="tukey"))
    report = compare(comparison)
    rows = np.stack([np.stack([row, np.ones(30)], axis=1) for row in values], axis=1)
    ranges = np.ptp(permuted_sums(comparison.recipe.seed, 0, 199, rows)[0] / 30, axis=0)
    for pair in report.pairs:
        reached = np.count_nonzero(ranges >= abs(pair.difference) - 1e-9)
        assert pair.p_adjusted == (reached + 1) / 200


def test_joint_corrections_do_not_depend_on_blocks():
    values = np.random.default_rng(5).integers(0, 5, (4, 30)).astype(float)
    for choice in ({"correction": "tukey"}, {"correction": "max_t", "tests": ["bootstrap"]}):
        comparison = parse_comparison(scores_request(values, **choice))
        whole = sample_of(comparison).block(0, 199)
        parts = [sample_of(comparison).block(a, b) for a, b in ((0, 50), (50, 199))]
        for field in ("scores", "ranges"):
            joined = np.concatenate([getattr(part, field) for part in parts], axis=-1)
            assert (joined == getattr(whole, field)).all()


def test_max_t_warns_of_unequal_variances():
    rng = np.random.default_rng(6)
    values = rng.normal(size=(1, 60)) + 0.01 * rng.normal(size=(5, 60))
    values[4] = 20 * rng.normal(size=60)
    comparison = parse_comparison(scores_request(values, tests=["bootstrap"], correction="max_t"))
    report = compare(comparison)
    spread = [pair.stderr for pair in report.pairs]
    assert max(spread) > 2 * float(np.median(spread))
    assert any("very unequally" in warning for warning in sentences(report))
    holm = compare(replace(comparison, recipe=comparison.recipe.but(correction="holm")))
    assert not any("max-T" in warning for warning in sentences(holm))
