"""Families of a fixed size: what is corrected for, how many resamples, and that claims stay."""

import random
from typing import Any

import numpy as np
import pytest
from computed import report_of
from statsmodels.stats.multitest import multipletests
from test_decisions import decided

from sigtest.comparison.comparison import parse_comparison
from sigtest.errors import RecipeError
from sigtest.requests.recipe import Recipe
from sigtest.significance.intervals import p_value

RESAMPLES = 9_999
COUNTS = np.array([0, 3, 150, 480, 17])


def request_for(systems: int, **fields: Any) -> dict[str, Any]:
    draw = random.Random(5)
    base = [draw.randrange(40) / 4 for _ in range(400)]
    entries = [
        {"name": f"s{i}", "scores": {"x": [x + 0.25 * i * draw.randrange(4) for x in base]}}
        for i in range(systems)
    ]
    return {"systems": entries, "metrics": ["scores"], **fields}


def test_pairs_not_seen_yet_count_as_statsmodels_counts_ones():
    p = p_value(COUNTS, RESAMPLES)
    for family, gone in ((5, []), (28, []), (28, [0.0004, 0.3])):
        whole = [*p, *gone, *[1.0] * (family - len(p) - len(gone))]
        expected = multipletests(whole, method="holm")[1][: len(p)]
        assert decided(counts=COUNTS, family=family, gone=np.array(gone)).adjusted == pytest.approx(
            expected, rel=1e-12
        )


def test_a_small_p_of_a_system_that_left_keeps_the_factors_of_the_others_low():
    alone = decided(counts=COUNTS, family=28).adjusted
    with_gone = decided(counts=COUNTS, family=28, gone=np.full(2, 0.0001)).adjusted
    assert with_gone[0] == alone[0]
    assert (with_gone[1:] <= alone[1:]).all()
    assert with_gone[1] < alone[1] < 1


def test_undecided_pairs_are_judged_within_the_whole_family():
    # at the limit of 28 comparisons, far below that of one
    many, one = (decided(counts=np.array([17]), family=family) for family in (28, 1))
    assert many.undecided.tolist() == [True]
    assert one.undecided.tolist() == [False]
    assert many.needed[0] > RESAMPLES
    assert many.detectable[1] > one.detectable[1]


@pytest.mark.parametrize(
    ("pairs", "family", "correction", "resamples"),
    [
        (66, "present", "holm", 9_999),  # 66 / 10,000 <= .0125
        (171, "present", "holm", 19_999),
        (780, "present", "holm", 79_999),
        (780, "present", "none", 9_999),
        (125, "present", "bonferroni", 9_999),  # .0125 exactly
        (126, "present", "bonferroni", 19_999),
        (1, 64, "holm", 79_999),  # 2,016 / 40,000 > .05 >= 2,016 / 80,000
        (66, 64, "holm", 79_999),
        (66, 63, "holm", 39_999),  # 1,953 / 40,000 <= .05
        (1, 64, "none", 9_999),
        (1, 1000, "holm", 999_999),
    ],
)
def test_auto_takes_the_smallest_step_that_can_decide(pairs, family, correction, resamples):
    recipe = Recipe.of({"family": family, "correction": correction})
    assert recipe.resolved(pairs) == resamples


@pytest.mark.parametrize(("pairs", "resamples"), [(62, 9_999), (63, 19_999)])
def test_two_sides_of_the_paired_bootstrap_add_up_two_p_values(pairs, resamples):
    assert Recipe.of({"tests": ["paired_bootstrap"]}).resolved(pairs) == resamples


def test_steps_double():
    parts = [Recipe.of({}).resolved(pairs) for pairs in (1, 200, 400, 800, 1600, 3200, 6400, 12500)]
    assert parts == [9_999, 19_999, 39_999, 79_999, 159_999, 319_999, 639_999, 999_999]


def test_against_a_baseline_a_family_has_one_pair_less_than_systems():
    recipe = Recipe.of({"family": 64})
    assert recipe.comparisons(3) == 2016
    assert recipe.but(pairs={"baseline": "b"}).comparisons(3) == 63
    assert recipe.comparisons(3, testsets=4) == 4 * 2016


def test_a_report_says_its_family_and_corrects_over_it():
    plain = report_of(request_for(3, resamples=RESAMPLES))
    wide = report_of(request_for(3, resamples=RESAMPLES, family=8))
    assert "family" not in plain
    assert wide["family"] == {"systems": 8, "comparisons": 28}
    assert "|family:8|" in wide["signature"]
    assert "family" not in plain["signature"]
    p = [pair["p_value"] for pair in plain["pairs"]]
    expected = multipletests([*p, *[1.0] * 25], method="holm")[1][:3]
    assert [pair["p_adjusted"] for pair in wide["pairs"]] == pytest.approx(expected, rel=1e-12)
    assert wide["experimentwise_error"] == pytest.approx(1 - 0.95**28)


def test_a_family_of_the_systems_present_changes_no_number():
    request = request_for(4, resamples=RESAMPLES)
    plain, named = report_of(request), report_of({**request, "family": 4})
    assert named["pairs"] == plain["pairs"]
    assert named["systems"] == plain["systems"]


def test_adjusted_p_values_only_fall_as_systems_arrive():
    def by_pair(systems: int) -> dict[tuple[str, str], float]:
        report = report_of(request_for(systems, resamples=999, family=7))
        return {(pair["a"], pair["b"]): pair["p_adjusted"] for pair in report["pairs"]}

    before = by_pair(2)
    for systems in range(3, 7):
        after = by_pair(systems)
        assert all(after[pair] <= p for pair, p in before.items())
        before = after


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"family": 2}, "A family of 2 systems cannot hold the 3 that are given"),
        ({"family": 1}, "family must be from 2 to 1,000, not 1"),
        ({"family": 1001}, "family must be from 2 to 1,000"),
        ({"family": "all"}, "family must be a number of systems or \"present\", not 'all'"),
        ({"family": 2.5}, "family must be a number of systems"),
        ({"family": True}, "family must be a number of systems"),
        (
            {"family": 8, "tests": ["bootstrap"], "correction": "max_t"},
            'family must be "present", not 8',
        ),
        ({"family": 8, "correction": "tukey"}, 'family must be "present"'),
    ],
)
def test_impossible_families_are_refused(fields, said):
    with pytest.raises(RecipeError, match=said) as caught:
        parse_comparison(request_for(3, **fields))
    assert caught.value.field == "family"
