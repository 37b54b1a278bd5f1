"""Which of two metrics agrees better with people: Williams' test and exchanges, uncorrected.

PERM-BOTH exchanges units between two metrics, in every way or at random. A pattern of exchanges and
its complement give opposite differences, so half of the patterns are visited.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from operator import attrgetter
from typing import Any

import numpy as np

from sigtest.arrays import Array, Counts, Flags
from sigtest.compiled import compiled
from sigtest.draws.product import DistinctColumns, fixed_point, relative
from sigtest.draws.weights import swap_masks
from sigtest.meta_evaluation import bootstrap
from sigtest.meta_evaluation.question import FEWEST_WILLIAMS
from sigtest.meta_evaluation.report import MetricPair
from sigtest.meta_evaluation.statistics import Pairs, Values, correlate, midranks, standardised
from sigtest.metrics.scores import Ratio
from sigtest.people.statistics import Tails, student
from sigtest.significance import ALTERNATIVES, Alternative
from sigtest.significance.base import SMALLEST_P, reaching, slack
from sigtest.significance.exact import (
    MOST_UNITS,
    ExactP,
    convolve_swaps,
    enumerate_swaps,
    subset_sums,
)
from sigtest.significance.intervals import p_interval, p_value

Say = Callable[[int, int], None]
ONE_SIDED: tuple[Alternative, ...] = ("greater", "less")
MEAN = Ratio(of="mean")
ORDINAL = ("spearman", "kendall", "accuracy")
DIGITS = 12  # of standardised scores: copies of a metric on another scale keep their ties
PERFECT = 1.0 - 1e-12  # correlation of two metrics from which on only rounding tells them apart
TOGETHER_BYTES = 1 << 21  # of exchanged sums at a time


@dataclass(frozen=True)
class Chance:
    """A p-value for one claim, and what it rests on, as `MetricPair` has it.

    Attributes:
        p_value: The p-value.
        log10_p: Its decimal logarithm.
        p_interval: Its 95 % interval; the p-value twice where it is exact.
        count: Differences that reach the observed one; nothing where that is not counted.
        resamples: Exchanges counted or drawn; nothing likewise.
        exact: Whether no draws stand behind it.
    """

    p_value: float
    log10_p: float
    p_interval: bootstrap.Interval
    count: int | None = None
    resamples: int | None = None
    exact: bool = True


UNTESTED = {**dict.fromkeys(Chance.__annotations__), "exact": True}


Chances = Mapping[Alternative, Chance]


Compared = tuple[MetricPair, Chances]  # nothing decided; a p-value for each claim, where defined


def compare_metrics(table: bootstrap.MetricTable, say: Say) -> list[Compared]:
    """Every pair of metrics, under every statistic and test that applies.

    Args:
        table: The metrics of a set.
        say: Called with how many resamples are done, and of how many.

    Returns:
        By statistic, test and pair.
    """
    rows: list[Compared] = []
    for shared, pairs in table.sharing(2):
        rows += _compare_on(shared, pairs, table, say)
    order = (table.choices.statistics, table.choices.tests, table.labels, table.labels)
    names = attrgetter("statistic", "test", "a", "b")
    return sorted(
        rows,
        key=lambda row: [of.index(name) for of, name in zip(order, names(row[0]), strict=True)],
    )


def _compare_on(
    shared: bootstrap.Shared,
    pairs: Sequence[tuple[int, ...]],
    table: bootstrap.MetricTable,
    say: Say,
) -> Iterator[Compared]:
    """Pairs of metrics that have the same cells."""
    choices, place = shared.choices, {m: i for i, m in enumerate(shared.numbers)}
    local = [(place[a], place[b]) for a, b in pairs]
    held = {name: values.together(local) for name, values in shared.values.items()}
    exchanged: Exchanged = {}
    if "perm_both" in choices.tests:
        exchanged = _permute(shared, held, local, say)
    for name, (values, places) in held.items():
        drawn = shared.resampled[name] if places is local else shared.drawn(name, values)
        for i, ((a, b), (first, second)) in enumerate(zip(pairs, places, strict=True)):
            ci = None
            if drawn is not None:
                ci = bootstrap.interval(
                    drawn[first] - drawn[second], choices.alpha, shared.units(values)
                )
            x, y = float(values.values[first]), float(values.values[second])
            n, r12, defined = shared.cells.size, math.nan, not math.isnan(x + y)
            if name == "pearson" and choices.group == "none":
                metrics = shared.cells.flat_metrics
                r12 = correlate("pearson", metrics[first], metrics[second])
            row = partial(
                _pair, choices.alternative, set=table.name, a=table.labels[a], b=table.labels[b],
                statistic=name, n=n, value_a=finite(x), value_b=finite(y), delta=finite(x - y),
                ci=ci, r12=finite(r12),
            )  # fmt: skip
            if name == "pearson" and "williams" in choices.tests:
                if n < FEWEST_WILLIAMS or math.isnan(r12) or not defined:
                    yield row({}, test="williams", unit="none", t=None, df=None)
                else:
                    t = williams(abs(r12) if choices.absolute else r12, x, y, n)
                    yield row(
                        certain(t), test="williams", unit="none", t=t and t.statistic, df=n - 3
                    )
            if name in exchanged:
                unit, chances = exchanged[name]
                yield row(chances[i], test="perm_both", unit=unit, t=None, df=None)


def _pair(alternative: Alternative, chances: Chances, **measured: Any) -> Compared:
    """A pair of metrics that nothing is decided about."""
    p_greater, p_less = (chances[claim].p_value if chances else None for claim in ONE_SIDED)
    chance: dict[str, Any] = vars(chances[alternative]) if chances else UNTESTED
    pair = MetricPair(
        **measured,
        **chance,
        alternative=alternative,
        p_greater=p_greater,
        p_less=p_less,
        p_adjusted=None,
        significant=False,
        conclusion="tie",
        undecided=False,
    )
    return pair, chances


def finite(value: float) -> float | None:
    """As reports have it: nothing where it is not defined."""
    return float(value) if math.isfinite(value) else None


# Williams' test ------------------------


def williams(r12: float, r13: float, r23: float, n: int) -> Tails | None:
    """Test of two dependent correlations that share a variable.

    Args:
        r12: Correlation of the two metrics, with its sign.
        r13: Of the first metric with people.
        r23: Of the second.
        n: How many systems all three correlations are over; at least 4.

    Returns:
        t with n - 3 degrees of freedom, as in the paper, positive where the first metric correlates
        better, and its p-values; nothing where the metrics are the same up to a line.

    Williams (1959); Graham & Baldwin (2014), "Testing for Significance of Increased Correlation
    with Human Judgment", section 3.1.
    """
    k = 1.0 - r12**2 - r13**2 - r23**2 + 2.0 * r12 * r13 * r23
    mean = (r13 + r23) / 2.0
    spread = 2.0 * max(k, 0.0) * (n - 1) / (n - 3) + mean**2 * (1.0 - r12) ** 3
    if abs(r12) >= PERFECT or spread <= 0.0:  # r13 = r23 = 0, and no variance is left
        return None
    return student((r13 - r23) * math.sqrt((n - 1) * (1.0 + r12)) / math.sqrt(spread), n - 3)


def certain(found: Tails | None) -> Chances:
    """P-values of a test without draws; 1 where nothing can differ."""
    greater, less = (found.greater, found.less) if found else (1.0, 1.0)
    sides = {"greater": greater, "less": less, "two-sided": min(1.0, 2.0 * min(greater, less))}
    return {
        claim: Chance(p, math.log10(p), (p, p))
        for claim in ALTERNATIVES
        for p in [max(sides[claim], SMALLEST_P)]
    }


# Exchanges of units between two metrics ------------------------


@dataclass(frozen=True)
class ExchangeColumn:
    """What is exchanged between metrics for one statistic.

    Attributes:
        score: (k, ...) sums to scores.
        exact: Exact p-values of the units of two metrics, where there are any.
        rows: (M, U, k) numbers of each metric's units, in fixed point.
        pairs: Which of the metrics to compare.
    """

    score: Callable[[Array], Array]
    exact: Callable[[Array, Array], Chances | None]
    rows: Array
    pairs: Pairs

    @classmethod
    def of_means(cls, parts: Array, weights: Array, pairs: Pairs) -> ExchangeColumn:
        """Exchange units of a mean, from (M, U) values times weights, and weights."""
        rows = np.stack([fixed_point(row) for row in np.stack([parts, weights], axis=2)])
        return cls(MEAN.score_columns, exact_means, rows, pairs)

    @classmethod
    def of_correlations(cls, scores: Array, pairs: Pairs) -> ExchangeColumn:
        """Exchange cells, from (M, U, 2) standardised scores of metrics and people."""
        rows = np.stack([fixed_point(bootstrap.correlation_rows(row)) for row in scores])
        return cls(bootstrap.correlations, exact_correlations, rows, pairs)


Exchanged = dict[str, tuple[str, list[Chances]]]  # unit, and p-values of each pair, by statistic


def _permute(
    shared: bootstrap.Shared, held: Mapping[str, tuple[Values, Pairs]], pairs: Pairs, say: Say
) -> Exchanged:
    """Exchange what each statistic is made of between the metrics of each pair.

    - Pearson's r over cells: standardised scores of cells (PERM-BOTH), or of systems.
    - Spearman's rho over cells of segments: their ranks. Over systems rho, tau-b and accuracy:
      standardised scores, ranked anew. tau-b over cells of segments has no such test here.
    - Means over segments or systems: the correlations of these (PERM-INPUTS, PERM-SYSTEMS).
    - Accuracy on segments, and with ties: pairs of systems on a segment, right or wrong.

    Args:
        shared: Metrics on the cells that all of them have.
        held: Values of each statistic on what both metrics of a pair have, and the pairs' rows.
        pairs: Which of the metrics to compare.
        say: Called with how many resamples are done, and of how many.

    Deutsch, Dror & Roth (2021), "A Statistical Analysis of Summarization Evaluation Metrics Using
    Resampling Methods", section 4.
    """
    systems = shared.choices.level == "system"
    batches: dict[str, dict[str, ExchangeColumn]] = {}  # by unit: those of one share their draws
    for name, (values, places) in held.items():
        if (systems and name in ORDINAL) or not np.isfinite(values.values).any():
            continue
        if values.shares is not None:
            shares = values.shares
            column = ExchangeColumn.of_means(shares.parts, shares.weights, places)
            batches.setdefault(values.shares.unit, {})[name] = column
        elif name in {"pearson", "spearman"}:
            scores = bootstrap.standard_scores(shared.cells, ranked=name == "spearman")
            column = ExchangeColumn.of_correlations(scores, places)
            batches.setdefault("system" if systems else "cell", {})[name] = column
    tested: Exchanged = {}
    draws = shared.draws
    for unit, columns in batches.items():
        for name, chances in exchange(
            columns, shared.choices.resamples, draws.seed, draws.stream, say
        ).items():
            values, places = held[name]
            defined = [np.isfinite(values.values[list(pair)]).all() for pair in places]
            sides = zip(chances, defined, strict=True)
            tested[name] = unit, [by_claim if known else {} for by_claim, known in sides]
    if ordinal := [name for name in held if systems and name in ORDINAL]:
        cells, metrics = shared.cells, shared.cells.flat_metrics
        masks = swap_masks(draws.seed, 0, shared.choices.resamples, cells.size, draws.stream) > 0
        found = [
            {}
            if cells.constant[a] or cells.constant[b]
            else exchange_systems(cells.flat_human, metrics[a], metrics[b], masks)
            for a, b in pairs
        ]
        tested |= {name: ("system", [own.get(name, {}) for own in found]) for name in ordinal}
    return tested


def exchange(
    columns: Mapping[str, ExchangeColumn], resamples: int, seed: int, stream: int, say: Say
) -> dict[str, list[Chances]]:
    """Exchange units between the metrics of each pair, in every way or in so many at random.

    Args:
        columns: By name of the statistic, all of the same units.
        resamples: R.
        seed: Every draw is a function of it.
        stream: Separates the draws of several sets.
        say: Called with how many resamples are done, and of how many.

    Returns:
        P-values of each pair, by name of the statistic.
    """
    exact = {
        name: [column.exact(column.rows[a], column.rows[b]) for a, b in column.pairs]
        for name, column in columns.items()
    }
    counts = {name: np.zeros((3, len(known)), int) for name, known in exact.items()}
    drawn = [name for name, known in exact.items() if None in known]
    if drawn:
        totals = DistinctColumns([columns[name].rows for name in drawn]).totals
        moved = DistinctColumns([relative(columns[name].rows) for name in drawn])
        for first, last in moved.row_blocks(0, resamples):
            say(first, resamples)
            stay = moved.sums(swap_masks(seed, first, last, moved.units, stream))
            for name, total, sums in zip(drawn, totals, stay, strict=True):
                _count_differences(columns[name], total, sums, counts[name])
    return {
        name: [
            chances or _drawn_chances(count, resamples)
            for chances, count in zip(exact[name], counts[name].T.tolist(), strict=True)
        ]
        for name in columns
    }


def _count_differences(column: ExchangeColumn, totals: Array, stay: Array, counts: Counts) -> None:
    """Add up the differences that reach the observed ones.

    Args:
        column: What is exchanged.
        totals: (k, M, 1) sums of all units.
        stay: (k, M, R) sums of the units that keep their metrics, or how far they differ.
        counts: (3, P) of each claim.
    """
    scores = column.score(totals)[:, 0]
    most = max(1, TOGETHER_BYTES // (16 * len(stay) * stay.shape[2]))
    for first in range(0, len(column.pairs), most):
        run = slice(first, first + most)
        a, b = np.array(column.pairs[run], int).T
        x = stay[:, a] + (totals[:, b] - stay[:, b])
        y = totals[:, a] + totals[:, b] - x
        differences = column.score(x) - column.score(y)
        observed, tolerance = scores[a] - scores[b], slack(scores[a], scores[b])
        for claim, count in zip(ALTERNATIVES, counts, strict=True):
            reached = reaching(observed, differences, tolerance, claim)
            count[run] += np.count_nonzero(reached, axis=1)


def _drawn_chances(counts: Sequence[int], resamples: int) -> Chances:
    """P-values from how many of the draws reach the observed difference, for each claim."""
    found = np.array(counts)
    p, (low, high) = p_value(found, resamples), p_interval(found, resamples)
    return {
        claim: Chance(float(p[i]), float(np.log10(p[i])), (float(low[i]), float(high[i])),
                      counts[i], resamples, exact=False)
        for i, claim in enumerate(ALTERNATIVES)
    }  # fmt: skip


def _both_tails(greater: ExactP, less: ExactP) -> Chances:
    """Exact p-values of both one-sided claims and of either: exchanges are symmetric."""
    nearer = min(greater, less, key=lambda tail: tail.log10_p)
    count = None
    if nearer.count is not None and nearer.patterns is not None:
        count = min(2 * nearer.count, nearer.patterns)
    either = ExactP(count, nearer.patterns, min(0.0, nearer.log10_p + math.log10(2.0)))
    tails: dict[Alternative, ExactP] = {"greater": greater, "less": less, "two-sided": either}
    return {
        claim: Chance(tail.p_value, tail.log10_p, (tail.p_value,) * 2, tail.count, tail.patterns)
        for claim, tail in tails.items()
    }


def counted_chances(greater: int, less: int, units: int) -> Chances:
    """P-values from counts among 2**units patterns, the observed one among them."""
    patterns = 2**units
    tails = [
        ExactP(count, patterns, math.log10(count) - units * math.log10(2))
        for count in (max(greater, 1), max(less, 1))
    ]
    return _both_tails(*tails)


def exact_means(a: Array, b: Array) -> Chances | None:
    """Exact p-values of two metrics' means, where there are any.

    Args:
        a: (U, 2) parts and weights of the first metric's units, in fixed point.
        b: (U, 2) of the second.

    Returns:
        The p-values; nothing where more than 20 units differ and no convolution applies.
    """
    greater, less = (
        convolve_swaps(MEAN, a, b, claim) or enumerate_swaps(MEAN, a, b, claim)
        for claim in ONE_SIDED
    )
    return _both_tails(greater, less) if greater is not None and less is not None else None


def exact_correlations(a: Array, b: Array) -> Chances | None:
    """The same of (U, 6) units of correlations, where at most 20 differ.

    The last of these stays, as complements count, too.
    """
    differing = (a != b).any(axis=1).nonzero()[0]
    if len(differing) > MOST_UNITS:
        return None
    if not len(differing):
        return counted_chances(1, 1, 0)
    sums_a, sums_b = a.sum(axis=0), b.sum(axis=0)
    observed_a, observed_b = bootstrap.correlations(np.stack([sums_a, sums_b], axis=1))
    moved = (a - b)[differing[:-1], 1:4]
    half = len(moved) // 2
    greater, less = _count_correlations(
        sums_a,
        sums_b,
        subset_sums(moved[half:]),
        subset_sums(moved[:half]),
        float(observed_a - observed_b),
        float(slack(observed_a, observed_b)),
    )
    return counted_chances(greater, less, len(differing))


@compiled
def _count_correlations(
    a: Array, b: Array, low: Array, high: Array, observed: float, tolerance: float
) -> tuple[int, int]:
    """How many differences of all patterns are at least, and at most, the observed one.

    Args:
        a: (6,) sums of the first metric.
        b: (6,) sums of the second.
        low: (3, L) what exchanging some of the units takes from the sums of m, m^2 and m h of a
            and gives to b, for every choice of them.
        high: (3, H) the same for other units; one unit is in neither, as complements count too.
        observed: The difference.
        tolerance: Slack within which two differences are tied.
    """
    n, h = a[0], a[4]
    spread = n * a[5] - h * h
    least, most = observed - tolerance, observed + tolerance
    greater, less = 0, 0
    for i in range(high.shape[1]):
        am, amm, amh = a[1] - high[0, i], a[2] - high[1, i], a[3] - high[2, i]
        bm, bmm, bmh = b[1] + high[0, i], b[2] + high[1, i], b[3] + high[2, i]
        for j in range(low.shape[1]):
            xm, ym = am - low[0, j], bm + low[0, j]
            x = (n * (amm - low[1, j]) - xm * xm) * spread
            y = (n * (bmm + low[1, j]) - ym * ym) * spread
            rx = (n * (amh - low[2, j]) - xm * h) / np.sqrt(x)
            ry = (n * (bmh + low[2, j]) - ym * h) / np.sqrt(y)
            difference = (rx if x > 0.0 else 0.0) - (ry if y > 0.0 else 0.0)
            greater += int(difference >= least) + int(-difference >= least)
            less += int(difference <= most) + int(-difference <= most)
    return greater, less


# Exchanges of systems, for what looks at their order only ------------------------
#
# Rho, tau-b and accuracy are sums over pairs of systems of the sign of a difference of scores, over
# a term for ties. Exchanging a system between two metrics changes the signs of its own pairs alone.


def exchange_systems(human: Array, a: Array, b: Array, masks: Flags) -> dict[str, Chances]:
    """Exchange systems between two metrics and rank them anew.

    Args:
        human: (S,) human scores.
        a: (S,) scores of the first metric, not constant.
        b: (S,) of the second, not constant.
        masks: (R, S) which systems keep their scores, where more than 20 systems differ.

    Returns:
        P-values of rho, tau-b and accuracy.
    """
    values = np.stack([standardised(a), standardised(b)]).round(DIGITS)
    differing = np.flatnonzero(values[0] != values[1])
    units, size = len(differing), len(a)
    exact = units <= MOST_UNITS
    if exact:  # half of all patterns: the others give opposite differences
        some = differing[:-1]
        masks = np.ones((2 ** len(some), size), np.bool_)
        masks[:, some] = np.arange(len(masks))[:, None] >> np.arange(len(some)) & 1 == 0
    signs = np.sign(np.subtract.outer(values, values))  # (2, S, 2, S)
    masks = np.concatenate([np.ones((1, size), np.bool_), masks])  # as observed, and the draws
    if ((signs == 0).any(axis=(0, 2)) & ~np.eye(size, dtype=bool)).any():
        scores = np.tile(human, 2), values.reshape(-1)
        x, y = (
            np.concatenate(
                [bootstrap.by_order(name, scores, _sides(masks, turned)) for name in ORDINAL]
            )
            for turned in (1, -1)
        )
        x, y = np.nan_to_num(x), np.nan_to_num(y)
    else:
        # divisors are the same for all exchanges, and what these take from the first metric's sums
        # of signs and give to the second's is a sum over systems; accuracy is tau on another scale
        between = (signs[0] - signs[1]).sum(axis=1) / 2.0
        gaps = np.subtract.outer(*[2.0 * midranks(human)] * 2)
        steps = np.stack([(between * own).sum(axis=1) for own in (gaps, np.sign(gaps))])[[0, 1, 1]]
        x, y = 2.0 * (steps[:, differing] @ masks[:, differing].T), steps.sum(1, keepdims=True)
    differences, tolerance = x - y, slack(x[:, 0], y[:, 0])
    observed, drawn = differences[:, 0], differences[:, 1:]
    if exact and units:
        drawn = np.concatenate([drawn, -drawn], axis=1)
    reached = [reaching(observed, drawn, tolerance, claim) for claim in ALTERNATIVES]
    counts = np.count_nonzero(reached, axis=2).T
    return {
        name: counted_chances(greater, less, units)
        if exact
        else _drawn_chances([beyond, greater, less], len(masks) - 1)
        for name, (beyond, greater, less) in zip(ORDINAL, counts.tolist(), strict=True)
    }


def _sides(masks: Flags, turned: int) -> Iterator[Array]:
    """(R, 2 S) weights of both metrics' scores: those that the first one has, or the second."""
    for start, stop in bootstrap.blocks_of(len(masks), 2 * masks.shape[1]):
        stay = masks[start:stop].astype(np.float64)
        yield np.hstack([stay, 1.0 - stay][::turned])
