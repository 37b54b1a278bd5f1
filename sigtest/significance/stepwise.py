"""Corrections by rank: each sorted p-value times a factor, and then passed along the ranks.

A single-step correction looks at no rank; a step-down one begins with the smallest p-value and
stops at the first that is not rejected; a step-up one begins with the largest and stops at the
first that is.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np

from sigtest.arrays import Array, Counts, Flags

# What p-values at some ranks of a family of m are held against alpha with: (p, ranks, m). A larger
# p-value at the same rank must not give less.
Scale = Callable[[Array, Array, int], Array]
Direction = Literal["single", "down", "up"]


def stepped(p: Array, scale: Scale, direction: Direction) -> Array:
    """Adjusted p-values of families along the last axis: (..., m) to (..., m).

    Args:
        p: p-values.
        scale: What is held against alpha at each rank.
        direction: Which way the ranks are passed.
    """
    m = p.shape[-1]
    ranks = np.arange(1, m + 1, dtype=np.float64)
    if direction == "single":
        return np.minimum(1.0, scale(p, np.ones(m), m))
    order = np.argsort(p, axis=-1, kind="stable")
    scaled = scale(np.take_along_axis(p, order, axis=-1), ranks, m)
    if direction == "down":
        passed = np.maximum.accumulate(scaled, axis=-1)
    else:
        passed = np.minimum.accumulate(scaled[..., ::-1], axis=-1)[..., ::-1]
    adjusted = np.empty_like(p)
    np.put_along_axis(adjusted, order, np.minimum(1.0, passed), axis=-1)
    return adjusted


def rejected_alone(
    p: Array, moved: Array, scale: Scale, direction: Direction, alpha: float
) -> Flags:
    """Whether each hypothesis is rejected with its own p-value moved and all others staying put.

    The same products are compared as in adjusting the family once for each of them, so that the
    decisions are the same to the last bit.

    Args:
        p: (m,) p-values of one family.
        moved: (m,) what each p-value becomes.
        scale: What is held against alpha at each rank.
        direction: Which way the ranks are passed.
        alpha: Level.

    Returns:
        (m,) flags.
    """
    m = len(p)
    if direction == "single":
        return scale(moved, np.ones(m), m) <= alpha
    order = np.argsort(p, kind="stable")
    ordered = p[order]
    place = np.empty(m, dtype=np.int64)
    place[order] = np.arange(1, m + 1)
    others_up_to = np.searchsorted(ordered, moved, side="right") - (p <= moved)
    rejected = _rejected_down if direction == "down" else _rejected_up
    return rejected(ordered, place, moved, others_up_to, scale, alpha)


def _rejected_down(
    ordered: Array, place: Counts, moved: Array, others_up_to: Counts, scale: Scale, alpha: float
) -> Flags:
    m = len(ordered)
    ranks = np.arange(1, m + 1, dtype=np.float64)
    passed = scale(ordered, ranks, m) <= alpha
    passed_before = scale(ordered[1:], ranks[:-1], m) <= alpha
    last = _rejected_others(passed, passed_before)[place - 1]
    # behind one that is not rejected it is held to that one's rank, with a larger p-value
    rank: Array = np.minimum(others_up_to, last).astype(np.float64) + 1.0
    return scale(moved, rank, m) <= alpha


def _rejected_up(
    ordered: Array, place: Counts, moved: Array, others_up_to: Counts, scale: Scale, alpha: float
) -> Flags:
    m = len(ordered)
    ranks = np.arange(1, m + 1, dtype=np.float64)
    stays = scale(ordered, ranks, m) <= alpha
    shifted = scale(ordered[:-1], ranks[1:], m) <= alpha
    best_after = int(ranks[stays].max(initial=0.0))
    best_before = np.maximum.accumulate(np.where(shifted, ranks[1:], 0.0))
    before = np.concatenate([[0.0], best_before])[place - 1]
    best = np.where(best_after > place, best_after, before)
    own: Array = others_up_to.astype(np.float64) + 1.0
    return (own < best) | (scale(moved, own, m) <= alpha)


def _rejected_others(passed: Flags, passed_before: Flags) -> Counts:
    """For each rank, how many of the others are rejected in a row where that one is left out.

    Args:
        passed: (m,) whether each passes at its own rank.
        passed_before: (m - 1,) whether each but the first passes one rank lower, as it does where
            one before it is out.
    """
    m = len(passed)
    first_failure = int(np.argmin(passed)) if not passed.all() else m
    # the first after each place that fails one rank lower
    failures = np.where(passed_before, m, np.arange(1, m))
    after = np.append(np.minimum.accumulate(failures[::-1])[::-1], m)
    return np.where(np.arange(m) <= first_failure, after - 1, first_failure)
