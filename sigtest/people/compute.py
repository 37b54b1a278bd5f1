"""From a human evaluation to its report: of scores, and of rankings.

Rankings are percentages of comparisons won, as WMT12 published them; the sign test says which pairs
are separated (Callison-Burch et al. 2012, section 3). A tie counts for neither side.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

from sigtest.arrays import Array, Counts
from sigtest.data.names import summaries
from sigtest.people.annotators import agreement, score_agreement, summary, tested
from sigtest.people.judgements import MOST_PAIRS, Names, Rankings, groups, pairs_within
from sigtest.people.question import RANKING, HumanQuestion, Source
from sigtest.people.report import (
    AgreementReport,
    AnnotatorsReport,
    CriterionReport,
    HumanReport,
    JudgedPair,
    JudgedSystem,
)
from sigtest.people.scores import Prepared, Units, gains
from sigtest.people.show import TESTS, sentences
from sigtest.people.statistics import (
    Tails,
    approximate_randomization,
    rank_sum,
    sign,
    signed_rank,
)
from sigtest.progress import Progress, silent
from sigtest.report import with_methods
from sigtest.requests.people import COMBINED, RANKING_TEST, HumanRequest, Quality
from sigtest.significance import CORRECTIONS
from sigtest.significance.intervals import Rank, rank
from sigtest.special import ndtri, stdtrit

WHISKER = 1.5  # interquartile ranges
FEW_UNITS = 15  # of the smaller sample: below, normal approximations are rough
NAMED_PAIRS = 5  # in one sentence


def compute(question: HumanQuestion, progress: Progress | None = None) -> HumanReport:
    """Compute a human evaluation in this process.

    Args:
        question: Judgements and choices.
        progress: Called with phase (`judgements`, `pairs`, `agreement`), done and total.
    """
    say = progress or silent
    if isinstance(question.judgements, Rankings):
        report = ranking_report(question, question.judgements)
    else:
        report = _score_report(question, say)
    return with_methods(report, sentences)


def _score_report(question: HumanQuestion, say: Progress) -> HumanReport:
    say("judgements", 0, 1)
    prepared = question.prepared
    say("judgements", 1, 1)
    choices = question.choices
    pairs = _pairs(prepared, choices, say)
    say("agreement", 0, 1)
    scales = {source.scale for source in question.sources}
    scale = scales.pop() if len(scales) == 1 else None
    agreed, left_out = score_agreement(prepared.judgements, choices, scale)
    gain = gains(prepared.segments, prepared.systems, choices)
    return HumanReport(
        **question.stated,
        tested="z" if prepared.pooled.standardised else "raw",
        sources=tuple(map(Source.report, question.sources, prepared.dropped)),
        annotators=prepared.annotators,
        systems=_systems(prepared, pairs, choices),
        pairs=tuple(_unturned(row, prepared, choices) for rows in pairs.values() for row in rows),
        agreement=tuple(agreed),
        gain=gain,
        warnings=tuple(_warnings(question, prepared, pairs, left_out)),
    )


def _pairs(
    prepared: Prepared, choices: HumanRequest, say: Progress
) -> dict[str, Sequence[JudgedPair]]:
    """Decided pairs by criterion; the combined conclusions last, where there are several."""
    pairs: dict[str, Sequence[JudgedPair]] = {}
    draws = (choices.resamples, choices.seed)
    for done, (criterion, units) in enumerate(prepared.units.items()):
        say("pairs", done, len(prepared.units))
        by = criterion, str(choices.test)
        rows = compare_pairs(units, prepared.tested[criterion], prepared.systems, *by, draws)
        pairs[criterion] = decide(rows, choices.alpha, choices.correction)
    if len(pairs) > 1:
        pairs[COMBINED] = combine(pairs)
    return pairs


def _systems(
    prepared: Prepared, pairs: Mapping[str, Sequence[JudgedPair]], choices: HumanRequest
) -> tuple[JudgedSystem, ...]:
    names, alpha = prepared.systems, choices.alpha
    scores = {
        criterion: [prepared.tested[criterion][units.of(s)] for s in range(len(names))]
        for criterion, units in prepared.units.items()
    }
    ranked_by = {
        criterion: ranks(rows, names, [own.mean() for own in scores.get(criterion, ())])
        for criterion, rows in pairs.items()
    }
    leading = list(ranked_by.values())[-1]
    systems = []
    for s, name in enumerate(names):
        criteria = {}
        for criterion, own in scores.items():
            units, sign = prepared.units[criterion], _sign([criterion], choices)
            place = ranked_by[criterion][s]
            figures = _figures(prepared.segments[criterion], units, own[s], s, alpha, place, sign)
            drawn = own[s] if units.standardised else sign * own[s]
            criteria[criterion] = CriterionReport(**figures, box=box(drawn))
        pooled = prepared.averaged
        every = pooled.tested[pooled.of(s)]
        if len(scores) == 1:  # what was tested are the units of that criterion
            every = next(iter(scores.values()))[s]
        sign = _sign(list(scores), choices)
        figures = _figures(prepared.pooled, pooled, every, s, alpha, leading[s], sign)
        systems.append(JudgedSystem(name=name, **figures, criteria=criteria))
    return tuple(systems)


def _sign(criteria: Sequence[str], choices: HumanRequest) -> float:
    """What turns scores back into those of the files; NaN where some are turned round."""
    signs = {1.0 if choices.higher_is_better[name] else -1.0 for name in criteria}
    return signs.pop() if len(signs) == 1 else math.nan


def _unturned(row: JudgedPair, prepared: Prepared, choices: HumanRequest) -> JudgedPair:
    """A pair with the difference of scores as the files have them, where these were tested."""
    if prepared.averaged.standardised:
        return row
    sign = _sign([row.decided_by or row.criterion], choices)
    return replace(row, difference=sign * row.difference + 0.0)


def _figures(
    segments: Units,
    units: Units,
    tested: Array,
    system: int,
    alpha: float,
    stands: Rank,
    sign: float,
) -> dict[str, Any]:
    """Figures of a system by one criterion or by all; raw scores as the files have them."""
    place = units.of(system)
    return {
        "n_judgements": int(units.judged[place].sum()),
        "n_segments": int(np.count_nonzero(segments.system == system)),
        "raw": _mean(sign * units.raw[place]),
        "z": _mean(units.z[place]),
        "sd": float(tested.std(ddof=1)) if len(tested) > 1 else None,
        "ci": mean_interval(tested if units.standardised else sign * tested, alpha),
        "cluster": stands.cluster,
        "range": (stands.lowest, stands.highest),
    }


def _mean(scores: Array) -> float | None:
    return float(scores.mean()) + 0.0 if np.isfinite(scores).all() else None


def mean_interval(scores: Array, alpha: float) -> tuple[float, float] | None:
    """Student's interval of a mean at level 1 - alpha; nothing for a single or unknown score."""
    if len(scores) < 2 or np.isnan(scores).any():
        return None
    mean = float(scores.mean())
    half = float(stdtrit(len(scores) - 1, 1 - alpha / 2) * scores.std(ddof=1))
    half /= math.sqrt(len(scores))
    return mean - half, mean + half


def box(scores: Array) -> tuple[float, float, float, float, float]:
    """Whisker, quartile, median, quartile, whisker, as Tukey (1977) draws them."""
    low, middle, high = np.quantile(scores, [0.25, 0.5, 0.75]).tolist()
    reach = WHISKER * (high - low)
    inside = scores[(scores >= low - reach) & (scores <= high + reach)]
    return float(inside.min()), low, middle, high, float(inside.max())


def _warnings(
    question: HumanQuestion,
    prepared: Prepared,
    pairs: Mapping[str, Sequence[JudgedPair]],
    left_out: Sequence[str],
) -> Iterator[str]:
    """Warnings about judgements, annotators and conclusions."""
    annotators = prepared.annotators
    if annotators and not annotators.filtered and annotators.careless:
        yield (
            f"{annotators.careless} of {annotators.n} annotators do not score degraded copies "
            f"lower than the outputs ({annotators.test}, p at least {annotators.threshold:g}); "
            "their judgements count all the same, as no quality control was asked for (quality)."
        )
    if annotators and annotators.untestable == annotators.n:
        yield (
            "No annotator could be tested: the judgements have no degraded copies (BAD_REF) or too "
            "few."
        )
    yield from question.notes
    yield from summaries(prepared.systems)
    for criterion, rows in pairs.items():
        yield from _lower_wins(criterion, rows)
        least = min(min(row.n_a, row.n_b) for row in rows)
        if least < FEW_UNITS and rows[0].test != "approximate_randomization":
            yield (
                f"By {criterion}, some systems have only {least} score{'s' * (least != 1)} to "
                f"compare; p-values of {TESTS[rows[0].test][0]} are rough there."
            )
    if question.choices.aggregate == "segment" and prepared.judgements.document.known:
        yield (
            "Segments of one document are not independent, which makes p-values of segments too "
            'small; the documents are known and can be what counts instead (aggregate "document").'
        )
    for criterion in left_out:
        yield (
            f"Agreement of distinct annotators on {criterion} is left out: more than "
            f"{MOST_PAIRS:,} pairs of judgements."
        )


def _lower_wins(criterion: str, rows: Sequence[JudgedPair]) -> Iterator[str]:
    """WMT's published triangles hide these: only the better mean is tested against the worse."""
    wins = []
    for row in rows:
        winner, loser = (row.a, row.b) if row.conclusion == "a" else (row.b, row.a)
        ahead = row.difference if row.conclusion == "a" else -row.difference
        if row.conclusion != "tie" and ahead < 0:
            wins.append(f"{winner} over {loser}")
    if wins:
        more = f" and {len(wins) - NAMED_PAIRS} more" if len(wins) > NAMED_PAIRS else ""
        listed = "; ".join(wins[:NAMED_PAIRS])
        yield (
            f"By {criterion}, the system with the worse mean wins: {listed}{more}. The test "
            "compares ranks, not means; where a few scores are very low, these can disagree."
        )


def compare_pairs(
    units: Units,
    scores: Array,
    names: Sequence[str],
    criterion: str,
    test: str,
    draws: tuple[int, int],
) -> list[JudgedPair]:
    """Both one-sided p-values of every pair of systems, not decided yet.

    Args:
        units: What was judged.
        scores: (u,) their tested scores.
        names: Of the systems.
        criterion: Of the scores.
        test: `rank_sum` on all units, or a paired test on those that both systems have.
        draws: Resamples and seed of approximate randomization.
    """
    pairs = list(combinations(range(len(names)), 2))
    if test == "rank_sum":
        by_system = [scores[units.of(s)] for s in range(len(names))]
        ordered, means = [np.sort(own) for own in by_system], [own.mean() for own in by_system]
        tails = [rank_sum(ordered[a], ordered[b]) for a, b in pairs]
        differences = [float(means[a] - means[b]) for a, b in pairs]
        sizes = [(len(ordered[a]), len(ordered[b])) for a, b in pairs]
    else:
        shared = [units.differences(scores, a, b) for a, b in pairs]
        if test == "signed_rank":
            tails = [signed_rank(values) for _, values in shared]
        else:
            tails = approximate_randomization(shared, len(units.unit.names), *draws)
        differences = [float(values.mean()) for _, values in shared]
        sizes = [(len(values), len(values)) for _, values in shared]
    return [
        undecided((names[a], names[b]), criterion, test, size, difference, tail)
        for (a, b), size, difference, tail in zip(pairs, sizes, differences, tails, strict=True)
    ]


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
    table = np.zeros((len(names), len(names)), dtype=bool)  # the row's system beats the column's
    for row in rows:
        table[place[row.a], place[row.b]] = row.conclusion == "a"
        table[place[row.b], place[row.a]] = row.conclusion == "b"
    ahead = table.sum(axis=1) - table.sum(axis=0)
    return rank(
        np.array(means, dtype=np.float64) if len(means) else ahead.astype(np.float64), table
    )


def undecided(
    pair: tuple[str, str],
    criterion: str,
    test: str,
    sizes: tuple[int, int],
    difference: float,
    tails: Tails,
) -> JudgedPair:
    """A pair that is tested and not decided yet.

    Args:
        pair: Names of both systems.
        criterion: By which they are compared.
        test: Its name.
        sizes: Units of both.
        difference: Of what was tested.
        tails: Statistic and p-values of the test.
    """
    p = tails.greater, tails.less
    figures = difference, tails.statistic, *p, tails.log10, min(p)
    return JudgedPair(*pair, criterion, test, *sizes, *figures, "tie", exact=tails.exact)


RELATIONS = 3  # before, tied, behind


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
    pairs = decide(_ranked_pairs(wins, names), choices.alpha, choices.correction)
    return HumanReport(
        **question.stated,
        tested="rankings",
        sources=tuple(source.report({}) for source in question.sources),
        annotators=_ranked_annotators(rankings.annotator, named=choices.show_annotators),
        systems=_ranked_systems(rankings, compared, wins, pairs, choices.alpha),
        pairs=tuple(pairs),
        agreement=_ranked_agreement(rankings, compared, choices),
        gain=(),
        warnings=_ranked_warnings(wins, names),
    )


def relations(rankings: Rankings) -> Relations:
    """Compare all outputs of each ranking; those not ranked are passed over."""
    system, rank, ranked = rankings.system.T, rankings.rank.T, rankings.ranked.T
    found = [np.empty((4, 0), dtype=np.int64)]
    for i, j in combinations(range(len(system)), 2):
        both = np.flatnonzero(ranked[i] & ranked[j] & (system[i] != system[j]))
        x, y = system[i, both], system[j, both]
        ahead = np.sign(rank[j, both] - rank[i, both])
        relation = np.where(x < y, ahead, -ahead) + 1
        found.append(np.stack([both, np.minimum(x, y), np.maximum(x, y), relation]))
    return Relations(*np.concatenate(found, axis=1))


def win_table(compared: Relations, size: int) -> Counts:
    """(S, S) how often the row's system was ranked before the column's."""
    counts = np.zeros((RELATIONS, size, size), dtype=np.int64)
    np.add.at(counts, (compared.relation, compared.a, compared.b), 1)
    behind, _, before = counts
    return before + behind.T


def _ranked_pairs(wins: Counts, names: Sequence[str]) -> list[JudgedPair]:
    rows = []
    for a, b in combinations(range(len(names)), 2):
        won, lost = int(wins[a, b]), int(wins[b, a])
        n = won + lost
        tails = sign(won, lost)
        difference = won / n - 0.5 if n else 0.0
        rows.append(
            undecided((names[a], names[b]), RANKING, RANKING_TEST, (n, n), difference, tails)
        )
    return rows


def _ranked_systems(
    rankings: Rankings,
    compared: Relations,
    wins: Counts,
    pairs: Sequence[JudgedPair],
    alpha: float,
) -> tuple[JudgedSystem, ...]:
    names = rankings.names
    won, lost = wins.sum(axis=1), wins.sum(axis=0)
    scores = 100.0 * won / np.maximum(won + lost, 1)
    errors = _errors(compared, scores / 100.0, won + lost)
    half = float(ndtri(1 - alpha / 2)) * errors
    stands = ranks(pairs, names, scores)
    systems = []
    for s, name in enumerate(names):
        known = won[s] + lost[s] > 0
        rows = np.flatnonzero(((rankings.system == s) & rankings.ranked).any(axis=1))
        systems.append(
            JudgedSystem(
                name=name,
                n_judgements=len(rows),
                n_segments=len(np.unique(rankings.segment.codes[rows])),
                raw=float(scores[s]) if known else None,
                z=None,
                sd=None,
                ci=(float(scores[s] - half[s]), float(scores[s] + half[s])) if known else None,
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


def _ranked_agreement(
    rankings: Rankings, compared: Relations, choices: HumanRequest
) -> tuple[AgreementReport, ...]:
    """Whether annotators order two outputs of a segment alike; nothing where pairs are too many."""
    items, _ = groups(rankings.segment.codes[compared.ranking], compared.a, compared.b)
    pairs = pairs_within(items)
    if pairs is None:
        return ()
    who = rankings.annotator.codes[compared.ranking]
    same = who[pairs.first] == who[pairs.second]
    sorts = {"same": pairs.take(same), "distinct": pairs.take(~same)}
    made = RANKING, "relations", RELATIONS, compared.relation
    return tuple(agreement(*made, who, sorts, choices))


def _ranked_annotators(column: Names, *, named: bool) -> AnnotatorsReport:
    """Who ranked how much; rankings have no degraded copies."""
    counts = np.bincount(column.codes[column.codes >= 0], minlength=len(column.names)).tolist()
    rule, nothing = Quality(), np.empty(0)
    each = tuple(
        tested(rule, n, None, nothing, nothing, name * named)
        for n, name in zip(counts, column.names, strict=True)
    )
    return summary(nothing, rule, each, filtered=False)


def _ranked_warnings(wins: Counts, names: Sequence[str]) -> tuple[str, ...]:
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
