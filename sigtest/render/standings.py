"""What tables and pictures show: systems by score with clusters, pairs with verdicts, sizes."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sigtest.render.digits import counted, fixed, percent, whole
from sigtest.render.names import in_words
from sigtest.report import PairReport, RankReport, Report, ScoreReport, SystemReport

ARROWS = ("\N{DOWNWARDS ARROW}", r"\downarrow")
CLAIMS = {
    "greater": "is a row's system better than a column's?",
    "less": "is a row's system worse than a column's?",
}
DECIDED = {
    "two-sided": "two-sided",
    "greater": "claim: a is better than b",
    "less": "claim: b is better than a",
}
CLAIMED = (DECIDED["greater"], DECIDED["less"])
AVERAGES = {"macro": "macro-average", "pooled": "pooled"}


@dataclass(frozen=True)
class Standing:
    """A system's place in the order of one metric.

    Attributes:
        system: All about it.
        score: For this metric.
        rank: Under this test; none unless all pairs are compared.
        opens: Whether a new cluster begins here, below another.
        undecided: Whether more resamples could change that rank, or what a baseline says of it.
    """

    system: SystemReport
    score: ScoreReport
    rank: RankReport | None
    opens: bool
    undecided: bool


@dataclass(frozen=True)
class PairRow:
    """One pair and metric, under every significance test.

    Attributes:
        tests: One report a test, in the order of the recipe.
        verdict: What to conclude, in a few words.
    """

    tests: tuple[PairReport, ...]
    verdict: str

    @property
    def pair(self) -> PairReport:
        """The first test's report, for what all tests share."""
        return self.tests[0]

    @property
    def settled(self) -> bool:
        """Whether every test finds a difference and none needs more resamples."""
        return all(pair.significant and not pair.undecided for pair in self.tests)


def titled(report: Report) -> list[tuple[str, Report]]:
    """The report, or those of several test sets by name and last the report of all together."""
    if report.several is None:
        return [("", report)]
    named = [(entry.name, entry.report) for entry in report.several.testsets]
    return [*named, (AVERAGES[report.several.average], report)]


def leading_test(report: Report) -> str | None:
    """The test whose ranks order tables: the first that keeps its level, or else the first.

    There is none where nothing is compared.
    """
    calibrated = (pair.test for pair in report.pairs if pair.calibrated)
    return next(calibrated, next(iter(report.tests), None))


def standings(report: Report, metric: str, test: str | None) -> tuple[Standing, ...]:
    """The systems from best to worst; equal scores keep their input order."""
    sign = -1 if report.metrics[metric].higher_is_better else 1
    ordered = sorted(report.systems, key=lambda system: sign * system.scores[metric].score)
    unsure = {
        name
        for pair in report.pairs
        if pair.undecided and (pair.metric, pair.test) == (metric, test)
        for name in (pair.a, pair.b)
    } - {baseline_of(report)}
    placed = []
    previous: RankReport | None = None
    for system in ordered:
        rank = system.ranks.get(metric, {}).get(test or "")
        opens = rank is not None and previous is not None and rank.cluster > previous.cluster
        open_ = system.name in unsure
        placed.append(Standing(system, system.scores[metric], rank, opens, open_))
        previous = rank
    return tuple(placed)


@dataclass(frozen=True)
class Matrix:
    """Each system against the others.

    Attributes:
        order: Names, from the best on.
        clusters: Where clusters begin and end.
        what: What it tells.
        cells: By the systems of row and column; a two-sided decision stands above the diagonal.
    """

    order: list[str]
    clusters: list[int]
    what: str
    cells: dict[tuple[str, str], PairReport]


def matrix_of(report: Report, metric: str, test: str) -> Matrix:
    """The decisions of one metric and test, systems by score."""
    ordered = standings(report, metric, test)
    starts = [i for i, standing in enumerate(ordered) if standing.opens]
    names = [standing.system.name for standing in ordered]
    cells = {}
    for pair in report.pairs:
        if (pair.metric, pair.test) == (metric, test):
            both = [pair.a, pair.b] if pair.claimed else sorted((pair.a, pair.b), key=names.index)
            cells[both[0], both[1]] = pair
    what = CLAIMS.get(pair.alternative, "who is better than whom")
    return Matrix(names, [0, *starts, len(names)], what, cells)


def pair_rows(report: Report, metric: str) -> tuple[PairRow, ...]:
    """All pairs of one metric in input order, each with all its tests."""
    grouped: dict[tuple[str, str], list[PairReport]] = {}
    for pair in report.pairs:
        if pair.metric == metric:
            grouped.setdefault((pair.a, pair.b), []).append(pair)
    higher = report.metrics[metric].higher_is_better
    places = metric_decimals(report, metric)
    return tuple(_pair_row(tuple(tests), higher, places) for tests in grouped.values())


def better(pair: PairReport, higher_is_better: bool) -> str | None:
    """The system that a test finds significantly better, if it does."""
    return pair.winner(higher_is_better) if pair.significant else None


def metric_decimals(report: Report, metric: str) -> int:
    """Decimals for this metric's scores and differences."""
    return decimals(system.scores[metric] for system in report.systems)


def decimals(scores: Iterable[ScoreReport]) -> int:
    """Decimals for one metric's scores: four for scores of 0 to 1, two for those of 0 to 100.

    Scores in between (NIST) keep two digits of their standard error.
    """
    known = list(scores)
    if max((abs(s.score) for s in known), default=0.0) <= 1:
        return 4
    errors = [s.stderr for s in known if s.stderr > 0]
    if not errors:
        return 2
    return min(4, max(2, 1 - math.floor(math.log10(min(errors)))))


def metric_heading(report: Report, metric: str) -> str:
    """The metric's label, saying so where less is better, unless it has an arrow that does."""
    told = report.metrics[metric].higher_is_better or any(sign in metric for sign in ARROWS)
    return metric if told else f"{metric} (lower is better)"


def test_set_line(report: Report) -> str:
    """Sizes of the test set: `3,003 segments, 99 documents, 1 reference`."""
    testset = report.testset
    counts = [(testset.segments, "segment"), (testset.documents, "document")]
    if testset.references:
        counts.append((testset.references, "reference"))
    return ", ".join(counted(count, noun) for count, noun in counts if count is not None)


def facts(report: Report) -> tuple[str, ...]:
    """Sizes of each test set, level of intervals, and how decisions were made."""
    kind = "bootstrap" if report.interval == "percentile" else "bootstrap-t"
    intervals = f"{percent(report.interval_level)} {kind} intervals"
    sizes = [f"{name}: {test_set_line(own)}" for name, own in titled(report)[:-1]]
    return (*(sizes or [test_set_line(report)]), intervals, decision_line(report))


def baseline_of(report: Report) -> str | None:
    """The system that all others are compared with, where they are not compared themselves."""
    if len(report.systems) < 3 or len({pair.b for pair in report.pairs}) != 1:
        return None
    return report.pairs[0].b


def decision_line(report: Report) -> str:
    """How decisions were made: `two-sided, holm over 66 pairs, alpha 0.05`."""
    if not report.pairs:
        return f"alpha {report.alpha:g}"
    said = [pair.alternative for pair in report.pairs]
    claim = next((DECIDED[own] for own in said if own in DECIDED), said[0])
    noun = "comparison" if report.several else "claim" if claim in CLAIMED else "pair"
    over = f"over {counted(report.comparisons, noun)}"
    if report.family is not None:
        over += f" of {report.family.systems} systems"
    correction = "no correction" if report.correction == "none" else in_words(report.correction)
    return f"{claim}, {correction} {over}, alpha {report.alpha:g}"


def _pair_row(tests: tuple[PairReport, ...], higher: bool, places: int) -> PairRow:
    """A row with its verdict; tests that do not keep their level have no say."""
    heard = [pair for pair in tests if pair.calibrated] or list(tests)
    unsure = [pair for pair in heard if pair.undecided]
    winners = {better(pair, higher) for pair in heard}
    if unsure:
        return PairRow(tests, undecided(unsure))
    if len(winners) > 1:
        return PairRow(tests, "tests disagree")
    winner = winners.pop()
    if winner is not None:
        return PairRow(tests, f"{winner} is better")
    verdict = "claim not supported" if heard[0].claimed else "not separated"
    if heard[0].varies:
        verdict += f" (detects {fixed(heard[0].detectable[1], places)})"
    return PairRow(tests, verdict)


def undecided(unsure: Sequence[PairReport]) -> str:
    """What is said of pairs that more resamples could decide otherwise."""
    needed = [pair.resamples_needed for pair in unsure if pair.resamples_needed is not None]
    reachable = len(needed) == len(unsure)
    return f"undecided, try {whole(max(needed))} resamples" if reachable else "undecided"
