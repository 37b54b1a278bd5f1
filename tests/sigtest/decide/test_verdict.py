"""What a pair's one line says, and that it names the system the test is for."""

from dataclasses import replace

import pytest

from sigtest.decide.words import verdict
from sigtest.report import PairReport

PAIR = PairReport(
    a="A",
    b="B",
    metric="bleu",
    test="bootstrap",
    alternative="two-sided",
    score_a=30.8,
    score_b=30.0,
    difference=0.8,
    ci=(0.31, 1.29),
    stderr=0.25,
    count=0,
    resamples=9999,
    p_value=0.0001,
    log10_p=-4.0,
    p_interval=(0.0, 0.0004),
    p_adjusted=0.002,
    significant=True,
    undecided=False,
    resamples_needed=None,
    exact=False,
    calibrated=True,
    detectable=(0.7, 0.95),
    verdict="",
)


def test_better_system_comes_first_with_its_difference():
    expected = "A is better than B: +0.8 bleu [0.3, 1.3], p = 0.0020 after Holm over 66 comparisons"
    assert verdict(PAIR, True, "holm", 66) == expected


def test_the_smallest_p_value_that_is_kept_is_a_bound():
    said = verdict(replace(PAIR, p_adjusted=1e-300), True, "none", 1)
    assert said.endswith("p < 1e-300")


@pytest.mark.parametrize(
    ("difference", "higher", "begins"),
    [
        (0.8, True, "A is better than B: +0.8 bleu [0.3, 1.3]"),
        (0.8, False, "B is better than A: -0.8 bleu [-1.3, -0.3]"),
        (-0.8, True, "B is better than A: +0.8 bleu [0.3, 1.3]"),
        (-0.8, False, "A is better than B: -0.8 bleu [-1.3, -0.3]"),
    ],
)
def test_the_winner_is_who_has_more_of_what_is_good(difference, higher, begins):
    ends = (0.31, 1.29) if difference > 0 else (-1.29, -0.31)
    assert verdict(replace(PAIR, difference=difference, ci=ends), higher, "none", 1).startswith(
        begins
    )


@pytest.mark.parametrize(
    ("stderr", "shown"),
    [
        (0.00234, "+0.801 bleu [0.310, 1.290]"),
        (0.025, "+0.80 bleu [0.31, 1.29]"),
        (0.25, "+0.8 bleu [0.3, 1.3]"),
        (2.5, "+0.8 bleu [0.3, 1.3]"),
        (25.0, "+0.8 bleu [0.3, 1.3]"),
    ],
)
def test_digits_are_those_that_the_standard_error_has(stderr, shown):
    said = verdict(replace(PAIR, difference=0.801, stderr=stderr), True, "none", 1)
    assert said.startswith(f"A is better than B: {shown}, p")


@pytest.mark.parametrize(("alternative", "winner"), [("greater", "A"), ("less", "B")])
def test_one_sided_claim_names_its_system(alternative, winner):
    said = verdict(replace(PAIR, alternative=alternative), True, "none", 1)
    assert said.startswith(f"{winner} is better")


def test_no_separation_says_what_could_be_seen():
    said = verdict(replace(PAIR, significant=False, detectable=(0.7, 0.97)), True, "holm", 66)
    assert said == (
        "A and B are not separated: "
        "this test set would show a difference of 1.0 bleu with 80 % power"
    )


def test_undecided_pair_has_no_winner():
    pair = replace(PAIR, undecided=True, resamples_needed=20_000)
    assert verdict(pair, True, "holm", 66) == (
        "A and B are undecided: +0.8 bleu, p = 0.0020 after Holm over 66 comparisons; "
        "more resamples could turn the decision round"
    )


def test_no_more_resamples_are_advised_than_can_be_asked_for():
    said = verdict(replace(PAIR, undecided=True), True, "none", 1)
    assert said.endswith("999,999 resamples, the most that can be asked for, would likely not "
                         "settle it")  # fmt: skip


def test_identical_systems_are_not_said_to_need_a_larger_test_set():
    same = replace(PAIR, difference=0.0, stderr=0.0, significant=False, detectable=(0.0, 0.0))
    assert verdict(same, True, "holm", 66) == "A and B score the same bleu on every resample"


@pytest.mark.parametrize("difference", [0.8, -0.8])
@pytest.mark.parametrize("stderr", [0.0, 5.6e-17])
def test_where_no_resample_differs_no_detectable_difference_is_named(stderr, difference):
    pair = replace(PAIR, significant=False, stderr=stderr, difference=difference)
    assert verdict(replace(pair, detectable=(stderr, stderr)), True, "none", 1) == (
        f"A and B are not separated: {difference:+} bleu on every resample, p = 0.0020"
    )
