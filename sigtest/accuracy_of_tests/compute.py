"""From p-values of tests and of people to the report."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from sigtest.accuracy_of_tests.asked import Asked, Judged, Tested
from sigtest.accuracy_of_tests.conclusions import (
    NAMES,
    TIE,
    against_half,
    agreement,
    chi_square,
    combine,
    conclude,
)
from sigtest.accuracy_of_tests.directions import one_sided
from sigtest.accuracy_of_tests.methods import sentences
from sigtest.accuracy_of_tests.people import judge_pairs
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
from sigtest.progress import Progress, silent
from sigtest.report.methods import with_methods
from sigtest.version import __version__

DEPENDENT = (
    "Pairs of systems share systems and test set, so that they are dependent; intervals, "
    "chi-square and binomial p-values take them as independent, as the papers do, and are too "
    "narrow and too small."
)


def compute(question: Asked, progress: Progress | None = None) -> AccuracyReport:
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


def _report(asked: Asked, tested: Tested, judged: Judged) -> AccuracyReport:
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
