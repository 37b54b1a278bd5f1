"""Comparisons with the best: may a system be the best of all, whichever of them looked best?"""

import math

import numpy as np

from sigtest.arrays import Array, Counts
from sigtest.significance.base import MANY, SLACK
from sigtest.significance.resampling import EVEN, HIDDEN

LEAST_UNITS = 30  # of equal weight, from which a true best stays as often as 1 - alpha says
LEAST_DRAWS = 999
MOST_CELLS = 1 << 25  # systems x systems x resamples, a tenth of a second


def best_p(
    scores: Array, draws: Array, centre: Array, pairs: Counts, stderr: Array, units: int
) -> Array:
    """The p-value of each system's null hypothesis: no other system has a higher expected score.

    A system is held against all others at once. How far each other is ahead of it is divided by the
    standard error s that the difference d has where it is 0, sqrt(s**2 + d**2 / n) of n units. The
    largest is held against the largest of the centred differences of each resample over s:
    p = (c + 1) / (R + 1). For every system that is truly the best, also where several are, p is at
    most alpha as seldom as alpha says, although which one looks best was seen in the same data: Hsu
    (1984), "Constrained Simultaneous Confidence Intervals for Multiple Comparisons with the Best",
    with one bootstrap quantile a control in the place of Dunnett's. Where some systems differ in
    kind from others (rare failures), a true best is lost in .08 instead of .05 (VALIDITY.md, 16).

    A difference that is the same in every resample has no s. Where it is 0 it says nothing;
    otherwise all units agree, which has the probability .5**n of a sign test, times the number of
    other systems.

    Args:
        scores: (S,) observed scores, greater being better.
        draws: (S, R) bootstrap scores, greater being better.
        centre: (S,) what the draws of each are drawn around.
        pairs: (P, 2) all pairs of systems.
        stderr: (P,) standard deviations of their differences over the resamples.
        units: How many are drawn, n.

    Returns:
        (S,) p-values.

    Examples:
        The third of three systems is far behind; the first two are not told apart:

        >>> rng = np.random.default_rng(1)
        >>> draws = rng.normal(size=(3, 999)) + [[5.0], [5.1], [0.0]]
        >>> pairs = np.array([[0, 1], [0, 2], [1, 2]])
        >>> error = (draws[pairs[:, 0]] - draws[pairs[:, 1]]).std(axis=1)
        >>> seen = np.array([5.0, 5.1, 0.0])
        >>> best_p(seen, draws, seen, pairs, error, 100).round(2).tolist()
        [0.67, 0.67, 0.0]
    """
    size, resamples = draws.shape
    errors = np.zeros((size, size))
    errors[tuple(pairs.T)] = errors[tuple(pairs.T[::-1])] = stderr
    errors *= math.sqrt(units / max(1, units - 1))
    ahead = scores[None] - scores[:, None]
    tied = SLACK * np.abs(scores).max(initial=0.0)
    varies = errors > tied
    null = np.hypot(errors, ahead / math.sqrt(units))
    furthest = np.divide(ahead, null, out=np.full_like(null, -math.inf), where=varies).max(axis=1)
    centred, reaching = draws - centre[:, None], np.full(size, resamples)
    for own in np.flatnonzero(varies.any(axis=1)):
        others = varies[own]
        moved = (centred[others] - centred[own]) * (1.0 / errors[own, others])[:, None]
        reaching[own] = np.count_nonzero(moved.max(axis=0) >= furthest[own] - SLACK)
    p: Array = (reaching + 1.0) / (resamples + 1.0)
    surely = (~varies & (ahead > tied)).any(axis=1)
    return np.where(surely, np.minimum(p, (size - 1) * 0.5**units), p)


def most_draws(systems: int) -> int:
    """How many of the resamples are looked at."""
    return max(LEAST_DRAWS, MOST_CELLS // systems**2)


def keeps_best(units: float, hidden: float, evenness: float) -> bool:
    """Whether a true best stays as often as 1 - alpha says; see `SignificanceTest.keeps_level`."""
    effective = units * evenness
    even = evenness >= EVEN or effective >= MANY
    return effective >= LEAST_UNITS and hidden <= HIDDEN and even
