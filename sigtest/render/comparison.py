"""A comparison's report as a document and as records, on one test set or on several."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial

from sigtest.data.choices import choose
from sigtest.errors import RecipeError
from sigtest.render import tables
from sigtest.render.formats import Presented
from sigtest.render.model import Block, Document, Figure, Mark, Section, Sheet, Table, Words
from sigtest.render.plots import PICTURES
from sigtest.render.standings import baseline_of, facts, metric_heading, titled
from sigtest.report import PairReport, Report

DETECTS = (
    "detects: this test set would show a true difference of that size with 80 % power after "
    "correction"
)
ENDS = {
    "ci": ("ci_low", "ci_high"),
    "p_interval": ("p_low", "p_high"),
    "detectable": ("detectable", "detectable_corrected"),
}


def present(report: Report, *, every_pair: bool = False, table: str | None = None) -> Presented:
    """The report for any format.

    Args:
        report: What to show.
        every_pair: Fold nothing, however many pairs there are.
        table: One of TABLES, of documents the only thing to show; all there is otherwise.

    Raises:
        RecipeError: An unknown table, or one that the report cannot fill.
    """
    if table is not None:
        check_table(table, PICTURES["matrix"].fits(report))
    return Presented(
        report.as_json, partial(document, report, every_pair, table), partial(sheet, report)
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


def document(report: Report, every_pair: bool = False, table: str | None = None) -> Document:
    """The report as people read it; see `present`."""
    many = None if every_pair else tables.MANY
    blocks = tuple(_blocks(report, many) if table is None else TABLES[table](report, many))
    made = Document(
        title=_title(report),
        facts=facts(report),
        blocks=blocks,
        warnings=_warnings(report),
        signature=report.signature,
        methods=report.methods,
    )
    cells = list(made.cells())
    detects = any(isinstance(cell, Words) and "detects" in cell.text for cell in cells)
    marks = set().union(*(cell.marks for cell in cells))
    return replace(
        made,
        marks={mark: words for mark, words in _meanings(report).items() if mark in marks},
        notes=(DETECTS,) if detects else (),
    )


def sheet(report: Report) -> Sheet:
    """All that is known of the pairs: of each test set, and last of all together."""
    columns = [column for field in PairReport._fields for column in ENDS.get(field, (field,))]
    if report.several is None:
        return Sheet(tuple(columns), map(_record, report.pairs))
    rows = ([name, *_record(pair)] for name, own in titled(report) for pair in own.pairs)
    return Sheet(("testset", *columns), rows)


def _record(pair: PairReport) -> list[object]:
    values: list[object] = []
    for name, value in pair._asdict().items():
        if name in ENDS:
            values += value if value is not None else (None, None)
        else:
            values.append(value)
    return values


def _title(report: Report) -> str:
    on = f" on {len(report.several.testsets)} test sets" if report.several else ""
    return f"Comparison of {tables.counted(len(report.systems), 'system')}{on}"


def _meanings(report: Report) -> dict[Mark, str]:
    """What marks say in this report."""
    p = "p" if report.correction == "none" else f"p adjusted by {report.correction}"
    limit = f"{p} is at most {report.alpha:g}"
    claim = {"greater": "better than", "less": "worse than"}.get(
        report.pairs[0].alternative if report.pairs else "", "different from"
    )
    return {
        "best": "no system is significantly better",
        "baseline": f"significantly {claim} {baseline_of(report)} ({limit})",
        "significant": limit,
        "undecided": "more resamples could turn the decision round",
        "exact": "p is exact: every exchange of the two systems' outputs is counted, none is "
        "sampled",
    }


def _warnings(report: Report) -> tuple[str, ...]:
    """The report's own, and those of several test sets, each once with all that it is about."""
    if report.several is None:
        return report.warnings
    about: dict[str, list[str]] = {}
    for entry in report.several.testsets:
        for warning in entry.report.warnings:
            about.setdefault(warning, []).append(entry.name)
    everywhere = len(report.several.testsets)
    said = (
        warning if len(names) == everywhere else f"{', '.join(names)}: {warning}"
        for warning, names in about.items()
    )
    return (*report.warnings, *said)


def _blocks(report: Report, many: int | None) -> Iterator[Block]:
    """All systems; then for each metric pictures, pairs, and wins of several test sets.

    On several test sets each metric has its systems, too.
    """
    if report.several is None:
        yield from tables.systems(report)
    for metric in report.metrics if report.pairs else ():
        blocks: list[Table | Figure] = []
        if report.several:
            blocks.append(tables.systems_by(report, metric))
        blocks += [*_figures(report, metric), *tables.pairs_by(report, metric, many)]
        yield Section(metric_heading(report, metric), tuple(blocks))


def _figures(report: Report, metric: str) -> list[Figure]:
    return [
        Figure(picture.title, partial(picture.of, report, metric))
        for picture in PICTURES.values()
        if picture.needs == "report" and picture.fits(report)
    ]


def _pairs(report: Report, many: int | None) -> Iterator[Block]:
    for metric in report.metrics:
        yield from tables.pairs_by(report, metric, many)


# What --table takes: for papers, one table with little in it.
TABLES: dict[str, Callable[[Report, int | None], Iterable[Block]]] = {
    "systems": lambda report, many: tables.systems(report, spare=1),
    "pairs": _pairs,
    "matrix": lambda report, many: [tables.matrix(report, metric) for metric in report.metrics],
    "row": lambda report, many: tables.systems(report, spare=1, bare=True),
}
