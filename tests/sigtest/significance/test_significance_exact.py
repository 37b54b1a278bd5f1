"""Exact and resampled p-values against exact rational arithmetic and the worked fixtures."""

import json
import math
from fractions import Fraction
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from sigtest.comparison.comparison import parse_comparison
from sigtest.engine import compare
from sigtest.metrics.scores import Fscore, Scores
from sigtest.report import PairReport
from sigtest.significance.exact import (
    ExactP,
    applies,
    convolve_swaps,
    enumerate_swaps,
    exact_signs,
    log_upper_tail,
    on_grid,
    surely_on_grid,
)

BOOTSTRAPS = ["bootstrap", "paired_bootstrap", "riezler_maxwell_bootstrap"]


def fixture(oracles: Path, name: str) -> dict:
    return json.loads((oracles / "significance.exact.json").read_text())[name]


def run(worked: dict, **recipe: object) -> dict[str, PairReport]:
    metric = "scores" if worked["statistic"] == "mean of segment scores" else "fscore"
    body = {
        "systems": [{"name": name, "scores": {"x": worked[name]}} for name in "XY"],
        "metrics": [{"name": metric, "of": "x"}],
        # more would tell apart ties with the mean of all resamples and with the mean of some
        "resamples": 9_999,
        **recipe,
    }
    report = compare(parse_comparison(body))
    return {pair.test: pair for pair in report.pairs if pair.a == "X"}


@pytest.mark.parametrize("name", ["fixture_A", "fixture_B"])
@pytest.mark.parametrize(
    ("alternative", "entry"), [("two-sided", "ar_two_sided"), ("greater", "ar_one_sided")]
)
def test_worked_fixtures_have_exact_randomization_p(oracles, name, alternative, entry):
    worked = fixture(oracles, name)
    pair = run(worked, alternative=alternative, resamples=99)["approximate_randomization"]
    expected = worked["approximate_randomization"][entry]
    assert pair.exact
    assert pair.p_value == expected["p"]
    assert pair.p_interval == (expected["p"], expected["p"])
    assert pair.count * 2 ** len(worked["X"]) == expected["count"] * pair.resamples


@pytest.mark.parametrize("name", ["fixture_A", "fixture_B"])
@pytest.mark.parametrize(
    ("test", "alternative", "entry", "sides"),
    [
        ("bootstrap", "two-sided", "boot_two_sided", 1),
        ("bootstrap", "greater", "boot_one_sided", 1),
        ("paired_bootstrap", "greater", "paired_nonstrict", 1),
        ("paired_bootstrap", "two-sided", "paired_nonstrict", 2),
        ("riezler_maxwell_bootstrap", "two-sided", "rm_legacy", 1),
    ],
)
def test_worked_fixtures_are_within_four_standard_errors(
    oracles, name, test, alternative, entry, sides
):
    worked = fixture(oracles, name)
    expected = worked["bootstrap"][entry]["value"]
    pair = run(worked, tests=BOOTSTRAPS, alternative=alternative)[test]
    error = math.sqrt(expected * (1 - expected) / pair.resamples)
    assert abs(pair.p_value / sides - expected) <= 4 * error + 1 / pair.resamples


def sums_of_signs(sizes: list[int]) -> dict[int, int]:
    """In how many ways signs give each sum: the product of all 1/x**size + x**size.

    Its coefficients are the digits of one large number, the lowest sum first, in steps of two.
    """
    digit = len(sizes) // 8 + 1  # bytes
    product = 1
    for size in sizes:
        product += product << 8 * digit * size
    digits = product.to_bytes(digit * (sum(sizes) + 1), "little")
    ways = [int.from_bytes(digits[i : i + digit], "little") for i in range(0, len(digits), digit)]
    return {2 * i - sum(sizes): count for i, count in enumerate(ways) if count}


@pytest.mark.parametrize("largest", [1, 3, 40, 500])
@pytest.mark.parametrize("units", [1, 2, 17, 150])
def test_tail_equals_integer_arithmetic(units, largest):
    sizes = np.random.default_rng(units * largest).integers(1, largest + 1, units)
    sums = sums_of_signs(sizes.tolist())
    most = int(sizes.sum())
    for reach in range(2 - most % 2, most + 1, max(2, most // 14 * 2)):
        ways = sum(count for total, count in sums.items() if total >= reach)
        expected = math.log(ways) - units * math.log(2)
        assert log_upper_tail(sizes, reach) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("reach", [2, 10, 400, 1_800, 2_996, 2_998])
def test_tail_of_equal_steps_is_binomial(reach):
    ways = sum(math.comb(3_000, up) for up in range(1_500 + reach // 2, 3_001))
    expected = math.log(ways) - 3_000 * math.log(2)
    assert log_upper_tail(np.ones(3_000, dtype=np.int64), reach) == pytest.approx(
        expected, abs=1e-9
    )


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
@pytest.mark.parametrize("higher", [True, False])
def test_convolution_agrees_with_enumeration(alternative, higher):
    rng = np.random.default_rng(5)
    metric = Scores(higher=higher)
    for _ in range(40):
        n = int(rng.integers(1, 14))
        tables = np.stack([rng.integers(0, 4, (2, n)) / 4, np.ones((2, n))], axis=2)
        listed = enumerate_swaps(metric, tables[0], tables[1], alternative)
        convolved = convolve_swaps(metric, tables[0], tables[1], alternative)
        assert convolved.log10_p == pytest.approx(listed.log10_p, abs=1e-12)


def tail_of_signs(sizes: list[int], reach: int) -> Fraction:
    sums = sums_of_signs(sizes)
    return Fraction(sum(ways for total, ways in sums.items() if total >= reach), 2 ** len(sizes))


@pytest.mark.parametrize("sizes", [[1] * 40, [1] * 41, [2, 4, 6], [3] * 60, [6, 9, 15] * 9])
@pytest.mark.parametrize("share", [0.0, 0.4, 1.0])
@pytest.mark.parametrize("ahead", [1, -1])
def test_signs_are_counted_as_fractions_say(sizes, share, ahead):
    possible = sorted(total for total in sums_of_signs(sizes) if total >= 0)
    total = ahead * possible[round(share * (len(possible) - 1))]
    expected = {
        "greater": tail_of_signs(sizes, total),
        "less": tail_of_signs(sizes, -total),
        "two-sided": min(Fraction(1), 2 * tail_of_signs(sizes, abs(total))) if total else 1,
    }
    for alternative, p in expected.items():
        found = exact_signs(np.array(sizes), total, alternative)
        assert found.log10_p == pytest.approx(math.log10(p), abs=1e-9)
        assert found.p_value == pytest.approx(float(p), rel=1e-9)
        if len(sizes) <= 40:
            assert (found.count, found.patterns) == (p * 2 ** len(sizes), 2 ** len(sizes))
        else:
            assert (found.count, found.patterns) == (None, None)


def tables(*systems: list[tuple[float, float]]) -> np.ndarray:
    """(S, n, 2) values and weights."""
    return np.array(systems, dtype=np.float64)


HALF = 2.0**21  # of the points that a grid may have
ON_GRID = [
    (tables([(1, 1), (2, 1)], [(0, 1), (3, 1)]), True),
    (tables([(0.5, 1), (2, 1)], [(0, 1), (3, 1)]), False),  # on no grid of whole numbers
    (tables([(0.75, 1)], [(1, 1)]), False),
    (tables([(1, 1), (2, 1)], [(0.25, 1), (0.25, 1)]), False),
    (tables([(1, 1), (2, 1)], [(0, 1), (3, 0)]), False),  # a denominator that exchanges change
    (tables([(1, 1)], [(1, 1)], [(1, 0)]), False),
    (tables([(1, 0)], [(1, 1)], [(1, 1)]), False),
    (tables([(0, 0)], [(0, 0)]), False),  # none at all
    (tables([(HALF - 2, 1), (-1, 1)], [(1, 1), (1, 1)]), True),
    (tables([(HALF - 1, 1), (-1, 1)], [(1, 1), (1, 1)]), False),  # too many points
    (tables([(1, 1), (1, 1)], [(HALF, 1), (0, 1)]), False),
    (tables([(HALF / 2, 1), (HALF / 2, 1)], [(0, 1), (0, 1)]), False),
    (tables([(3 * HALF, 1)], [(0, 1)]), False),
]


@pytest.mark.parametrize(("statistics", "sure"), ON_GRID)
def test_which_scores_are_sure_to_be_exact(statistics, sure):
    assert surely_on_grid(Scores(), statistics) is sure


def test_scores_that_are_no_fraction_are_not_sure_to_be_exact():
    assert not surely_on_grid(Fscore(), np.ones((2, 3, 3)))
    assert not applies(Fscore(), np.ones((2, 3, 3)))


def test_denominators_that_exchanges_change_are_not_convolved():
    first, second = tables([(1, 1), (2, 1)], [(0, 1), (3, 2)])
    assert convolve_swaps(Scores(), first, second, "greater") is None


@pytest.mark.parametrize(
    ("differences", "steps"),
    [
        ([0.0, 0.0], [0, 0]),
        ([0.25, -0.5, 0.0], [1, -2, 0]),
        ([0.0304, 0.0008], [38, 1]),
        ([4.0, 8.0], [1, 2]),
        (np.random.default_rng(1).normal(size=500).tolist(), None),
        ([0.000000001, 7.0], None),
        ([1e9] + [0.3] * 30, None),
        ([3e-9, 1e-9], [3, 1]),  # the finest grid has nine decimals
        ([3e-10, 1e-9], None),
        ([2.0**21, -(2.0**21) + 1], [2**21, -(2**21) + 1]),
        ([2.0**21, -(2.0**21)], [1, -1]),
        ([2.0**21 + 1, -(2.0**21) + 1], None),  # as many points as are too many
        ([2.0**62, -(2.0**61)], [2, -1]),
        ([2.0**63], None),  # no whole number of 64 bits
    ],
)
def test_differences_are_whole_steps_of_the_coarsest_grid(differences, steps):
    found = on_grid(np.array(differences))
    assert (found if found is None else found.tolist()) == steps


def units(count: int, same: int) -> np.ndarray:
    """Two systems that differ in both columns of some units, up and down, and not in others."""
    first = np.tile([[3.0, 2.0], [1.0, 1.0]], (count, 1))[:count]
    second = np.tile([[1.0, 1.0], [3.0, 2.0]], (count, 1))[:count]
    equal = np.ones((same, 2))
    return np.stack([np.concatenate([equal, first]), np.concatenate([equal, second])])


@pytest.mark.parametrize(("count", "same"), [(1, 0), (5, 4), (11, 3), (20, 30)])
def test_up_to_twenty_differing_units_are_enumerated(count, same):
    found = enumerate_swaps(Scores(), *units(count, same), "greater")
    assert found.patterns == 2**count
    assert found.exact
    assert found.p_value == found.count / 2**count


@pytest.mark.parametrize("same", [0, 30])
def test_more_are_not(same):
    assert enumerate_swaps(Scores(), *units(21, same), "greater") is None


@pytest.mark.parametrize(
    ("found", "p"),
    [
        (ExactP(3, 8, math.log10(3 / 8)), 3 / 8),
        (ExactP(None, None, -2.0), 0.01),
        (ExactP(None, None, -5000.0), 1e-300),
        (ExactP(None, 8, -2.0), 0.01),
    ],
)
def test_an_exact_p_is_a_quotient_or_a_power(found, p):
    assert found.p_value == pytest.approx(p, rel=1e-15)


def test_enumeration_equals_a_loop_over_all_swaps():
    rng = np.random.default_rng(6)
    metric = Fscore()
    tables = rng.integers(1, 5, (2, 9, 3)).astype(float)
    observed = abs(float(np.diff(metric.score(tables.sum(1)))[0]))
    reached = 0
    for kept in product([False, True], repeat=9):
        mask = np.array(kept)[:, None]
        swapped = np.stack(
            [np.where(mask, tables[0], tables[1]), np.where(mask, tables[1], tables[0])]
        )
        reached += abs(float(np.diff(metric.score(swapped.sum(1)))[0])) >= observed - 1e-12
    found = enumerate_swaps(metric, tables[0], tables[1], "two-sided")
    assert found.p_value == reached / 2**9


@pytest.mark.parametrize("units", range(21, 120, 7))
def test_exact_p_is_never_above_one(units):
    """Totals one step apart: every pattern of an odd number of units is as extreme."""
    differences = np.ones(units)
    differences[: units // 2] = -1
    tables = np.stack([np.stack([differences, np.ones(units)], axis=1)] * 2)
    tables[1, :, 0] = 0
    found = convolve_swaps(Scores(), tables[0], tables[1], "two-sided")
    assert 1 - 1e-9 <= found.p_value <= 1 or units % 2 == 0
    assert found.log10_p <= 0


def signed_sums(steps: np.ndarray) -> dict[int, int]:
    """How many of all patterns of signs give each sum, in whole numbers."""
    sums = {0: 1}
    for step in steps.tolist():
        both = [(total + way, ways) for total, ways in sums.items() for way in (step, -step)]
        sums = {}
        for total, ways in both:
            sums[total] = sums.get(total, 0) + ways
    return sums


@pytest.mark.parametrize("unit", [1.0, 1e15, 1e18, 1e19, 2.0**63, 1e20, 1e30, 1e45])
def test_exact_p_is_that_of_whole_numbers_in_every_unit_or_there_is_none(unit):
    steps = np.random.default_rng(0).integers(-5, 6, 30)
    sums, total = signed_sums(steps), abs(int(steps.sum()))
    reached = sum(ways for value, ways in sums.items() if abs(value) >= total)
    tables = np.ones((2, 30, 2))
    tables[0, :, 0], tables[1, :, 0] = steps * unit, 0.0
    found = convolve_swaps(Scores(), tables[0], tables[1], "two-sided")
    if unit <= 1e15:
        assert found is not None
    assert found is None or found.p_value == pytest.approx(reached / 2**30, rel=1e-9)


def test_steps_whose_sum_no_whole_number_holds_have_no_grid():
    large = np.random.default_rng(0).integers(2**51, 2**52, 4000)
    assert 2**63 < sum(large.tolist()) < 2**64
    assert on_grid(large.astype(float)) is None


def test_large_whole_scores_that_cancel_have_a_p_value():
    rng = np.random.default_rng(3)
    for _ in range(50):
        values = rng.integers(-(10**17), 10**17, (2, 8)).astype(float)
        tables = np.stack([values, np.ones((2, 8))], axis=2)
        assert 0 < enumerate_swaps(Scores(), tables[0], tables[1], "greater").p_value <= 1


def test_the_observed_pattern_counts_however_large_what_cancels_is():
    """a is ahead in all units by a few steps of sums that round: one pattern of eight."""
    a = [-5.545034808138676e16, -4.491321123990861e16, 1.0036355932129557e17]
    b = [-5.5450348081386824e16, -4.491321123990866e16, 1.0036355932129549e17]
    tables = np.stack([np.stack([own, np.ones(3)], axis=1) for own in (a, b)])
    found = enumerate_swaps(Scores(), tables[0], tables[1], "greater")
    assert (found.count, found.patterns) == (1, 8)


def test_swaps_that_are_scored_in_parts_are_all_counted():
    """Of 17 units that differ by one step, a is ahead in 13; so it is in 13 or more by chance."""
    ahead = np.arange(17) < 13
    first, second = (np.stack([own, np.ones(17)], axis=1) for own in (ahead, ~ahead))
    found = enumerate_swaps(Scores(), first, second, "greater")
    assert found.count == sum(math.comb(17, up) for up in range(13, 18))
