"""From p-values of tests and of people to the report."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations

import numpy as np

from sigtest.accuracy_of_tests.people import judge_pairs
from sigtest.accuracy_of_tests.question import AccuracyQuestion, Judged, Tested
from sigtest.accuracy_of_tests.report import (
    AccuracyReport,
    AccuracyRow,
    BetweenTests,
    ChiSquare,
    HumanConclusions,
    TestedPair,
)
from sigtest.arrays import Array, Counts
from sigtest.comparison.comparison import Comparison
from sigtest.draws.samples import Samples
from sigtest.engine import drawn, measure_all, reduce
from sigtest.progress import Progress, silent
from sigtest.report.methods import Sources, listed, with_methods
from sigtest.significance import TESTS, Alternative
from sigtest.significance.montecarlo import LEVEL, clopper_pearson
from sigtest.special import betainc, gammaincc
from sigtest.version import __version__

DEPENDENT = (
    "Pairs of systems share systems and test set, so that they are dependent; intervals, "
    "chi-square and binomial p-values take them as independent, as the papers do, and are too "
    "narrow and too small."
)


def compute(question: AccuracyQuestion, progress: Progress | None = None) -> AccuracyReport:
    """Hold significance tests against people.

    Args:
        question: A comparison, or p-values, and what people say of its pairs.
        progress: Called with phase (`statistics`, `resampling`, `report`), done and total.

    Returns:
        The report; the same bits for the same input, choices and version.
    """
    say = progress or silent
    tested = question.comparison
    if isinstance(tested, Comparison):
        tested = one_sided(tested, say)
    people = question.people
    if not isinstance(people, Judged):
        people = judge_pairs(people, tested.systems, tested.pairs)
    say("report", 0, 1)
    report = _report(question, tested, people)
    say("report", 1, 1)
    return with_methods(report, sentences)


def _report(asked: AccuracyQuestion, tested: Tested, judged: Judged) -> AccuracyReport:
    rows: list[AccuracyRow] = []
    squares: list[ChiSquare] = []
    between: list[BetweenTests] = []
    human: list[HumanConclusions] = []
    for alpha in asked.alphas:
        human_alpha = alpha if asked.human_alpha is None else asked.human_alpha
        people = judge(judged, human_alpha)
        found = conclude(tested.p_greater, tested.p_less, alpha)
        rows += accuracy_rows(found, people, tested.metrics, tested.tests, alpha)
        squares += _chi_squares(found, people, tested.tests, alpha)
        between += _between_tests(found, tested, alpha)
        names = tuple(NAMES[winner] for winner in people.tolist())
        human.append(HumanConclusions(alpha, human_alpha, names.count("tie"), names))
    shown = "same" if asked.human_alpha is None else f"{asked.human_alpha:g}"
    levels = "+".join(f"{alpha:g}" for alpha in asked.alphas)
    return AccuracyReport(
        signature=f"alphas:{levels}|human_alpha:{shown}|({judged.signature})|{tested.signature}",
        version=__version__,
        systems=tested.systems,
        criteria=judged.criteria,
        alphas=asked.alphas,
        rows=tuple(rows),
        chi_square=tuple(squares),
        between_tests=tuple(between),
        human=tuple(human),
        pairs=_pairs(tested),
        warnings=(*asked.notes, *judged.notes, DEPENDENT),
    )


def judge(judged: Judged, alpha: float) -> Counts:
    """(P,) conclusions of people: the first criterion that separates a pair decides."""
    return combine(list(conclude(judged.p_greater, judged.p_less, alpha)))


def accuracy_rows(
    found: Counts, human: Counts, metrics: tuple[str, ...], tests: tuple[str, ...], alpha: float
) -> list[AccuracyRow]:
    """One row a metric and test.

    Args:
        found: (M, T, P) conclusions of tests.
        human: (P,) conclusions of people.
        metrics: Labels, M.
        tests: Names, T.
        alpha: Level of the conclusions of tests.
    """
    rows = []
    for m, metric in enumerate(metrics):
        for t, test in enumerate(tests):
            agreed = agreement(found[m, t], human)
            separated = int(np.count_nonzero(found[m, t] != TIE))
            p_half, p_greater = against_half(agreed.correct, agreed.n)
            rows.append(
                AccuracyRow(
                    metric=metric,
                    test=test,
                    alpha=alpha,
                    correct=agreed.correct,
                    n=agreed.n,
                    share=agreed.correct / agreed.n,
                    ci=agreed.interval,
                    reversed=agreed.reversed,
                    claimed=agreed.claimed,
                    missed=agreed.missed,
                    separated=separated,
                    power=separated / agreed.n,
                    p_half=p_half,
                    p_half_greater=p_greater,
                )
            )
    return rows


def _chi_squares(
    found: Counts, human: Counts, tests: tuple[str, ...], alpha: float
) -> list[ChiSquare]:
    correct = np.count_nonzero(found == human, axis=2)  # (M, T)
    if len(correct) < 2:
        return []
    rows = []
    for t, test in enumerate(tests):
        statistic, p = chi_square(correct[:, t], len(human))
        rows.append(ChiSquare(test, alpha, statistic, len(correct) - 1, p))
    return rows


def _between_tests(found: Counts, tested: Tested, alpha: float) -> list[BetweenTests]:
    rows = []
    n = found.shape[2]
    for m, metric in enumerate(tested.metrics):
        for (i, a), (j, b) in combinations(enumerate(tested.tests), 2):
            same = int(np.count_nonzero(found[m, i] == found[m, j]))
            rows.append(BetweenTests(metric, alpha, a, b, same, n, same / n))
    return rows


def _pairs(tested: Tested) -> tuple[TestedPair, ...]:
    def by_name(p: Array, pair: int) -> dict[str, dict[str, float]]:
        return {
            metric: {test: float(p[m, t, pair]) for t, test in enumerate(tested.tests)}
            for m, metric in enumerate(tested.metrics)
        }

    return tuple(
        TestedPair(a, b, by_name(tested.p_greater, i), by_name(tested.p_less, i))
        for i, (a, b) in enumerate(tested.pairs)
    )


A_BETTER, TIE, B_BETTER = 1, 0, -1
NAMES = {A_BETTER: "a", TIE: "tie", B_BETTER: "b"}


@dataclass(frozen=True)
class Agreement:
    """How the conclusions of one metric and test agree with those of people.

    Attributes:
        correct: Pairs with the same conclusion.
        reversed: With opposite winners.
        claimed: With a winner by the test and none by people.
        missed: With a winner by people and none by the test.
        n: Pairs.
    """

    correct: int
    reversed: int
    claimed: int
    missed: int
    n: int

    @property
    def interval(self) -> tuple[float, float]:
        """95 % Clopper-Pearson interval of correct / n."""
        low, high = clopper_pearson(np.array([self.correct]), self.n, LEVEL)
        return float(low[0]), float(high[0])


def conclude(p_greater: Array, p_less: Array, alpha: float) -> Counts:
    """Winners of pairs, each claim at a level of its own.

    Args:
        p_greater: (..., P) one-sided p-values of a being better.
        p_less: (..., P) of b being better.
        alpha: Level of each.

    Returns:
        (..., P): 1 where a is better, -1 where b is, 0 for neither. Where both claims hold, which
        takes levels of one half, the smaller p-value decides.
    """
    better = (p_greater <= alpha) & (p_greater <= p_less)
    worse = (p_less <= alpha) & (p_less < p_greater)
    return better.astype(np.int64) - worse.astype(np.int64)


def combine(criteria: Sequence[Counts]) -> Counts:
    """The conclusion of the first criterion that separates a pair, adequacy before fluency.

    Graham, Mathur & Baldwin (2014), section 4.
    """
    combined = criteria[0].copy()
    for later in criteria[1:]:
        combined = np.where(combined == TIE, later, combined)
    return combined


def agreement(found: Counts, human: Counts) -> Agreement:
    """Hold (P,) conclusions of a test against those of people."""
    return Agreement(
        correct=int(np.count_nonzero(found == human)),
        reversed=int(np.count_nonzero(found * human == -1)),
        claimed=int(np.count_nonzero((found != TIE) & (human == TIE))),
        missed=int(np.count_nonzero((found == TIE) & (human != TIE))),
        n=len(human),
    )


def chi_square(correct: Counts, n: int) -> tuple[float, float | None]:
    """Pearson's chi-square of a table of correct and wrong, one row a metric, without Yates.

    Args:
        correct: (k,) correct pairs of each metric.
        n: Pairs of each.

    Returns:
        The statistic and its p-value with k - 1 degrees of freedom; no p-value where all metrics
        are right, or wrong, on all pairs.
    """
    right = float(correct.mean())
    wrong = n - right
    if right == 0 or wrong == 0:
        return 0.0, None
    gaps = (correct - right) ** 2
    statistic = float((gaps / right + gaps / wrong).sum())
    return statistic, float(gammaincc((len(correct) - 1) / 2.0, statistic / 2.0))


def against_half(correct: int, n: int) -> tuple[float, float]:
    """Exact binomial p-values of a share of 1/2: two-sided, and for the share being larger."""
    greater, less = _at_least(correct, n), _at_least(n - correct, n)
    return min(1.0, 2.0 * min(greater, less)), greater


def _at_least(count: int, n: int) -> float:
    """P(X >= count) of n fair coins."""
    return 1.0 if count <= 0 else float(betainc(count, n - count + 1, 0.5))


CLAIMS: tuple[Alternative, ...] = ("greater", "less")


def one_sided(comparison: Comparison, say: Progress) -> Tested:
    """P-values of every pair, metric and test for the claims that a is better, and that b is.

    Draws are addressed by seed and resample, so that both claims look at the same ones.

    Args:
        comparison: On one test set, without correction.
        say: Called with phase (`statistics`, `resampling`), done and total.
    """
    tables = measure_all(comparison, say)
    recipe, plan = comparison.recipe, comparison.plan
    p: dict[tuple[str, str], list[float]] = {}  # of the better and the worse, as is claimed
    claims = CLAIMS if recipe.baseline else CLAIMS[:1]  # of all pairs it is made in both orders
    for number, claim in enumerate(claims):
        one = replace(comparison, recipe=recipe.but(alternative=claim))
        samples = Samples(one.plan, tables)
        report = reduce(samples, drawn(samples, partial(_say_both, say, number, len(claims))))
        for pair in report.pairs:  # by metric, then test
            both = (pair.a, pair.b) if claim == "greater" else (pair.b, pair.a)
            p.setdefault(both, []).append(pair.p_value)
    pairs = tuple((plan.systems[a], plan.systems[b]) for a, b in plan.pairs.tolist())
    shape = len(recipe.metrics), len(recipe.tests), -1
    return Tested(
        systems=plan.systems,
        pairs=pairs,
        metrics=recipe.labels,
        tests=recipe.tests,
        p_greater=np.array([p[a, b] for a, b in pairs]).T.reshape(shape),
        p_less=np.array([p[b, a] for a, b in pairs]).T.reshape(shape),
        signature=f"claims:{'+'.join(CLAIMS)}|{plan.signature}",
    )


def _say_both(say: Progress, number: int, of: int, phase: str, done: int, total: int) -> None:
    """How far one claim is, as a part of all."""
    say(phase, number * total + done, of * total)


def sentences(report: AccuracyReport, sources: Sources) -> Iterator[str]:
    """Whose conclusions were compared with whose, and how agreement was judged."""
    tests = dict.fromkeys(row.test for row in report.rows)
    named = [f"{name.replace('_', ' ')}{_cited(name, sources)}" for name in tests]
    metrics = list(dict.fromkeys(row.metric for row in report.rows))
    levels = [f"{alpha:g}" for alpha in report.alphas]
    study = sources.cite("graham-etal-2014-randomized")
    yield (
        f"Conclusions of {listed(named)} by {listed(metrics)} on {len(report.pairs):,} pairs of "
        f"{len(report.systems)} systems were compared with people's conclusions by "
        f"{', then '.join(report.criteria)}{study}."
    )
    yield (
        f"A conclusion is that of both one-sided tests at level {listed(levels)}; p-values are not "
        "corrected for multiple comparisons."
    )
    cited = sources.cite("clopper-pearson-1934-use")
    yield f"Intervals of shares are 95 % Clopper-Pearson intervals{cited}."


def _cited(name: str, sources: Sources) -> str:
    """What stands behind a test; nothing for one whose p-values were given under another name."""
    return sources.cite(*TESTS[name].papers) if name in TESTS else ""
