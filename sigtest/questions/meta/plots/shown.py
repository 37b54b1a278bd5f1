"""What of a metric evaluation a picture shows: one set, its metrics and their pairs."""

from __future__ import annotations

from dataclasses import dataclass

from sigtest.data.choices import choose
from sigtest.errors import InputError
from sigtest.questions.meta.report import MetaReport, MetricEvaluation, MetricPair, SetReport
from sigtest.requests.meta import TESTS


@dataclass(frozen=True)
class Shown:
    """One set of a report.

    Attributes:
        own: The set.
        metrics: Its metrics.
        pairs: Pairs of its metrics.
    """

    own: SetReport
    metrics: tuple[MetricEvaluation, ...]
    pairs: tuple[MetricPair, ...]

    @property
    def title(self) -> str:
        """The set's name before a heading, if it has one."""
        return f"{self.own.name}: " if self.own.name else ""

    def by_test(self) -> dict[str, list[MetricPair]]:
        """Pairs under Pearson's r that have p-values, by test."""
        found: dict[str, list[MetricPair]] = {}
        for test in TESTS:
            rows = [p for p in self.pairs if (p.statistic, p.test) == ("pearson", test)]
            if any(pair.p_value is not None for pair in rows):
                found[test] = rows
        return found


def shown(report: MetaReport, name: str | None = None) -> Shown:
    """A set by its name; the first where none is named.

    Raises:
        RecipeError: A set that the report does not have.
    """
    names = [own.name for own in report.sets]
    if name is not None:
        choose(name, names, "testset", "set")
    own = report.sets[names.index(name) if name is not None else 0]
    pairs = tuple(pair for pair in report.pairs if pair.set == own.name)
    return Shown(own, own.metrics or report.metrics, pairs)


def metric_of(own: Shown, label: str | None) -> MetricEvaluation:
    """A metric by its label; the first where none is named.

    Raises:
        RecipeError: A metric that the set does not have.
    """
    labels = [metric.label for metric in own.metrics]
    if label is None:
        return own.metrics[0]
    return own.metrics[labels.index(choose(label, labels, "metric", "metric"))]


def require(met: bool, what: str) -> None:
    """Refuse a picture whose report lacks something.

    Raises:
        InputError: It does.
    """
    if not met:
        raise InputError(f"This picture needs {what}.")
