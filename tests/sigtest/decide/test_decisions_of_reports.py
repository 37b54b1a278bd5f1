"""Decisions of whole reports against tables of the normal distribution and textbook loops."""

from itertools import pairwise
from statistics import NormalDist
from typing import Any

import pytest
from computed import report_of
from corpus import Numbers, content
from scipy.stats import binomtest

from sigtest.comparison.comparison import parse_comparison
from sigtest.engine import compare
from sigtest.render.standings import answer

Pair = dict[str, Any]

# Quantiles of the standard normal distribution, as tables print them.
Z = {
    0.8: 0.841621,
    0.95: 1.644854,
    0.975: 1.959964,
    0.98: 2.053749,
    0.99: 2.326348,
    0.995: 2.575829,
    0.999: 3.090232,
    0.9995: 3.290527,
}
SEPARATE = ("holm", "bonferroni", "hochberg", "benjamini_hochberg", "benjamini_yekutieli", "sidak")


def of_scores(systems: int, seed: int = 0, size: int = 40, **fields: Any) -> dict[str, Any]:
    """Systems of which each is a little better than the one before, compared with bootstraps."""
    numbers = Numbers(seed)
    common = [numbers.below(1000) for _ in range(size)]
    bodies = [
        {"name": f"s{i}", "scores": {"x": [c + numbers.below(999) + 45 * i for c in common]}}
        for i in range(systems)
    ]
    choices = {"metrics": ["scores"], "tests": ["bootstrap"], "resamples": 2999}
    return {"systems": bodies, **choices, **fields}


def against_first(others: int, **fields: Any) -> list[Pair]:
    pairs: list[Pair] = report_of(
        of_scores(others + 1, pairs={"baseline": "s0"}, size=12, **fields)
    )["pairs"]
    assert len(pairs) == others
    return pairs


@pytest.mark.parametrize(
    ("alternative", "alpha", "others", "plain", "corrected"),
    [
        ("two-sided", 0.05, 1, 0.975, 0.975),
        ("two-sided", 0.05, 5, 0.975, 0.995),  # .05 / 5 / 2 = .005
        ("two-sided", 0.01, 10, 0.995, 0.9995),
        ("greater", 0.05, 5, 0.95, 0.99),
        ("less", 0.05, 10, 0.95, 0.995),
        ("less", 0.02, 20, 0.98, 0.999),
    ],
)
def test_detectable_difference_is_what_tables_say(alternative, alpha, others, plain, corrected):
    """(z of the level + z of 80 % power) standard errors, the level by Bonferroni's division."""
    for pair in against_first(others, alternative=alternative, alpha=alpha):
        expected = [(Z[level] + Z[0.8]) * pair["stderr"] for level in (plain, corrected)]
        assert pair["stderr"] > 0
        assert pair["detectable"] == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize(
    ("correction", "level"),
    [
        ("none", 0.05),
        ("holm", 0.01),
        ("bonferroni", 0.01),
        ("hochberg", 0.01),
        ("benjamini_hochberg", 0.01),
        ("benjamini_yekutieli", 0.01 / (1 + 1 / 2 + 1 / 3 + 1 / 4 + 1 / 5)),
        ("sidak", 1 - 0.95**0.2),
        ("max_t", 0.01),
    ],
)
def test_detectable_difference_has_the_level_of_a_lone_small_p(correction, level):
    """Of five pairs, one has a small p-value and all others have 1."""
    normal = NormalDist()
    for pair in against_first(5, correction=correction):
        sizes = [normal.inv_cdf(1 - side / 2) + normal.inv_cdf(0.8) for side in (0.05, level)]
        expected = [size * pair["stderr"] for size in sizes]
        assert pair["detectable"] == pytest.approx(expected, rel=1e-9)


def test_detectable_difference_with_tukey_has_bonferronis_level():
    body = of_scores(5, correction="tukey", tests=["approximate_randomization"])
    for pair in report_of(body)["pairs"]:  # 10 pairs: .05 / 10 / 2 = .0025
        expected = [(z + Z[0.8]) * pair["stderr"] for z in (Z[0.975], 2.807034)]
        assert pair["detectable"] == pytest.approx(expected, rel=1e-6)


def test_detectable_difference_over_test_sets_has_the_level_of_the_whole_family():
    """Ten pairs on each of two test sets and on both together: .05 / 30 / 2."""
    bodies = [{"name": name, "systems": of_scores(5, i)["systems"]} for i, name in enumerate("AB")]
    choices = {"metrics": ["scores"], "tests": ["bootstrap"], "resamples": 99}
    report = report_of({"testsets": bodies, **choices})
    pairs = [*report["overall"]["pairs"]]
    for testset in report["testsets"]:
        pairs += testset["report"]["pairs"]
    assert len(pairs) == 30
    corrected = NormalDist().inv_cdf(1 - 0.05 / 60)
    for pair in pairs:
        expected = [(z + Z[0.8]) * pair["stderr"] for z in (Z[0.975], corrected)]
        assert pair["detectable"] == pytest.approx(expected, rel=1e-6)


def adjusted(p: list[float], correction: str) -> list[float]:
    """Textbook loops over one family of m p-values."""
    m = len(p)
    order = sorted(range(m), key=lambda i: p[i])
    harmonic = sum(1 / rank for rank in range(1, m + 1))
    factor = {
        "holm": lambda rank: m - rank + 1,
        "hochberg": lambda rank: m - rank + 1,
        "bonferroni": lambda rank: m,
        "none": lambda rank: 1,
        "benjamini_hochberg": lambda rank: m / rank,
        "benjamini_yekutieli": lambda rank: m * harmonic / rank,
    }
    if correction == "sidak":
        return [1 - (1 - value) ** m for value in p]
    found = [0.0] * m
    for rank, i in enumerate(order, start=1):
        found[i] = min(1, factor[correction](rank) * p[i])
    if correction == "holm":  # no less than those before
        for before, i in pairwise(order):
            found[i] = max(found[i], found[before])
    if correction not in {"holm", "bonferroni", "none"}:  # no more than those after
        for after, i in pairwise(reversed(order)):
            found[i] = min(found[i], found[after])
    return found


def moved(p: list[float], i: int, end: float) -> list[float]:
    return [*p[:i], end, *p[i + 1 :]]


def decisions(pairs: list[Pair], correction: str, alpha: float) -> set[tuple[bool, bool]]:
    """Check a family, corrected anew with one p-value at either end of its interval.

    Returns:
        Which decisions occur: whether undecided, whether significant.
    """
    p = [pair["p_value"] for pair in pairs]
    found = adjusted(p, correction)
    assert [pair["p_adjusted"] for pair in pairs] == pytest.approx(found, rel=1e-12)
    for i, pair in enumerate(pairs):
        ends = [adjusted(moved(p, i, end), correction)[i] for end in pair["p_interval"]]
        assert pair["undecided"] == (ends[0] <= alpha < ends[1])
        assert pair["significant"] == (found[i] <= alpha)
    return {(pair["undecided"], pair["significant"]) for pair in pairs}


@pytest.mark.parametrize("alternative", ["two-sided", "less"])
@pytest.mark.parametrize("correction", ["none", *SEPARATE])
@pytest.mark.parametrize("test", ["bootstrap", "paired_bootstrap"])
def test_a_pair_is_undecided_where_its_own_interval_turns_its_decision(
    correction, alternative, test
):
    kinds = set()
    for seed in range(20):
        if len(kinds) == 4:
            break
        choices = {"correction": correction, "alternative": alternative, "alpha": 0.1}
        pairs = report_of(of_scores(5, seed, tests=[test], **choices))["pairs"]
        kinds |= decisions(pairs, correction, 0.1)
    assert len(kinds) == 4


@pytest.mark.parametrize("correction", SEPARATE)
def test_pairs_of_all_test_sets_are_one_family(correction):
    kinds = set()
    for seed in range(5):
        bodies = [
            {"name": name, "systems": of_scores(4, 2 * seed + i)["systems"]}
            for i, name in enumerate("AB")
        ]
        choices = {"metrics": ["scores"], "tests": ["bootstrap"], "correction": correction}
        report = report_of({"testsets": bodies, "resamples": 2999, "alpha": 0.2, **choices})
        family = [pair for own in report["testsets"] for pair in own["report"]["pairs"]]
        kinds |= decisions([*family, *report["overall"]["pairs"]], correction, 0.2)
    assert len(kinds) == 4


@pytest.mark.parametrize(
    ("correction", "test"), [("max_t", "bootstrap"), ("tukey", "approximate_randomization")]
)
def test_a_pair_is_undecided_where_the_interval_of_a_joint_p_holds_alpha(correction, test):
    kinds = set()
    choices = {"tests": [test], "correction": correction, "alpha": 0.1, "resamples": 499}
    for seed in range(20):
        for pair in report_of(of_scores(5, seed, exact="never", **choices))["pairs"]:
            count = round(pair["p_adjusted"] * 500) - 1
            assert pair["p_adjusted"] == (count + 1) / 500
            interval = binomtest(count, 499).proportion_ci(0.95, method="exact")
            assert pair["undecided"] == (interval.low <= 0.1 < interval.high)
            assert pair["significant"] == (pair["p_adjusted"] <= 0.1)
            kinds.add((pair["undecided"], pair["significant"]))
    assert len(kinds) == 4


def test_significant_at_alpha_and_not_above():
    """Against itself p = 1; with alpha = p a pair is significant, a little below it is not."""
    body = of_scores(2, 3)
    p = report_of(body)["pairs"][0]["p_value"]
    assert 0 < p < 1
    for alpha, significant in ((p, True), (p * (1 - 1e-12), False)):
        assert report_of({**body, "alpha": alpha})["pairs"][0]["significant"] == significant


@pytest.mark.parametrize("alternative", ["greater", "less"])
@pytest.mark.parametrize("correction", ["holm", "benjamini_hochberg", "max_t"])
def test_one_sided_claims_are_the_same_in_any_order_of_systems(alternative, correction):
    """Every claim, its p-values and words, ranks and what the answer says of them."""
    body = of_scores(3, alternative=alternative, correction=correction)
    for i, system in enumerate(body["systems"]):
        system["scores"]["x"] = [own + 300 * i for own in system["scores"]["x"]]
    found = []
    for systems in (body["systems"], body["systems"][::-1]):
        made = compare(parse_comparison({**body, "systems": systems}))
        assert len(made.pairs) == 6
        ranks = {system.name: system.ranks for system in made.systems}
        found.append(({(pair.a, pair.b): pair for pair in made.pairs}, ranks, answer(made)))
    assert found[0] == found[1]
    pairs, ranks, said = found[0]
    better = ("s2", "s0") if alternative == "greater" else ("s0", "s2")
    assert pairs[better].significant
    assert pairs[better].verdict.startswith("s2 is better than s0: +")
    assert " is not shown to be " in pairs[better[::-1]].verdict
    assert ranks["s2"]["scores"]["bootstrap"].range[1] < ranks["s0"]["scores"]["bootstrap"].range[0]
    assert "claims that one system is" in said[-1]


def test_both_claims_of_a_pair_are_one_family():
    """12 wins and 2 losses of 14: P(X >= 12) = 106 / 2^14, P(X >= 2) = 16369 / 2^14."""
    wins = {"a": [1.0] * 12 + [0.0] * 2, "b": [0.0] * 12 + [1.0] * 2}
    systems = [{"name": name, "scores": {"x": own}} for name, own in wins.items()]
    body = {"systems": systems, "metrics": ["scores"], "alternative": "greater"}
    first, second = report_of(body)["pairs"]
    assert (first["p_value"], second["p_value"]) == (106 / 2**14, 16369 / 2**14)
    assert first["p_adjusted"] == 2 * first["p_value"]  # Holm
    assert (first["significant"], second["significant"]) == (True, False)
    (alone,) = report_of({**body, "pairs": {"baseline": "b"}})["pairs"]
    assert alone["p_adjusted"] == first["p_value"]  # against a baseline one claim is made
    capacity = report_of({**body, "family": 4})
    assert capacity["family"]["comparisons"] == 12


def test_experimentwise_error_counts_the_pairs_of_a_family():
    """1 - .95^10 for five systems, all pairs; 1 - .95^4 against one of them."""
    body = {**content(1), "resamples": 99, "metrics": ["bleu", "ter"]}
    assert report_of(body)["experimentwise_error"] == pytest.approx(0.4012630607616213, rel=1e-12)
    against = report_of({**body, "pairs": {"baseline": "beta"}})
    assert against["experimentwise_error"] == pytest.approx(0.18549375, rel=1e-12)
