"""Several runs of each item, crossed with the items: how much of the variance is whose."""

from __future__ import annotations

from dataclasses import dataclass
from math import fsum

import numpy as np
import numpy.typing as npt

from sigtest.data.imports.material import Scores


@dataclass(frozen=True)
class Spread:
    """Where the variance of a mean over items and runs comes from.

    Attributes:
        items: Variance of the mean from the choice of items, the runs being what they are.
        runs: Variance of the mean from the choice of runs, the items being what they are.
    """

    items: float
    runs: float


def spread_of(table: npt.NDArray[np.float64]) -> Spread:
    """Both variances, of (m, n) scores of m runs of n items.

    Miller (2024), "Adding Error Bars to Evals: A Statistical Approach to Language Model
    Evaluations", section 3.
    """
    from statistics import variance  # late: it brings fractions and decimals along

    m, n = table.shape
    return Spread(
        items=float(table.mean(axis=0).var(ddof=1) / n) if n > 1 else 0.0,
        runs=variance([fsum(run) / n for run in table]) / m,  # exactly 0 where runs agree
    )


def note_of(scores: Scores) -> str | None:
    """What a report says of the runs of one system; nothing where there is one, or tuples."""
    if len(scores.runs) < 2:
        return None
    flat = [value for run in scores.runs for value in run if isinstance(value, float | int)]
    if len(flat) < len(scores.runs) * len(scores.runs[0]):
        return None
    spread = spread_of(np.array(flat, dtype=np.float64).reshape(len(scores.runs), -1))
    return (
        f"{scores.system}: {scores.label} of an item is the mean of {len(scores.runs)} runs; items "
        f"are what is resampled. The standard error of the score is {spread.items**0.5:.4g} from "
        f"the choice of items and {spread.runs**0.5:.4g} from that of runs."
    )
