"""Decisions about pairs of metrics: corrections over all sets, ranks within each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sigtest.arrays import Array, Flags
from sigtest.questions.meta.asked import Choices
from sigtest.questions.meta.significance.chance import Compared
from sigtest.significance.corrections import adjust
from sigtest.significance.levels import undecided
from sigtest.significance.ranking import Rank, rank


@dataclass(frozen=True)
class Decision:
    """What is decided about one pair of metrics.

    Attributes:
        adjusted: Corrected p-value; nothing where the test is not defined.
        significant: Whether it is at most alpha.
        undecided: Whether more resamples could turn that round.
    """

    adjusted: float | None
    significant: bool
    undecided: bool


def decide(family: Sequence[Compared], choices: Choices) -> list[Decision]:
    """Correct the pairs of one statistic and test together."""
    found = [Decision(None, False, False)] * len(family)
    chances = {i: row.chances[choices.alternative] for i, row in enumerate(family) if row.chances}
    if chances:
        p = np.array([chance.p for chance in chances.values()])
        low, high = np.array([chance.ends for chance in chances.values()]).T
        adjusted = adjust(p, choices.correction).tolist()
        unsure = undecided(p, low, high, choices.correction, choices.alpha).tolist()
        for i, corrected, open_ in zip(chances, adjusted, unsure, strict=True):
            found[i] = Decision(corrected, corrected <= choices.alpha, open_)
    return found


def claims(rows: Sequence[Compared], choices: Choices) -> Array:
    """(P, 2) p-values of pairs that have any, for the claims that a is better, and that b is.

    For a two-sided alternative they are two-sided, and 1 for the metric that is behind.
    """
    found = np.ones((len(rows), 2))
    for i, row in enumerate(rows):
        if choices.alternative == "two-sided":
            ahead = 0 if row.value_a > row.value_b else 1
            found[i, ahead] = row.chances["two-sided"].p
        else:
            found[i] = row.chances["greater"].p, row.chances["less"].p
    return found


def wins(family: Sequence[Compared], choices: Choices) -> Flags:
    """(P, 2) whether a is significantly better than b, and b than a.

    One-sided claims in both directions are corrected together, 2 P of them; where the alternative
    is two-sided, its P p-values are, and the sign of the difference says who wins.
    """
    won = np.zeros((len(family), 2), dtype=np.bool_)
    at = [i for i, row in enumerate(family) if row.chances]
    if not at:
        return won
    found = claims([family[i] for i in at], choices)
    if choices.alternative == "two-sided":
        adjusted = adjust(found.min(axis=1), choices.correction)[:, None]
        won[at] = (adjusted <= choices.alpha) & (found < 1.0)
    else:
        adjusted = adjust(found.ravel(), choices.correction).reshape(-1, 2)
        won[at] = adjusted <= choices.alpha
    return won


def ranks(values: Mapping[int, float], rows: Sequence[Compared], won: Flags) -> dict[int, Rank]:
    """Where the metrics of one set stand.

    Args:
        values: The statistic of each metric for which it is defined.
        rows: The pairs of the set.
        won: (P, 2) who beats whom.
    """
    numbers = list(values)
    place = {m: i for i, m in enumerate(numbers)}
    beats = np.zeros((len(numbers), len(numbers)), dtype=np.bool_)
    for row, (a_wins, b_wins) in zip(rows, won.tolist(), strict=True):
        if row.a in place and row.b in place:
            beats[place[row.a], place[row.b]] = a_wins
            beats[place[row.b], place[row.a]] = b_wins
    placed = rank(np.array([values[m] for m in numbers]), beats)
    return dict(zip(numbers, placed, strict=True))


def beating(family: Sequence[Compared], sides: Sequence[int | None], choices: Choices) -> Flags:
    """(P,) whether a pair shows a metric significantly better than the baseline.

    Args:
        family: Pairs of all sets under one statistic and test.
        sides: For each pair, which of its two metrics is held against the baseline (0 for a, 1 for
            b), or nothing where the baseline is no part of it.
        choices: Alternative, alpha and correction; these comparisons are a family of their own.
    """
    found = np.zeros(len(family), dtype=np.bool_)
    at = [i for i, side in enumerate(sides) if side is not None and family[i].chances]
    if at:
        p = claims([family[i] for i in at], choices)
        chosen = np.array([p[k, sides[i] or 0] for k, i in enumerate(at)])
        found[at] = adjust(chosen, choices.correction) <= choices.alpha
    return found
