"""Tables that a person reads at once on a terminal: ranked systems, pairs, warnings, signature."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from sigtest.render.columns import Column, Group, aligned, balanced, table
from sigtest.render.layout import (
    DETECTS,
    PairRow,
    decision_line,
    leading_test,
    metric_decimals,
    metric_heading,
    pair_rows,
    rank_range,
    shown_p,
    standings,
    test_set_line,
)
from sigtest.render.names import printable
from sigtest.render.numbers import fixed, percent, signed
from sigtest.report import PairReport, Report

WIDE = 100  # columns, within which the systems' table is kept by splitting it
MANY = 30  # pairs of a metric, above which settled ones are counted rather than listed


def render(report: Report, *, every_pair: bool = False) -> str:
    """The whole report.

    Args:
        report: What to show.
        every_pair: List every pair; otherwise, with more than 30 pairs, those that every test
            finds significant are counted in one line.
    """
    parts = [_head(report), _systems(report, leading_test(report))]
    parts += [_pairs(report, metric, every_pair) for metric in report.metrics]
    parts.append(_legend(report))
    parts += [wrapped(f"Warning: {warning}") for warning in report.warnings]
    parts.append(f"Signature: {printable(report.signature)}")
    return "\n\n".join(part for part in parts if part) + "\n"


def _head(report: Report) -> str:
    intervals = f"{percent(1 - report.alpha)} bootstrap intervals"
    return wrapped(f"{test_set_line(report)}; {intervals}; {decision_line(report)}")


def _systems(report: Report, test: str) -> str:
    """The systems in the order of the first metric, in as many tables as the width asks for."""
    first = next(iter(report.metrics))
    ordered = standings(report, first, test)
    order = [standing.system.name for standing in ordered]
    names = Group((), (Column("system", tuple(printable(name) for name in order)),))
    groups = [_metric_group(report, metric, test, order) for metric in report.metrics]
    breaks = {place for place, standing in enumerate(ordered) if standing.opens}
    title = f"Systems by {first}"
    if ordered[0].rank is not None:
        title += f"; ranks and cluster lines by {test}"
    tables = [table([names, *run], breaks) for run in balanced(groups, WIDE - names.width)]
    return "\n\n".join([wrapped(title), *tables, *_other_ranks(report, test)])


def _other_ranks(report: Report, test: str) -> list[str]:
    """For each further test, the rank ranges that are not those of the tables."""
    lines = []
    for other in report.tests:
        changed = [
            f"{system.name} {rank_range(ranks[other])} ({metric})"
            for metric in report.metrics
            for system in report.systems
            if (ranks := system.ranks.get(metric)) and ranks[other] != ranks[test]
        ]
        if other != test and report.systems[0].ranks:
            differ = f"differ: {', '.join(changed)}" if changed else "are the same"
            lines.append(wrapped(f"Ranks by {other} {differ}."))
    return ["\n".join(lines)] if lines else []


def _metric_group(report: Report, metric: str, test: str, order: Sequence[str]) -> Group:
    """Rank range (where there are ranks), score, interval and spread over training runs."""
    placed = {s.system.name: s for s in standings(report, metric, test)}
    rows = [placed[name] for name in order]
    places = metric_decimals(report, metric)
    scores = aligned([fixed(row.score.score, places) for row in rows])
    cells = _with_intervals(scores, [row.score.ci for row in rows], places)
    columns = [Column("score and interval", cells)]
    if rows[0].rank is not None:
        columns.insert(0, Column("rank", tuple(rank_range(row.rank) for row in rows), right=True))
    spreads = [row.score.training_stderr for row in rows]
    if trained := [fixed(spread, places) for spread in spreads if spread is not None]:
        columns.append(Column("training sd", tuple(trained), right=True))
    return Group((printable(metric_heading(report, metric)),), tuple(columns))


def _pairs(report: Report, metric: str, every_pair: bool) -> str:
    """The pairs of one metric: one row a pair, two columns a test."""
    rows = pair_rows(report, metric)
    shown = [row for row in rows if not row.settled] if len(rows) > MANY else rows
    if every_pair:
        shown = rows
    title = wrapped(f"Pairs: {metric_heading(report, metric)}")
    parts = [title, _pair_table(report, metric, shown)] if shown else [title]
    if len(shown) < len(rows):
        parts.append(
            f"Not listed: {len(rows) - len(shown)} of {len(rows)} pairs, which every test finds "
            "significant.\nTo see them: --every-pair, or --format csv."
        )
    return "\n\n".join(parts)


def _pair_table(report: Report, metric: str, rows: Sequence[PairRow]) -> str:
    places = metric_decimals(report, metric)
    differences = aligned([signed(row.pair.difference, places) for row in rows])
    cells = _with_intervals(differences, [row.pair.ci for row in rows], places)
    names = Group(
        (),
        (
            Column("a", tuple(printable(row.pair.a) for row in rows)),
            Column("b", tuple(printable(row.pair.b) for row in rows)),
            Column("a - b and interval", cells),
        ),
    )
    tests = [_test_group(report, [row.tests[t] for row in rows]) for t in range(len(report.tests))]
    verdicts = Group((), (Column("verdict", tuple(printable(row.verdict) for row in rows)),))
    return table([names, *tests, verdicts])


def _test_group(report: Report, pairs: Sequence[PairReport]) -> Group:
    """P-value and adjusted p-value with its mark."""
    shown = [shown_p(pair, report.alpha) for pair in pairs]
    marks = ["?" if p.undecided else "*" if p.significant else " " for p in pairs]
    adjusted = [f"{p}{mark}" for (_, p), mark in zip(shown, marks, strict=True)]
    columns = [Column("p", tuple(p for p, _ in shown), right=True)]
    if report.correction != "none":
        columns.append(Column("adjusted ", tuple(adjusted), right=True))
    else:
        columns = [Column("p ", tuple(adjusted), right=True)]
    return Group(_heading(pairs[0]), tuple(columns))


def _heading(pair: PairReport) -> tuple[str, ...]:
    """A test's name over two lines where it is long, and whether it can be trusted."""
    first, _, rest = pair.test.rpartition("_")
    lines = (f"{first}_", rest) if first else (rest,)
    return lines if pair.calibrated else (*lines, "(not calibrated)")


def _legend(report: Report) -> str:
    p = "p" if report.correction == "none" else f"p adjusted by {report.correction}"
    marks = (
        [f"* {p} is at most {report.alpha:g}"] if any(p.significant for p in report.pairs) else []
    )
    if any(pair.undecided for pair in report.pairs):
        marks.append("? more resamples could turn the decision round")
    if not all(pair.significant for pair in report.pairs):
        marks.append(DETECTS)
    return "\n".join(map(wrapped, marks))


def _with_intervals(
    numbers: Sequence[str], intervals: Sequence[tuple[float, float]], places: int
) -> tuple[str, ...]:
    """`55.61 [52.55, 58.68]`, every part aligned."""
    low = aligned([fixed(ends[0], places) for ends in intervals])
    high = aligned([fixed(ends[1], places) for ends in intervals])
    return tuple(f"{n} [{a}, {b}]" for n, a, b in zip(numbers, low, high, strict=True))


def wrapped(text: str) -> str:
    """A paragraph as wide as tables may be, safe to print."""
    return textwrap.fill(
        printable(text),
        WIDE,
        break_long_words=False,
        break_on_hyphens=False,
        subsequent_indent="  ",
    )
