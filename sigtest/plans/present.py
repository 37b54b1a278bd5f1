"""Plans as people read them, and as records for a spreadsheet."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from sigtest.plans.pictures import PICTURES, places
from sigtest.plans.report import PlanReport
from sigtest.render.digits import counted, fixed, percent, whole
from sigtest.render.formats import Presented
from sigtest.render.model import (
    Block,
    Document,
    Group,
    ReportTable,
    Sheet,
    intervals,
    names,
    numbers,
)
from sigtest.render.names import in_words
from sigtest.render.tables import MANY
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
    return Presented(
        partial(encode, report), partial(document, report), {"pairs": partial(sheet, report)}
    )


def answer(report: PlanReport) -> tuple[str, ...]:
    """How many units show the difference that was asked for, or what the pilot's size shows."""
    power = f"with {100 * report.power:g} % power"
    known = [pair for pair in report.pairs if pair.sizes]
    if not known:
        return ("The systems do not differ in the pilot, which says nothing of other sizes.",)
    needing = [pair for pair in known if pair.needed is not None and pair.needed_ci is not None]
    if report.difference is not None and needing:
        most = max(needing, key=lambda pair: pair.needed or 0)
        low, high = most.needed_ci or (0, 0)
        of = f" of {most.a} and {most.b}" if len(needing) > 1 else ""
        return (
            f"A true difference of {report.difference:g} {report.metric}{of} shows {power} in "
            f"about {whole(most.needed or 0)} {report.unit}s: {whole(low)} to {whole(high)}, as "
            "far as the pilot tells.",
        )
    widest = max(known, key=lambda pair: pair.stderr)
    size = min(widest.sizes, key=lambda own: abs(own.units - report.pilot))
    return (
        f"{whole(size.units)} {report.unit}s show a true difference of "
        f"{fixed(size.detectable, _places(report))} {report.metric} {power}; four "
        "times as many show one of half that size.",
    )


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
        picture.figure(report) for picture in PICTURES.values() if picture.fits(report)
    ]
    return Document(
        title=f"Plan by {report.metric} from a pilot of {whole(report.pilot)} {report.unit}s",
        facts=_facts(report),
        answer=answer(report),
        blocks=(_table(report), *drawn),
        notes=NOTES,
        warnings=report.warnings,
        signature=report.signature,
        methods=report.methods,
    )


def _facts(report: PlanReport) -> tuple[str, ...]:
    how = (
        f"{in_words(report.correction)} over {counted(report.comparisons, 'comparison')}"
        if report.corrected
        else "uncorrected"
    )
    return (
        f"pilot of {whole(report.pilot)} {report.unit}s",
        f"power {percent(report.power)} at level {report.level:.3g}, {report.alternative}, {how}",
    )


def _places(report: PlanReport) -> int:
    """Decimals that show two digits of the least that any size detects, two at least."""
    ends = [size.ci[0] for pair in report.pairs for size in pair.sizes]
    return max(PLACES, places(min(ends, default=1.0)))


def _table(report: PlanReport) -> ReportTable:
    pairs, shown = report.pairs, _places(report)
    groups = [
        Group("pilot", (
            numbers("a - b", [pair.difference for pair in pairs], shown, signed=True),
            numbers("stderr", [pair.stderr for pair in pairs], shown + 1),
        )),
    ]  # fmt: skip
    if report.difference is not None:
        groups.append(
            Group(f"to show {report.difference:g}", (
                numbers(f"{report.unit}s", [pair.needed for pair in pairs], 0),
                intervals([pair.needed_ci for pair in pairs], 0),
            ))
        )  # fmt: skip
    planned = [pair for pair in pairs if pair.sizes]
    for i, size in enumerate(planned[0].sizes if planned else ()):
        detects = [pair.sizes[i].detectable if pair.sizes else None for pair in pairs]
        ends = [pair.sizes[i].ci if pair.sizes else None for pair in pairs]
        groups.append(
            Group(f"{whole(size.units)} {report.unit}s", (
                numbers("detects", detects, shown),
                intervals(ends, shown),
            ))
        )  # fmt: skip
    return ReportTable(
        name="pairs",
        caption=f"What test sets of other sizes show: {report.metric}",
        names=(names("a", [pair.a for pair in pairs]), names("b", [pair.b for pair in pairs])),
        groups=tuple(groups),
        facts="; ".join(_facts(report)),
        things="pairs",
        folded_over=MANY,
    )
