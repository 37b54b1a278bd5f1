"""A comparison's report as a document and as records, on one test set or on several."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import astuple, replace
from functools import partial

from sigtest.data.choices import choose
from sigtest.errors import RecipeError
from sigtest.render import records, tables
from sigtest.render.digits import counted
from sigtest.render.formats import Layout, Presented, verbatim
from sigtest.render.model import (
    Abreast,
    Block,
    Document,
    Figure,
    Mark,
    ReportTable,
    Section,
    Sheet,
    Words,
)
from sigtest.render.names import in_words
from sigtest.render.pictures import PICTURES
from sigtest.render.standings import answer, baseline_of, facts, metric_heading, titled
from sigtest.report import PairReport, Report, RunsReport
from sigtest.report.naming import renamed

PLAIN = Layout()
DETECTS = "detects: this test set would show a true difference of that size with 80 % power"


def present(report: Report, layout: Layout = PLAIN) -> Presented:
    """The report for any format.

    Args:
        report: What to show.
        layout: Its table is one of TABLES.

    Raises:
        RecipeError: An unknown table or name, or a table that the report cannot fill.
    """
    if layout.table is not None:
        check_table(layout.table, PICTURES["matrix"].fits(report))
    names = layout.new_names([*report.metrics, *(system.name for system in report.systems)])
    shown = renamed(report, names)
    return Presented(
        report.as_json,
        partial(document, shown, layout, verbatim([layout.bare_caption, *names.values()])),
        {name: partial(records_of, report) for name, records_of in SHEETS.items()},
        layout.table,
    )


def check_table(table: str, all_pairs: bool) -> None:
    """Complain about a table that there is not.

    Args:
        table: Its name.
        all_pairs: Whether there are two systems or more, and all their pairs are compared.

    Raises:
        RecipeError: An unknown table, or a matrix of some pairs.
    """
    choose(table, TABLES, "table", "table")
    if table == "matrix" and not all_pairs:
        raise RecipeError("A matrix needs all pairs of two systems or more.", field="table")


def document(report: Report, layout: Layout = PLAIN, as_latex: tuple[str, ...] = ()) -> Document:
    """The report as people read it; see `present`.

    Args:
        report: What to show, under the names that it is to have.
        layout: Which table, and how it is called.
        as_latex: Names and captions that LaTeX takes as they stand.
    """
    many = None if layout.every_pair else tables.MANY
    made = Document(
        title=_title(report),
        facts=facts(report),
        blocks=tuple(_blocks(report, many) if layout.table is None else _chosen(report, layout)),
        answer=answer(report) if report.systems else (),
        warnings=_warnings(report),
        signature=report.signature,
        methods=report.methods,
        verbatim=as_latex,
    )
    cells = list(made.cells())
    detects = any(isinstance(cell, Words) and "detects" in cell.text for cell in cells)
    after = "" if report.correction == "none" else " after correction"
    marks = set().union(*(cell.marks for cell in cells))
    return replace(
        made,
        marks={mark: words for mark, words in _meanings(report).items() if mark in marks},
        notes=(
            *_nulls(report),
            *_uncorrected(report),
            *_rank_sets(report),
            *([f"{DETECTS}{after}"] if detects else []),
        ),
    )


def _chosen(report: Report, layout: Layout) -> Iterator[Block]:
    """One kind of table alone, with its caption and label; several of them are told apart."""
    assert layout.table is not None
    many = None if layout.every_pair else tables.MANY
    found = list(TABLES[layout.table](report, many))
    for number, block in enumerate(found, 1):
        if isinstance(block, Abreast):
            tables_ = tuple(layout.called(own, number, len(found)) for own in block.tables)
            yield replace(block, tables=tables_)
        else:
            yield layout.called(block, number, len(found))


def pairs_sheet(report: Report) -> Sheet:
    """All that is known of the pairs: of each test set, and last of all together."""
    names = records.fields_of(PairReport)
    if report.several is None:
        return records.sheet(names, report.pairs)
    rows = (
        [name, *records.record(pair, names)] for name, own in titled(report) for pair in own.pairs
    )
    return Sheet(("testset", *records.columns(names)), rows)


def _runs(runs: RunsReport | None) -> tuple[object, ...]:
    return (None,) * 3 if runs is None else astuple(runs)


def systems_sheet(report: Report) -> Sheet:
    """Scores and places of the systems: of each test set, and last of all together."""
    columns = ("system", "metric", "score", "ci_low", "ci_high", "stderr", "training_stderr",
               *records.PLACE)  # fmt: skip
    scores = [
        score for _, own in titled(report) for s in own.systems for score in s.scores.values()
    ]
    of_runs = any(score.runs for score in scores)
    clustered = any(score.clustered_stderr is not None for score in scores)
    varied = ("runs", "item_variance", "run_variance") if of_runs else ()
    rows = (
        [*([name] if name else []), system.name, metric, score.score, *score.ci, score.stderr,
         score.training_stderr, *place, *(_runs(score.runs) if of_runs else ()),
         *((score.clustered_stderr,) if clustered else ())]
        for name, own in titled(report)
        for system in own.systems
        for metric, score in system.scores.items()
        for place in records.places(system.ranks.get(metric, {}))
    )  # fmt: skip
    named = () if report.several is None else ("testset",)
    exact = ("clustered_stderr",) if clustered else ()
    return Sheet((*named, *columns, *varied, *exact), rows)


def _title(report: Report) -> str:
    on = f" on {len(report.several.testsets)} test sets" if report.several else ""
    return f"Comparison of {counted(len(report.systems), 'system')}{on}"


def _nulls(report: Report) -> list[str]:
    """What each test takes for granted until it is rejected."""
    told = [f"{in_words(test)}, {null}" for test, null in report.nulls.items()]
    return [f"null hypotheses: {'; '.join(told)}"] if report.pairs and told else []


def _uncorrected(report: Report) -> list[str]:
    """How likely a false claim is where nothing is corrected: Riezler & Maxwell (2005), 4.4."""
    if report.correction != "none" or report.comparisons < 2:
        return []
    percent = math.floor(1000 * report.experimentwise_error) / 10  # never 100
    return [
        f"not corrected: were the {report.comparisons:,} comparisons independent and no difference "
        f"true, at least one would be significant with a probability of {percent:g} %"
    ]


def _rank_sets(report: Report) -> list[str]:
    """How far the rank ranges can be trusted together."""
    if report.rank_doubt is not None and report.pairs:
        return [f"rank ranges have no stated confidence: {report.rank_doubt}"]
    if report.rank_confidence is None or not report.pairs:
        return []
    level = f"{round(100 * report.rank_confidence, 6):g}"
    return [f"rank ranges hold the true ranks of all systems together with {level} % confidence"]


def _meanings(report: Report) -> dict[Mark, str]:
    """What marks say in this report."""
    p = "p" if report.correction == "none" else f"p adjusted by {in_words(report.correction)}"
    limit = f"{p} is at most {report.alpha:g}"
    claim = {"greater": "better than", "less": "worse than"}.get(
        report.pairs[0].alternative if report.pairs else "", "different from"
    )
    return {
        "best": "no system is significantly better",
        "baseline": f"significantly {claim} {baseline_of(report)} ({limit})",
        "significant": limit,
        "undecided": "more resamples could change the decision or the rank",
        "exact": "p is exact: every exchange of the two systems' outputs is counted, none is "
        "sampled",
    }


def _warnings(report: Report) -> tuple[str, ...]:
    """The report's own, and those of several test sets, each once with all that it is about.

    Those of all test sets come before those of some.
    """
    if report.several is None:
        return report.warnings
    about: dict[str, list[str]] = {}
    for entry in report.several.testsets:
        for warning in entry.report.warnings:
            about.setdefault(warning, []).append(entry.name)
    everywhere = len(report.several.testsets)
    said = (
        warning if len(names) == everywhere else f"{', '.join(names)}: {warning}"
        for warning, names in sorted(about.items(), key=lambda own: len(own[1]) < everywhere)
    )
    return (*report.warnings, *said)


def _blocks(report: Report, many: int | None) -> Iterator[Block]:
    """All systems; for each metric pictures, pairs, wins of several test sets; all metrics.

    On several test sets each metric has its systems, too.
    """
    if report.several is None:
        yield from tables.systems(report)
    for metric in report.metrics if report.pairs else ():
        blocks: list[ReportTable | Figure] = []
        if report.several:
            blocks.append(tables.systems_by(report, metric))
        drawn = _figures(report, whole=False, metric=metric)
        blocks += [*drawn, *tables.pairs_by(report, metric, many)]
        yield Section(metric_heading(report, metric), tuple(blocks))
    if report.discriminative_power is not None:
        whole: tuple[Figure | ReportTable, ...] = (
            *_figures(report, whole=True),
            *tables.discriminative_power(report),
        )
        yield Section("All metrics", whole)


def _figures(report: Report, whole: bool, **chosen: str) -> list[Figure]:
    """Pictures of one metric, or of all metrics and tests at once."""
    return [
        picture.figure(report, **chosen)
        for picture in PICTURES.values()
        if picture.needs == "report" and picture.whole == whole and picture.fits(report)
    ]


def _pairs(report: Report, many: int | None) -> Iterator[ReportTable]:
    for metric in report.metrics:
        yield from tables.pairs_by(report, metric, many)


# What --table takes: for papers, one table with little in it.
TABLES: dict[str, Callable[[Report, int | None], Iterable[ReportTable | Abreast]]] = {
    "systems": lambda report, many: tables.systems(report, spare=1),
    "pairs": _pairs,
    "matrix": lambda report, many: [tables.matrix(report, metric) for metric in report.metrics],
    "row": lambda report, many: tables.systems(report, spare=1, bare=True),
}
# The records that go with a table.
SHEETS = {
    "pairs": pairs_sheet,
    "matrix": pairs_sheet,
    "systems": systems_sheet,
    "row": systems_sheet,
}
