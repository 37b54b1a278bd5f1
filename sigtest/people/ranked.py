"""Rankings: who was ranked before whom how often, and whether that could be chance.

Scores are percentages of comparisons won, as WMT12 published them; the sign test says which pairs
are separated (Callison-Burch et al. 2012, section 3). A tie counts for neither side.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from sigtest.arrays import Array, Counts
from sigtest.people.agreements import Shown, of_labels
from sigtest.people.conclusions import decide, ranks, undecided
from sigtest.people.judgements import Names, groups
from sigtest.people.quality import summary
from sigtest.people.rankings import Rankings
from sigtest.people.report import (
    AgreementReport,
    AnnotatorReport,
    AnnotatorsReport,
    HumanReport,
    JudgedPair,
    JudgedSystem,
)
from sigtest.people.request.asked import Asked
from sigtest.people.statistics.tails import Tails
from sigtest.requests.people import RANKING_TEST, Quality
from sigtest.special import bdtrc, gammaln, ndtri

CRITERION = "ranking"
RELATIONS = 3  # before, tied, behind
UNDERFLOW = 1e-300


@dataclass(frozen=True)
class Relations:
    """Every two outputs that were ranked together, c of them.

    Attributes:
        ranking: (c,) row of the ranking.
        a: (c,) system with the smaller number.
        b: (c,) the other.
        relation: (c,) 0 where b is before a, 1 where they are tied, 2 where a is before b.
    """

    ranking: Counts
    a: Counts
    b: Counts
    relation: Counts


def compute(asked: Asked, rankings: Rankings) -> HumanReport:
    """The report of rankings."""
    choices, names = asked.choices, rankings.names
    found = relations(rankings)
    wins = win_table(found, len(names))
    pairs = decide(_pairs(wins, names), choices.alpha, choices.correction)
    systems = _systems(rankings, found, wins, pairs, choices.alpha)
    return HumanReport(
        **asked.stated,
        tested="rankings",
        sources=tuple(source.report({}) for source in asked.sources),
        annotators=_annotators(rankings.annotator, named=choices.show_annotators),
        systems=systems,
        pairs=tuple(pairs),
        agreement=_agreement(rankings, found, asked),
        gain=(),
        warnings=_warnings(wins, names),
    )


def relations(rankings: Rankings) -> Relations:
    """Compare all outputs of each ranking; those not ranked are passed over."""
    parts = []
    for i, j in combinations(range(rankings.system.shape[1]), 2):
        first, second = rankings.system[:, i], rankings.system[:, j]
        both = (rankings.rank[:, i] > 0) & (rankings.rank[:, j] > 0)
        rows = np.flatnonzero(both & (first >= 0) & (second >= 0) & (first != second))
        sign = np.sign(rankings.rank[rows, j] - rankings.rank[rows, i])
        turned = first[rows] > second[rows]
        a = np.where(turned, second[rows], first[rows])
        b = np.where(turned, first[rows], second[rows])
        parts.append(np.stack([rows, a, b, np.where(turned, -sign, sign) + 1]))
    return Relations(*np.concatenate(parts, axis=1))


def win_table(found: Relations, size: int) -> Counts:
    """(S, S) how often the row's system was ranked before the column's."""
    table = np.zeros((size, size), dtype=np.int64)
    before, behind = found.relation == 2, found.relation == 0
    np.add.at(table, (found.a[before], found.b[before]), 1)
    np.add.at(table, (found.b[behind], found.a[behind]), 1)
    return table


def _pairs(wins: Counts, names: Sequence[str]) -> list[JudgedPair]:
    rows = []
    for a, b in combinations(range(len(names)), 2):
        won, lost = int(wins[a, b]), int(wins[b, a])
        n = won + lost
        log10 = min(_log10_at_least(won, n), _log10_at_least(lost, n))
        tails = Tails(float(won), at_least(won, n), at_least(lost, n), log10)
        difference = won / n - 0.5 if n else 0.0
        rows.append(undecided(names, (a, b), CRITERION, RANKING_TEST, tails, (n, n), difference))
    return rows


def at_least(won: int, n: int) -> float:
    """How likely a fair coin falls on one side so often."""
    return float(bdtrc(won - 1, n, 0.5)) if won else 1.0


def _log10_at_least(won: int, n: int) -> float:
    p = at_least(won, n)
    if p > UNDERFLOW:
        return math.log10(p)
    k = np.arange(won, n + 1)
    logs = gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1) - n * math.log(2)
    top = float(logs.max())
    return (top + math.log(float(np.exp(logs - top).sum()))) / math.log(10)


def _systems(
    rankings: Rankings,
    found: Relations,
    wins: Counts,
    pairs: Sequence[JudgedPair],
    alpha: float,
) -> tuple[JudgedSystem, ...]:
    names = rankings.names
    shown = (rankings.rank > 0) & (rankings.system >= 0)
    won, lost = wins.sum(axis=1), wins.sum(axis=0)
    scores = 100.0 * won / np.maximum(won + lost, 1)
    errors = _errors(found, scores / 100.0, won + lost)
    half = float(ndtri(1 - alpha / 2)) * errors
    stands = ranks(pairs, names, scores)
    systems = []
    for s, name in enumerate(names):
        rows = np.flatnonzero(((rankings.system == s) & shown).any(axis=1))
        systems.append(
            JudgedSystem(
                name=name,
                n_judgements=len(rows),
                n_segments=len(np.unique(rankings.segment.codes[rows])),
                raw=float(scores[s]),
                z=None,
                sd=None,
                ci=(float(scores[s] - half[s]), float(scores[s] + half[s])),
                cluster=stands[s].cluster,
                range=(stands[s].lowest, stands[s].highest),
                criteria={},
            )
        )
    return tuple(systems)


def _errors(found: Relations, shares: Array, decided: Counts) -> Array:
    """(S,) standard errors of the percentages won, a ranking being the unit.

    A ratio of sums: its influence values are won - share (won + lost) of each ranking.
    """
    decisive = found.relation != 1
    winner = np.where(found.relation == 2, found.a, found.b)[decisive]
    loser = np.where(found.relation == 2, found.b, found.a)[decisive]
    ranking = found.ranking[decisive]
    system = np.concatenate([winner, loser])
    values = np.concatenate([1.0 - shares[winner], -shares[loser]])
    place, first = groups(np.concatenate([ranking, ranking]), system)
    influence = np.bincount(place, values, minlength=len(first))
    squares = np.bincount(system[first], influence**2, minlength=len(shares))
    return 100.0 * np.sqrt(squares) / np.maximum(decided, 1)


def _agreement(rankings: Rankings, found: Relations, asked: Asked) -> tuple[AgreementReport, ...]:
    """Do annotators say the same of the same two outputs of a segment?"""
    items, _ = groups(rankings.segment.codes[found.ranking], found.a, found.b)
    shown = Shown(CRITERION, "relations", RELATIONS, asked.choices)
    who = rankings.annotator.codes[found.ranking]
    return tuple(of_labels(shown, found.relation, who, items))


def _annotators(column: Names, *, named: bool) -> AnnotatorsReport:
    """Who ranked how much; rankings have no degraded copies."""
    n = np.bincount(column.codes[column.codes >= 0], minlength=len(column.names)).tolist()
    each = tuple(
        AnnotatorReport(own, None, 0, 0, None, None, None, None, None, "untestable",
                        name if named else None)
        for own, name in zip(n, column.names, strict=True)
    )  # fmt: skip
    return summary(np.empty(0), Quality(), each, filtered=False)


def _warnings(wins: Counts, names: Sequence[str]) -> tuple[str, ...]:
    met = wins + wins.T
    apart = [
        f"{names[a]} and {names[b]}" for a, b in combinations(range(len(names)), 2) if not met[a, b]
    ]
    said = [
        "Comparisons within one ranking are not independent, which makes p-values of the sign test "
        "somewhat too small."
    ]
    if apart:
        said.append(f"No ranking puts one of these above the other: {'; '.join(apart[:5])}.")
    return tuple(said)
