"""Which hypotheses of a family a stepwise correction rejects when one p-value moves alone."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sigtest.arrays import Array, Counts, Flags

Scale = Callable[[Array, Array, int], Array]


def _bonferroni_left(p: Array, ranks: Array, m: int) -> Array:
    return p * (m - (ranks - 1.0))


def _discoveries(p: Array, ranks: Array, m: int) -> Array:
    return p * m / ranks


def _dependent_discoveries(p: Array, ranks: Array, m: int) -> Array:
    harmonic = float((1.0 / np.arange(1, m + 1, dtype=np.float64)).sum())
    return p * (m * harmonic) / ranks


# What the p-value at each rank is held against alpha with.
STEP_DOWN: dict[str, Scale] = {"holm": _bonferroni_left}
STEP_UP: dict[str, Scale] = {
    "hochberg": _bonferroni_left,
    "benjamini_hochberg": _discoveries,
    "benjamini_yekutieli": _dependent_discoveries,
}


def rejected_alone(p: Array, moved: Array, correction: str, alpha: float) -> Flags:
    """Whether each hypothesis is rejected with its own p-value moved and all others staying put.

    The same products are compared as in adjusting the family once for each of them, so that the
    decisions are the same to the last bit.

    Args:
        p: (m,) p-values of one family.
        moved: (m,) what each p-value becomes.
        correction: In STEP_DOWN or STEP_UP.
        alpha: Level.

    Returns:
        (m,) flags.
    """
    m = len(p)
    order = np.argsort(p, kind="stable")
    ordered = p[order]
    place = np.empty(m, dtype=np.int64)
    place[order] = np.arange(1, m + 1)
    ranks = np.arange(1, m + 1, dtype=np.float64)
    others_up_to = np.searchsorted(ordered, moved, side="right") - (p <= moved)
    if correction in STEP_DOWN:
        scale = STEP_DOWN[correction]
        passed = scale(ordered, ranks, m) <= alpha
        passed_before = scale(ordered, ranks - 1, m) <= alpha  # one rank lower, where one is out
        last = _rejected_others(passed, passed_before)[place - 1]
        rank: Array = np.minimum(others_up_to, last).astype(np.float64) + 1.0
        stopped = others_up_to > last
        return ~stopped & (scale(moved, rank, m) <= alpha)
    scale = STEP_UP[correction]
    stays = scale(ordered, ranks, m) <= alpha
    shifted = np.append(scale(ordered[:-1], ranks[1:], m) <= alpha, False)
    best_after = int(ranks[stays].max(initial=0.0))
    best_before = np.maximum.accumulate(np.where(shifted, ranks + 1, 0.0))
    before = np.concatenate([[0.0], best_before])[place - 1]
    best = np.where(best_after > place, best_after, before)
    own: Array = others_up_to.astype(np.float64) + 1.0
    return (own < best) | (scale(moved, own, m) <= alpha)


def _rejected_others(passed: Flags, passed_before: Flags) -> Counts:
    """For each rank, how many of the others are rejected in a row where that one is left out.

    Args:
        passed: (m,) whether each passes at its own rank.
        passed_before: (m,) whether each passes one rank lower.
    """
    m = len(passed)
    first_failure = int(np.argmin(passed)) if not passed.all() else m
    # the first after each place that fails one rank lower
    failures = np.where(passed_before, m, np.arange(m))
    after = np.append(np.minimum.accumulate(failures[::-1])[::-1][1:], m)
    return np.where(np.arange(m) <= first_failure, after - 1, first_failure)
