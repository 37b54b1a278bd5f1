"""What a report says its numbers mean: null hypotheses, calibration, skewness, ranks."""

import math
from typing import Any

import numpy as np
import pytest
from computed import rendered, report_of
from scipy import stats
from sentences import sentences

from sigtest.comparison.comparison import parse_comparison
from sigtest.engine import compare
from sigtest.significance import CORRECTIONS, TESTS
from sigtest.significance.intervals import skewness
from sigtest.significance.resampling import SKEWED

ALL = ["approximate_randomization", "bootstrap", "paired_bootstrap", "bootstrap_t"]


def request_of(d: np.ndarray, **fields: Any) -> dict[str, Any]:
    rows = {"a": d, "b": np.zeros_like(d)}
    systems = [{"name": name, "scores": {"x": row.tolist()}} for name, row in rows.items()]
    choices = {"metrics": ["scores"], "tests": ALL, "resamples": 9_999}
    return {"systems": systems, **choices, **fields}


def calibrated(d: np.ndarray) -> dict[str, bool]:
    return {pair["test"]: pair["calibrated"] for pair in report_of(request_of(d))["pairs"]}


def skewed_warnings(d: np.ndarray, **fields: Any) -> list[str]:
    return [w for w in sentences(report_of(request_of(d, **fields))) if "skewed" in w]


def normal(n: int) -> np.ndarray:
    """Symmetric without any doubt."""
    half = stats.norm.ppf((np.arange(n // 2) + 0.5) / n)
    return np.concatenate([half, -half])


def exponential(n: int) -> np.ndarray:
    return stats.expon.ppf((np.arange(n) + 0.5) / n) - 1


def test_every_test_states_its_null():
    report = report_of(request_of(normal(20)))
    assert report["nulls"] == {test: TESTS[test].null for test in ALL}
    assert report["nulls"]["approximate_randomization"] == "exchangeable labels"
    assert report["nulls"]["bootstrap_t"] == "equal expected scores"


def test_t_tests_promise_nothing_where_few_differences_are_skewed():
    """Student's t of SciPy rejects a true mean of 0 too often there; of normal ones it does not."""
    draw = np.random.default_rng(7)
    bell, skewed = draw.normal(size=(2_000, 20)), draw.lognormal(size=(2_000, 20))
    assert np.mean(stats.ttest_1samp(bell, 0.0, axis=1).pvalue <= 0.05) < 0.06
    assert np.mean(stats.ttest_1samp(skewed, math.exp(0.5), axis=1).pvalue <= 0.05) > 0.1
    for test in ("paired_t", "corrected_t"):
        assert TESTS[test].null == "normal differences with mean zero"
        assert TESTS[test].keeps_level(20, 1.0)


def test_the_bootstrap_is_not_calibrated_with_few_units():
    few, middle, many = calibrated(normal(20)), calibrated(normal(50)), calibrated(normal(300))
    assert few == {name: name == "approximate_randomization" for name in ALL}
    assert middle == {**few, "bootstrap_t": True}
    assert many == dict.fromkeys(ALL, True)
    assert calibrated(normal(298))["bootstrap"] is False


def test_the_bootstrap_t_is_calibrated_from_50_units_whatever_the_claim():
    """docs/VALIDITY.md, part 11: with 50 units one-sided claims reject at most .058 at .05."""
    for units, kept in ((48, False), (50, True)):
        for claim in ("two-sided", "greater", "less"):
            asked = request_of(normal(units), alternative=claim, tests=["bootstrap_t"])
            assert {pair["calibrated"] for pair in report_of(asked)["pairs"]} == {kept}, claim


def test_calibration_is_about_the_data_too():
    """Skewness 2 over the root of 300 is .115, of 1,200 .058."""
    skewed, enough = calibrated(exponential(300)), calibrated(exponential(1_200))
    assert skewed == {name: name in {"approximate_randomization", "bootstrap_t"} for name in ALL}
    assert enough == dict.fromkeys(ALL, True)


def test_skewed_differences_are_warned_of_with_the_test_that_sees_them():
    (said,) = skewed_warnings(exponential(100))
    assert "bootstrap_t" in said
    assert "a and b" in said
    assert skewed_warnings(normal(100)) == []
    assert skewed_warnings(exponential(2_000)) == []
    assert skewed_warnings(exponential(100), tests=["bootstrap_t"]) == []
    # with few resamples a skewness is chance
    assert skewed_warnings(exponential(300), resamples=99) == []


@pytest.mark.parametrize("units", [40, 300])
def test_skewness_of_draws_is_that_of_units_over_the_root_of_their_number(units):
    rng = np.random.default_rng(3)
    d = exponential(units)
    draws = rng.choice(d, size=(1, 40_000, units)).mean(axis=2)
    found = skewness(draws)
    assert found == pytest.approx(stats.skew(draws, axis=1), rel=1e-9)
    assert found == pytest.approx(stats.skew(d) / math.sqrt(units), abs=0.04)
    assert skewness(np.full((1, 9), 0.1)).tolist() == [0.0]


def test_the_limit_is_where_exponential_differences_are_skewed_at_300_units():
    assert stats.skew(exponential(300)) / math.sqrt(300) > SKEWED > 2 / math.sqrt(1_200)


def ranked(**fields: Any) -> dict[str, Any]:
    rows = [normal(300) / 9 + level for level in (0.0, 0.0005, 0.4)]
    rows[1] = np.roll(rows[1], 7)
    systems = [{"name": n, "scores": {"x": r.tolist()}} for n, r in zip("abc", rows, strict=True)]
    choices = {"metrics": ["scores"], "tests": ["bootstrap"], "resamples": 1_999}
    return report_of({"systems": systems, **choices, **fields})


def test_the_best_systems_may_be_best():
    ranks = {s["name"]: s["ranks"]["scores"]["bootstrap"] for s in ranked()["systems"]}
    assert ranks["c"] == {"cluster": 1, "range": [1, 1], "may_be_best": True}
    assert ranks["a"] == {"cluster": 2, "range": [2, 3], "may_be_best": False}
    none = ranked(alpha=1e-6)["systems"]
    assert all(s["ranks"]["scores"]["bootstrap"]["may_be_best"] for s in none)


@pytest.mark.parametrize("correction", [c for c in CORRECTIONS if c != "tukey"])
def test_ranks_are_confidence_sets_where_the_family_wise_error_is_controlled(correction):
    proven = correction in {"holm", "bonferroni", "max_t"}
    assert ranked(correction=correction, alpha=0.1).get("rank_confidence") == (
        0.9 if proven else None
    )


def test_ranks_are_no_confidence_sets_with_a_test_over_its_level_or_without_ranks():
    assert "rank_confidence" not in ranked(tests=["riezler_maxwell_bootstrap"])
    assert "rank_confidence" not in ranked(pairs={"baseline": "a"})


@pytest.mark.parametrize("test", ["bootstrap", "paired_bootstrap"])
def test_ranks_are_no_confidence_sets_with_few_units(test):
    """Of 400 sets of 6 equal systems on 20 units these tests made a claim in .12 and .135."""
    systems = [
        {"name": name, "scores": {"x": np.roll(normal(20), k).tolist()}}
        for k, name in enumerate("abcdef")
    ]
    few = ranked(systems=systems, tests=[test])
    assert "rank_confidence" not in few
    exchanged = ranked(systems=systems, tests=["approximate_randomization"])
    assert "rank_confidence" not in exchanged
    assert "(exchangeable labels); the two agree from 300 units" in exchanged["rank_doubt"]


def test_text_says_nulls_and_confidence():
    body = request_of(normal(300), tests=["bootstrap", "approximate_randomization"])
    text = " ".join(rendered("text", compare(parse_comparison(body))).split())
    assert "bootstrap, equal expected scores; approximate randomization, exchangeable" in text
    assert "hold the true ranks of all systems together with 95 % confidence" in text
