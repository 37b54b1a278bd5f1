"""Several runs of each item, crossed with the items: how much of the variance is whose."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import fsum
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sigtest.errors import InputError

ALONE = (
    "unpaired takes every item as independent, and those of one document (cluster) may not be: "
    "give the mean score of each document as its one item, without documents."
)


class VarianceComponents(NamedTuple):
    """Where the variance of a mean over items and runs comes from.

    Attributes:
        items: Variance of the mean from the choice of items, the runs being what they are.
        runs: Variance of the mean from the choice of runs, the items being what they are.
    """

    items: float
    runs: float


@dataclass(frozen=True)
class Crossed:
    """What is known of the runs of one system in one metric, whose scores are their means.

    Attributes:
        system: Whose.
        metric: Label of the scores.
        count: Number of runs, m; at least 2.
        item_variance: Variance of the mean from the choice of items, as if these were independent,
            whatever the unit of the comparison.
        run_variance: Variance of the mean from the choice of runs.
    """

    system: str
    metric: str
    count: int
    item_variance: float
    run_variance: float


def sentences(known: Sequence[Crossed]) -> list[str]:
    """What a report says of all runs together; each one's numbers stand in its tables."""
    counts = sorted({own.count for own in known})
    if not counts:
        return []
    several = f"{counts[0]} to {counts[-1]}" if len(counts) > 1 else f"{counts[0]}"
    return [
        f"The score of an item is the mean of {several} runs; runs are not resampled. Tables have "
        "the standard error of a score from the choice of items (item se) and from that of runs "
        "(run se)."
    ]


def spread_of(table: npt.NDArray[np.float64]) -> VarianceComponents:
    """Both variances, of (m, n) scores of m runs of n items.

    They are the mean squares of items and of runs, of a two-way analysis of variance without
    replication, over m * n. Miller (2024), "Adding Error Bars to Evals: A Statistical Approach to
    Language Model Evaluations", section 3.
    """
    from statistics import variance  # late: it brings fractions and decimals along

    m, n = table.shape
    return VarianceComponents(
        items=float(table.mean(axis=0).var(ddof=1) / n) if n > 1 else 0.0,
        runs=variance([fsum(run) / n for run in table]) / m,  # exactly 0 where runs agree
    )


def crossed(system: str, metric: str, runs: Sequence[Sequence[object]]) -> Crossed | None:
    """What is known of (m, n) scores; nothing where there is one run, or tuples, or gaps."""
    if len(runs) < 2:
        return None
    flat = [value for run in runs for value in run if isinstance(value, float | int)]
    if len(flat) < len(runs) * len(runs[0]):
        return None
    table = np.array(flat, float).reshape(len(runs), -1)
    return Crossed(system, metric, len(runs), *spread_of(table))


def check_runs(runs: Sequence[Crossed], systems: Sequence[str]) -> None:
    """Check what a request says of runs.

    Raises:
        InputError: It names a system that is unknown, or one twice for a metric; `field` says
            which entry.
    """
    known: dict[tuple[str, str], int] = {}
    for i, own in enumerate(runs):
        if own.system not in systems:
            raise InputError(
                f"runs[{i}].system is none of the systems: {own.system[:80]!r}.",
                field=f"runs[{i}].system",
            )
        if known.setdefault((own.system, own.metric), i) != i:
            raise InputError(
                f"runs[{i}] is the second about {own.metric[:80]!r} of {own.system[:80]!r}.",
                field=f"runs[{i}]",
            )
