"""Plans as people read them, and as records for a spreadsheet."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from sigtest.questions.plans.pictures import PICTURES
from sigtest.questions.plans.report import PlanReport
from sigtest.render.columns import intervals, names, numbers
from sigtest.render.digits import percent, whole
from sigtest.render.formats import Presented
from sigtest.render.model import Block, Document, Figure, Group, Sheet, Table
from sigtest.report import encode

PLACES = 2
COLUMNS = ("a", "b", "metric", "unit", "units", "detectable", "ci_low", "ci_high", "level", "power",
           "needed", "needed_low", "needed_high")  # fmt: skip
NOTES = (
    "detects: smallest true difference that shows with this power, in units of the metric; "
    "intervals: 95 %, from the uncertainty of the pilot's standard error",
)


def present(report: PlanReport) -> Presented:
    """The report for any format."""
    return Presented(partial(encode, report), partial(document, report), partial(sheet, report))


def sheet(report: PlanReport) -> Sheet:
    """One record a pair and size."""
    return Sheet(COLUMNS, _records(report))


def _records(report: PlanReport) -> Iterator[tuple[object, ...]]:
    for pair in report.pairs:
        low, high = pair.needed_ci or (None, None)
        for size in pair.sizes:
            yield (pair.a, pair.b, report.metric, report.unit, size.units, size.detectable,
                   *size.ci, report.level, report.power, pair.needed, low, high)  # fmt: skip


def document(report: PlanReport) -> Document:
    """What each size detects, and how many units a difference needs."""
    drawn: list[Block] = [
        Figure(picture.title, partial(picture.draw, report, {}))
        for picture in PICTURES.values()
        if picture.fits(report)
    ]
    return Document(
        title=f"Plan by {report.metric} from a pilot of {whole(report.pilot)} {report.unit}s",
        facts=_facts(report),
        blocks=(_table(report), *drawn),
        notes=NOTES,
        warnings=report.warnings,
        signature=report.signature,
        methods=report.methods,
    )


def _facts(report: PlanReport) -> tuple[str, ...]:
    how = f"{report.correction} over {report.comparisons}" if report.corrected else "uncorrected"
    return (
        f"pilot of {whole(report.pilot)} {report.unit}s",
        f"power {percent(report.power)} at level {report.level:.3g}, {report.alternative}, {how}",
    )


def _table(report: PlanReport) -> Table:
    pairs = report.pairs
    groups = [
        Group("pilot", (
            numbers("a - b", [pair.difference for pair in pairs], PLACES, signed=True),
            numbers("stderr", [pair.stderr for pair in pairs], PLACES + 1),
        )),
    ]  # fmt: skip
    if report.difference is not None:
        groups.append(
            Group(f"to show {report.difference:g}", (
                numbers(f"{report.unit}s", [pair.needed for pair in pairs], 0),
                intervals("interval", [pair.needed_ci for pair in pairs], 0),
            ))
        )  # fmt: skip
    planned = [pair for pair in pairs if pair.sizes]
    for i, size in enumerate(planned[0].sizes if planned else ()):
        detects = [pair.sizes[i].detectable if pair.sizes else None for pair in pairs]
        ends = [pair.sizes[i].ci if pair.sizes else None for pair in pairs]
        groups.append(
            Group(f"{whole(size.units)} {report.unit}s", (
                numbers("detects", detects, PLACES),
                intervals("interval", ends, PLACES),
            ))
        )  # fmt: skip
    return Table(
        name="pairs",
        caption=f"What test sets of other sizes show: {report.metric}",
        names=(names("a", [pair.a for pair in pairs]), names("b", [pair.b for pair in pairs])),
        groups=tuple(groups),
        facts="; ".join(_facts(report)),
        things="pairs",
    )
