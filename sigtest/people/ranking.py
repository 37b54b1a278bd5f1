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
from sigtest.people.annotators import Scheme, summary
from sigtest.people.conclusions import decide, ranks, undecided
from sigtest.people.judgements import Names, Rankings, groups, pairs_within
from sigtest.people.question import RANKING, HumanQuestion
from sigtest.people.report import (
    AgreementReport,
    AnnotatorReport,
    AnnotatorsReport,
    HumanReport,
    JudgedPair,
    JudgedSystem,
)
from sigtest.people.statistics import Tails
from sigtest.requests.people import RANKING_TEST, HumanRequest, Quality
from sigtest.special import bdtrc, gammaln, ndtri

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


def ranking_report(question: HumanQuestion, rankings: Rankings) -> HumanReport:
    """The report of rankings."""
    choices, names = question.choices, rankings.names
    compared = relations(rankings)
    wins = win_table(compared, len(names))
    pairs = decide(_pairs(wins, names), choices.alpha, choices.correction)
    return HumanReport(
        **question.stated,
        tested="rankings",
        sources=tuple(source.report({}) for source in question.sources),
        annotators=_annotators(rankings.annotator, named=choices.show_annotators),
        systems=_systems(rankings, compared, wins, pairs, choices.alpha),
        pairs=tuple(pairs),
        agreement=_agreement(rankings, compared, choices),
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


def win_table(compared: Relations, size: int) -> Counts:
    """(S, S) how often the row's system was ranked before the column's."""
    table = np.zeros((size, size), dtype=np.int64)
    before, behind = compared.relation == 2, compared.relation == 0
    np.add.at(table, (compared.a[before], compared.b[before]), 1)
    np.add.at(table, (compared.b[behind], compared.a[behind]), 1)
    return table


def _pairs(wins: Counts, names: Sequence[str]) -> list[JudgedPair]:
    rows = []
    for a, b in combinations(range(len(names)), 2):
        won, lost = int(wins[a, b]), int(wins[b, a])
        n = won + lost
        log10 = min(_log10_at_least(won, n), _log10_at_least(lost, n))
        tails = Tails(float(won), at_least(won, n), at_least(lost, n), log10)
        difference = won / n - 0.5 if n else 0.0
        rows.append(undecided(names, (a, b), RANKING, RANKING_TEST, tails, (n, n), difference))
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
    compared: Relations,
    wins: Counts,
    pairs: Sequence[JudgedPair],
    alpha: float,
) -> tuple[JudgedSystem, ...]:
    names = rankings.names
    ranked = (rankings.rank > 0) & (rankings.system >= 0)
    won, lost = wins.sum(axis=1), wins.sum(axis=0)
    scores = 100.0 * won / np.maximum(won + lost, 1)
    errors = _errors(compared, scores / 100.0, won + lost)
    half = float(ndtri(1 - alpha / 2)) * errors
    stands = ranks(pairs, names, scores)
    systems = []
    for s, name in enumerate(names):
        rows = np.flatnonzero(((rankings.system == s) & ranked).any(axis=1))
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


def _errors(compared: Relations, shares: Array, decided: Counts) -> Array:
    """(S,) standard errors of the percentages won, a ranking being the unit.

    A ratio of sums: its influence values are won - share (won + lost) of each ranking.
    """
    decisive = compared.relation != 1
    winner = np.where(compared.relation == 2, compared.a, compared.b)[decisive]
    loser = np.where(compared.relation == 2, compared.b, compared.a)[decisive]
    ranking = compared.ranking[decisive]
    system = np.concatenate([winner, loser])
    values = np.concatenate([1.0 - shares[winner], -shares[loser]])
    place, first = groups(np.concatenate([ranking, ranking]), system)
    influence = np.bincount(place, values, minlength=len(first))
    squares = np.bincount(system[first], influence**2, minlength=len(shares))
    return 100.0 * np.sqrt(squares) / np.maximum(decided, 1)


def _agreement(
    rankings: Rankings, compared: Relations, choices: HumanRequest
) -> tuple[AgreementReport, ...]:
    """Whether annotators order two outputs of a segment alike; nothing where pairs are too many."""
    items, _ = groups(rankings.segment.codes[compared.ranking], compared.a, compared.b)
    pairs = pairs_within(items)
    if pairs is None:
        return ()
    scheme = Scheme(RANKING, "relations", RELATIONS, choices.alpha, choices.seed)
    who = rankings.annotator.codes[compared.ranking]
    same = who[pairs.first] == who[pairs.second]
    return (
        *scheme.rows("same", compared.relation, who, pairs.take(same)),
        *scheme.rows("distinct", compared.relation, who, pairs.take(~same)),
    )


def _annotators(column: Names, *, named: bool) -> AnnotatorsReport:
    """Who ranked how much; rankings have no degraded copies."""
    counts = np.bincount(column.codes[column.codes >= 0], minlength=len(column.names)).tolist()
    each = tuple(
        AnnotatorReport(n, None, 0, 0, None, None, None, None, None, "untestable",
                        name if named else None)
        for n, name in zip(counts, column.names, strict=True)
    )  # fmt: skip
    return summary(np.empty(0), Quality(), each, filtered=False)


def _warnings(wins: Counts, names: Sequence[str]) -> tuple[str, ...]:
    met = wins + wins.T
    apart = [
        f"{names[a]} and {names[b]}" for a, b in combinations(range(len(names)), 2) if not met[a, b]
    ]
    sentences = [
        "Comparisons within one ranking are not independent, which makes p-values of the sign test "
        "somewhat too small."
    ]
    if apart:
        sentences.append(f"No ranking puts one of these above the other: {'; '.join(apart[:5])}.")
    return tuple(sentences)
