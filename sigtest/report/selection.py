"""A part of a report: one metric, one test, some systems."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace

from sigtest.data.choices import choose
from sigtest.report.parts import PairReport, SystemReport
from sigtest.report.report import NamedReport, Report, WinsReport


def select(
    report: Report,
    metric: str | None = None,
    test: str | None = None,
    system: str | Collection[str] | None = None,
) -> Report:
    """The systems and pairs that are asked for; all else, and every decision, stays as it is.

    Args:
        report: On one test set or on several.
        metric: Label of the only metric.
        test: Name of the only significance test.
        system: One system, with the pairs that it is part of; or several, with the pairs among
            them; all where none is named.

    Raises:
        RecipeError: A metric, test or system that the report does not have.
    """
    wanted = _wanted(report, metric, test, system)

    def kept(pair: PairReport | WinsReport) -> bool:
        held = wanted & {pair.a, pair.b}
        return metric in (None, pair.metric) and len(held) == min(2, len(wanted))

    chosen = _selected(report, metric, test, wanted, kept)
    if report.several is None:
        return chosen
    several = replace(
        report.several,
        testsets=tuple(
            NamedReport(own.name, _selected(own.report, metric, test, wanted, kept))
            for own in report.several.testsets
        ),
        wins=tuple(row for row in report.several.wins if kept(row)),
    )
    return replace(chosen, several=several)


def _wanted(
    report: Report, metric: str | None, test: str | None, system: str | Collection[str] | None
) -> set[str]:
    """The names of the systems, once all that is asked for is known to be there."""
    names = [own.name for own in report.systems]
    wanted = {system} if isinstance(system, str) else set(system or names)
    for name in sorted(wanted):
        choose(name, names, "system", "system")
    if metric is not None:
        choose(metric, report.metrics, "metric", "metric")
    if test is not None and report.pairs:
        choose(test, report.tests, "test", "significance test")
    return wanted


def _selected(
    report: Report,
    metric: str | None,
    test: str | None,
    wanted: Collection[str],
    kept: Callable[[PairReport | WinsReport], bool],
) -> Report:
    """The report of one test set, or of all together."""
    whole = metric is None and test is None and len(wanted) == len(report.systems)
    return replace(
        report,
        metrics={label: told for label, told in report.metrics.items() if metric in (None, label)},
        systems=tuple(_system(own, metric, test) for own in report.systems if own.name in wanted),
        pairs=tuple(pair for pair in report.pairs if test in (None, pair.test) and kept(pair)),
        discriminative_power=report.discriminative_power if whole else None,
    )


def _system(system: SystemReport, metric: str | None, test: str | None) -> SystemReport:
    return replace(
        system,
        scores={label: score for label, score in system.scores.items() if metric in (None, label)},
        ranks={
            label: {name: rank for name, rank in ranks.items() if test in (None, name)}
            for label, ranks in system.ranks.items()
            if metric in (None, label)
        },
    )
