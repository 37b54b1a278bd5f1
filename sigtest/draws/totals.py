"""Systems that arrive one after the other: what is kept of each, and what a new one costs.

A system's resampled totals are a function of its statistics and the seed alone. Kept, they let a
new system be compared with all others for one product of its own columns; made again, they are
the same bit for bit. The report from these parts is that of `compare` on all systems at once.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from sigtest.arrays import Array
from sigtest.comparison.plan import Part
from sigtest.draws.sample import TOGETHER_BYTES, Sample, exact_p, exchange, oriented, units_of_swaps
from sigtest.significance import swap_test
from sigtest.significance.base import row_differences
from sigtest.significance.exact import MOST_UNITS, ExactP

Prints = npt.NDArray[np.uint64]


@dataclass(frozen=True)
class Totals:
    """One system's totals under the draws of a recipe.

    Attributes:
        observed: (k,) sums over all units, one array a metric.
        scores: (M, R) bootstrap scores.
        swap_sums: The (k, R) sums of the units that keep their labels, of a metric by its place; R
            is 0 where no test asks for swaps. Those of all systems at once would be large.
        prints: (m n,) one number a unit of exchange that tells different statistics apart, one
            array a metric.
        replica_scores: (M, m) scores of each replica.
        evenness: (M,) from `sample.evenness`.
    """

    observed: tuple[Array, ...]
    scores: Array
    swap_sums: Callable[[int], Array]
    prints: tuple[Prints, ...]
    replica_scores: Array
    evenness: Array


@dataclass(frozen=True)
class SwapFact:
    """What randomization says of one pair and metric.

    Attributes:
        count: Swapped differences at least as extreme as the observed one.
        exact: The exact p-value, where there is one.
    """

    count: int
    exact: ExactP | None


def resample(part: Part, tables: Sequence[Array]) -> Totals:
    """The totals of one system.

    Args:
        part: Of this system alone, with the number of resamples resolved.
        tables: (1, m n, k) statistics from `measure`, one array a metric.
    """
    sample = Sample(part, tables)
    swapped = sample.swap_test is not None
    scores = np.empty((len(sample.metrics), part.draws))
    kept = [np.empty((metric.width, part.resamples if swapped else 0)) for metric in sample.metrics]
    for first, last in sample.swap_columns.row_blocks(0, part.draws):
        scores[:, first:last] = sample.bootstrap_scores(first, last)[:, 0]
    if swapped:
        for first, last in sample.swap_columns.row_blocks(0, part.resamples):
            for rows, sums in zip(kept, sample.swapped_sums(first, last), strict=True):
                rows[:, first:last] = sums[:, 0]
    return Totals(
        observed=tuple(total[:, 0, 0] for total in sample.totals),
        scores=scores,
        swap_sums=kept.__getitem__,
        prints=tuple(_prints(table[0]) for table in sample.swap_tables),
        replica_scores=sample.replica_scores[:, 0],
        evenness=sample.evenness[:, 0],
    )


def wants_statistics(part: Part, m: int, a: Totals, b: Totals) -> bool:
    """Whether an exact p-value of the pair is possible, for which its statistics are needed."""
    if part.recipe.exact == "never":
        return False
    few = np.count_nonzero(a.prints[m] != b.prints[m]) <= MOST_UNITS
    if few or part.recipe.metrics[m].fraction is not None:
        return True
    # numbers that are not whole may be equal although their prints are not, see `levelled`
    return any((own.observed[m] != np.rint(own.observed[m])).any() for own in (a, b))


def exact_fact(part: Part, m: int, tables: tuple[Array, Array]) -> SwapFact | None:
    """Randomization of one pair by its exact p-value, where it has one.

    Args:
        part: Its recipe is applied.
        m: The metric.
        tables: (m n, k) statistics of both from `measure`, where `wants_statistics`.
    """
    first_units, second_units = units_of_swaps(part, np.stack(tables))
    exact = exact_p(part, m, first_units, second_units)
    return None if exact is None else SwapFact(0, exact)


def swap_fact(part: Part, m: int, a: Totals, b: Totals) -> SwapFact:
    """Randomization of one pair, a before b, from their totals.

    Args:
        part: Its recipe is applied.
        m: The metric.
        a: The first system.
        b: The second.
    """
    metric = part.recipe.metrics[m]
    observed, tolerance = row_differences(metric, a.observed[m][None], b.observed[m][None])
    test = swap_test(part.recipe.tests)
    assert test is not None
    count = 0
    rows = max(1, TOGETHER_BYTES // (16 * metric.width))
    kept_a, kept_b = a.swap_sums(m), b.swap_sums(m)
    totals = np.stack([a.observed[m], b.observed[m]], axis=1)
    for first in range(0, kept_a.shape[1], rows):
        kept = np.stack([own[:, first : first + rows] for own in (kept_a, kept_b)], axis=1)
        x, y = np.empty((2, metric.width, 1, kept.shape[2]))
        exchange(kept, totals, 0, np.ones(1, int), x, y)
        draws = oriented(metric.score_columns(x), metric.score_columns(y), metric.sign)
        count += int(test.count(observed, draws, tolerance, part.recipe.alternative)[0])
    return SwapFact(count, None)


def alone(part: Part, system: int) -> Part:
    """The part of one of its systems, under the same draws."""
    return replace(
        part,
        systems=(part.systems[system],),
        digests=(part.digests[system],),
        recipe=part.recipe.but(resamples=part.resamples, pairs="all"),
    )


def _prints(rows: Array) -> Prints:
    """One number a row; rows with different numbers differ. Equal ones differ with p < 2**-60.

    A false equality only asks for statistics that turn out not to be needed.
    """
    bits = np.ascontiguousarray(rows + 0.0).view(np.uint64)
    mixed = np.full(len(rows), 0x9E3779B97F4A7C15, np.uint64)
    for column in bits.T:
        mixed = (mixed ^ column) * np.uint64(0xFF51AFD7ED558CCD)
        mixed ^= mixed >> np.uint64(32)
    return mixed
