"""Tests with a p-value of their own: SciPy, statsmodels, expected values, full enumeration."""

import math
from fractions import Fraction
from itertools import product
from math import comb

import numpy as np
import pytest
from computed import rendered
from scipy import stats
from sentences import sentences
from statsmodels.stats.contingency_tables import mcnemar

from sigtest.arrays import Array
from sigtest.comparison.comparison import Comparison, parse_comparison
from sigtest.decide.summary import decided
from sigtest.engine import compare, distribute
from sigtest.errors import InputError, RecipeError
from sigtest.metrics.scores import Ratio, Scores
from sigtest.render.standings import better
from sigtest.report import Report, renamed
from sigtest.requests.recipe import Recipe
from sigtest.significance import ALTERNATIVES, Alternative, units_tests
from sigtest.significance.base import SMALLEST_P, UnitP
from sigtest.significance.exact import enumerate_swaps
from sigtest.significance.units import MOST_RANKED, doubled_ranks, log10_t_tail, signed_rank_p

SIDES = {"two-sided": 2, "greater": 1, "less": 1}


def rows(scores: Array) -> Array:
    return np.stack([np.asarray(scores, dtype=float), np.ones(len(scores))], axis=1)


def found(test: str, a: Array, b: Array, alternative: Alternative = "two-sided") -> UnitP:
    return units_tests()[test].p(Scores(), rows(a), rows(b), alternative)


def outcomes(both: int, only_a: int, only_b: int, neither: int) -> tuple[Array, Array]:
    """Right and wrong answers of two systems with this contingency table."""
    a = [1] * both + [1] * only_a + [0] * only_b + [0] * neither
    b = [1] * both + [0] * only_a + [1] * only_b + [0] * neither
    return np.array(a, dtype=float), np.array(b, dtype=float)


TABLES = [(30, 5, 12, 9), (0, 1, 0, 0), (7, 0, 6, 0), (100, 25, 25, 3), (2, 140, 90, 5)]


@pytest.mark.parametrize("table", TABLES)
def test_mcnemar_equals_statsmodels_and_the_binomial_test(table):
    both, only_a, only_b, neither = table
    a, b = outcomes(*table)
    expected = mcnemar([[both, only_a], [only_b, neither]], exact=True).pvalue
    one = found("mcnemar", a, b)
    assert one.p_value == pytest.approx(expected, rel=1e-9)
    assert (one.exact, one.statistic, one.df) == (True, only_a, None)
    assert one.ahead == found("mcnemar_mid_p", a, b).ahead == only_a - only_b
    for alternative in ALTERNATIVES:
        test = stats.binomtest(only_a, only_a + only_b, alternative=alternative)
        p = found("mcnemar", a, b, alternative)
        assert p.p_value == pytest.approx(test.pvalue, rel=1e-9)
        assert p.log10_p == pytest.approx(math.log10(test.pvalue), abs=1e-9)


@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_mcnemar_is_randomization_on_accuracy(alternative):
    a, b = outcomes(10, 9, 4, 3)
    listed = enumerate_swaps(Scores(), rows(a), rows(b), alternative)
    assert listed is not None
    assert found("mcnemar", a, b, alternative).p_value == pytest.approx(listed.p_value, rel=1e-12)


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_mid_p_counts_half_of_the_observed_table(table, alternative):
    """Whole numbers: sum of the more extreme tables and half of this one."""
    _, only_a, only_b, _ = table
    units = only_a + only_b
    reached = {"greater": only_a, "less": only_b, "two-sided": max(only_a, only_b)}[alternative]
    ways = Fraction(sum(comb(units, k) for k in range(reached + 1, units + 1)))
    ways += Fraction(comb(units, reached), 2)
    expected = SIDES[alternative] * ways / 2**units
    if alternative == "two-sided" and only_a == only_b:  # Fagerland et al., supplement: 1 - f / 2
        expected = 1 - Fraction(comb(units, only_a), 2 ** (units + 1))
    one = found("mcnemar_mid_p", *outcomes(*table), alternative)
    assert one.p_value == pytest.approx(float(expected), rel=1e-9)
    assert (one.exact, one.statistic) == (False, only_a)


def test_p_far_below_the_smallest_double():
    a, b = outcomes(0, 3000, 1, 0)
    expected = (math.log(3002) - 3001 * math.log(2)) / math.log(10)
    one = found("mcnemar", a, b, "greater")
    assert one.log10_p == pytest.approx(expected, rel=1e-12)
    assert one.p_value == SMALLEST_P == 1e-300
    half = (math.log(3002 - 3001 / 2) - 3001 * math.log(2)) / math.log(10)
    one = found("mcnemar_mid_p", a, b, "greater")
    assert one.log10_p == pytest.approx(half, rel=1e-10)
    assert one.p_value == SMALLEST_P


def test_of_errors_the_fewer_the_better():
    """What counts as right for a metric where lower is better: 0."""
    a, b = outcomes(4, 9, 2, 3)
    error = Scores(higher=False)
    for test in ("mcnemar", "mcnemar_mid_p"):
        wrong = units_tests()[test].p(error, rows(1 - a), rows(1 - b), "greater")
        assert wrong == found(test, a, b, "greater")


def test_units_of_mcnemar_must_be_right_or_wrong():
    for value, place in ((0.5, 2), (-1.0, 1)):
        units = np.array([1.0, 1.0, 0.0, 7.0])
        units[place] = value
        with pytest.raises(InputError, match=f"unit {place + 1} has scores {value:g} "):
            found("mcnemar", units, np.ones(4))
    lighter = np.array([[1.0, 1.0], [0.5, 0.5]])
    with pytest.raises(InputError, match=r"unit 2 has ratio 1 and weight 0\.5"):
        units_tests()["mcnemar"].p(Ratio(), lighter, lighter, "two-sided")
    lighter[1, 0] = 0.25
    with pytest.raises(InputError, match=r"unit 2 has ratio 0\.5 and weight 0\.5"):
        units_tests()["mcnemar"].p(Ratio(), lighter, lighter, "two-sided")
    with pytest.raises(InputError, match=r"unit 3 has scores 0\.5 and weight 1") as raised:
        found("mcnemar", np.array([1.0, 0.0, 0.5]), np.array([1.0, 1.0, 1.0]))
    assert (raised.value.line, raised.value.field) == (3, "tests")
    with pytest.raises(InputError, match="unit 1 has scores 2"):
        found("mcnemar_mid_p", np.array([1.0]), np.array([2.0]))
    weighted = np.array([[1.0, 1.0], [2.0, 2.0]])
    with pytest.raises(InputError, match="unit 2 has ratio 1 and weight 2"):
        units_tests()["mcnemar"].p(Ratio(), weighted, weighted, "two-sided")
    for test in ("mcnemar", "mcnemar_mid_p"):
        with pytest.raises(RecipeError, match=f"{test} needs a metric .* bleu does not") as refused:
            Recipe.of({"metrics": ["bleu"], "tests": [test]})
        assert refused.value.field == "tests"


@pytest.mark.parametrize("alternative", ALTERNATIVES)
@pytest.mark.parametrize("units", [2, 3, 10, 400])
def test_paired_t_equals_scipy(units, alternative):
    rng = np.random.default_rng(units)
    a, b = rng.normal([[0.2], [0.0]], 1, (2, units))
    expected = stats.ttest_rel(a, b, alternative=alternative)
    one = found("paired_t", a, b, alternative)
    assert one.p_value == pytest.approx(expected.pvalue, rel=1e-9)
    assert one.log10_p == pytest.approx(math.log10(expected.pvalue), rel=1e-9)
    assert one.statistic == pytest.approx(expected.statistic, rel=1e-12)
    assert (one.df, one.exact) == (expected.df, False)


@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_corrected_t_has_the_variance_of_nadeau_and_bengio(alternative):
    rng = np.random.default_rng(2)
    a, b = rng.normal([[0.82], [0.8]], 0.02, (2, 10))
    differences = a - b
    variance = (1 / 10 + 1 / 9) * differences.var(ddof=1)  # ten folds: n_test / n_train = 1 / 9
    t = differences.mean() / math.sqrt(variance)
    tail = {"greater": stats.t.sf, "less": stats.t.cdf}
    expected = tail[alternative](t, 9) if alternative in tail else 2 * stats.t.sf(abs(t), 9)
    one = found("corrected_t", a, b, alternative)
    assert one.p_value == pytest.approx(expected, rel=1e-9)
    assert (one.statistic, one.df) == (pytest.approx(t, rel=1e-12), 9)


@pytest.mark.parametrize("test", ["paired_t", "corrected_t"])
def test_t_without_variance_finds_nothing(test):
    for a, b in (
        ([0.5], [0.1]),
        ([0.3, 0.3], [0.1, 0.1]),
        ([0.1 + 0.2, 0.4], [0.1, 0.2]),  # 0.2 but for rounding
    ):
        assert found(test, np.array(a), np.array(b)) == UnitP(1.0, 0.0, exact=False)
    assert found(test, np.array([0.3, 0.30001]), np.array([0.1, 0.1])).p_value < 0.01


@pytest.mark.parametrize(("apart", "alike"), [(1.9e-11, True), (2.1e-11, False)])
def test_differences_within_the_slack_of_both_scores_do_not_vary(apart, alike):
    one = found("paired_t", np.array([1.0, 1.0 + apart]), np.zeros(2))
    assert (one.statistic is None) == alike


@pytest.mark.parametrize(
    ("t", "df", "expected"),
    [
        (80.0, 3000, -746.064178919865),
        (80.0, 100_000, -1349.370175975067),
        (200.0, 100_000, -7309.028851766107),
        (1e5, 100_000, -250003.11623500372),
        (50.0, 3001, -396.861743834120582),
        (1e11, 31, -319.032166294856664),
    ],
)
def test_tails_of_t_are_right_far_out(t, df, expected):
    """Mpmath 1.4.1 with 40 digits: its loggamma, and the series summed term by term."""
    assert log10_t_tail(t, df) == pytest.approx(expected, abs=1e-10)


@pytest.mark.parametrize(
    ("t", "df"),
    [(-9.0, 7), (-2.0, 7), (-0.1, 7), (0.0, 7), (0.5, 1), (3.0, 30), (30.0, 3000), (1e6, 40)],
)
def test_tails_of_t_equal_scipy(t, df):
    assert log10_t_tail(t, df) == pytest.approx(math.log10(stats.t.sf(t, df)), rel=1e-12, abs=1e-14)


def test_both_t_tails_meet_where_the_series_takes_over():
    """One function on both sides of p = 1e-290."""
    t = np.linspace(38.0, 41.0, 61)
    logs = np.array([log10_t_tail(x, 3000) for x in t])
    assert logs[0] > -290 > logs[-1]
    steps = np.diff(logs, n=2)
    assert (np.abs(steps - np.median(steps)) < 1e-3).all()


@pytest.mark.parametrize("alternative", ALTERNATIVES)
@pytest.mark.parametrize("units", [1, 2, 5, 12, 60, 3000])
def test_sign_test_equals_the_binomial_test(units, alternative):
    rng = np.random.default_rng(units)
    a, b = np.round(rng.normal([[0.1], [0.0]], 1, (2, units)), 1)  # with ties
    won, lost = int((a > b).sum()), int((a < b).sum())
    one = found("sign_test", a, b, alternative)
    expected = stats.binomtest(won, won + lost, alternative=alternative).pvalue
    assert one.p_value == pytest.approx(expected, rel=1e-9)
    assert (one.exact, one.statistic) == (True, won)


@pytest.mark.parametrize("alternative", ALTERNATIVES)
@pytest.mark.parametrize("units", [1, 2, 5, 12, 30, MOST_RANKED, MOST_RANKED + 1, 3000])
def test_signed_rank_equals_scipy(units, alternative):
    rng = np.random.default_rng(units)
    a, b = rng.normal([[0.05], [0.0]], 1, (2, units))
    method = "exact" if units <= MOST_RANKED else "asymptotic"
    expected = stats.wilcoxon(a - b, alternative=alternative, method=method, correction=False)
    one = found("signed_rank", a, b, alternative)
    assert one.p_value == pytest.approx(expected.pvalue, rel=1e-9)
    assert one.log10_p == pytest.approx(math.log10(expected.pvalue), rel=1e-9, abs=1e-9)
    assert one.exact == (units <= MOST_RANKED)
    plus = stats.wilcoxon(a - b, alternative="greater", method=method, correction=False).statistic
    assert one.statistic == plus


@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_signed_rank_of_many_tied_units_equals_scipy(alternative):
    """Zeros are left out, equal sizes share middle ranks, and the variance knows it."""
    rng = np.random.default_rng(1)
    a, b = rng.integers(0, 6, (2, 2000)).astype(float)
    expected = stats.wilcoxon(a - b, alternative=alternative, method="asymptotic")
    one = found("signed_rank", a, b, alternative)
    assert one.p_value == pytest.approx(expected.pvalue, rel=1e-9)


@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_signed_rank_of_tied_sizes_equals_all_sign_patterns(alternative):
    differences = np.array([0.5, -0.5, 0.5, 1.0, 2.0, -1.0, 3.0, 0.0])
    ranks = stats.rankdata(np.abs(differences[:7]))
    one = found("signed_rank", differences, np.zeros(8), alternative)
    assert one.statistic == ranks[differences[:7] > 0].sum()
    sums = np.array([ranks @ np.array(bits) for bits in product([0, 1], repeat=7)])
    tails = (sums >= one.statistic).mean(), (sums <= one.statistic).mean()
    expected = {"greater": tails[0], "less": tails[1], "two-sided": min(1, 2 * min(tails))}
    assert one.p_value == pytest.approx(expected[alternative], rel=1e-12)


def accuracies(**recipe: object) -> Comparison:
    right = np.random.default_rng(4).random((3, 80)) < np.array([[0.8], [0.6], [0.55]])
    return parse_comparison(
        {
            "systems": [
                {"name": name, "scores": {"accuracy": row.astype(int).tolist()}}
                for name, row in zip("ABC", right, strict=True)
            ],
            "metrics": ["scores"],
            "resamples": 199,
            **recipe,
        }
    )


def test_a_report_carries_p_values_that_no_draws_are_counted_for():
    tests = ["mcnemar", "mcnemar_mid_p", "sign_test", "approximate_randomization"]
    report = compare(accuracies(tests=tests))
    by_test = {test: [pair for pair in report.pairs if pair.test == test] for test in tests}
    for own, swapped in zip(by_test["mcnemar"], by_test["approximate_randomization"], strict=True):
        assert own.p_value == pytest.approx(swapped.p_value, rel=1e-9)
        assert own.p_adjusted == pytest.approx(swapped.p_adjusted, rel=1e-9)
        assert (own.count, own.resamples, own.p_interval) == (None, None, None)
        assert (own.exact, own.undecided, own.resamples_needed) == (True, False, None)
        assert own.ci == swapped.ci
        assert own.significant == swapped.significant
    assert not any(pair.exact for pair in by_test["mcnemar_mid_p"])
    first = report.systems[0].ranks["scores"]
    assert first["mcnemar"] == first["approximate_randomization"]
    assert Report.from_json(report.as_json()) == report
    header, cells = (line.split(",") for line in rendered("csv", report).splitlines()[:2])
    assert [cells[header.index(c)] for c in ("count", "resamples", "p_low", "p_high")] == [""] * 4


def test_few_resamples_are_no_matter_where_none_are_counted():
    few = compare(accuracies(tests=["mcnemar"], resamples=1))
    assert not any("resamples are few" in warning for warning in sentences(few))
    mixed = compare(accuracies(tests=["mcnemar", "bootstrap"], resamples=1))
    assert any("resamples are few" in warning for warning in sentences(mixed))


def test_tests_of_wins_warn_that_the_winner_may_have_the_lower_score():
    for test, words in (("sign_test", "The sign test"), ("signed_rank", "Wilcoxon's signed-rank")):
        report = compare(accuracies(tests=[test]))
        assert any(w.startswith(words) and "lower score" in w for w in sentences(report))


WON = [1.0] * 18 + [0.0] * 2  # 18 of 20 units: p is 0.0004025 by binomtest of SciPy 1.17


@pytest.mark.parametrize("higher", [True, False])
@pytest.mark.parametrize("lost", [9.0, 20.0])  # the same score, and a lower one
@pytest.mark.parametrize("test", ["sign_test", "signed_rank"])
def test_better_is_the_system_that_wins_the_units_whatever_the_scores(test, lost, higher):
    sign = 1 if higher else -1
    scores = {"A": [-sign * lost * (i > 17) for i in range(20)], "B": [-sign * own for own in WON]}
    named = {name: {"x": row} for name, row in scores.items()}
    for order in ("AB", "BA"):
        body = {
            "systems": [{"name": name, "scores": named[name]} for name in order],
            "metrics": [{"name": "scores", "higher": higher}],
            "tests": [test],
            "resamples": 99,
        }
        report = compare(parse_comparison(body))
        (pair,) = report.pairs
        assert pair.verdict.startswith("A is better than B")
        assert better(pair, higher) == pair.ahead == "A"
        assert better(renamed(report, {"A": "ours"}).pairs[0], higher) == "ours"
        ranges = {own.name: own.ranks["scores"][test].range for own in report.systems}
        assert ranges == {"A": (1, 1), "B": (2, 2)}
        assert Report.from_json(report.as_json()) == report
        assert decided(report, 0.02).pairs[0].verdict == pair.verdict
        one_sided = compare(parse_comparison({**body, "alternative": "greater"})).pairs[0]
        assert one_sided.significant == (order == "AB")


def test_the_paired_t_of_documents_says_which_system_it_finds_ahead():
    documents = ["long"] * 30 + [f"d{i}" for i in range(11)]
    scores = {"A": [0.0] * 30 + [1.0] * 11, "B": [1.0] * 30 + [0.01 * (i % 3) for i in range(11)]}
    report = compare(
        parse_comparison(
            {
                "systems": [{"name": n, "scores": {"x": own}} for n, own in scores.items()],
                "documents": documents,
                "unit": "document",
                "metrics": ["scores"],
                "tests": ["paired_t", "approximate_randomization"],
                "resamples": 99,
            }
        )
    )
    means = [[0.0] + [1.0] * 11, [1.0, *scores["B"][30:]]]
    expected = stats.ttest_rel(*means)
    pair, swapped = report.pairs
    assert pair.p_value == pytest.approx(expected.pvalue, rel=1e-9)
    assert expected.statistic > 0 > pair.difference
    assert pair.verdict.startswith("A is better than B")
    assert (pair.ahead, swapped.ahead) == ("A", None)


def test_the_paired_t_warns_of_folds_and_the_corrected_one_does_not():
    for test, warned in (("paired_t", True), ("corrected_t", False)):
        said = sentences(compare(accuracies(tests=[test])))
        assert any("folds" in warning for warning in said) == warned


def test_own_p_has_no_distribution_to_show():
    comparison = accuracies(tests=["mcnemar"])
    with pytest.raises(RecipeError, match="mcnemar has no pseudo-statistics") as raised:
        distribute(comparison, "A", "B", "scores", "mcnemar")
    assert raised.value.field == "test"


def test_own_p_needs_one_test_set():
    comparison = accuracies(tests=["mcnemar"])
    with pytest.raises(RecipeError, match="mcnemar compares the units of one test set"):
        Comparison(comparison.entries * 2, comparison.recipe, ("one", "two"))


def test_ties_count_for_neither_side():
    one = found("sign_test", np.array([5.0, 5.0 + 1e-12, 7.0, 4.0]), np.full(4, 5.0))
    assert (one.statistic, one.ahead, one.p_value) == (1, 0, 1)


def test_sizes_that_are_just_the_slack_apart_share_a_rank():
    assert doubled_ranks(np.array([0.3, 0.1 + 0.2, 0.1]), 1e-9).tolist() == [5, 5, 2]  # rounding
    assert doubled_ranks(np.array([1.0, 1.25, 1.75]), 0.25).tolist() == [3, 3, 6]
    assert doubled_ranks(np.array([1.0, 1.25, 1.75]), 0.125).tolist() == [2, 4, 6]


@pytest.mark.parametrize(("units", "tied", "counted"), [(500, 99, True), (501, 0, False)])
def test_up_to_500_units_are_counted_besides_ties(units, tied, counted):
    signs = np.random.default_rng(units).choice([-1, 1], units)
    ranks = np.append(2 * np.arange(1, units + 1) * signs, np.zeros(tied, dtype=int))
    for alternative in ALTERNATIVES:
        found = signed_rank_p(ranks, alternative)
        assert (found.exact, found.statistic) == (counted, ranks[ranks > 0].sum() / 2)
        normal = stats.wilcoxon(ranks, alternative=alternative, method="asymptotic")
        assert found.p_value == pytest.approx(normal.pvalue, rel=0.02)
