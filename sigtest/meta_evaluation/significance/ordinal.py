"""PERM-BOTH of statistics that look at the order of systems only: rho, tau-b and accuracy.

All three are sums over pairs of systems of the sign of a difference of scores, over a term for
ties. Exchanging a system between two metrics changes the signs of its own pairs alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from sigtest.arrays import Array, Counts, Flags
from sigtest.compiled import compiled
from sigtest.meta_evaluation.significance.permutation import ExactTails, from_counts, patterns
from sigtest.meta_evaluation.statistics.correlation import midranks, standardised
from sigtest.significance import Alternative
from sigtest.significance.base import SLACK
from sigtest.significance.exact import MOST_UNITS

ORDINAL = ("spearman", "kendall", "accuracy")
DIGITS = 12  # of standardised scores: copies of a metric on another scale keep their ties


@dataclass(frozen=True)
class Exchanged:
    """What exchanges of systems between two metrics say of one statistic.

    Attributes:
        counts: For each claim, how many differences reach the observed one.
        tails: Exact p-values, where every exchange was counted.
    """

    counts: Mapping[Alternative, int]
    tails: ExactTails | None


def exchange_systems(human: Array, a: Array, b: Array, masks: Flags) -> list[Exchanged]:
    """Exchange systems between two metrics and rank them anew.

    Args:
        human: (S,) human scores.
        a: (S,) scores of the first metric, not constant.
        b: (S,) of the second, not constant.
        masks: (R, S) which systems keep their scores, where more than 20 systems differ.

    Returns:
        For rho, tau-b and accuracy.
    """
    values = np.stack([standardised(a), standardised(b)]).round(DIGITS)
    differing = np.flatnonzero(values[0] != values[1])
    units = len(differing)
    exact = units <= MOST_UNITS
    if exact:
        masks = np.ones((2 ** max(units - 1, 0), len(a)), dtype=np.bool_)
        masks[:, differing[:-1]] = patterns(max(units - 1, 0))
    signs, halved = _signs(values), exact and units > 0
    gaps, order, spread = _weights(human)
    if (signs[np.triu_indices(len(a), 1)] == 0).any():
        counts = _count(signs, gaps, order, spread, masks, halved)
    else:
        rho, tau = _count_untied(
            _steps(signs, gaps, order), _first(signs, gaps, order), masks, halved
        )
        counts = np.array([rho, tau, tau])  # without ties accuracy is tau on another scale
    return [
        Exchanged(
            {"greater": greater, "less": less, "two-sided": beyond},
            from_counts(greater, less, units) if exact else None,
        )
        for greater, less, beyond in counts.tolist()
    ]


def _signs(values: Array) -> Array:
    """(S, S, 4) sign of system i's score less system j's, at [i, j, 2 * s + t].

    Args:
        values: (2, S) scores; i's score is that of metric s, j's of metric t.
    """
    signs = np.sign(values[:, None, :, None] - values[None, :, None, :])  # (s, t, i, j)
    return np.ascontiguousarray(np.moveaxis(signs.reshape(4, *signs.shape[2:]), 0, -1))


def _weights(human: Array) -> tuple[Array, Array, float]:
    """(S, S) differences of ranks by people, doubled; (S, S) their signs; spread of the ranks."""
    ranks = 2.0 * midranks(human)
    gaps = ranks[:, None] - ranks[None, :]
    return gaps, np.sign(gaps), float(((ranks - ranks.mean()) ** 2).sum())


def _first(signs: Array, gaps: Array, human: Array) -> Array:
    """(2,) sums of rho and tau, first metric less second, before any exchange."""
    own: Array = (signs[:, :, 0] - signs[:, :, 3]) / 2.0  # each pair stands there twice
    return np.array([(own * gaps).sum(), (own * human).sum()])


def _steps(signs: Array, gaps: Array, human: Array) -> Array:
    """(S, 2, S, 2, 2) what exchanging system i adds to the sums of rho and tau, by other systems.

    At [i, s, j, t]: i's score is that of metric s before, j's that of metric t.
    """
    size = len(signs)
    table = signs.reshape(size, size, 2, 2)  # i, j, s, t
    own = table - table[:, :, ::-1, ::-1]  # of the first metric less the second
    moved = own[:, :, ::-1, :] - own
    moved[np.arange(size), np.arange(size)] = 0.0
    weighted = moved[..., None] * np.stack([gaps, human], axis=-1)[:, :, None, None]
    return np.ascontiguousarray(weighted.transpose(0, 2, 1, 3, 4))


@compiled
def _count_untied(steps: Array, first: Array, masks: Flags, halved: bool) -> Counts:
    """(2, 3) for rho and tau, how many differences reach the observed one on three sides.

    Without ties the divisors are the same for all exchanges, and sums, which are whole numbers,
    are compared instead of statistics. Arguments as for `_count`.
    """
    size = masks.shape[1]
    held = np.zeros(size, dtype=np.int64)
    rho, tau = first
    counts = np.zeros((2, 3), dtype=np.int64)
    for r in range(len(masks)):
        for i in range(size):
            if masks[r, i] == (held[i] == 1):
                row = steps[i, held[i]]
                for j in range(size):
                    rho += row[j, held[j], 0]
                    tau += row[j, held[j], 1]
                held[i] = 1 - held[i]
        for s in range(2):
            difference = rho if s == 0 else tau
            counts[s, 0] += difference >= first[s]
            counts[s, 1] += difference <= first[s]
            counts[s, 2] += abs(difference) >= abs(first[s])
            if halved:
                counts[s, 0] += -difference >= first[s]
                counts[s, 1] += -difference <= first[s]
                counts[s, 2] += abs(difference) >= abs(first[s])
    return counts


@compiled
def _count(
    signs: Array, gaps: Array, human: Array, spread: float, masks: Flags, halved: bool
) -> Counts:
    """(3, 3) for each statistic how many differences reach the observed one, on three sides.

    Args:
        signs: (S, S, 4) signs that the two metrics give.
        gaps: (S, S) differences of doubled ranks by people.
        human: (S, S) their signs.
        spread: Sum of squares of the centred doubled ranks.
        masks: (R, S) which systems keep their scores.
        halved: Whether the masks are half of all patterns; the others give opposite differences.
    """
    size = masks.shape[1]
    held = np.zeros(size, dtype=np.int64)  # whose scores the first metric has
    sums, totals = np.zeros((2, 5)), np.zeros((2, size))
    for side in range(2):
        for i in range(size):
            for j in range(i):
                sign = signs[i, j, 3 * side]
                sums[side, 0] += sign * gaps[i, j]
                sums[side, 1] += sign * human[i, j]
                sums[side, 2 if human[i, j] != 0.0 else 3] += abs(sign)
                totals[side, i] += sign
                totals[side, j] -= sign
        sums[side, 4] = (totals[side] ** 2).sum()
    pairs = size * (size - 1) / 2
    decided = (human != 0.0).sum() / 2
    counts = np.zeros((3, 3), dtype=np.int64)
    observed, tolerance = np.empty(3), np.empty(3)
    for s in range(3):
        x = _score(s, sums[0], spread, decided, pairs)
        y = _score(s, sums[1], spread, decided, pairs)
        observed[s], tolerance[s] = x - y, SLACK * max(abs(x), abs(y))
    for r in range(len(masks)):
        for i in range(size):
            if masks[r, i] == (held[i] == 1):
                _exchange(i, signs, gaps, human, held, sums, totals)
        for s in range(3):
            x = _score(s, sums[0], spread, decided, pairs)
            difference = x - _score(s, sums[1], spread, decided, pairs)
            counts[s, 0] += difference >= observed[s] - tolerance[s]
            counts[s, 1] += difference <= observed[s] + tolerance[s]
            counts[s, 2] += abs(difference) >= abs(observed[s]) - tolerance[s]
            if halved:
                counts[s, 0] += -difference >= observed[s] - tolerance[s]
                counts[s, 1] += -difference <= observed[s] + tolerance[s]
                counts[s, 2] += abs(difference) >= abs(observed[s]) - tolerance[s]
    return counts


@compiled
def _exchange(
    i: int, signs: Array, gaps: Array, human: Array, held: Counts, sums: Array, totals: Array
) -> None:
    """Exchange system i between the two metrics.

    Sums are of rho and tau, of the pairs without a tie that people order and that they tie, and of
    the squares of the systems' sums of signs, from which the spread of the ranks follows.
    """
    for side in range(2):
        rho, tau = 0.0, 0.0
        before = totals[side, i]
        for j in range(len(held)):
            place = 2 * held[i] + held[j] if side == 0 else 3 - 2 * held[i] - held[j]
            old, new = signs[i, j, place], signs[i, j, place ^ 2]
            if j == i or old == new:
                continue
            rho += (new - old) * gaps[i, j]
            tau += (new - old) * human[i, j]
            sums[side, 2 if human[i, j] != 0.0 else 3] += abs(new) - abs(old)
            total = totals[side, j]
            totals[side, j] = total - (new - old)
            sums[side, 4] += totals[side, j] ** 2 - total**2
            totals[side, i] += new - old
        sums[side, 0] += rho
        sums[side, 1] += tau
        sums[side, 4] += totals[side, i] ** 2 - before**2
    held[i] = 1 - held[i]


@compiled
def _score(s: int, sums: Array, spread: float, decided: float, pairs: float) -> float:
    """One statistic from the sums; 0 where a metric is constant."""
    if s == 0:
        product = sums[4] * spread
        return sums[0] / np.sqrt(product) if product > 0.0 else 0.0
    if s == 1:
        product = (sums[2] + sums[3]) * decided
        return sums[1] / np.sqrt(product) if product > 0.0 else 0.0
    # pairs that both order alike, and pairs that both tie
    return ((sums[1] + sums[2]) / 2 + (pairs - decided) - sums[3]) / pairs
