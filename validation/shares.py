"""Intervals of shares of few items: `python -m validation.shares`.

How often do 95 % intervals hold the truth where each item is right or wrong? Nothing is drawn: the
probabilities of all outcomes whose interval holds it are added up. Shares go from .5 to .98. Of two
systems on the same items, answers are independent, or depend on each other so far (phi), or are
nested: the worse system is right only where the better one is. `every phi` is all shares in steps
of .02 with all phi in steps of .05 up to nested; there other published intervals stand beside ours.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from itertools import combinations_with_replacement

import numpy as np
from scipy.special import gammaln, xlogy
from scipy.stats import binom, norm, t

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
FINE = np.round(np.arange(0.5, 0.985, 0.02), 2)
EVERY = np.round(np.arange(0, 1.01, 0.05), 2)
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


Interval = Callable[[Array, Array, int], tuple[Array, Array]]  # of who won how often alone
Cell = tuple[float, float, float, list[float]]  # two shares, phi, chances


def bonett_price(won: Array, lost: Array, n: int, level: float = LEVEL) -> tuple[Array, Array]:
    """What reports have."""
    return bonett_price_interval(won - lost, won + lost, n, level)


def with_student(won: Array, lost: Array, n: int) -> tuple[Array, Array]:
    """The same with Student's quantile in the place of the normal one."""
    return bonett_price(won, lost, n, 2 * float(norm.sf(t.isf(LEVEL / 2, n - 1))))


def tango(won: Array, lost: Array, n: int) -> tuple[Array, Array]:
    """The score interval of Tango (1998)."""
    return -_upper(lost, won, n), _upper(won, lost, n)


def _upper(won: Array, lost: Array, n: int) -> Array:
    """Where the difference lies a normal quantile of standard errors below, by bisection."""
    low, high = (won - lost) / n, np.ones(len(won))
    for _ in range(60):
        d = (low + high) / 2
        linear = (2 * n - won + lost) * d - won - lost
        root = np.sqrt(np.maximum(linear**2 + 8 * n * lost * d * (1 - d), 0.0))
        variance = n * ((root - linear) / (2 * n) + d * (1 - d))  # lost alone most likely so often
        reached = (won - lost - n * d) ** 2 <= norm.isf(LEVEL / 2) ** 2 * variance
        low, high = np.where(reached, d, low), np.where(reached, high, d)
    return low


def of_paired(n: int, cells: Iterator[Cell], interval: Interval = bonett_price) -> list[float]:
    """Of differences of two shares of the same items."""
    won, lost = (side.ravel().astype(float) for side in np.meshgrid(*[np.arange(n + 1)] * 2))
    won, lost = won[won + lost <= n], lost[won + lost <= n]
    low, high = interval(won, lost, n)
    tied = n - won - lost
    ways = gammaln(n + 1) - gammaln(won + 1) - gammaln(lost + 1) - gammaln(tied + 1)
    found = []
    for p, q, _, (first, second, rest) in cells:
        log_p = ways + xlogy(won, first) + xlogy(lost, second) + xlogy(tied, rest)
        found.append(held(low, high, p - q, np.exp(log_p)))
    return found


def pairs(phi: float) -> Iterator[Cell]:
    """Two shares, and how likely only the first is right, only the second, both or none."""
    for q, p in combinations_with_replacement(BETTER, 2):
        yield _cell(p, q, phi)


def every_phi() -> Iterator[Cell]:
    """The same of all shares and all phi; the last of two shares is nested."""
    for q, p in combinations_with_replacement(FINE.tolist(), 2):
        for phi in EVERY.tolist():
            yield (cell := _cell(p, q, phi))
            if cell[3][1] == 0:
                break


def _cell(p: float, q: float, phi: float) -> Cell:
    both = min(p * q + phi * float((p * (1 - p) * q * (1 - q)) ** 0.5), q)
    return p, q, phi, [p - both, q - both, 1 - p - q + 2 * both]


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
            found = of_paired(n, pairs(phi))
            yield f"same items, {name} (Bonett and Price)", n, found, least, least
    others = {"Bonett and Price": bonett_price, "with Student's quantile": with_student}
    for name, interval in (others | {"Tango": tango}).items():
        for n in ITEMS:
            found = of_paired(n, every_phi(), interval)
            yield f"same items, every phi ({name})", n, found, 0.0, 0.0
    for n in ITEMS:
        yield "other items (Newcombe)", n, of_unpaired(n), 0.0, 0.0


def told() -> tuple[str, list[str]]:
    """The table, and what is below its bound."""
    shown, below = [], []
    for what, n, coverage, least_mean, least in rows():
        mean, worst = float(np.mean(coverage)), min(coverage)
        few = np.mean(np.array(coverage) < LEAST_PAIRED)
        shown.append([what, str(n), f"{mean:.3f}", f"{worst:.4f}", f"{100 * few:.1f} %"])
        if mean < least_mean or worst < least:
            below.append(f"{what}, {n}: {mean:.3f} on average, {worst:.3f} at least")
    header = ("interval of", "items", "mean coverage", "least", f"below {LEAST_PAIRED}")
    return kept.table(header, shown), below


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
