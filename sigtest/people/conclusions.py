"""Which system is better: tests of all pairs, decisions at alpha, criteria combined, clusters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np

from sigtest.arrays import Array
from sigtest.people.report import JudgedPair
from sigtest.people.scores import Observations
from sigtest.people.statistics import Flips, Tails, approximate_randomization, rank_sum, signed_rank
from sigtest.requests.people import COMBINED
from sigtest.significance import CORRECTIONS
from sigtest.significance.ranking import Rank, rank


def compare_pairs(
    observed: Observations, names: Sequence[str], criterion: str, test: str, draws: tuple[int, int]
) -> list[JudgedPair]:
    """Both one-sided p-values of every pair of systems, not decided yet.

    Args:
        observed: Scores by system.
        names: Of the systems.
        criterion: Of the scores.
        test: `rank_sum` on all units, or a paired test on those that both systems have.
        draws: Resamples and seed of approximate randomization.
    """
    pairs = list(combinations(range(len(names)), 2))
    if test == "rank_sum":
        ordered = [np.sort(scores) for scores in observed.scores]
        means = observed.means.tolist()
        return [
            undecided(names, (a, b), criterion, test, rank_sum(ordered[a], ordered[b]),
                 (len(ordered[a]), len(ordered[b])), means[a] - means[b])
            for a, b in pairs
        ]  # fmt: skip
    shared = [observed.differences(a, b) for a, b in pairs]
    if test == "signed_rank":
        results = [Flips(signed_rank(values), False) for _, values in shared]
    else:
        results = approximate_randomization(shared, observed.size, *draws)
    return [
        undecided(names, pair, criterion, test, result.tails, (len(values),) * 2,
                  float(values.mean()), exact=result.exact)
        for pair, result, (_, values) in zip(pairs, results, shared, strict=True)
    ]  # fmt: skip


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
    rows: Sequence[JudgedPair], names: Sequence[str], means: Array | None = None
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
    table = np.zeros((len(names), len(names)), dtype=bool)  # the row's system beats the column's
    for row in rows:
        table[place[row.a], place[row.b]] = row.conclusion == "a"
        table[place[row.b], place[row.a]] = row.conclusion == "b"
    ahead = table.sum(axis=1) - table.sum(axis=0)
    return rank(ahead.astype(np.float64) if means is None else means, table)


def undecided(
    names: Sequence[str],
    pair: tuple[int, int],
    criterion: str,
    test: str,
    tails: Tails,
    sizes: tuple[int, int],
    difference: float,
    exact: bool = False,
) -> JudgedPair:
    """A pair that is tested and not decided yet.

    Args:
        names: Of the systems.
        pair: Places of both.
        criterion: By which they are compared.
        test: Its name.
        tails: Its statistic and p-values.
        sizes: Units of both.
        difference: Of what was tested.
        exact: Whether every sign pattern was counted.
    """
    return JudgedPair(
        a=names[pair[0]],
        b=names[pair[1]],
        criterion=criterion,
        test=test,
        n_a=sizes[0],
        n_b=sizes[1],
        difference=difference,
        u=tails.statistic,
        p_greater=tails.greater,
        p_less=tails.less,
        log10_p=tails.log10,
        p_adjusted=min(tails.greater, tails.less),
        conclusion="tie",
        exact=exact,
    )
