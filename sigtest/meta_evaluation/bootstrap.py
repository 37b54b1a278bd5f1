"""What is drawn around statistics: bootstrap draws, intervals, and soft pairwise accuracy.

Systems are drawn at system level, segments below it.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, combinations

import numpy as np

from sigtest.arrays import Array, Counts, Flags, Weights
from sigtest.cached import cached_property
from sigtest.compiled import compiled
from sigtest.draws.product import ROWS, DistinctColumns, fixed_point
from sigtest.draws.weights import bootstrap_counts, swap_masks
from sigtest.meta_evaluation.question import MetricChoices
from sigtest.meta_evaluation.report import StatisticReport
from sigtest.meta_evaluation.scored import ScoredSet
from sigtest.meta_evaluation.statistics import (
    Cells,
    Values,
    correlate,
    evaluate,
    midranks,
    standardised,
    weighted_ranks,
)
from sigtest.significance.base import SLACK
from sigtest.significance.intervals import p_value, percentile_interval, with_ties
from sigtest.special import ndtr, stdtrit

RESAMPLES = 999  # at most, behind intervals
FLIPS = 9_999  # at most, behind the p-values of soft accuracy
CACHED = 1 << 13  # weights at a time: with more, BLAS wakes its threads for products of little
NOISE = 1e-12  # variance of standardised scores up to which they do not vary
USABLE = 0.5  # share of resamples on which a statistic must be defined
POOLED = ("accuracy", "soft_accuracy")  # statistics that have a value over several sets

Interval = tuple[float, float]


@dataclass(frozen=True)
class Draws:
    """How p-values and intervals are drawn.

    Attributes:
        seed: Every draw is a function of it.
        stream: Separates the draws of several sets.
        flips: Sign flips behind a p-value.
        resamples: Bootstrap resamples behind an interval, B.
    """

    seed: int
    stream: int
    flips: int
    resamples: int

    def counts(self, start: int, stop: int, units: int) -> Weights:
        """How often units are drawn in some resamples."""
        return bootstrap_counts(self.seed, start, stop, units, self.stream)


@dataclass(frozen=True)
class Estimate:
    """One statistic of one metric.

    Attributes:
        value: NaN where it is not defined.
        n: What it is over.
        drawn: (B,) its values on bootstrap resamples; empty where there are none.
        units: How many units these are drawn from.
        epsilon: Largest gap that counts as a tie, where there is such.
    """

    value: float
    n: int
    drawn: Array
    units: int
    epsilon: float | None = None

    def report(self, alpha: float) -> StatisticReport:
        """As the report states it."""
        if not math.isfinite(self.value):
            return StatisticReport(None, None, self.n)
        ci = interval(self.drawn, alpha, self.units)
        if ci is not None:  # only rounding parts the value from an end
            near = [math.isclose(end, self.value, abs_tol=1e-12) for end in ci]
            ci = self.value if near[0] else ci[0], self.value if near[1] else ci[1]
        return StatisticReport(self.value, ci, self.n, self.epsilon)


def pooled(estimates: Sequence[Estimate]) -> Estimate:
    """One statistic over several sets: each counts by its number of pairs of systems."""
    known = [one for one in estimates if np.isfinite(one.value)]
    if not known:
        return Estimate(float("nan"), 0, np.empty(0), 0)
    shares = np.array([one.n for one in known], np.float64)
    total = float(shares.sum())
    drawn = np.empty(0)
    if all(len(one.drawn) for one in known):
        drawn = (shares[:, None] * np.array([one.drawn for one in known])).sum(axis=0) / total
    value = float((shares * np.array([one.value for one in known])).sum()) / total
    return Estimate(value, int(total), drawn, min(one.units for one in known))


# A set's metrics on whatever cells they are held together on ------------------------


@dataclass(frozen=True)
class Shared:
    """Some metrics on the cells that all of them have.

    Attributes:
        numbers: Which metrics, in increasing order.
        cells: Their scores, and those of people.
        choices: What to compute.
        draws: How resamples are drawn.
    """

    numbers: tuple[int, ...]
    cells: Cells
    choices: MetricChoices
    draws: Draws

    @cached_property
    def values(self) -> dict[str, Values]:
        """Each statistic, but for soft accuracy, which has segments of its own."""
        names = [name for name in self.choices.statistics if name != "soft_accuracy"]
        return {name: evaluate(name, self.cells, self.choices.group) for name in names}

    @cached_property
    def resampled(self) -> dict[str, Array | None]:
        """(M, B) each statistic on bootstrap resamples, where it has any."""
        return {name: self.drawn(name, values) for name, values in self.values.items()}

    def drawn(self, name: str, values: Values) -> Array | None:
        """The same of one statistic."""
        return draw(name, self.cells, values, self.draws, self.choices.level)

    def units(self, values: Values) -> int:
        """How many units resamples of a statistic are drawn from."""
        if self.choices.level == "system":
            return self.cells.size
        if values.shares is not None and values.shares.unit == "system":
            return values.shares.parts.shape[1]
        return self.cells.segment_count


class MetricTable:
    """All scores of a set at one level, ties made equal, and the cells that its metrics share.

    Args:
        scored: The set.
        choices: Say the level, and whether metrics that correlate negatively are turned round.
        stream: Of the set's random draws.
    """

    def __init__(self, scored: ScoredSet, choices: MetricChoices, stream: int) -> None:
        self.name, self.labels = scored.name, [metric.label for metric in scored.metrics]
        self.choices = choices
        self.draws = Draws(
            choices.seed, stream, min(choices.resamples, FLIPS), min(choices.resamples, RESAMPLES)
        )
        self.human = _ties_equal(scored.human_scores(choices.level))
        self.metrics = np.array([_ties_equal(row) for row in scored.metric_scores(choices.level)])
        self.present: Flags = ~np.isnan(self.human) & ~np.isnan(self.metrics)
        self._known: dict[tuple[int, ...], Shared] = {}
        if choices.absolute:
            for m, scores in enumerate(self.metrics):
                here = self.present[m]
                if correlate("pearson", scores[here], self.human[here]) < 0:
                    self.metrics[m] = -scores

    def on(self, chosen: tuple[int, ...]) -> Shared:
        """Some metrics on the cells that people and all of them have."""
        if chosen not in self._known:
            present: Flags = np.logical_and.reduce(self.present[list(chosen)])
            cells = Cells(self.human, self.metrics[list(chosen)], present)
            self._known[chosen] = Shared(chosen, cells, self.choices, self.draws)
        return self._known[chosen]

    def sharing(self, size: int) -> Iterator[tuple[Shared, Sequence[tuple[int, ...]]]]:
        """Metrics one by one, or two by two, those that have the same cells together, on these."""
        alike: dict[bytes, list[tuple[int, ...]]] = {}
        for numbers in combinations(range(len(self.metrics)), size):
            present = np.logical_and.reduce(self.present[list(numbers)])
            alike.setdefault(np.packbits(present).tobytes(), []).append(numbers)
        for several in alike.values():
            yield self.on(tuple(sorted({*chain(*several)}))), several


def _ties_equal(scores: Array) -> Array:
    """(S, n) scores, those equal that only rounding tells apart."""
    known = ~np.isnan(scores)
    made = scores.copy()
    made[known] = with_ties(scores[known], float(np.abs(scores[known]).max(initial=0.0)))
    return made


def estimate(scored: ScoredSet, table: MetricTable) -> list[dict[str, Estimate]]:
    """For each metric of a set its statistics by name, in the order of the choices."""
    choices = table.choices
    found: list[dict[str, Estimate]] = [{} for _ in scored.metrics]
    for shared, _ in table.sharing(1):
        for name, values in shared.values.items():
            drawn = shared.resampled[name]
            for i, m in enumerate(shared.numbers):
                found[m][name] = Estimate(
                    value=float(values.values[i]),
                    n=int(values.n[i]),
                    drawn=np.empty(0) if drawn is None else drawn[i],
                    units=shared.units(values),
                    epsilon=None if values.epsilons is None else float(values.epsilons[i]),
                )
    if "soft_accuracy" in choices.statistics:
        human, metrics = scored.human_scores("segment"), scored.metric_scores("segment")
        p_values = [metric.better for metric in scored.metrics]
        for known, soft in zip(
            found, soft_accuracies(human, metrics, p_values, table.draws), strict=True
        ):
            known["soft_accuracy"] = soft
    return [{name: known[name] for name in choices.statistics} for known in found]


# Bootstrap draws of the statistics ------------------------


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


def draw(statistic: str, cells: Cells, values: Values, draws: Draws, level: str) -> Array | None:
    """A statistic on bootstrap resamples.

    Systems are drawn at system level, and where a statistic is a mean over systems; segments, with
    all their systems, else. `accuracy_ties` keeps its epsilon.

    Args:
        statistic: Its name.
        cells: Scores.
        values: The statistic as observed.
        draws: How to draw.
        level: `system` or `segment`.

    Returns:
        (M, B), NaN where a resample does not define it. Nothing for tau-b over all cells of
        segments, which would take too long.
    """
    drawn: Array | None = None
    shares, whole = values.shares, level == "system"
    units = np.arange(cells.size) if whole else cells.segments
    if shares is not None and not whole:
        if shares.parts.shape[1]:
            sides = zip(shares.parts, shares.weights, strict=True)
            rows = (np.stack(both, axis=1) for both in sides)  # of one metric at a time
            drawn = _of_sums(rows, shares.segments, _share, draws)
    elif statistic == "pearson":
        rows = (correlation_rows(scores) for scores in standard_scores(cells))
        drawn = _of_sums(rows, units, partial(correlations, flat=math.nan), draws)
    elif whole or statistic == "spearman":
        size, scores = int(units.max()) + 1, (cells.flat_human, *cells.flat_metrics)
        blocks = (
            draws.counts(start, stop, size)[:, units].astype(np.float64)
            for start, stop in blocks_of(draws.resamples, cells.size)
        )
        drawn = by_order(statistic, scores, blocks, values.epsilons)
    own = values.values[:, None]  # rounding leads beyond it, and beyond 1
    return None if drawn is None else np.where(np.abs(drawn - own) <= SLACK, own, drawn.clip(-1, 1))


def blocks_of(resamples: int, size: int) -> Iterator[tuple[int, int]]:
    """Cut resamples into runs whose weights of so many things fit the cache."""
    rows = max(1, CACHED // size)
    return ((start, min(start + rows, resamples)) for start in range(0, resamples, rows))


def by_order(
    statistic: str,
    scores: Sequence[Array],
    blocks: Iterable[Array],
    epsilons: Array | None = None,
) -> Array:
    """(M, R) statistics of the order of N things, each of which counts by a weight.

    Rho is Pearson's r of weighted middle ranks; tau-b and accuracy are forms in the weights. Copies
    of a thing are tied with each other and make no pairs.

    Args:
        statistic: `spearman`, `kendall`, `accuracy` or `accuracy_ties`.
        scores: (N,) by people, then by each metric.
        blocks: (R, N) whole weights, some resamples at a time.
        epsilons: (M,) largest gap that counts as a tie, of `accuracy_ties`.
    """
    ranked, found = statistic == "spearman", []
    sides = [(own, np.argsort(own, kind="stable")) for own in scores if ranked]
    gaps = [np.subtract.outer(own, own) for own in scores if not ranked]
    for gap, epsilon in zip(gaps[1:], () if epsilons is None else epsilons, strict=False):
        gap[np.abs(gap) <= epsilon] = 0.0
    signs = [np.sign(own) for own in gaps]
    for weights in blocks:

        def total(table: Array, weights: Array = weights) -> Array:
            return np.einsum("rn,rn->r", weights, table if ranked else weights @ table)

        people, *rows = [weighted_ranks(*own, weights) for own in sides] or signs
        spread = total(people**2)
        with np.errstate(divide="ignore", invalid="ignore"):
            if statistic in {"spearman", "kendall"}:
                sums = [(total(own * people), total(own**2) * spread) for own in rows]
                found.append([np.where(b > 0, a / np.sqrt(b), np.nan) for a, b in sums])
            else:
                pairs = 1.0 - np.eye(len(people))
                found.append([total((own == people) * pairs) / total(pairs) for own in rows])
    return np.concatenate(found, axis=1)


def _of_sums(
    rows: Iterable[Array],
    segments: Counts,
    score: Callable[[Array], Array],
    draws: Draws,
) -> Array:
    """(M, B) scores of sums of each metric's (U, k) rows, those of a segment drawn together."""
    tables, size = [], int(segments.max()) + 1
    for row in rows:
        summed = np.zeros((size, row.shape[1]))
        np.add.at(summed, segments, row)
        tables.append(fixed_point(summed))
    drawn = np.empty((len(tables), draws.resamples))
    columns = DistinctColumns([np.array(tables)])
    for start, stop in columns.row_blocks(0, draws.resamples):
        (sums,) = columns.sums(draws.counts(start, stop, size))
        drawn[:, start:stop] = score(sums)
    return drawn


def _share(sums: Array) -> Array:
    with np.errstate(invalid="ignore"):
        return sums[0] / sums[1]


def correlation_rows(scores: Array) -> Array:
    """(..., 6) numbers that may be added, of which r with people follows.

    With m the metric's score and h the human one, a cell is (1, m, m^2, m h, h, h^2); the last two
    and the first are the same for all metrics, so that exchanging cells of two metrics exchanges
    the other three: PERM-BOTH of Deutsch, Dror & Roth (2021) is approximate randomization.

    Args:
        scores: (..., 2) numbers m and h, or their ranks.
    """
    m, h = scores[..., 0], scores[..., 1]
    return np.stack([np.ones_like(m), m, m * m, m * h, h, h * h], axis=-1)


def correlations(sums: Array, flat: float = 0.0) -> Array:
    """Pearson's r of sums of such rows, (6, ...) to (...).

    Args:
        sums: Of standardised scores.
        flat: What it is where a vector does not vary.
    """
    rows = np.ascontiguousarray(sums, np.float64).reshape(6, -1)
    return _correlations(rows, flat).reshape(sums.shape[1:])


@compiled
def _correlations(sums: Array, flat: float) -> Array:
    """One correlation a column."""
    found = np.full(sums.shape[1], flat)
    for i in range(len(found)):
        n, m, mm, mh, h, hh = sums[:, i]
        of_metric, of_people, noise = n * mm - m * m, n * hh - h * h, NOISE * n * n
        if of_metric > noise and of_people > noise:
            found[i] = (n * mh - m * h) / np.sqrt(of_metric * of_people)
    return found


def standard_scores(cells: Cells, ranked: bool = False) -> Array:
    """(M, N, 2) what each metric and people say of a cell, or its rank, both standardised."""
    human, metrics = cells.flat_human, cells.flat_metrics
    if ranked:
        human, metrics = midranks(human), np.array([midranks(row) for row in metrics])
    rows = np.zeros((*metrics.shape, 2))
    for m in np.flatnonzero(~cells.constant):
        rows[m] = np.stack([standardised(metrics[m]), standardised(human)], axis=1)
    return rows


# Soft pairwise accuracy ------------------------


def soft_accuracies(
    human: Array, metrics: Array, p_values: Sequence[Array | None], draws: Draws
) -> list[Estimate]:
    """Soft pairwise accuracy of every metric, on the segments that it shares with people.

    It says how far a metric's certainty about two systems is from people's: 1 - mean of
    |p_human - p_metric| over pairs of systems, with one-sided p-values. Its draws are moved so
    that their mean is its value: p-values of resamples vary by more than those of samples, which
    widens the gaps.

    Args:
        human: (S, n) human scores.
        metrics: (M, S, n) oriented scores.
        p_values: For each metric (S, S) one-sided p-values that stand in for those from its
            segment scores, or none.
        draws: How to draw.

    Thompson, Mathur, Deutsch & Khayrallah (2024), "Improving Statistical Significance in Human
    Evaluation of Automatic Metrics via Soft Pairwise Accuracy", section 3.
    """
    judged = ~np.isnan(human)
    by_people: dict[bytes, tuple[Array, Array]] = {}
    found = []
    for scores, better in zip(metrics, p_values, strict=True):
        shared: Flags = judged if better is not None else judged & ~np.isnan(scores)
        first, second = contested(shared)
        content, drawn = shared.tobytes(), np.empty(0)
        if len(first) and content not in by_people:
            by_people[content] = flipped(human, shared, draws)
        p_human, drawn_human = by_people.get(content, (drawn, drawn))
        if better is not None:
            gaps = np.abs(p_human - better[first, second])
            gaps = gaps[~np.isnan(gaps)]
        elif len(first):
            p_metric, drawn_metric = flipped(scores, shared, draws)
            gaps = np.abs(p_human - p_metric)
            drawn = np.abs(drawn_human - drawn_metric).mean(axis=1)
        else:
            gaps = drawn
        value = 1.0 - float(gaps.mean()) if len(gaps) else math.nan
        if len(drawn):
            drawn = np.clip(value + float(drawn.mean()) - drawn, 0.0, 1.0)
        found.append(Estimate(value, len(gaps), drawn, human.shape[1]))
    return found


def contested(present: Flags) -> tuple[Counts, Counts]:
    """First and second system of each pair that has a segment in common, from (S, n) cells."""
    first, second = np.triu_indices(len(present), 1)
    pairs = (present[first] & present[second]).any(axis=1)
    return first[pairs], second[pairs]


def flipped(scores: Array, present: Flags, draws: Draws) -> tuple[Array, Array]:
    """One-sided p-values of sign flips, (c + 1) / (flips + 1), of pairs with common segments.

    Approximate randomization of means of segment scores: how likely so large a sum of differences
    is if their signs are those of fair coins. On bootstrap resamples of the segments p-values come
    from the normal limit of the flips, with mean 0 and the sum of squares as variance: both are
    sums over segments, so that a product serves all resamples.

    Args:
        scores: (S, n) scores.
        present: (S, n) which of them count; some pair of systems has a segment in common.
        draws: How to draw.

    Returns:
        (P,) p-values, and (B, P) on resamples.
    """
    first, second = contested(present)
    both = (present[first] & present[second]).T
    used = both.any(axis=1)
    known, both = np.where(present, scores, 0.0).T[used], both[used]
    differences = fixed_point(np.where(both, known[:, first] - known[:, second], 0.0))
    squares, n = fixed_point(differences**2), len(differences)
    complete = bool(both.all())  # one column a system is enough
    columns = fixed_point(known) if complete else differences

    def sums(weights: Array) -> Array:
        summed = weights @ columns
        return summed[:, first] - summed[:, second] if complete else summed

    least = differences.sum(axis=0)
    least -= SLACK * np.abs(differences).sum(axis=0)
    counts = np.zeros(len(first), int)
    for start in range(0, draws.flips, ROWS):
        stop = min(start + ROWS, draws.flips)
        stay = swap_masks(draws.seed, start, stop, n, draws.stream).astype(np.float64)
        # with T the sum, flips give 2 stay - T, which reaches T where stay does
        counts += np.count_nonzero(sums(stay) >= least, axis=0)
    drawn = np.empty((draws.resamples, len(first)))
    for start in range(0, draws.resamples, ROWS):
        stop = min(start + ROWS, draws.resamples)
        weights = draws.counts(start, stop, n).astype(np.float64)
        with np.errstate(divide="ignore", invalid="ignore"):
            z = sums(weights) / np.sqrt(weights @ squares)
        drawn[start:stop] = ndtr(-np.nan_to_num(z))
    return p_value(counts, draws.flips), drawn
