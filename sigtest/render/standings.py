"""What tables and pictures show: systems by score with clusters, pairs with verdicts, sizes."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from sigtest import report as reports
from sigtest.late import late
from sigtest.render.words import correction_in_words, fixed, in_words, percent, probability, signed

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

    system: reports.SystemReport
    score: reports.ScoreReport
    rank: reports.RankReport | None
    opens: bool
    undecided: bool


@dataclass(frozen=True)
class PairRow:
    """One pair and metric, under every significance test.

    Attributes:
        tests: One report a test, in the order of the recipe.
        verdict: What to conclude, in a few words.
    """

    tests: tuple[reports.PairReport, ...]
    verdict: str

    @property
    def pair(self) -> reports.PairReport:
        """The first test's report, for what all tests share."""
        return self.tests[0]

    @property
    def settled(self) -> bool:
        """Whether every test finds a difference and none needs more resamples."""
        return all(pair.significant and not pair.undecided for pair in self.tests)


def titled(report: reports.Report) -> list[tuple[str, reports.Report]]:
    """The report, or those of several test sets by name and last the report of all together."""
    if report.several is None:
        return [("", report)]
    named = [(entry.name, entry.report) for entry in report.several.testsets]
    return [*named, (AVERAGES[report.several.average], report)]


def leading_test(report: reports.Report) -> str | None:
    """The test whose ranks order tables: the first that keeps its level, or else the first.

    There is none where nothing is compared.
    """
    calibrated = (pair.test for pair in report.pairs if pair.calibrated)
    return next(calibrated, next(iter(report.tests), None))


def standings(report: reports.Report, metric: str, test: str | None) -> tuple[Standing, ...]:
    """The systems from best to worst; equal scores keep their input order."""
    sign = -1 if report.metrics[metric].higher_is_better else 1
    ordered = sorted(report.systems, key=lambda system: sign * system.scores[metric].score)
    unsure = {
        name
        for pair in report.pairs_of(metric, test)
        if pair.undecided
        for name in (pair.a, pair.b)
    } - {baseline_of(report)}
    placed = []
    previous: reports.RankReport | None = None
    for system in ordered:
        rank = system.ranks.get(metric, {}).get(test or "")
        opens = rank is not None and previous is not None and rank.cluster > previous.cluster
        open_ = system.name in unsure
        placed.append(Standing(system, system.scores[metric], rank, opens, open_))
        previous = rank
    return tuple(placed)


def against_first(report: reports.Report, metric: str) -> list[tuple[Standing, str]]:
    """The systems from best to worst, and in a word what the leading test says of the first.

    That word is `untestable` where the test could not find any difference with so few units.
    """
    test = leading_test(report)
    ordered = standings(report, metric, test)
    first = ordered[0].system.name
    alike = "untestable" if test in report.untestable else "tied"
    said = {own.system.name: alike for own in ordered} | {first: "first"}
    for pair in report.pairs_of(metric, test):
        if first in (pair.a, pair.b):
            other = pair.b if pair.a == first else pair.a
            if pair.undecided:
                said[other] = "undecided"
            elif pair.significant:
                said[other] = "behind"
    return [(own, said[own.system.name]) for own in ordered]


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
    cells: dict[tuple[str, str], reports.PairReport]


def matrix_of(report: reports.Report, metric: str, test: str) -> Matrix:
    """The decisions of one metric and test, systems by score."""
    ordered = standings(report, metric, test)
    starts = [i for i, standing in enumerate(ordered) if standing.opens]
    names = [standing.system.name for standing in ordered]
    cells = {}
    for pair in report.pairs_of(metric, test):
        both = [pair.a, pair.b] if pair.claimed else sorted((pair.a, pair.b), key=names.index)
        cells[both[0], both[1]] = pair
    what = CLAIMS.get(pair.alternative, "who is better than whom")
    return Matrix(names, [0, *starts, len(names)], what, cells)


def pair_rows(report: reports.Report, metric: str) -> tuple[PairRow, ...]:
    """All pairs of one metric in input order, each with all its tests."""
    grouped: dict[tuple[str, str], list[reports.PairReport]] = {}
    for pair in report.pairs:
        if pair.metric == metric:
            grouped.setdefault((pair.a, pair.b), []).append(pair)
    higher = report.metrics[metric].higher_is_better
    places = metric_decimals(report, metric)
    return tuple(
        PairRow(tuple(tests), _verdict(tests, higher, places)) for tests in grouped.values()
    )


def better(pair: reports.PairReport, higher_is_better: bool) -> str | None:
    """The system that a test finds significantly better, if it does."""
    return pair.winner(higher_is_better) if pair.significant else None


def metric_decimals(report: reports.Report, metric: str) -> int:
    """Decimals for this metric's scores and differences."""
    return decimals(system.scores[metric] for system in report.systems)


def decimals(scores: Iterable[reports.ScoreReport]) -> int:
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


def metric_heading(report: reports.Report, metric: str) -> str:
    """The metric's label, saying so where less is better, unless it has an arrow that does."""
    told = report.metrics[metric].higher_is_better or any(sign in metric for sign in ARROWS)
    return metric if told else f"{metric} (lower is better)"


def test_set_line(report: reports.Report) -> str:
    """Sizes of the test set: `3,003 segments, 99 documents, 1 reference`."""
    testset = report.testset
    counts = [(testset.segments, "segment"), (testset.documents, "document")]
    if testset.references:
        counts.append((testset.references, "reference"))
    return ", ".join(reports.counted(count, noun) for count, noun in counts if count is not None)


def facts(report: reports.Report) -> tuple[str, ...]:
    """Sizes of each test set, level of intervals, and how decisions were made."""
    kind = "bootstrap" if report.interval == "percentile" else "bootstrap-t"
    shares = [label for label, metric in report.metrics.items() if metric.shares]
    drawn = len(shares) < len(report.metrics)
    intervals = f"{percent(report.interval_level)} {kind if drawn else 'score'} intervals"
    if shares and drawn:
        intervals += f" ({reports.listed(shares)}: score intervals)"
    sizes = [f"{name}: {test_set_line(own)}" for name, own in titled(report)[:-1]]
    known = report.testset.documents is not None
    unit = [f"unit: {report.unit}"] if known else []
    return (*(sizes or [test_set_line(report)]), *unit, intervals, decision_line(report))


def baseline_of(report: reports.Report) -> str | None:
    """The system that all others are compared with, where they are not compared themselves."""
    if len(report.systems) < 3 or len({pair.b for pair in report.pairs}) != 1:
        return None
    return report.pairs[0].b


def decision_line(report: reports.Report) -> str:
    """How decisions were made: `two-sided, holm over 66 pairs, alpha 0.05`."""
    if not report.pairs:
        return f"alpha {report.alpha:g}"
    said = [pair.alternative for pair in report.pairs]
    claim = next((DECIDED[own] for own in said if own in DECIDED), said[0])
    noun = "comparison" if report.several else "claim" if claim in CLAIMED else "pair"
    over = f"over {reports.counted(report.comparisons, noun)}"
    if report.family is not None:
        over += f" of {report.family.systems} systems"
    return f"{claim}, {correction_in_words(report.correction)} {over}, alpha {report.alpha:g}"


def _verdict(tests: Sequence[reports.PairReport], higher: bool, places: int) -> str:
    """What to conclude of a pair; tests that do not keep their level have no say."""
    heard = [pair for pair in tests if pair.calibrated] or tests
    unsure = [pair for pair in heard if pair.undecided]
    winners = {better(pair, higher) for pair in heard}
    if unsure:
        return undecided(unsure)
    if len(winners) > 1:
        return "tests disagree"
    if winner := winners.pop():
        return f"{winner} is better"
    verdict = "claim not supported" if heard[0].claimed else "not separated"
    detects = f" (detects {fixed(heard[0].detectable[1], places)})"
    return verdict + detects * heard[0].varies


def undecided(unsure: Sequence[reports.PairReport]) -> str:
    """What is said of pairs that more resamples could decide otherwise."""
    needed = [pair.resamples_needed for pair in unsure if pair.resamples_needed is not None]
    reachable = len(needed) == len(unsure)
    return f"undecided, try {max(needed):,} resamples" if reachable else "undecided"


# What was found, in at most three sentences: the first thing that a page says -----------

NAMES = 4  # that are listed before the others are counted
after = late("sigtest.significance.corrections:after")  # needs NumPy, which --help must not load


def answer(report: reports.Report, metric: str | None = None) -> tuple[str, ...]:
    """Who is ahead, what cannot be told apart, and what else was found.

    Args:
        report: On one test set, or of all together.
        metric: The first where none is named.
    """
    metric = metric or next(iter(report.metrics))
    test = leading_test(report)
    pairs = report.pairs_of(metric, test)
    if not pairs:
        return (_alone(report, metric),)
    if len(pairs) == 1:
        return (f"{pairs[0].verdict}.",)
    ordered = standings(report, metric, test)
    if ordered[0].rank is None:
        bases = dict.fromkeys(pair.b for pair in pairs)
        told = [_against(report, metric, [p for p in pairs if p.b == base]) for base in bases]
        return (*told, _counted(report, pairs))
    ranges = {own.system.name: own.rank.range for own in ordered if own.rank is not None}
    first = [name for name, (low, _) in ranges.items() if low == 1]
    best = next((own for own in ordered if own.system.name in first), ordered[0])
    if not first:  # each is beaten by some other
        ranges = {best.system.name: ranges[best.system.name]}
    score = f" ({fixed(best.score.score, metric_decimals(report, metric))})"
    ahead = leaders(ranges, _how(report, metric), "system", score)
    tied = (_tied(report, metric, pairs, first[:2]),) if len(first) > 1 else ()
    return (ahead, *tied, _counted(report, pairs))


def _alone(report: reports.Report, metric: str) -> str:
    """Where nothing is compared."""
    if not report.systems:
        return "No system is measured yet."
    places = metric_decimals(report, metric)
    scores = (
        f"{system.name} scores {fixed(system.scores[metric].score, places)} {metric}"
        for system in report.systems
    )
    return f"{'; '.join(scores)}. There is nothing to compare it with."


def leaders(ranges: Mapping[str, tuple[int, int]], how: str, what: str, score: str = "") -> str:
    """Who may be the best.

    Args:
        ranges: Ranks that each may have, from the best on or in any order.
        how: In what.
        what: What they are.
        score: Of the first, in brackets, where it is told.
    """
    first = [name for name, (low, _) in ranges.items() if low == 1]
    others = len(ranges) - 1
    if len(first) > 1:
        every = f"{abridged(first)} may each be the best {how}"
        return f"{every}: no {what} is significantly better than any of them."
    best = first[0] if first else min(ranges, key=lambda name: ranges[name])
    if ranges[best] == (1, 1) and others:
        whom = {1: "the other", 2: "both others"}.get(others, f"all {others:,} others")
        return f"{best} is the best {how}{score}, significantly better than {whom}."
    return f"{best} leads {how}{score}: no {what} is significantly better."


def _how(report: reports.Report, metric: str) -> str:
    return f"by {metric}" if report.several is None else f"by {metric} on all test sets together"


def _tied(
    report: reports.Report, metric: str, pairs: Sequence[reports.PairReport], both: Sequence[str]
) -> str:
    """What the first two differ by, and what would show."""
    places = metric_decimals(report, metric)
    first, second = both
    of = [pair for pair in pairs if {pair.a, pair.b} == {first, second}]
    pair = next((own for own in of if own.claimed == first), of[0])
    if pair.undecided:
        return f"{pair.verdict}."
    difference = pair.difference if pair.a == first else -pair.difference
    done = after(report.correction, report.comparisons)
    p = "one-sided p" if pair.claimed else "p"
    shown = f"{p} = {probability(pair.p_adjusted, report.alpha)}{done}"
    told = f"{first} and {second} cannot be told apart"
    if pair.difference == 0 and not pair.varies:
        return f"{told}: their scores are the same on every resample."
    prospect = f"a difference of {fixed(pair.detectable[1], places)} would show with 80 % power"
    if not pair.varies:
        prospect = "it is the same on every resample"
    return f"{told} ({signed(difference, places)} {metric}, {shown}); {prospect}."


def _against(report: reports.Report, metric: str, pairs: Sequence[reports.PairReport]) -> str:
    """Who is better and who is worse than a baseline."""
    higher = report.metrics[metric].higher_is_better
    baseline = pairs[0].b
    if len(pairs) == 1:
        return f"{pairs[0].verdict}."
    winners = [better(pair, higher) for pair in pairs]
    ahead = [name for name in winners if name not in (None, baseline)]
    behind = sum(name == baseline for name in winners)
    one = f"{len(ahead)} of {len(pairs)} systems {'is' if len(ahead) == 1 else 'are'}"
    names = f": {abridged(ahead)}" if ahead else ""
    if pairs[0].alternative == "less":  # nobody claims that one is better
        one = f"{behind} of {len(pairs)} systems {'is' if behind == 1 else 'are'}"
        return f"{one} worse than {baseline} {_how(report, metric)}."
    worse = f"; {behind} {'is' if behind == 1 else 'are'} worse" if behind else ""
    return f"{one} better than {baseline} {_how(report, metric)}{names}{worse}."


def _counted(report: reports.Report, pairs: Sequence[reports.PairReport]) -> str:
    """How many pairs of a metric and test were separated, and how many by others of its tests."""
    apart = sum(pair.significant for pair in pairs)
    unsure = [pair for pair in pairs if pair.undecided]
    if pairs[0].claimed:
        side = "better" if pairs[0].alternative == "greater" else "worse"
        holds = "holds" if apart == 1 else "hold"
        said = f"{apart:,} of {len(pairs):,} claims that one system is {side} {holds}"
    else:
        differ = "differs" if apart == 1 else "differ"
        said = f"{apart:,} of {len(pairs):,} pairs {differ} significantly"
    if others := [own for own in report.tests if own != pairs[0].test]:
        found = [
            own.test for own in report.pairs if own.significant and own.metric == pairs[0].metric
        ]
        listed = [f"{found.count(own):,} by {in_words(own)}" for own in others]
        said += f" by {in_words(pairs[0].test)}, {', '.join(listed)}"
    if unsure:
        are = "decision is" if len(unsure) == 1 else "decisions are"
        said += f"; {len(unsure):,} {are} {undecided(unsure)}"
    return f"{said}."


def abridged(names: Sequence[str | None]) -> str:
    """`a`, `a and b`, `a, b, c and 7 others`."""
    shown = [str(name) for name in names[:NAMES]]
    rest = len(names) - len(shown)
    if rest:
        return f"{', '.join(shown)} and {rest} other{'' if rest == 1 else 's'}"
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"
