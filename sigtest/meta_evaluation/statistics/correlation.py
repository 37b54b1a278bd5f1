"""Pearson's r, Spearman's rho and Kendall's tau-b of two vectors, and of many groups at once."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from sigtest.arrays import Array, Counts
from sigtest.compiled import compiled
from sigtest.significance.ties import ROUNDING

Correlation = Callable[[Array, Array], float]


def pearson(x: Array, y: Array) -> float:
    """Product-moment correlation; NaN where either vector is constant."""
    if is_constant(x) or is_constant(y):
        return math.nan
    u, v = x - x.mean(), y - y.mean()
    # sums of NumPy, whose order no BLAS decides
    r = float((u * v).sum() / (np.sqrt((u * u).sum()) * np.sqrt((v * v).sum())))
    return min(1.0, max(-1.0, r))


def spearman(x: Array, y: Array) -> float:
    """Pearson's r of the ranks, ties sharing the middle one; NaN for a constant vector."""
    return pearson(midranks(x), midranks(y))


def kendall(x: Array, y: Array) -> float:
    """Kendall's tau-b, which corrects for ties in either vector; NaN for a constant vector.

    (concordant - discordant) / sqrt((pairs - ties in x) (pairs - ties in y)), in n log n steps:
    Knight (1966), "A Computer Method for Calculating Kendall's Tau with Ungrouped Data".
    """
    return float(_tau_b(np.ascontiguousarray(x), np.ascontiguousarray(y)))


CORRELATIONS: dict[str, Correlation] = {
    "pearson": pearson,
    "spearman": spearman,
    "kendall": kendall,
}


def is_constant(x: Array) -> bool:
    """Whether no two numbers differ by more than rounding."""
    return not len(x) or float(np.ptp(x)) <= ROUNDING * float(np.abs(x).max())


def midranks(x: Array) -> Array:
    """Ranks from 1, equal numbers sharing the middle one."""
    return _midranks(np.ascontiguousarray(x))


def standardised(x: Array) -> Array:
    """Mean 0 and standard deviation 1 (with n), for a vector that is not constant."""
    centred = x - x.mean()
    return centred / np.sqrt(np.mean(centred**2))


def by_group(name: str, x: Array, y: Array, starts: Counts) -> Array:
    """A correlation within each group.

    Args:
        name: `pearson`, `spearman` or `kendall`.
        x: (N,) numbers, group after group.
        y: (N,) the other numbers.
        starts: (G + 1,) where each group begins, and N.

    Returns:
        (G,) correlations; NaN where a group has fewer than two numbers or constant ones.
    """
    codes = {"pearson": 0, "spearman": 1, "kendall": 2}
    return _grouped(codes[name], x, y, starts)


@compiled
def _grouped(code: int, x: Array, y: Array, starts: Counts) -> Array:
    found = np.empty(len(starts) - 1)
    for g in range(len(found)):
        own, other = x[starts[g] : starts[g + 1]], y[starts[g] : starts[g + 1]]
        if len(own) < 2 or _flat(own) or _flat(other):
            found[g] = np.nan
        elif code == 0:
            found[g] = _r(own, other)
        elif code == 1:
            found[g] = _r(_midranks(own), _midranks(other))
        else:
            found[g] = _tau_b(own, other)
    return found


@compiled
def _flat(x: Array) -> bool:
    return x.max() - x.min() <= ROUNDING * np.abs(x).max()


@compiled
def _r(x: Array, y: Array) -> float:
    mean_x, mean_y = x.mean(), y.mean()
    xy, xx, yy = 0.0, 0.0, 0.0
    for i in range(len(x)):
        u, v = x[i] - mean_x, y[i] - mean_y
        xy += u * v
        xx += u * u
        yy += v * v
    r = xy / (math.sqrt(xx) * math.sqrt(yy))
    return min(1.0, max(-1.0, r))


@compiled
def _midranks(x: Array) -> Array:
    order = np.argsort(x, kind="mergesort")
    ranks = np.empty(len(x))
    first = 0
    while first < len(x):
        last = first
        while last + 1 < len(x) and x[order[last + 1]] == x[order[first]]:
            last += 1
        for place in range(first, last + 1):
            ranks[order[place]] = (first + last) / 2.0 + 1.0
        first = last + 1
    return ranks


@compiled
def _tau_b(x: Array, y: Array) -> float:
    """From tied and discordant pairs, the latter counted while merging y in the order of x."""
    n = len(x)
    by_y = np.argsort(y, kind="mergesort")
    order = by_y[np.argsort(x[by_y], kind="mergesort")]  # by x, and by y where x is tied
    u, v = x[order], y[order]
    tied_x, tied_both = 0, 0
    run_x, run_both = 1, 1
    for i in range(1, n):
        same = u[i] == u[i - 1]
        both = same and v[i] == v[i - 1]
        tied_x += run_x if same else 0
        tied_both += run_both if both else 0
        run_x = run_x + 1 if same else 1
        run_both = run_both + 1 if both else 1
    discordant = _inversions(v)
    tied_y, run_y = 0, 1
    for i in range(1, n):
        same = v[i] == v[i - 1]  # _inversions has sorted v
        tied_y += run_y if same else 0
        run_y = run_y + 1 if same else 1
    pairs = n * (n - 1) // 2
    if tied_x == pairs or tied_y == pairs:
        return np.nan
    difference = pairs - tied_x - tied_y + tied_both - 2 * discordant
    # one root, so that equal orders have a tau of exactly 1
    tau = difference / math.sqrt(float(pairs - tied_x) * float(pairs - tied_y))
    return min(1.0, max(-1.0, tau))


@compiled
def _inversions(values: Array) -> int:
    """Pairs in the wrong order; sorts `values` by merging ever longer runs."""
    n = len(values)
    source, target = values, np.empty(n)
    count, run = 0, 1
    while run < n:
        for low in range(0, n, 2 * run):
            middle, high = min(low + run, n), min(low + 2 * run, n)
            i, j = low, middle
            for place in range(low, high):
                if i < middle and (j >= high or source[i] <= source[j]):
                    target[place] = source[i]
                    i += 1
                else:
                    target[place] = source[j]
                    j += 1
                    count += middle - i
        source, target = target, source
        run *= 2
    values[:] = source
    return count
