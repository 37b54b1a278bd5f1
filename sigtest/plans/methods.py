"""What a paper says of a plan."""

from __future__ import annotations

from collections.abc import Iterator

from sigtest.plans.report import PlanReport
from sigtest.report.methods import Sources
from sigtest.significance import CORRECTIONS


def sentences(report: PlanReport, sources: Sources) -> Iterator[str]:
    """From which pilot, to which level and power."""
    yield (
        f"From a pilot of {report.pilot:,} {report.unit}s the bootstrap gives the standard error "
        f"of differences in {report.metric}{sources.cite('efron-tibshirani-1993-introduction')}, "
        f"which shrinks with the square root of the number of {report.unit}s; intervals say how "
        f"uncertain that standard error is{sources.cite('bonett-2006-approximate')}."
    )
    correction = CORRECTIONS[report.correction]
    corrected = (
        f", the strictest of the method of {correction.title}{sources.cite(*correction.papers)} "
        f"for {report.comparisons:,} comparisons,"
        if report.corrected and report.correction != "none" and report.comparisons > 1
        else ""
    )
    yield (
        f"A difference counts as shown where p reaches {report.level:.3g}{corrected} with "
        f"{round(100 * report.power):d} % power{sources.cite('card-etal-2020-little')}."
    )
