"""Bootstrap draws of the statistics: systems at system level, segments below it."""

from __future__ import annotations

import math

import numpy as np

from sigtest.arrays import Array, Counts, Weights
from sigtest.compiled import compiled
from sigtest.draws.product import ROWS, DistinctColumns, fixed_point
from sigtest.draws.weights import bootstrap_counts
from sigtest.meta_evaluation.significance.permutation import Pearson
from sigtest.meta_evaluation.statistics.correlation import standardised
from sigtest.meta_evaluation.statistics.values import Cells, Values
from sigtest.significance.intervals import percentile_interval
from sigtest.special import ndtr, stdtrit

RESAMPLES = 999  # at most, behind intervals
USABLE = 0.5  # share of resamples on which a statistic must be defined

Interval = tuple[float, float]


def draw(
    statistic: str, cells: Cells, found: Values, *, level: str, seed: int, stream: int, rows: int
) -> Array | None:
    """A statistic on bootstrap resamples.

    Systems are drawn at system level, and where a statistic is a mean over systems; segments, with
    all their systems, else. `accuracy_ties` keeps its epsilon.

    Args:
        statistic: Its name.
        cells: Scores.
        found: The statistic as observed.
        level: `system` or `segment`.
        seed: Every draw is a function of it.
        stream: Separates the draws of several sets.
        rows: Resamples, B.

    Returns:
        (M, B), NaN where a resample does not define it. Nothing for tau-b over all cells of
        segments, which would take too long.
    """
    drawn: Array | None = None
    if level == "system":
        counts = bootstrap_counts(seed, 0, rows, cells.size, stream).astype(np.float64)
        drawn = _of_systems(statistic, cells, found, counts)
    elif found.shares is not None:
        drawn = _of_shares(found, seed, stream, rows)
    elif statistic == "pearson":
        drawn = _of_sums(cells, seed, stream, rows)
    elif statistic == "spearman":
        drawn = _of_ranks(cells, seed, stream, rows)
    return None if drawn is None else np.clip(drawn, -1.0, 1.0)  # rounding leads beyond


def interval(drawn: Array, alpha: float, units: int) -> Interval | None:
    """Expanded percentile interval of (B,) draws; nothing where too few of them are defined.

    The bootstrap's standard error is over n where it should be over n - 1, and quantiles are those
    of the normal distribution where they should be Student's; with few units both are too near.

    Args:
        drawn: Draws.
        alpha: One minus the level.
        units: How many units are drawn from, n.

    Hesterberg (2015), "What Teachers Should Know About the Bootstrap", section 4.4.
    """
    usable = drawn[np.isfinite(drawn)]
    if len(usable) < max(2, USABLE * len(drawn)) or units < 2:
        return None
    reach = math.sqrt(units / (units - 1)) * float(stdtrit(units - 1, alpha / 2))
    low, high = percentile_interval(usable[None], 2 * float(ndtr(reach)))
    return float(low[0]), float(high[0])


def _of_systems(statistic: str, cells: Cells, found: Values, counts: Array) -> Array:
    """Resamples of systems: each statistic is a form in how often a system was drawn.

    Copies of a system are tied with each other and make no pairs.

    Args:
        statistic: Its name.
        cells: Scores of whole systems.
        found: The statistic as observed.
        counts: (B, S) how often each system was drawn.
    """
    human = cells.flat_human
    by_people = _signs(human)
    rows = []
    for m, scores in enumerate(cells.flat_metrics):
        signs = _signs(scores)
        if statistic == "pearson":
            row = _weighted(counts, scores - scores.mean(), human - human.mean())
        elif statistic == "spearman":
            # the centred rank of a system in a resample is half its sum of signs
            own, other = counts @ signs.T, counts @ by_people.T
            row = _ratio((counts * own * other).sum(1), counts * own * own, counts * other * other)
        elif statistic == "kendall":
            pairs = [_form(counts, table) for table in (signs * by_people, signs**2, by_people**2)]
            row = _ratio(pairs[0], pairs[1][:, None], pairs[2][:, None])
        else:
            limit = 0.0 if found.epsilons is None else found.epsilons[m]
            gaps = scores[:, None] - scores[None, :]
            right = (np.where(np.abs(gaps) <= limit, 0.0, signs) == by_people).astype(np.float64)
            np.fill_diagonal(right, 0.0)
            all_pairs = counts.sum(1) ** 2 - (counts**2).sum(1)
            with np.errstate(invalid="ignore"):
                row = _form(counts, right) / all_pairs
        rows.append(row)
    return np.array(rows)


def _signs(scores: Array) -> Array:
    return np.sign(scores[:, None] - scores[None, :])


def _form(counts: Array, table: Array) -> Array:
    """(B,) sums over pairs of counts times an (S, S) table."""
    return ((counts @ table) * counts).sum(axis=1)


def _ratio(product: Array, first: Array, second: Array) -> Array:
    """A product over the root of two sums of squares; NaN where one of them is 0."""
    spread = first.sum(axis=1) * second.sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(spread > 0, product / np.sqrt(spread), np.nan)


def _weighted(counts: Array, x: Array, y: Array) -> Array:
    """(B,) Pearson's r of weighted vectors."""
    columns = fixed_point(np.stack([x, y, x * y, x * x, y * y], axis=1))  # exact in any order
    sums = (counts @ columns).T / counts.sum(axis=1)
    mean_x, mean_y = sums[0], sums[1]
    xy = sums[2] - mean_x * mean_y
    xx, yy = sums[3] - mean_x**2, sums[4] - mean_y**2
    noise = 1e-12  # of a variance, where all systems drawn have the same score
    defined = (xx > noise * np.mean(x * x)) & (yy > noise * np.mean(y * y))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(defined, xy / np.sqrt(xx * yy), np.nan)


def _of_shares(found: Values, seed: int, stream: int, rows: int) -> Array | None:
    """Means over units, those of a segment drawn together."""
    shares = found.shares
    if shares is None or not shares.parts.shape[1]:
        return None
    size = int(shares.segments.max()) + 1
    tables = []
    for parts, weights in zip(shares.parts, shares.weights, strict=True):
        summed = np.zeros((size, 2))
        np.add.at(summed, shares.segments, np.stack([parts, weights], axis=1))
        tables.append(fixed_point(summed))
    drawn = np.empty((len(tables), rows))
    columns = DistinctColumns([np.array(tables)])
    for start, stop in columns.row_blocks(0, rows):
        (sums,) = columns.sums(bootstrap_counts(seed, start, stop, size, stream))
        with np.errstate(invalid="ignore"):
            drawn[:, start:stop] = sums[0] / sums[1]
    return drawn


def _of_sums(cells: Cells, seed: int, stream: int, rows: int) -> Array:
    """Pearson's r over all cells: sums of a segment's cells are drawn together."""
    metric = Pearson()
    size = cells.segment_count
    human = np.zeros_like(cells.flat_human)  # where it is constant, so are all metrics held to be
    if not cells.constant.all():
        human = standardised(cells.flat_human)
    tables = []
    for scores, flat in zip(cells.flat_metrics, cells.constant, strict=True):
        own = np.zeros_like(scores) if flat else standardised(scores)
        cell = [np.ones_like(own), own, own**2, own * human, human, human**2]
        summed = np.zeros((size, len(cell)))
        np.add.at(summed, cells.segments, np.stack(cell, axis=1))
        tables.append(fixed_point(summed))
    columns = DistinctColumns([np.array(tables)])
    drawn = np.empty((len(tables), rows))
    for start, stop in columns.row_blocks(0, rows):
        (sums,) = columns.sums(bootstrap_counts(seed, start, stop, size, stream))
        drawn[:, start:stop] = metric.score_columns(sums)
    drawn[cells.constant] = np.nan
    return drawn


def _of_ranks(cells: Cells, seed: int, stream: int, rows: int) -> Array:
    """Spearman's rho over all cells, ranked anew in every resample."""
    drawn = np.empty((len(cells.metrics), rows))
    orders = [np.argsort(scores, kind="stable") for scores in cells.flat_metrics]
    by_people = np.argsort(cells.flat_human, kind="stable")
    for start in range(0, rows, ROWS):
        stop = min(start + ROWS, rows)
        counts = bootstrap_counts(seed, start, stop, cells.segment_count, stream)
        human = np.empty((stop - start, cells.size))
        _rank(cells.flat_human, by_people, cells.segments, counts, human)
        for m, (scores, order) in enumerate(zip(cells.flat_metrics, orders, strict=True)):
            drawn[m, start:stop] = _rho(scores, order, cells.segments, counts, human)
    drawn[cells.constant] = np.nan
    return drawn


@compiled
def _rank(scores: Array, order: Counts, segments: Counts, counts: Weights, ranks: Array) -> None:
    """Fill in the centred middle ranks of cells, each of which comes as often as its segment.

    Args:
        scores: (N,) scores.
        order: (N,) the cells from the lowest score.
        segments: (N,) number of each cell's segment.
        counts: (R, G) how often each segment was drawn.
        ranks: (R, N) what to fill.
    """
    for r in range(len(counts)):
        row = counts[r]
        below, first = 0.0, 0
        while first < len(order):
            score, here, last = scores[order[first]], 0.0, first
            while last < len(order) and scores[order[last]] == score:
                here += row[segments[order[last]]]
                last += 1
            for place in range(first, last):
                ranks[r, order[place]] = below + here / 2.0
            below += here
            first = last
        for i in range(len(order)):
            ranks[r, i] -= below / 2.0


@compiled
def _rho(scores: Array, order: Counts, segments: Counts, counts: Weights, human: Array) -> Array:
    """(R,) rank correlations with (R, N) centred ranks by people; arguments as for `_rank`."""
    found = np.empty(len(counts))
    ranks = np.empty((1, len(order)))
    for r in range(len(counts)):
        _rank(scores, order, segments, counts[r : r + 1], ranks)
        product, own, other = 0.0, 0.0, 0.0
        for i in range(len(order)):
            weight = counts[r, segments[i]]
            product += weight * ranks[0, i] * human[r, i]
            own += weight * ranks[0, i] ** 2
            other += weight * human[r, i] ** 2
        found[r] = product / np.sqrt(own * other) if own * other > 0.0 else np.nan
    return found
