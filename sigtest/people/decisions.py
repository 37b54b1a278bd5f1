"""From p-values of both claims of each pair to conclusions, clusters and rank ranges."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from sigtest.arrays import Array
from sigtest.people.report import JudgedPair
from sigtest.people.statistics import Tails
from sigtest.requests.people import COMBINED
from sigtest.significance import CORRECTIONS
from sigtest.significance.intervals import Rank, rank


def undecided(
    about: tuple[str, str, str, str],
    sizes: tuple[float, float],
    difference: float | None,
    tails: Tails,
    **more: Any,
) -> JudgedPair:
    """A pair that is not decided yet: its systems, criterion and test, and what that says."""
    p = min(tails.greater, tails.less)
    return JudgedPair(*about, *sizes, difference, *tails[:4], p, "tie", exact=tails.exact, **more)


def decide(rows: Sequence[JudgedPair], alpha: float, correction: str) -> list[JudgedPair]:
    """Correct over all ordered pairs of one criterion, and conclude at alpha.

    Both directions of every pair are tested, so a family has as many p-values as ordered pairs.
    """
    p = np.array([[row.p_greater, row.p_less] for row in rows])
    greater, less = CORRECTIONS[correction].adjust(p.ravel()).reshape(p.shape).T
    return [
        replace(row, p_adjusted=float(min(up, down)), conclusion=concluded(up, down, alpha))
        for row, up, down in zip(rows, greater, less, strict=True)
    ]


def concluded(greater: float, less: float, alpha: float) -> str:
    """`a`, `b` or `tie`; below alpha 1/2 no more than one of the two p-values is small."""
    if greater <= alpha:
        return "a"
    return "b" if less <= alpha else "tie"


def combine(by_criterion: Mapping[str, Sequence[JudgedPair]]) -> list[JudgedPair]:
    """The conclusion of the first criterion that separates two systems; else the last one's.

    Graham, Mathur & Baldwin 2014, section 4: fluency decides where adequacy does not.
    """
    combined = []
    for rows in zip(*by_criterion.values(), strict=True):
        chosen = next((row for row in rows if row.conclusion != "tie"), rows[-1])
        combined.append(replace(chosen, criterion=COMBINED, decided_by=chosen.criterion))
    return combined


def ranks(
    rows: Sequence[JudgedPair], names: Sequence[str], means: Sequence[float] | Array = ()
) -> list[Rank]:
    """Clusters and rank ranges from decided pairs.

    Args:
        rows: Of one criterion, all pairs in order.
        names: Of the systems.
        means: (S,) by which the systems are ordered, greater being better. Combined conclusions
            come from several means, none of which orders the systems: there the number of systems
            beaten minus those that beat it does.
    """
    place = {name: i for i, name in enumerate(names)}
    table = np.zeros((len(names), len(names)), bool)  # the row's system beats the column's
    for row in rows:
        table[place[row.a], place[row.b]] = row.conclusion == "a"
        table[place[row.b], place[row.a]] = row.conclusion == "b"
    ahead = table.sum(axis=1) - table.sum(axis=0)
    return rank(np.array(means, float) if len(means) else ahead.astype(float), table)
