"""What a picture shows of a report: one metric and test, of one test set or of all together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sigtest.data.choices import choose
from sigtest.errors import InputError, RecipeError
from sigtest.render.plots.drawing import COLUMN
from sigtest.render.plots.style import Style
from sigtest.render.standings import leading_test, metric_heading, titled
from sigtest.report import PairReport, Report

if TYPE_CHECKING:
    from sigtest.draws.distribution import Distribution  # needs NumPy, which --help must not load

PLAIN = Style()
MIRROR = {"greater": "less", "less": "greater"}


@dataclass(frozen=True)
class View:
    """What to draw.

    Attributes:
        report: Of one test set, or of all together.
        metric: Label of the metric.
        test: Name of the significance test.
        title: Which test set of several it is; empty where there is one.
        distribution: Of one pair, for pictures that need it.
        style: Width, title and parts that are left out.
    """

    report: Report
    metric: str
    test: str
    title: str = ""
    distribution: Distribution | None = None
    style: Style = PLAIN

    @property
    def width(self) -> float:
        """In points, as far as labels do not need more."""
        return self.style.width or COLUMN

    def titled(self, own: str) -> str:
        """The picture's own title, or the one that is wanted instead."""
        return self.style.title or own

    @property
    def heading(self) -> str:
        """Metric and test set."""
        metric = metric_heading(self.report, self.metric)
        return f"{metric}, {self.title}" if self.title else metric

    @property
    def pairs(self) -> list[PairReport]:
        """The pairs of the metric and test."""
        asked = (self.metric, self.test)
        return [pair for pair in self.report.pairs if (pair.metric, pair.test) == asked]


def view(
    report: Report,
    metric: str | None = None,
    test: str | None = None,
    testset: str | None = None,
    distribution: Distribution | None = None,
    style: Style = PLAIN,
) -> View:
    """Find what is to be drawn.

    Args:
        report: On one test set or on several.
        metric: The first where none is named; that of the distribution, if there is one.
        test: The first that keeps its level where none is named; or as for the metric.
        testset: Which one of several; all together where none is named.
        distribution: Of one pair.
        style: Width, title and parts that are left out.

    Raises:
        InputError: A report of fewer than two systems.
        RecipeError: A metric, test, test set or pair that the report does not have; a distribution
            of several test sets together.
    """
    if distribution is not None:
        metric, test = distribution.metric, distribution.test
        if report.several is not None and testset is None:
            raise RecipeError(
                f"testset must name one of the test sets: {', '.join(_names(report))}.",
                field="testset",
            )
    title, shown = _of_testset(report, testset)
    leading = leading_test(shown)
    if leading is None or len(shown.systems) < 2:
        raise InputError(f"Pictures need two systems; the report has {len(shown.systems)}.")
    metric = choose(metric or next(iter(shown.metrics)), shown.metrics, "metric", "metric")
    test = choose(test or leading, shown.tests, "test", "significance test")
    if distribution is not None:
        find_pair(shown, distribution.a, distribution.b, metric, test)
    return View(shown, metric, test, title, distribution, style)


def find_pair(report: Report, a: str, b: str, metric: str, test: str) -> PairReport:
    """The report of a pair, turned round where it has the two systems in reverse.

    Raises:
        RecipeError: The report has no such pair, metric or test.
    """
    choose(metric, report.metrics, "metric", "metric")
    choose(test, report.tests, "test", "significance test")
    for field, name in (("a", a), ("b", b)):
        choose(name, [system.name for system in report.systems], field, "system")
    of = [pair for pair in report.pairs if (pair.metric, pair.test) == (metric, test)]
    known = {(pair.a, pair.b): pair for pair in of}
    if (a, b) in known:
        return known[a, b]
    if (b, a) in known:
        pair = known[b, a]
        turned = MIRROR.get(pair.alternative, pair.alternative)
        return pair._replace(
            a=a,
            b=b,
            score_a=pair.score_b,
            score_b=pair.score_a,
            difference=-pair.difference,
            alternative=turned,
        )
    raise RecipeError(f"The report does not compare {a!r} and {b!r}.", field="b")


def _names(report: Report) -> list[str]:
    """Of its test sets, where there are several."""
    return [title for title, _ in titled(report)[:-1]]


def _of_testset(report: Report, testset: str | None) -> tuple[str, Report]:
    if testset is None:
        return titled(report)[-1]
    names = _names(report)
    if not names:
        raise RecipeError("The report is on one test set; leave testset out.", field="testset")
    return titled(report)[names.index(choose(testset, names, "testset", "test set"))]
