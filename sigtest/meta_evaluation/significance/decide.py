"""Decisions about pairs of metrics: corrections over all sets, ranks within each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sigtest.arrays import Array, Flags
from sigtest.meta_evaluation.question import MetricChoices
from sigtest.meta_evaluation.significance.chance import Compared
from sigtest.significance.corrections import adjust
from sigtest.significance.levels import undecided
from sigtest.significance.ranking import Rank, rank


@dataclass(frozen=True)
class Decision:
    """What is decided about one pair of metrics.

    Attributes:
        adjusted: Corrected p-value, one-sided the smaller one of both claims; nothing where the
            test is not defined.
        better: `a` or `b` where it is at most alpha.
        undecided: Whether more resamples could turn that round.
    """

    adjusted: float | None
    better: str | None
    undecided: bool


def decide(family: Sequence[Compared], choices: MetricChoices) -> list[Decision]:
    """Correct the pairs of one statistic and test together; one-sided, both claims of each."""
    found = [Decision(None, None, False)] * len(family)
    at = [i for i, row in enumerate(family) if row.chances]
    if not at:
        return found
    chances = [family[i].chances[claim] for i in at for claim in choices.claims]
    p = np.array([chance.p for chance in chances])
    low, high = np.array([chance.ends for chance in chances]).T
    shape = len(at), len(choices.claims)
    adjusted = adjust(p, choices.correction).reshape(shape).min(axis=1).tolist()
    open_ = undecided(p, low, high, choices.correction, choices.alpha).reshape(shape)
    for i, corrected, unsure in zip(at, adjusted, np.any(open_, axis=1).tolist(), strict=True):
        # below alpha 1/2 only the claim of the side ahead is ever supported
        ahead = "a" if family[i].value_a > family[i].value_b else "b"
        better = ahead if corrected <= choices.alpha else None
        found[i] = Decision(corrected, better, unsure)
    return found


def claims(rows: Sequence[Compared], choices: MetricChoices) -> Array:
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


def ranks(
    values: Mapping[int, float], rows: Sequence[Compared], decisions: Sequence[Decision]
) -> dict[int, Rank]:
    """Where the metrics of one set stand.

    Args:
        values: The statistic of each metric for which it is defined.
        rows: The pairs of the set.
        decisions: What is decided about each.
    """
    numbers = list(values)
    place = {m: i for i, m in enumerate(numbers)}
    beats = np.zeros((len(numbers), len(numbers)), dtype=np.bool_)
    for row, decision in zip(rows, decisions, strict=True):
        if row.a in place and row.b in place:
            beats[place[row.a], place[row.b]] = decision.better == "a"
            beats[place[row.b], place[row.a]] = decision.better == "b"
    placed = rank(np.array([values[m] for m in numbers]), beats)
    return dict(zip(numbers, placed, strict=True))


def beating(
    family: Sequence[Compared], sides: Sequence[int | None], choices: MetricChoices
) -> Flags:
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
