"""Faults that tests once missed: limits of exactness, centres, ranks, power, blocks, seeds."""

import itertools
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from computed import report_of
from scipy import stats

from sigtest.arrays import Array
from sigtest.comparison.comparison import parse_comparison
from sigtest.draws.product import DistinctColumns
from sigtest.draws.weights import bootstrap_counts, keys, swap_masks, words_plain
from sigtest.engine import distribute
from sigtest.metrics.scores import Scores
from sigtest.significance.exact import enumerate_swaps

MASK = 0xFFFFFFFF


def request_of(rows: Array, **fields: Any) -> dict[str, Any]:
    systems = [{"name": f"s{i}", "scores": {"x": row.tolist()}} for i, row in enumerate(rows)]
    return {"systems": systems, "metrics": ["scores"], **fields}


@pytest.mark.parametrize("total", [2**24 - 1, 2**24, 2**24 + 1, 2**26 + 1])
@pytest.mark.parametrize("units", [3, 5_000])
def test_sums_are_exact_on_both_sides_of_what_float32_holds(total, units):
    column = np.full(units, total // units, dtype=float)
    column[0] += total - column.sum()
    (sums,) = DistinctColumns([column[None, :, None]]).sums(np.ones((1, units), dtype=np.float32))
    assert sums[0, 0, 0] == total
    heavy = np.ones((1, units), dtype=np.float32)
    heavy[0, -1] = 2.0
    (sums,) = DistinctColumns([column[None, :, None]]).sums(heavy)
    assert sums[0, 0, 0] == total + column[-1]


def test_the_centre_of_the_shifted_bootstrap_is_the_mean_of_all_draws():
    """Weighted means; that of the first 4,096 draws lies elsewhere, and counts differ."""
    rng = np.random.default_rng(2)
    resamples, differed = 9_999, 0
    for _ in range(6):
        scores = np.stack([rng.lognormal(size=40) * 1.3, rng.lognormal(size=40)])
        weights = rng.integers(1, 5, size=40).astype(float)
        rows = np.stack([scores, np.stack([weights, weights])], axis=2)
        (pair,) = report_of(request_of(rows, tests=["bootstrap"], resamples=resamples))["pairs"]
        d = scores[0] - scores[1]
        drawn = bootstrap_counts(12345, 0, resamples, 40).astype(float)
        draws = drawn @ (weights * d) / (drawn @ weights)
        counts = [
            int((np.abs(draws - draws[:first].mean()) >= abs(d @ weights / weights.sum())).sum())
            for first in (resamples, 4_096)
        ]
        assert pair["count"] == counts[0]
        differed += counts[0] != counts[1]
    assert differed


def discordant(metric: str, **fields: Any) -> dict[str, Any]:
    """300 segments, of which one system alone has 16 right and the other alone 8.

    F of a match in one word of one is a mean, too, which only its definition as a ratio hides.
    """
    right = np.zeros((2, 300))
    right[0, :16] = right[1, 16:24] = right[:, 24:150] = 1
    if metric == "fscore":
        right = np.stack([right, np.ones_like(right), np.ones_like(right)], axis=2)
    choices: dict[str, Any] = {"tests": ["bootstrap"], "alternative": "greater", "resamples": 999}
    choices["pairs"] = {"baseline": "s1"}  # one claim of one-sided ones
    return request_of(right, **{**choices, **fields, "metrics": [metric]})


def multinomial_tail(least: int) -> float:
    """P(sum of 300 draws from 16 ones, 8 minus ones and 276 zeros >= least), by convolution."""
    one = np.array([8, 276, 16]) / 300
    whole = np.array([1.0])
    for _ in range(300):
        whole = np.convolve(whole, one)
    return float(whole[300 + least :].sum())


@pytest.mark.parametrize("correction", ["none", "max_t"])
def test_the_shifted_bootstrap_of_means_counts_the_atom(correction):
    """Centred on 8, a sum of 16 is as extreme as what was observed, whatever the seed."""
    exact = multinomial_tail(16)
    held = 0
    for seed in range(20):
        (pair,) = report_of(discordant("scores", seed=seed, correction=correction))["pairs"]
        p = pair["p_adjusted" if correction == "max_t" else "p_value"]
        held += pair["p_interval"][0] <= exact <= pair["p_interval"][1]
        assert p == pytest.approx(exact, abs=5 * (exact * (1 - exact) / 999) ** 0.5)
    assert held >= 17
    shown = distribute(parse_comparison(discordant("scores")), "s0", "s1", "scores", "bootstrap")
    assert np.rint(300 * shown.values) == pytest.approx(300 * shown.values, abs=1e-9)


@pytest.mark.parametrize("alternative", ["greater", "two-sided"])
@pytest.mark.parametrize("metric", ["scores", "fscore"])
@pytest.mark.parametrize("correction", ["none", "max_t"])
def test_the_p_value_of_another_seed_lies_in_the_interval(metric, alternative, correction):
    """Also where the centre is an estimate, whose error decides whether an atom counts."""
    pairs = []
    for seed in range(30):
        body = discordant(metric, seed=seed, alternative=alternative, correction=correction)
        pairs += report_of(body)["pairs"]
    held = [
        low <= other["p_value"] <= high
        for low, high in (p["p_interval"] for p in pairs)
        for other in pairs
    ]
    assert np.mean(held) >= 0.80
    if metric == "fscore":
        undecided = [pair["undecided"] for pair in pairs]
        assert alternative == "two-sided" or np.mean(undecided) > 0.8


def test_ranks_follow_from_adjusted_p_values_alone():
    """Differences between plain and adjusted p are common here: many near levels."""
    rng = np.random.default_rng(5)
    rows = rng.normal(size=(7, 120)) + np.linspace(0, 0.6, 7)[:, None]
    report = report_of(request_of(rows, tests=["bootstrap"], resamples=1_999))
    names = [system["name"] for system in report["systems"]]
    better, worse = dict.fromkeys(names, 0), dict.fromkeys(names, 0)
    plain = 0
    for pair in report["pairs"]:
        plain += pair["p_value"] <= 0.05 < pair["p_adjusted"]
        if pair["p_adjusted"] <= 0.05:
            ahead, behind = (
                (pair["a"], pair["b"]) if pair["difference"] > 0 else (pair["b"], pair["a"])
            )
            better[behind] += 1
            worse[ahead] += 1
    assert plain
    for system in report["systems"]:
        name, own = system["name"], system["ranks"]["scores"]["bootstrap"]
        assert own["range"] == [1 + better[name], 7 - worse[name]]


def test_detectable_differences_have_a_power_of_80_per_cent():
    rows = np.random.default_rng(6).normal(size=(3, 60))
    for pair in report_of(request_of(rows, tests=["bootstrap"], resamples=499))["pairs"]:
        plain, corrected = pair["detectable"]
        for found, level in ((plain, 0.05), (corrected, 0.05 / 3)):
            # how likely a difference so large is significant, in standard errors
            power = stats.norm.cdf(found / pair["stderr"] - stats.norm.ppf(1 - level / 2))
            assert power == pytest.approx(0.8, abs=1e-9)


@pytest.mark.parametrize("units", [9, 16, 17, 18, 20])
def test_every_swap_is_enumerated_also_in_the_last_block(units):
    """Distances are powers of two, so that exactly one swap in two reaches any limit."""
    d = 2.0 ** -np.arange(units)
    ones = np.ones(units)
    a, b = np.stack([d, ones], axis=1), np.stack([np.zeros(units), ones], axis=1)
    found = enumerate_swaps(Scores(), a, b, "greater")
    assert found is not None
    assert (found.count, found.patterns) == (1, 2**units)
    d[-1] *= -1  # the largest sum is reached by one other labelling only
    found = enumerate_swaps(Scores(), np.stack([d, ones], axis=1), b, "greater")
    assert found is not None
    assert found.count == 2
    assert found.p_value == Fraction(2, 2**units)
    turned = enumerate_swaps(Scores(), b, np.stack([d, ones], axis=1), "greater")
    assert turned is not None
    assert turned.count == 2**units - 1


def philox(counter: tuple[int, ...], key: tuple[int, int]) -> list[int]:
    """Salmon et al. (2011), section 4.3, on Python's own integers."""
    c, k = list(counter), list(key)
    for _ in range(10):
        first, second = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [(second >> 32) ^ c[1] ^ k[0], second & MASK, (first >> 32) ^ c[3] ^ k[1], first & MASK]
        k = [(k[0] + 0x9E3779B9) & MASK, (k[1] + 0xBB67AE85) & MASK]
    return c


def test_the_generator_has_the_known_answers_of_its_authors():
    assert philox((0, 0, 0, 0), (0, 0)) == [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]
    ones = (MASK,) * 4
    assert philox(ones, (MASK, MASK)) == [0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD]
    cases = itertools.product(
        (0, 1, 2**32 - 1, 2**32, 2**63 + 5, 2**64 - 1), (0, 65_535, 65_536, 999_998, MASK), (0, 7)
    )
    for seed, resample, stream in cases:
        found = words_plain(keys(seed), 1, np.array([resample], dtype=np.uint64), 3, stream)
        for call in range(3):
            key = (seed & MASK, seed >> 32)
            assert found[0, :, call].tolist() == philox((call, resample, 1, stream), key)


def test_positions_do_not_wrap():
    """4,500 units take 1,125 calls of the generator for counts, and 1,125 times 4 words."""
    units, seed = 4_500, 2**40 + 3
    words = [
        word for call in range(1_125) for word in philox((call, 7, 0, 2), (seed & MASK, seed >> 32))
    ]
    tally = np.bincount([word * units >> 32 for word in words], minlength=units)
    assert bootstrap_counts(seed, 7, 8, units, 2)[0].tolist() == tally.tolist()


def test_high_bits_of_the_seed_and_streams_change_all_draws():
    for draw in (bootstrap_counts, swap_masks):
        made = {
            draw(seed, 0, 4, 300, stream).tobytes()
            for seed in (5, 5 + 2**31, 5 + 2**32, 5 + 2**63)
            for stream in (0, 1, 2)
        }
        assert len(made) == 12
        wrapped = [draw(5, first, first + 1, 300).tobytes() for first in (0, 65_536, 131_072)]
        assert len(set(wrapped)) == 3


@pytest.mark.parametrize("units", [257, 4_097])
def test_draws_are_fair_also_with_many_units(units):
    """Every unit is drawn once on average; a mean of R draws has an error of (1 / R) ** .5."""
    resamples = 4_000
    counts = bootstrap_counts(3, 0, resamples, units)
    assert (counts.sum(axis=1) == units).all()
    means = counts.mean(axis=0, dtype=float)
    assert np.abs(means - 1).max() < 5.5 / resamples**0.5
    assert stats.kstest((means - 1) * resamples**0.5, "norm").pvalue > 1e-6
    assert counts.var(dtype=float) == pytest.approx(1 - 1 / units, rel=0.01)
    swaps = swap_masks(3, 0, resamples, units).mean(axis=0, dtype=float)
    assert np.abs(swaps - 0.5).max() < 5.5 * 0.5 / resamples**0.5
    # units far apart go their own ways
    halves = counts[:, : units // 2].sum(axis=1, dtype=float)
    expected = units * 0.25
    assert halves.var() == pytest.approx(expected, rel=0.15)
