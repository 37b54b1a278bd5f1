"""Accuracy of tests as people read it, and as records for a spreadsheet."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from sigtest.accuracy_of_tests.pictures import PICTURES
from sigtest.accuracy_of_tests.report import AccuracyReport, AccuracyRow, BetweenTests
from sigtest.render import records
from sigtest.render.digits import probability, whole
from sigtest.render.formats import Presented
from sigtest.render.model import (
    Block,
    Column,
    Document,
    Figure,
    Group,
    Paragraph,
    PValue,
    ReportTable,
    Section,
    intervals,
    names,
    numbers,
    words,
)
from sigtest.render.names import in_words
from sigtest.render.standings import listed
from sigtest.report import encode

ERRORS = (
    "reversed: test and people see opposite winners; claimed: people see none; missed: the test "
    "sees none",
)


def present(report: AccuracyReport) -> Presented:
    """The report for any format."""
    rows = partial(records.sheet, records.fields_of(AccuracyRow), report.rows)
    between = partial(records.sheet, records.fields_of(BetweenTests), report.between_tests)
    sheets = {"correct": rows, "errors": rows, "agreement": between}
    return Presented(partial(encode, report), partial(document, report), sheets)


def answer(report: AccuracyReport) -> tuple[str, ...]:
    """Which metric and test are right most often, at the first level, and how often the least."""
    alpha = report.alphas[0]
    rows = [row for row in report.rows if row.alpha == alpha]
    if not rows:
        return ()
    most, least = (choose(row.correct for row in rows) for choose in (max, min))
    best = [f"{row.metric} by {in_words(row.test)}" for row in rows if row.correct == most]
    verb = "conclude" if len(best) > 1 else "concludes"
    pairs = f"{most} of {rows[0].n} pairs of systems"
    said = f"At alpha {alpha:g}, {listed(best)} {verb} what people conclude for {pairs}"
    return (f"{said}." if least == most else f"{said}, others for {least} at the least.",)


def document(report: AccuracyReport) -> Document:
    """At each level: conclusions that are people's, errors, and agreement between tests."""
    blocks: list[Block] = []
    for alpha in report.alphas:
        rows = [row for row in report.rows if row.alpha == alpha]
        drawn = [picture.figure(report, alpha=f"{alpha:g}") for picture in PICTURES.values()]
        shown: tuple[Paragraph | ReportTable | Figure, ...] = (
            Paragraph(_people(report, alpha)),
            _correct(report, rows),
            *_equal(report, alpha),
            _errors(report, rows),
            *_between(report, alpha),
            *drawn,
        )
        blocks.append(Section(f"alpha {alpha:g}", shown))
    return Document(
        title=f"Accuracy of tests on {_facts(report)[0]} of {len(report.systems)} systems",
        facts=_facts(report),
        answer=answer(report),
        blocks=tuple(blocks),
        notes=ERRORS,
        warnings=report.warnings,
        signature=report.signature,
        methods=report.methods,
    )


def _facts(report: AccuracyReport) -> tuple[str, ...]:
    return (
        f"{whole(len(report.pairs))} pairs",
        f"people by {', then '.join(report.criteria)}",
        "both one-sided claims at each level, no correction",
    )


def _people(report: AccuracyReport, alpha: float) -> str:
    own = next(human for human in report.human if human.alpha == alpha)
    n = len(own.conclusions)
    return f"People separate {n - own.ties} of {n} pairs at level {own.human_alpha:g}."


def _table(
    report: AccuracyReport,
    rows: Sequence[AccuracyRow],
    name: str,
    caption: str,
    groups: Sequence[Group],
) -> ReportTable:
    metrics = dict.fromkeys(row.metric for row in rows)
    return ReportTable(
        name=name,
        caption=f"{caption}, alpha {rows[0].alpha:g}",
        names=(names("metric", metrics),),
        groups=tuple(groups),
        facts="; ".join(_facts(report)),
        things="metrics",
    )


def _by_test(rows: Sequence[AccuracyRow]) -> dict[str, list[AccuracyRow]]:
    """The rows of each test, metrics in the order of the report."""
    found: dict[str, list[AccuracyRow]] = {}
    for row in rows:
        found.setdefault(row.test, []).append(row)
    return found


def _correct(report: AccuracyReport, rows: Sequence[AccuracyRow]) -> ReportTable:
    """Tables 1 and 2 of the 2014 study: correct conclusions in percent, with their interval."""
    groups = [
        Group(in_words(test), (
            numbers("correct", [row.correct for row in own], 0),
            numbers("%", [100 * row.share for row in own], 1),
            intervals([(100 * row.ci[0], 100 * row.ci[1]) for row in own], 1),
        ))
        for test, own in _by_test(rows).items()
    ]  # fmt: skip
    caption = f"Conclusions as people's, of {rows[0].n} pairs"
    return _table(report, rows, "correct", caption, groups)


def _errors(report: AccuracyReport, rows: Sequence[AccuracyRow]) -> ReportTable:
    """How the other conclusions are wrong, and how many pairs the metric separates."""
    groups = [
        Group(in_words(test), (
            numbers("reversed", [row.reversed for row in own], 0),
            numbers("claimed", [row.claimed for row in own], 0),
            numbers("missed", [row.missed for row in own], 0),
            numbers("separated", [row.separated for row in own], 0),
            Column("p, share 1/2", tuple(PValue(row.p_half) for row in own)),
        ))
        for test, own in _by_test(rows).items()
    ]  # fmt: skip
    return _table(report, rows, "errors", "Errors and separated pairs", groups)


def _equal(report: AccuracyReport, alpha: float) -> list[Paragraph]:
    """Whether all metrics are equally accurate under a test."""
    said = [
        f"{in_words(square.test)} {square.statistic:.2f}, {_p(square.p_value)}"
        for square in report.chi_square
        if square.alpha == alpha
    ]
    df = next((square.df for square in report.chi_square), 0)
    if not said:
        return []
    return [Paragraph(f"Equally accurate metrics, chi-square with df {df}: {'; '.join(said)}.")]


def _p(value: float | None) -> str:
    return "p not defined" if value is None else f"p = {probability(value)}"


def _between(report: AccuracyReport, alpha: float) -> list[ReportTable]:
    """How far two tests draw the same conclusions."""
    rows = [row for row in report.between_tests if row.alpha == alpha]
    if not rows:
        return []
    table = ReportTable(
        name="agreement",
        caption=f"Agreement between tests, alpha {alpha:g}",
        names=(
            names("metric", [row.metric for row in rows]),
            words("a", [in_words(row.a) for row in rows]),
            words("b", [in_words(row.b) for row in rows]),
        ),
        groups=(
            Group("", (
                numbers("same", [row.same for row in rows], 0),
                numbers("%", [100 * row.share for row in rows], 1),
            )),
        ),
        things="pairs of tests",
    )  # fmt: skip
    return [table]
