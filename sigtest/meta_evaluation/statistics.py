"""Correlations and accuracies of metrics on the cells that people and metrics both score.

Correlations of two vectors, and of many groups at once; cells; statistics of metrics on them. A
*contest* is two systems on one segment, or two systems alone where scores are of whole systems.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from sigtest.arrays import Array, Counts, Flags
from sigtest.cached import cached_property
from sigtest.compiled import compiled
from sigtest.significance.intervals import ROUNDING, with_ties

Pairs = Sequence[tuple[int, int]]

# Correlations of two vectors, and of many groups ------------------------

CORRELATIONS = ("pearson", "spearman", "kendall")
GROUPED = (*CORRELATIONS, "accuracy")


def correlate(name: str, x: Array, y: Array) -> float:
    """Pearson's r, Spearman's rho or Kendall's tau-b; NaN where either vector is constant."""
    return float(by_group(name, x, y, np.array([0, len(x)]))[0])


def standardised(x: Array) -> Array:
    """Mean 0 and standard deviation 1 (with n), for a vector that is not constant."""
    centred = x - x.mean()
    return centred / np.sqrt(np.mean(centred**2))


def by_group(name: str, x: Array, y: Array, starts: Counts) -> Array:
    """A correlation, or the share of pairs of places that are ordered alike, in each group.

    Args:
        name: `pearson`, `spearman`, `kendall` or `accuracy`.
        x: (N,) numbers, group after group.
        y: (N,) the other numbers.
        starts: (G + 1,) where each group begins, and N.

    Returns:
        (G,) NaN where a group has fewer than two numbers or, of correlations, constant ones.
    """
    code = GROUPED.index(name)
    return _by_group(code, np.ascontiguousarray(x), np.ascontiguousarray(y), starts)


@compiled
def _by_group(code: int, x: Array, y: Array, starts: Counts) -> Array:
    found = np.empty(len(starts) - 1)
    for g in range(len(found)):
        u, v = x[starts[g] : starts[g + 1]], y[starts[g] : starts[g + 1]]
        if len(u) < 2 or (code < 3 and (is_constant(u) or is_constant(v))):
            found[g] = np.nan
        elif code == 0:
            found[g] = _r(u, v)
        elif code == 1:
            found[g] = _r(midranks(u), midranks(v))
        elif code == 2:
            found[g] = _tau_b(u, v)
        else:
            found[g] = _ordered_alike(u, v) / (len(u) * (len(u) - 1) // 2)
    return found


@compiled
def is_constant(x: Array) -> bool:
    """Whether no two numbers differ by more than rounding."""
    return len(x) == 0 or x.max() - x.min() <= ROUNDING * np.abs(x).max()


@compiled
def _r(x: Array, y: Array) -> float:
    """Exactly 1 where both are equal, which a product of two roots is not."""
    mean_x, mean_y = x.mean(), y.mean()
    xy, xx, yy = 0.0, 0.0, 0.0
    for i in range(len(x)):
        u, v = x[i] - mean_x, y[i] - mean_y
        xy += u * v
        xx += u * u
        yy += v * v
    share = xx / yy if yy > 0.0 else 0.0
    size = math.sqrt(share) * yy if 1e-200 < share < 1e200 else math.sqrt(xx) * math.sqrt(yy)
    return min(1.0, max(-1.0, xy / size))


@compiled
def midranks(x: Array) -> Array:
    """Centred ranks, equal numbers sharing the middle one."""
    return weighted_ranks(x, np.argsort(x, kind="mergesort"), np.ones((1, len(x))))[0]


@compiled
def weighted_ranks(x: Array, order: Counts, weights: Array) -> Array:
    """(R, N) centred middle ranks of N numbers, each of which comes so often.

    Args:
        x: (N,) numbers.
        order: (N,) their places, from the lowest.
        weights: (R, N) how often each comes.
    """
    ranks = np.empty(weights.shape)
    for r in range(len(weights)):
        below, first = 0.0, 0
        while first < len(order):
            here, last = 0.0, first
            while last < len(order) and x[order[last]] == x[order[first]]:
                here += weights[r, order[last]]
                last += 1
            for place in range(first, last):
                ranks[r, order[place]] = below + here / 2.0
            below += here
            first = last
        ranks[r] -= below / 2.0
    return ranks


@compiled
def _tau_b(x: Array, y: Array) -> float:
    """From tied and discordant pairs, the latter counted in the order of x."""
    n = len(x)
    by_y = np.argsort(y, kind="mergesort")
    order = by_y[np.argsort(x[by_y], kind="mergesort")]  # by x, and by y where x is tied
    u, v = x[order], y[order]
    tied_x, tied_y, tied_both = _tied(u, u), _tied(y[by_y], y[by_y]), _tied(u, v)
    discordant = _inversions((2.0 * midranks(v)).astype(np.int64) + n)
    pairs = n * (n - 1) // 2
    if tied_x == pairs or tied_y == pairs:
        return np.nan
    difference = pairs - tied_x - tied_y + tied_both - 2 * discordant
    # one root, so that equal orders have a tau of exactly 1
    tau = difference / math.sqrt(float(pairs - tied_x) * float(pairs - tied_y))
    return min(1.0, max(-1.0, tau))


@compiled
def _tied(u: Array, v: Array) -> int:
    """Pairs of places that are tied in both vectors, where these stand side by side."""
    tied, run = 0, 0
    for i in range(1, len(u)):
        run = run + 1 if u[i] == u[i - 1] and v[i] == v[i - 1] else 0
        tied += run
    return tied


@compiled
def _inversions(places: Counts) -> int:
    """Pairs in the wrong order, of places from 1 to twice as many as there are.

    A sum over the places up to one takes log n steps: Fenwick (1994), "A New Data Structure for
    Cumulative Frequency Tables".
    """
    tree, count = np.zeros(2 * len(places) + 1, np.int64), 0
    for before in range(len(places)):
        place, not_above = places[before], 0
        while place > 0:
            not_above += tree[place]
            place &= place - 1
        count += before - not_above
        place = places[before]
        while place < len(tree):
            tree[place] += 1
            place += place & -place
    return count


@compiled
def _ordered_alike(human: Array, metric: Array) -> int:
    count = 0
    for i in range(len(human)):
        for j in range(i):
            count += np.sign(human[i] - human[j]) == np.sign(metric[i] - metric[j])
    return count


# Cells, and pairs of systems on them ------------------------

LARGEST_WEIGHT = 2**52


@dataclass(frozen=True)
class Contests:
    """All contests that count, segment after segment; C of them.

    Attributes:
        a: (C,) first system.
        b: (C,) second system.
        segment: (C,) number of the segment, from 0.
        weights: (C,) whole numbers in proportion to 1 / contests of the segment, so that every
            segment counts alike.
    """

    a: Counts
    b: Counts
    segment: Counts
    weights: Counts

    @classmethod
    def of(cls, present: Flags) -> Contests:
        """The contests of the cells that are present.

        Args:
            present: (S, n) whether people and every metric of interest have a score.
        """
        first, second = np.triu_indices(len(present), 1)
        both = present[first] & present[second]
        segment, pair = np.nonzero(both.T)  # segment after segment
        sizes = np.bincount(segment, minlength=both.shape[1])
        return cls(
            a=first[pair].astype(int),
            b=second[pair].astype(int),
            segment=segment.astype(int),
            weights=_weights(sizes)[segment],
        )

    def gaps(self, scores: Array) -> Array:
        """(C,) score of a minus score of b, from (S, n) scores; gaps of one size are equal."""
        first, second = scores[self.a, self.segment], scores[self.b, self.segment]
        gaps = first - second
        largest = max(np.abs(side).max(initial=0.0) for side in (first, second))
        return np.copysign(with_ties(np.abs(gaps), float(largest)), gaps)


def _weights(sizes: Counts) -> Counts:
    """(n,) whole numbers in proportion to 1 / sizes; 0 where a segment has no contest.

    Their common multiple grows with the variety of sizes; where sums would no longer be exact
    it is cut to the largest power of two that does, which changes an accuracy by less than 1e-12.
    """
    known = [int(size) for size in np.unique(sizes) if size]
    common = math.lcm(*known) if known else 0
    most = LARGEST_WEIGHT // max(1, int(sizes.sum()))
    common = common if common <= most else 1 << (most.bit_length() - 1)
    weights = np.zeros(len(sizes), int)
    some = sizes > 0
    weights[some] = [round(common / int(size)) for size in sizes[some]]
    return weights


@dataclass(frozen=True)
class Cells:
    """Scores on the cells that people and all metrics of interest have; N of them.

    Scores of whole systems are a table with one segment.

    Attributes:
        human: (S, n) human scores.
        metrics: (M, S, n) oriented scores.
        present: (S, n) which cells count.
    """

    human: Array
    metrics: Array
    present: Flags

    @cached_property
    def size(self) -> int:
        """How many cells count, N."""
        return int(np.count_nonzero(self.present))

    @cached_property
    def flat_human(self) -> Array:
        """(N,) human scores, system after system."""
        return self.human[self.present]

    @cached_property
    def flat_metrics(self) -> Array:
        """(M, N) scores of the metrics, system after system."""
        return self.metrics[:, self.present]

    @cached_property
    def segments(self) -> Counts:
        """(N,) number of each cell's segment among those with cells, system after system."""
        columns = np.nonzero(self.present)[1]
        return np.unique(columns, return_inverse=True)[1].astype(int)

    @property
    def segment_count(self) -> int:
        """Segments with cells."""
        return int(np.count_nonzero(self.present.any(axis=0)))

    @cached_property
    def contests(self) -> Contests:
        """Pairs of systems on the same segment."""
        return Contests.of(self.present)

    @cached_property
    def constant(self) -> Flags:
        """(M,) whether a metric, or people, give every cell the same score."""
        flat = [is_constant(self.flat_human) or is_constant(row) for row in self.flat_metrics]
        return np.array(flat, np.bool_)

    def grouped(self, by: str) -> tuple[Array, Array, Counts]:
        """Scores group after group.

        Args:
            by: `item` for segments, `system` for systems, `none` for all cells together.

        Returns:
            (N,) human scores, (M, N) scores of the metrics, (G + 1,) starts of the groups.
        """
        here, human, *metrics = (
            {"none": table.reshape(1, -1), "system": table}.get(by, table.T)
            for table in (self.present, self.human, *self.metrics)
        )
        sizes = np.count_nonzero(here, axis=1)
        starts = np.concatenate([[0], np.cumsum(sizes[sizes > 0])]).astype(int)
        return human[here], np.array([scores[here] for scores in metrics]), starts


# Statistics of metrics ------------------------


@dataclass(frozen=True)
class Shares:
    """A statistic as the weighted mean of what it is on each unit: (sum of parts) / (weights).

    Attributes:
        unit: What a unit is: `segment`, `system`, or `pair` of systems on a segment.
        parts: (M, U) values times weights; 0 where a unit says nothing of a metric.
        weights: (M, U) weights, 0 likewise.
        segments: (U,) number of each unit's segment among those with cells; the unit's own number
            where it is no part of a segment.
    """

    unit: str
    parts: Array
    weights: Array
    segments: Counts

    @property
    def values(self) -> Array:
        """(M,) the means; NaN without any unit."""
        total = self.weights.sum(axis=1)
        with np.errstate(invalid="ignore"):
            return self.parts.sum(axis=1) / total


@dataclass(frozen=True)
class Values:
    """One statistic of some metrics on the cells they share.

    Attributes:
        values: (M,) the statistic; NaN where it is not defined.
        n: (M,) how many cells, pairs of systems, or groups of cells it is over.
        shares: Its parts, where it is a mean over units; none where it is one correlation.
        epsilons: (M,) largest gap that counts as a tie, for `accuracy_ties` only.
    """

    values: Array
    n: Counts
    shares: Shares | None = None
    epsilons: Array | None = None

    def together(self, pairs: Pairs) -> tuple[Values, Pairs]:
        """Both metrics of each pair over the units that say something of both.

        Returns:
            A row for each metric and each choice of units, and where the pairs stand in these.
        """
        known = None if self.shares is None else self.shares.weights > 0
        if self.shares is None or known is None or (known == known[:1]).all():
            return self, pairs
        rows: dict[tuple[int, bytes], int] = {}
        numbers: list[int] = []
        masks: list[Flags] = []
        places: list[tuple[int, int]] = []
        for pair in pairs:
            both: Flags = np.logical_and(known[pair[0]], known[pair[1]])
            for m in pair:
                if rows.setdefault((m, both.tobytes()), len(rows)) == len(numbers):
                    numbers.append(m)
                    masks.append(both)
            places.append((rows[pair[0], both.tobytes()], rows[pair[1], both.tobytes()]))
        parts, weights = (
            table[numbers] * masks for table in (self.shares.parts, self.shares.weights)
        )
        shares = replace(self.shares, parts=parts, weights=weights)
        return Values(shares.values, np.count_nonzero(shares.weights, axis=1), shares), places


def evaluate(statistic: str, cells: Cells, group: str) -> Values:
    """One statistic of all metrics of some cells.

    Args:
        statistic: Any but `soft_accuracy`.
        cells: Scores.
        group: `none`, `item` or `system`.
    """
    if statistic == "accuracy_ties" or (statistic == "accuracy" and group != "system"):
        return _accuracies(cells, statistic == "accuracy_ties")
    human, metrics, starts = cells.grouped(group)
    found = np.array([by_group(statistic, scores, human, starts) for scores in metrics])
    if group == "none":
        return Values(found[:, 0], np.full(len(found), cells.size))
    known = ~np.isnan(found)
    shares = Shares(
        unit="segment" if group == "item" else "system",
        parts=np.where(known, found, 0.0),
        weights=known.astype(np.float64),
        segments=np.arange(found.shape[1]),
    )
    return Values(shares.values, np.count_nonzero(known, axis=1), shares)


def _accuracies(cells: Cells, calibrated: bool) -> Values:
    """Which contests each metric decides as people do, perhaps with the ties that suit it best."""
    contests = cells.contests
    human = contests.gaps(cells.human)
    gaps = [contests.gaps(scores) for scores in cells.metrics]
    epsilons = np.array([best_epsilon(human, m, contests) if calibrated else 0.0 for m in gaps])
    correct = np.array([called_right(human, m, e) for m, e in zip(gaps, epsilons, strict=True)])
    weights = contests.weights.astype(np.float64)
    columns = np.flatnonzero(cells.present.any(axis=0))
    shares = Shares(
        unit="pair",
        parts=correct * weights,
        weights=np.broadcast_to(weights, correct.shape),
        segments=np.searchsorted(columns, contests.segment).astype(int),
    )
    values = np.array([accuracy(row, contests) for row in correct])  # of whole numbers
    n = np.full(len(values), len(human))
    return Values(values, n, shares, epsilons if calibrated else None)


def accuracy(correct: Flags, contests: Contests) -> float:
    """Mean over segments of the share of correct contests; NaN without any."""
    if not len(correct):
        return math.nan
    return int(contests.weights[correct].sum()) / int(contests.weights.sum())


def called_right(human: Array, metric: Array, epsilon: float = 0.0) -> Flags:
    """(C,) whether gaps have the same sign, gaps of the metric up to `epsilon` being ties."""
    seen = np.where(np.abs(metric) <= epsilon, 0.0, np.sign(metric))
    return np.sign(human) == seen


def best_epsilon(human: Array, metric: Array, contests: Contests) -> float:
    """The epsilon that makes the accuracy greatest, the smallest where several do; NaN without any.

    Every gap of the metric is tried, in whole numbers: moving epsilon over a gap makes its
    contests ties, which is right where people see a tie and was right before where the signs
    agreed. Equal gaps move together.

    Args:
        human: (C,) gaps of the human scores.
        metric: (C,) gaps of the metric.
        contests: Says how much each counts.

    Deutsch, Foster & Freitag (2023), "Ties Matter: Meta-Evaluating Modern Metrics with Pairwise
    Accuracy and Tie Calibration", sections 4 and 5.
    """
    if not len(human):
        return math.nan
    sizes = np.abs(metric)
    agree = called_right(human, metric)
    change = np.where(sizes > 0, (human == 0).astype(int) - agree, 0) * contests.weights
    order = np.argsort(sizes, kind="stable")
    ordered = sizes[order]
    gained = np.cumsum(change[order])
    closes = np.append(ordered[1:] != ordered[:-1], True)  # the last of equal gaps
    reached = np.concatenate([[0], gained[closes]])
    epsilons = np.concatenate([[0.0], ordered[closes]])
    return float(epsilons[np.argmax(reached)])
