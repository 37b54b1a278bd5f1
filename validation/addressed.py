"""Part 1 continued: where draws come from, and that sums of what they draw are exact."""

from __future__ import annotations

import itertools
import math

import numpy as np

from sigtest.arrays import Array
from sigtest.draws import product, weights
from sigtest.draws.weights import COUNTS, SWAPS
from validation.results import Check, all_hold
from validation.settings import SEED

MASK = 0xFFFFFFFF
SEEDS = (0, SEED, 2**31 + 7, 2**32 + SEED, 2**63 + 5, 2**64 - 1)
RESAMPLES = (0, 65_535, 65_536, 999_998)
LIMITS = (11_000_001, 2**24 - 1, 2**24, 2**24 + 1, 2**25 + 1, 2**26 + 1)


def philox(counter: tuple[int, int, int, int], seed: int) -> list[int]:
    """Four words of Philox4x32-10 (Salmon et al. 2011, section 4.3) on Python's own integers."""
    c, k = list(counter), [seed & MASK, seed >> 32]
    for _ in range(10):
        first, second = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [(second >> 32) ^ c[1] ^ k[0], second & MASK, (first >> 32) ^ c[3] ^ k[1], first & MASK]
        k = [(k[0] + 0x9E3779B9) & MASK, (k[1] + 0xBB67AE85) & MASK]
    return c


def words(seed: int, kind: int, resample: int, stream: int, size: int) -> list[int]:
    """The first words of one resample, call after call."""
    calls = (philox((j, resample, kind, stream), seed) for j in itertools.count())
    return list(itertools.islice(itertools.chain.from_iterable(calls), size))


def draws_are_addressed() -> Check:
    """Every weight follows from seed, kind, stream, resample and position alone."""
    problems, cases = [], 0
    asked = [*itertools.product(SEEDS, RESAMPLES, (0, 3), (9, 130)), (SEED, 0, 1, 4_500)]
    for seed, resample, stream, units in asked:
        cases += 2
        counts = np.zeros(units)
        for word in words(seed, COUNTS, resample, stream, units):
            counts[word * units >> 32] += 1
        drawn = weights.bootstrap_counts(seed, resample, resample + 1, units, stream)[0]
        coins = words(seed, SWAPS, resample, stream, -(-units // 32))
        kept = [float(coins[i // 32] >> (i % 32) & 1) for i in range(units)]
        swapped = weights.swap_masks(seed, resample, resample + 1, units, stream)[0]
        for name, found, wanted in (("counts", drawn, counts), ("swaps", swapped, kept)):
            if found.tolist() != list(wanted):
                problems.append(f"{name} of seed {seed}, resample {resample}, stream {stream}")
    return all_hold(
        "draws are addressed",
        "Counts and swaps are those of Philox on whole numbers without bound, for seeds up to "
        "2^64 - 1, resamples up to 999,998, several streams, and 4,500 units.",
        problems,
        cases,
    )


def kinds_of_draws_differ() -> Check:
    """Swaps are no function of the words that counts are made of."""
    seen = {tuple(words(SEED, kind, 7, 0, 40)) for kind in (COUNTS, SWAPS)}
    problems = [] if len(seen) == 2 else ["counts and swaps share their random words"]
    return all_hold(
        "kinds of draws differ",
        "Counts and swaps come from different words of the generator.",
        problems,
        1,
    )


def strata_have_their_streams() -> Check:
    """The bootstrap within strata: each draws its own units, from its own stream."""
    problems = []
    strata = np.array([0, 1, 1, 0, 2, 1, 0, 2, 2, 2, 1, 0, 0, 1])
    drawn = weights.stratified_counts(SEED, 5, 9, strata, 4)
    for number in range(3):
        inside = np.flatnonzero(strata == number)
        for row, resample in enumerate(range(5, 9)):
            counts = [0] * len(inside)
            for word in words(SEED, COUNTS, resample, 4 + number, len(inside)):
                counts[word * len(inside) >> 32] += 1
            if drawn[row, inside].tolist() != counts:
                problems.append(f"stratum {number}, resample {resample}")
    return all_hold(
        "strata have their streams",
        "Within each stratum the counts are those of the stratum's own stream of Philox.",
        problems,
        12,
    )


def draws_are_fair_with_many_units() -> Check:
    """Means and variances of the weights of 257 and 4,097 units."""
    rows, problems = 4_000, []
    for units in (257, 4_097):
        counts = weights.bootstrap_counts(SEED, 0, rows, units).astype(float)
        masks = weights.swap_masks(SEED, 0, rows, units).astype(float)
        for name, drawn, mean, variance in (
            ("counts", counts, 1.0, 1 - 1 / units),
            ("swaps", masks, 0.5, 0.25),
        ):
            off = np.abs(drawn.mean(axis=0) - mean).max() * math.sqrt(rows / variance)
            if off > 6.0:
                problems.append(f"{name} of {units} units: a mean is {off:.1f} errors off")
            spread = float(drawn.var(axis=0).mean()) / variance
            if abs(spread - 1) > 0.01:
                problems.append(f"{name} of {units} units: variance is {spread:.3f} of what it is")
            # of the sum of the first half, which draws of units side by side would distort
            half = float(drawn[:, : units // 2].sum(axis=1).var()) / (units * 0.25 * variance)
            wanted = 1.0 if name == "counts" else 2.0
            if abs(half / wanted - 1) > 0.2:
                problems.append(f"{name} of {units} units: halves vary {half / wanted:.2f} fold")
    return all_hold(
        "draws are fair with many units",
        f"Over {rows:,} resamples each of 257 and 4,097 units' mean weights is within 6 standard "
        "errors of what it should be, mean variances within 1 %, those of half the units' sums "
        "within 20 %.",
        problems,
        12,
    )


def sums_around_the_limit_are_exact() -> Check:
    """Whole numbers whose sums lie on either side of what float32 holds."""
    problems, cases = [], 0
    for total, units in itertools.product(LIMITS, (3, 40, 5_000)):
        column = np.full(units, float(total // (units - 1)))
        column[-1] = 0.0  # the smallest, which is taken off the others before they are multiplied
        column[0] += total - column.sum()
        columns = product.DistinctColumns([column[None, :, None]])
        every, last = np.ones(units), np.arange(units) == units - 1
        for weighed in (every, every + last, every + 2 * (np.arange(units) % 2)):
            cases += 1
            (sums,) = columns.sums(weighed[None].astype(np.float32))
            if sums[0, 0, 0] != sum(int(w) * int(x) for w, x in zip(weighed, column, strict=True)):
                problems.append(f"{units} numbers that sum to {total}: {sums[0, 0, 0]:.0f}")
    return all_hold(
        "sums around the limit are exact",
        "Sums of 11,000,001, 2^24 - 1, 2^24, 2^24 + 1, 2^25 + 1 and 2^26 + 1, with weights of 1 "
        "to 3, are whole-number arithmetic's.",
        problems,
        cases,
    )


def columns_are_told_apart() -> Check:
    """Columns that differ in one unit only, wherever it stands, have sums of their own."""
    alike = np.tile(np.arange(30.0), (31, 1))
    alike[np.arange(30), np.arange(30)] += 100.0
    (sums,) = product.DistinctColumns([alike[:, :, None]]).sums(np.ones((1, 30), dtype=np.float32))
    found = sums[0, :, 0].tolist()
    problems = [
        f"column {i}: {value:g}" for i, value in enumerate(found) if value != 535 - (i == 30) * 100
    ]
    return all_hold(
        "columns are told apart",
        "Of 31 columns that differ in one unit each has the sum of its own numbers.",
        problems,
        31,
    )


def sums_of_fractions_are_exact() -> Check:
    """Fixed point: resampled sums of real numbers against sums without rounding."""
    rng = np.random.default_rng(SEED)
    problems = []
    for number in range(20):
        rows = rng.lognormal(sigma=3, size=(60, 1)) * rng.choice([-1, 1], size=(60, 1))
        drawn = weights.bootstrap_counts(SEED + number, 0, 5, 60)
        table: Array = product.fixed_point(rows)[None]
        (found,) = product.DistinctColumns([table]).sums(drawn)
        largest = float(np.abs(rows).max())
        for row, sums in zip(drawn, found[0, 0], strict=True):
            wanted = math.fsum(float(w) * float(x) for w, x in zip(row, rows[:, 0], strict=True))
            if abs(sums - wanted) > 60 * 60 * largest * 2.0**-52:
                problems.append(f"data set {number}: off by {abs(sums - wanted) / largest:.1e}")
    return all_hold(
        "sums of fractions are exact",
        "Resampled sums of 60 real numbers differ from those without any rounding by less than "
        "n^2 2^-52 of the largest.",
        problems,
        100,
    )
