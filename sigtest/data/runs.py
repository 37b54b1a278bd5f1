"""Several runs of each item, crossed with the items: how much of the variance is whose."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from math import fsum, isfinite
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from sigtest.data.numbers import whole
from sigtest.data.text import check_list
from sigtest.errors import InputError

MOST = 100_000  # systems times metrics in one request


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


FIELDS = tuple(field.name for field in fields(Crossed))


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
    table = np.array(flat, dtype=np.float64).reshape(len(runs), -1)
    return Crossed(system, metric, len(runs), *spread_of(table))


def parse_runs(given: object, systems: Sequence[str]) -> tuple[Crossed, ...]:
    """What a request says of runs.

    Args:
        given: A list of objects with the fields of `Crossed`; nothing where there are no runs.
        systems: Names that an entry may have.

    Raises:
        InputError: It is no such list, or names a system that is unknown or was said already;
            `field` says which entry.
    """
    if given is None:
        return ()
    entries = check_list(given, "runs")
    if len(entries) > MOST:
        raise InputError(f"runs has {len(entries):,} entries; at most {MOST:,}.", field="runs")
    found: dict[tuple[str, str], Crossed] = {}
    for i, entry in enumerate(entries):
        own = _parsed(entry, f"runs[{i}]")
        if own.system not in systems:
            raise InputError(
                f"runs[{i}].system is none of the systems: {own.system[:80]!r}.",
                field=f"runs[{i}].system",
            )
        if found.setdefault((own.system, own.metric), own) is not own:
            raise InputError(
                f"runs[{i}] is the second about {own.metric[:80]!r} of {own.system[:80]!r}.",
                field=f"runs[{i}]",
            )
    return tuple(found.values())


def _parsed(entry: Any, field: str) -> Crossed:
    if not isinstance(entry, Mapping) or {*entry} != {*FIELDS}:
        raise InputError(f"{field} must be an object with {', '.join(FIELDS)}.", field=field)
    for name in ("system", "metric"):
        if not isinstance(entry[name], str):
            raise InputError(f"{field}.{name} must be a text.", field=f"{field}.{name}")
    count = whole(entry["count"])
    if count is None or count < 2:
        raise InputError(
            f"{field}.count must be a whole number, 2 or more.", field=f"{field}.count"
        )
    for name in ("item_variance", "run_variance"):
        value = entry[name]
        if type(value) not in (int, float) or not 0 <= value < 1e300 or not isfinite(value):
            raise InputError(
                f"{field}.{name} must be a number that is not negative.", field=f"{field}.{name}"
            )
    return Crossed(
        entry["system"], entry["metric"], count,
        float(entry["item_variance"]), float(entry["run_variance"]),
    )  # fmt: skip
