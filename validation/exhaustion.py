"""Part 1, proof by exhaustion: every swapped data set is treated as the observed one.

Under the null hypothesis all 2**n swapped data sets are equally probable. If, of all of them, at
most j have a p-value of j / 2**n or less, for every j, then P(p <= t) <= t for every t: the test
is exact, for this metric on these data, and no simulation is needed to say so.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction

import numpy as np
from scipy.stats import binom

from sigtest.arrays import Array, Counts
from sigtest.metrics import Metric
from sigtest.requests.recipe import parse_metric
from sigtest.significance import ALTERNATIVES, Alternative
from sigtest.significance.exact import ExactP, applies, convolve_swaps, enumerate_swaps
from validation import fixtures
from validation.nulls import subsets
from validation.parallel import spread
from validation.results import Check, all_hold
from validation.settings import SEED, SMALL_CHANCE

Pair = tuple[Metric, Array, Array]


def pairs(seed: int, n: int, slow: bool = False) -> Iterator[Pair]:
    """A made-up pair of systems under every metric."""
    made = fixtures.comparison(seed, n, chosen=fixtures.metrics(slow))
    for metric, table in zip(made.recipe.metrics, fixtures.tables(made), strict=True):
        yield metric, table[0], table[1]


def swap_counts(pair: Pair, alternative: Alternative) -> Counts:
    """(2**n,) sorted p * 2**n of every swapped data set, each treated as the observed one."""
    metric, a, b = pair
    found = []
    for pattern in subsets(len(a)):
        kept = pattern[:, None] == 1
        p = enumerate_swaps(metric, np.where(kept, a, b), np.where(kept, b, a), alternative)
        found.append(_count(p, len(a)))
    return np.sort(found)


def _count(p: ExactP | None, n: int) -> int:
    """P * 2**n; equal units are left out of the count's own number of patterns."""
    if p is None or p.count is None or p.patterns is None:
        raise ValueError("no exact count for so few units")
    return p.count * (2**n // p.patterns)


def level_holds_exactly(datasets: int = 2, largest: int = 6, workers: int = 1) -> Check:
    """At most j of all 2**n swapped data sets have p <= j / 2**n, for every j."""
    tasks = [
        (SEED + d, n) for d in range(datasets) for n in range(max(3, largest - 3), largest + 1)
    ]
    problems: list[str] = []
    cases = 0
    for count, found in spread(_level_task, tasks, workers):
        cases += count
        problems += found
    return all_hold(
        "level holds exactly",
        f"Of all 2^n swapped data sets at most j have p <= j/2^n, for every j; n up to {largest}, "
        "every metric and alternative, counted in whole numbers without tolerance.",
        problems,
        cases,
    )


def _level_task(task: tuple[int, int]) -> tuple[int, list[str]]:
    seed, n = task
    problems = []
    cases = 0
    for pair in pairs(seed, n):
        for alternative in ALTERNATIVES:
            counts = swap_counts(pair, alternative)
            cases += 1
            if (counts < np.arange(1, 2**n + 1)).any():
                problems.append(f"{pair[0].spelling} {alternative} n={n} seed={seed}")
    return cases, problems


def exact_paths_agree(datasets: int = 3) -> Check:
    """Enumeration and convolution give the same p wherever both apply."""
    problems = []
    cases = 0
    for seed in range(datasets):
        for n in (5, 9, 14, 20):
            for metric, a, b in pairs(SEED + seed, n):
                if not applies(metric, np.stack([a, b])):
                    continue
                for alternative in ALTERNATIVES:
                    listed = enumerate_swaps(metric, a, b, alternative)
                    convolved = convolve_swaps(metric, a, b, alternative)
                    if listed is None or convolved is None:
                        continue
                    cases += 1
                    if not math.isclose(listed.p_value, convolved.p_value, rel_tol=1e-9):
                        problems.append(f"{metric.spelling} {alternative} n={n} seed={seed}")
    return all_hold(
        "exact paths agree",
        "Convolution equals enumeration (relative 1e-9, what the convolution promises) for every "
        "metric that is linear, where both are possible.",
        problems,
        cases,
    )


def convolution_is_exact(units: tuple[int, ...] = (30, 100, 300)) -> Check:
    """Convolved p-values equal whole-number counts of all 2**n patterns."""
    problems = []
    rng = np.random.default_rng(SEED)
    metric = parse_metric("scores:of=grid")
    cases = 0
    for n in units:
        for shift in (0.0, 0.2, 0.6):
            difference = np.rint(rng.normal(shift, 1.5, size=n))
            ones = np.ones(n)
            a, b = np.stack([difference, ones], axis=1), np.stack([0 * ones, ones], axis=1)
            for alternative in ALTERNATIVES:
                found = convolve_swaps(metric, a, b, alternative)
                wanted = _log10(counted_in_integers(difference, alternative))
                cases += 1
                if found is None or not abs(found.log10_p - wanted) < 1e-9:
                    shown = "nothing" if found is None else f"{found.log10_p:.12g}"
                    problems.append(f"n={n} {alternative}: {shown}, not {wanted:.12g}")
    return all_hold(
        "convolution is exact",
        "log10 p of the convolution equals that of whole-number arithmetic over all 2^n patterns "
        f"(to 1e-9, a relative 2e-9 of p), for {', '.join(map(str, units))} units and p down to "
        "the far tail.",
        problems,
        cases,
    )


def counted_in_integers(differences: Array, alternative: Alternative) -> Fraction:
    """Share of sign patterns that reach the observed sum, in Python's own whole numbers."""
    sums = Counter({0: 1})
    for d in differences.astype(int).tolist():
        moved: Counter[int] = Counter()
        for value, ways in sums.items():
            moved[value + d] += ways
            moved[value - d] += ways
        sums = moved
    total = int(differences.sum())
    if alternative == "two-sided":
        reached = sum(ways for value, ways in sums.items() if abs(value) >= abs(total))
    else:
        sign = 1 if alternative == "greater" else -1
        reached = sum(ways for value, ways in sums.items() if sign * value >= sign * total)
    return Fraction(reached, 2 ** len(differences))


def _log10(share: Fraction) -> float:
    return math.log10(share.numerator) - math.log10(share.denominator)


def exact_p_knows_no_unit() -> Check:
    """Scores in other units (thousandths, millionths ...) have the same exact p."""
    problems = []
    rng = np.random.default_rng(SEED)
    grid = np.stack([rng.integers(0, 9, size=40) for _ in range(2)]).astype(float)
    metric = parse_metric("scores:of=grid")
    ones = np.ones(40)
    cases = 0
    for alternative in ALTERNATIVES:
        found = []
        for unit in (1.0, 1e-3, 1e-6, 1e-8, 1e3):
            a, b = (np.stack([unit * row, ones], axis=1) for row in grid)
            p = convolve_swaps(metric, a, b, alternative)
            found.append((unit, p.p_value if p else math.nan))
        for unit, p_found in found[1:]:
            cases += 1
            # no exact p at all is honest (the product then resamples); another p is not
            if not math.isnan(p_found) and not math.isclose(p_found, found[0][1], rel_tol=1e-9):
                problems.append(f"{alternative}: p {found[0][1]:.6g} but {p_found:.6g} x {unit:g}")
    return all_hold(
        "exact p knows no unit",
        "Multiplying all scores by a constant leaves every exact p as it was, or leaves the pair "
        "to resampling; it never gives another exact p.",
        problems,
        cases,
    )


def resampled_agrees_with_exact(datasets: int = 2, resamples: int = 9_999) -> Check:
    """Resampled counts are binomial around the exact p-value."""
    problems = []
    cases = 0
    for seed in range(datasets):
        for alternative in ALTERNATIVES:
            made = fixtures.comparison(
                SEED + seed, 10, alternative=alternative, resamples=resamples, seed=seed
            )
            for metric, table, pair in zip(
                made.recipe.metrics, fixtures.tables(made), fixtures.firsts(made), strict=True
            ):
                exact = enumerate_swaps(metric, table[0], table[1], alternative)
                cases += 1
                if exact is None or pair.count is None or pair.exact:
                    problems.append(f"{metric.spelling}: no count")
                    continue
                low, high = binom.interval(1 - SMALL_CHANCE, resamples, exact.p_value)
                if not low <= pair.count <= high:
                    problems.append(f"{metric.spelling} {alternative}: {pair.count}")
    return all_hold(
        "resampled agrees with exact",
        f"The count in {resamples:,} resamples lies within the central 1 - 1e-6 of the binomial "
        "around the exact p, for every metric and alternative: there is no other error.",
        problems,
        cases,
    )
