"""Intervals of shares of few items: `python -m validation.shares`.

How often do 95 % intervals hold the truth where each item is right or wrong? Nothing is drawn: the
probabilities of all outcomes whose interval holds it are added up. Shares go from .5 to .98. Of two
systems on the same items, answers are independent, or depend on each other so far (phi), or are
nested: the worse system is right only where the better one is.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from itertools import combinations_with_replacement

import numpy as np
from scipy.stats import binom, multinomial

from sigtest.arrays import Array
from sigtest.significance.intervals import (
    bonett_price_interval,
    newcombe_interval,
    wilson_interval,
)
from validation import kept

LEVEL = 0.05
ITEMS = (12, 20, 50)
SHARES = np.round(np.arange(0.5, 0.985, 0.01), 2)
BETTER = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98)
DEPENDENT = {"independent": 0.0, "phi .3": 0.3, "phi .6": 0.6, "nested": 1.0}
LEAST_MEAN, LEAST = 0.94, 0.90  # of shares: on average over them, and each
LEAST_PAIRED, BOUNDED = 0.94, 0.3  # of each difference, up to that phi
SLACK = 1e-12  # an end that is the truth but for rounding holds it


def held(low: Array, high: Array, truth: float, chances: Array) -> float:
    """How likely an interval holds the truth, from all intervals and how likely each is."""
    inside = (low <= truth + SLACK) & (truth - SLACK <= high)
    return float(chances[inside].sum())


def of_shares(n: int) -> list[float]:
    """Of one share each: Wilson's interval."""
    right = np.arange(n + 1)
    low, high = wilson_interval(right.astype(float), n, LEVEL)
    return [held(low, high, share, binom.pmf(right, n, share)) for share in SHARES.tolist()]


def of_paired(n: int, phi: float) -> list[float]:
    """Of differences of two shares of the same items: Bonett and Price's interval."""
    won, lost = (side.ravel() for side in np.meshgrid(*[np.arange(n + 1)] * 2))
    won, lost = won[won + lost <= n], lost[won + lost <= n]
    low, high = bonett_price_interval((won - lost).astype(float), won + lost, n, LEVEL)
    counts = np.column_stack([won, lost, n - won - lost])
    return [
        held(low, high, p - q, multinomial.pmf(counts, n, chances)) for p, q, chances in _pairs(phi)
    ]


def _pairs(phi: float) -> Iterator[tuple[float, float, list[float]]]:
    """Two shares, and how likely only the first is right, only the second, both or none."""
    for q, p in combinations_with_replacement(BETTER, 2):
        both = min(p * q + phi * (p * (1 - p) * q * (1 - q)) ** 0.5, q)
        yield p, q, [p - both, q - both, 1 - p - q + 2 * both]


def of_unpaired(n: int) -> list[float]:
    """Of differences of two shares of other items: Newcombe's interval."""
    right = np.arange(n + 1)
    ends = np.stack([right / n, *wilson_interval(right.astype(float), n, LEVEL)])
    first, second = (side.ravel() for side in np.meshgrid(right, right, indexing="ij"))
    low, high = newcombe_interval(ends[:, first], ends[:, second])
    return [
        held(low, high, p - q, np.outer(binom.pmf(right, n, p), binom.pmf(right, n, q)).ravel())
        for q, p in combinations_with_replacement(BETTER, 2)
    ]


def rows() -> Iterator[tuple[str, int, list[float], float, float]]:
    """What, items, coverages, and the bounds of their mean and of each; 0 where there is none."""
    for n in ITEMS:
        yield "share (Wilson)", n, of_shares(n), LEAST_MEAN, LEAST
    for name, phi in DEPENDENT.items():
        least = LEAST_PAIRED * (phi <= BOUNDED)
        for n in ITEMS:
            yield f"same items, {name} (Bonett and Price)", n, of_paired(n, phi), least, least
    for n in ITEMS:
        yield "other items (Newcombe)", n, of_unpaired(n), 0.0, 0.0


def told() -> tuple[str, list[str]]:
    """The table, and what is below its bound."""
    shown, below = [], []
    for what, n, coverage, least_mean, least in rows():
        mean, worst = float(np.mean(coverage)), min(coverage)
        shown.append([what, str(n), f"{mean:.3f}", f"{worst:.3f}"])
        if mean < least_mean or worst < least:
            below.append(f"{what}, {n}: {mean:.3f} on average, {worst:.3f} at least")
    return kept.table(("interval of", "items", "mean coverage", "least"), shown), below


def main() -> None:
    """Print the table; 1 where a bound is not held."""
    parser = argparse.ArgumentParser(prog="python -m validation.shares", description=__doc__)
    parser.add_argument("--write", action="store_true", help="put it into docs/VALIDITY.md")
    block, below = told()
    print(block)
    if parser.parse_args().write:
        kept.write("shares", block)
    if below:
        raise SystemExit("below the bound: " + "; ".join(below))


if __name__ == "__main__":
    main()
