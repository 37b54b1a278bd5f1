"""What every format shows: systems ordered by score with clusters, pairs with their verdicts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sigtest.render.numbers import decimals, fixed, probability, whole
from sigtest.report import PairReport, RankReport, Report, ScoreReport, SystemReport

DETECTS = (
    "detects: the smallest true difference that this test set would show with 80 % power after "
    "correction"
)
STARS = ((0.001, "***"), (0.01, "**"), (0.05, "*"))


@dataclass(frozen=True)
class Standing:
    """A system's place in the order of one metric.

    Attributes:
        system: All about it.
        score: For this metric.
        rank: Under this test; none unless two-sided over all pairs.
        opens: Whether a new cluster begins here, below another.
    """

    system: SystemReport
    score: ScoreReport
    rank: RankReport | None
    opens: bool


@dataclass(frozen=True)
class PairRow:
    """One pair and metric, under every significance test.

    Attributes:
        tests: One report a test, in the order of the recipe.
        winner: The system that the tests find better; none where they do not.
        verdict: What to conclude, in a few words.
    """

    tests: tuple[PairReport, ...]
    winner: str | None
    verdict: str

    @property
    def pair(self) -> PairReport:
        """The first test's report, for what all tests share."""
        return self.tests[0]

    @property
    def settled(self) -> bool:
        """Whether every test finds a difference and none needs more resamples."""
        return all(pair.significant and not pair.undecided for pair in self.tests)


def leading_test(report: Report) -> str:
    """The test whose ranks order tables: the first that keeps its level, or else the first."""
    calibrated = (pair.test for pair in report.pairs if pair.calibrated)
    return next(calibrated, report.tests[0])


def standings(report: Report, metric: str, test: str) -> tuple[Standing, ...]:
    """The systems from best to worst; equal scores keep their input order."""
    sign = -1 if report.metrics[metric].higher_is_better else 1
    ordered = sorted(report.systems, key=lambda system: sign * system.scores[metric].score)
    placed = []
    previous: RankReport | None = None
    for system in ordered:
        rank = system.ranks.get(metric, {}).get(test)
        opens = rank is not None and previous is not None and rank.cluster > previous.cluster
        placed.append(Standing(system, system.scores[metric], rank, opens))
        previous = rank
    return tuple(placed)


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
    if not pair.significant:
        return None
    if pair.alternative in {"greater", "less"}:
        return pair.a if pair.alternative == "greater" else pair.b
    return pair.a if (pair.difference > 0) == higher_is_better else pair.b


def rank_range(rank: RankReport | None) -> str:
    """`2-5`, or `3` for a place that is certain."""
    if rank is None:
        return ""
    low, high = rank.range
    return str(low) if low == high else f"{low}-{high}"


def metric_decimals(report: Report, metric: str) -> int:
    """Decimals for this metric's scores and differences."""
    return decimals(system.scores[metric] for system in report.systems)


def metric_heading(report: Report, metric: str) -> str:
    """The metric's label, saying so where less is better."""
    higher = report.metrics[metric].higher_is_better
    return metric if higher else f"{metric} (lower is better)"


def test_set_line(report: Report) -> str:
    """Sizes of the test set: `3,003 segments, 99 documents, 1 reference`."""
    testset = report.testset
    counts = [(testset.segments, "segment"), (testset.documents, "document")]
    if testset.references:
        counts.append((testset.references, "reference"))
    return ", ".join(
        f"{whole(count)} {noun}{'' if count == 1 else 's'}"
        for count, noun in counts
        if count is not None
    )


def decision_line(report: Report) -> str:
    """How decisions were made: `two-sided, holm correction over 66 pairs, alpha 0.05`."""
    claims = {p.alternative for p in report.pairs if p.calibrated} or {"as printed"}
    claim = {"greater": "claim: a is better than b", "less": "claim: b is better than a"}.get(
        next(iter(claims)), next(iter(claims))
    )
    size = len(report.pairs) // (len(report.metrics) * len(report.tests))
    over = f"over {size} pair{'' if size == 1 else 's'}"
    correction = "no correction" if report.correction == "none" else f"{report.correction}"
    return f"{claim}, {correction} {over}, alpha {report.alpha:g}"


def shown_p(pair: PairReport, alpha: float) -> tuple[str, str]:
    """P-value and adjusted p-value."""
    return probability(pair.p_value), probability(pair.p_adjusted, alpha)


def stars(p_adjusted: float) -> str:
    """One to three stars at .05, .01 and .001."""
    return next((mark for limit, mark in STARS if p_adjusted <= limit), "")


def _pair_row(tests: tuple[PairReport, ...], higher: bool, places: int) -> PairRow:
    """A row with its verdict; tests that do not keep their level have no say."""
    heard = [pair for pair in tests if pair.calibrated] or list(tests)
    unsure = [pair for pair in heard if pair.undecided]
    winners = {better(pair, higher) for pair in heard}
    if unsure:
        return PairRow(tests, None, _undecided(unsure))
    if len(winners) > 1:
        return PairRow(tests, None, "tests disagree")
    winner = winners.pop()
    if winner is not None:
        return PairRow(tests, winner, f"{winner} is better")
    one_sided = heard[0].alternative in {"greater", "less"}
    verdict = "claim not supported" if one_sided else "not separated"
    detectable = heard[0].detectable[1]
    if detectable > 0:
        verdict += f" (detects {fixed(detectable, places)})"
    return PairRow(tests, None, verdict)


def _undecided(unsure: Sequence[PairReport]) -> str:
    needed = [pair.resamples_needed for pair in unsure if pair.resamples_needed is not None]
    reachable = len(needed) == len(unsure)
    return f"undecided, try {whole(max(needed))} resamples" if reachable else "undecided"
