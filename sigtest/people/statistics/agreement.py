"""Agreement between judges: kappa against uniform chance, and against the judges' own habits."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sigtest.arrays import Array, Counts, Flags
from sigtest.draws.weights import counts_plain
from sigtest.people.judgements import groups

MOST_PAIRS = 2_000_000
MOST_JUDGES = 1_500  # of whom all pairs are kept in a matrix
RESAMPLES = 999
STREAM = 3  # of the draws of judges
EXPECTED_BITS = 26
MOST_EMPTY = 0.1  # share of resamples without a pair, above which there is no interval


@dataclass(frozen=True)
class Pairs:
    """Pairs of judgements of one thing.

    Attributes:
        first: (p,) row of one judgement.
        second: (p,) row of the other.
    """

    first: Counts
    second: Counts

    def __len__(self) -> int:
        return len(self.first)

    def take(self, chosen: Flags) -> Pairs:
        """Some of the pairs."""
        return Pairs(self.first[chosen], self.second[chosen])


@dataclass(frozen=True)
class Kappas:
    """Agreement of one kind.

    Attributes:
        agreed: Pairs in the same category.
        share: Of all pairs.
        uniform: Kappa with chance 1 / k.
        cohen: Kappa with chance from each judge's own shares of the categories.
        uniform_draws: (R,) the same when judges are drawn anew; nothing where too few are there.
        cohen_draws: (R,) likewise.
    """

    agreed: int
    share: float
    uniform: float
    cohen: float | None
    uniform_draws: Array | None
    cohen_draws: Array | None


def pairs_within(items: Counts) -> Pairs | None:
    """All pairs of rows that are about the same item; nothing where there are too many.

    Args:
        items: (n,) number of each row's item.
    """
    sizes = np.bincount(items, minlength=1)
    if float((sizes.astype(np.float64) * (sizes - 1)).sum()) / 2 > MOST_PAIRS:
        return None
    order = np.argsort(items, kind="stable")
    ends = np.cumsum(sizes)[items[order]]
    later = ends - 1 - np.arange(len(items))  # members of the same item that follow
    first = np.repeat(np.arange(len(items)), later)
    steps = np.arange(len(first)) - np.repeat(np.cumsum(later) - later, later)
    return Pairs(order[first], order[first + 1 + steps])


def kappas(
    labels: Counts, judges: Counts, pairs: Pairs, categories: int, seed: int
) -> Kappas | None:
    """Agreement over pairs of judgements; nothing where there is none.

    Kappa is (P_a - P_e) / (1 - P_e). `uniform` has P_e = 1 / k (Graham, Baldwin, Moffat & Zobel
    2013, section 6; Bennett, Alpert & Goldstein 1954). `cohen` has the chance that two judges agree
    who use each category as often as they did in these pairs; for two judges it is Cohen's (1960).

    Args:
        labels: (n,) category of each judgement, from 0.
        judges: (n,) number of each judgement's judge.
        pairs: Of judgements, in which the judges are the same throughout or differ throughout.
        categories: k.
        seed: Of the draws of judges.
    """
    if not len(pairs):
        return None
    same = labels[pairs.first] == labels[pairs.second]
    who = np.stack([judges[pairs.first], judges[pairs.second]])
    present, numbered = np.unique(who, return_inverse=True)
    first, second = numbered.reshape(who.shape)
    alone = bool((first == second).all())
    raters = (first, second + len(present) * alone)  # first and second time: two raters
    expected = _expected(raters, labels[pairs.first], labels[pairs.second], categories)
    # whole multiples of a power of two, so that weighted sums are the same on every machine
    rounded = np.rint(expected * 2.0**EXPECTED_BITS) / 2.0**EXPECTED_BITS
    columns = np.stack([np.ones(len(pairs)), same, rounded])
    share, chance = float(same.mean()), float(expected.mean())
    uniform_draws, cohen_draws = _draws(columns, first, second, alone, categories, seed)
    return Kappas(
        agreed=int(np.count_nonzero(same)),
        share=share,
        uniform=_kappa(share, 1 / categories),
        cohen=_kappa(share, chance) if chance < 1 else None,
        uniform_draws=uniform_draws,
        cohen_draws=cohen_draws,
    )


def _kappa(share: float, chance: float) -> float:
    return (share - chance) / (1 - chance)


def _expected(
    raters: tuple[Counts, Counts], first: Counts, second: Counts, categories: int
) -> Array:
    """(p,) chance that the two raters of each pair agree, given how they use the categories."""
    size = int(max(raters[0].max(), raters[1].max())) + 1
    rater, label = np.concatenate(raters), np.concatenate([first, second])
    flat = np.bincount(rater * categories + label, minlength=size * categories)
    counts = flat.reshape(size, categories).astype(np.float64)
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1.0)
    return np.einsum("pk,pk->p", shares[raters[0]], shares[raters[1]])


def _draws(
    columns: Array, first: Counts, second: Counts, alone: bool, categories: int, seed: int
) -> tuple[Array | None, Array | None]:
    """Both kappas when judges are drawn anew; a pair counts as often as both of its judges do."""
    size = int(max(first.max(), second.max())) + 1
    if size < 2 or size > MOST_JUDGES:
        return None, None
    weights = counts_plain(seed, 0, RESAMPLES, size, STREAM).astype(np.float64)
    if alone:
        table = np.stack([np.bincount(first, column, size) for column in columns])
        pairs, agreed, expected = (weights @ table.T).T
    else:
        place, start = groups(first, second)
        merged: Array = np.stack([np.bincount(place, column) for column in columns]).astype(float)
        pairs, agreed, expected = _both(weights, first[start], second[start], merged)
    whole = pairs > 0.5
    if np.mean(~whole) > MOST_EMPTY:
        return None, None
    share, chance = agreed[whole] / pairs[whole], expected[whole] / pairs[whole]
    uniform = (share - 1 / categories) / (1 - 1 / categories)
    defined = chance < 1
    cohen = (share[defined] - chance[defined]) / (1 - chance[defined])
    return uniform, cohen if np.mean(~defined) <= MOST_EMPTY else None


def _both(weights: Array, first: Counts, second: Counts, columns: Array) -> Array:
    """(3, R) sums over pairs of judges, each weighted by how often both were drawn."""
    size = weights.shape[1]
    sums = []
    for column in columns:
        matrix = np.zeros((size, size))
        matrix[first, second] = column
        sums.append(np.einsum("ra,ra->r", weights @ matrix, weights))
    return np.stack(sums)
