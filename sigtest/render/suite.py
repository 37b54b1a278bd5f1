"""A suite's tables for a terminal: scores and differences of every test set side by side, wins."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from sigtest.render.columns import Column, Group, aligned, balanced, table
from sigtest.render.layout import (
    leading_test,
    metric_decimals,
    metric_heading,
    rank_range,
    shown_p,
    standings,
    test_set_line,
)
from sigtest.render.names import printable
from sigtest.render.numbers import fixed, percent, probability, signed
from sigtest.render.text import WIDE, wrapped
from sigtest.report import PairReport, Report
from sigtest.report.suite_report import SmallTest, SuiteReport, WinsReport

Titled = tuple[str, Report]
AVERAGES = {"macro": "macro-average", "pooled": "pooled"}


def render(suite: SuiteReport) -> str:
    """The whole report."""
    whole = replace(
        suite.testsets[0].report, systems=suite.overall.systems, pairs=suite.overall.pairs
    )
    titled = [(printable(result.name), result.report) for result in suite.testsets]
    titled.append((AVERAGES[suite.overall.average], whole))
    parts = [_head(suite, titled)]
    for metric in whole.metrics:
        parts.append(_scores(titled, metric))
        parts += [_pairs(titled, metric, test) for test in whole.tests]
        parts.append(_wins(suite, [wins for wins in suite.wins if wins.metric == metric]))
    parts.append(_legend(suite))
    parts += [wrapped(f"Warning: {warning}") for warning in _warnings(suite)]
    parts.append(f"Signature: {printable(suite.signature)}")
    return "\n\n".join(parts) + "\n"


def _head(suite: SuiteReport, titled: Sequence[Titled]) -> str:
    sizes = "; ".join(f"{name}: {test_set_line(report)}" for name, report in titled[:-1])
    return wrapped(
        f"{sizes}; {percent(1 - suite.alpha)} bootstrap intervals; {suite.wins[0].alternative}, "
        f"{suite.correction} correction over {suite.comparisons} comparisons, alpha {suite.alpha:g}"
    )


def _scores(titled: Sequence[Titled], metric: str) -> str:
    """All systems, best on the whole first, on every test set and on the whole."""
    _, whole = titled[-1]
    test = leading_test(whole)
    ordered = standings(whole, metric, test)
    names = Group((), (Column("system", tuple(printable(s.system.name) for s in ordered)),))
    breaks = {place for place, standing in enumerate(ordered) if standing.opens}
    groups = []
    for title, report in titled:
        placed = {s.system.name: s for s in standings(report, metric, test)}
        rows = [placed[standing.system.name] for standing in ordered]
        places = metric_decimals(report, metric)
        ends = [aligned([fixed(row.score.ci[end], places) for row in rows]) for end in (0, 1)]
        scores = aligned([fixed(row.score.score, places) for row in rows])
        cells = tuple(f"{s} [{a}, {b}]" for s, a, b in zip(scores, *ends, strict=True))
        columns = [Column("score and interval", cells)]
        if rows[0].rank is not None:
            ranks = tuple(rank_range(row.rank) for row in rows)
            columns.insert(0, Column("rank", ranks, right=True))
        spreads = [row.score.training_stderr for row in rows]
        if trained := [fixed(spread, places) for spread in spreads if spread is not None]:
            columns.append(Column("training sd", tuple(trained), right=True))
        groups.append(Group((title,), tuple(columns)))
    drawn = [table([names, *run], breaks) for run in balanced(groups, WIDE - names.width)]
    title = f"Systems by {metric_heading(whole, metric)}"
    if ordered[0].rank is not None:
        title += f"; ranks by {test}, cluster lines for all together"
    return "\n\n".join([wrapped(title), *drawn])


def _pairs(titled: Sequence[Titled], metric: str, test: str) -> str:
    """Differences and adjusted p-values of all pairs."""
    groups = []
    for title, report in titled:
        pairs = [p for p in report.pairs if (p.metric, p.test) == (metric, test)]
        places = metric_decimals(report, metric)
        differences = aligned([signed(pair.difference, places) for pair in pairs])
        marked = tuple(f"{shown_p(pair, report.alpha)[1]}{_mark(pair)}" for pair in pairs)
        columns = (Column("a - b", tuple(differences)), Column("p ", marked, right=True))
        groups.append(Group((title,), columns))
    names = _names(pairs)
    drawn = [table([names, *run]) for run in balanced(groups, WIDE - names.width)]
    heading = f"Pairs: {metric_heading(titled[-1][1], metric)}, {test}, adjusted p"
    return "\n\n".join([wrapped(heading), *drawn])


def _wins(suite: SuiteReport, rows: Sequence[WinsReport]) -> str:
    counts = [
        Column(name, tuple(str(getattr(row, name)) for row in rows), right=True)
        for name in ("won", "lost", "tied")
    ]
    tests: tuple[tuple[str, Callable[[WinsReport], SmallTest]], ...] = (
        ("sign test p ", lambda row: row.sign_test),
        ("signed-rank p ", lambda row: row.signed_rank),
    )
    decided = [
        Column(
            heading,
            tuple(
                f"{probability(of(row).p_adjusted, suite.alpha)}{_star(of(row).significant)}"
                for row in rows
            ),
            right=True,
        )
        for heading, of in tests
    ]
    drawn = table([_names(rows), Group((), (*counts, *decided))])
    pairs = "1 pair" if len(rows) == 1 else f"{len(rows)} pairs"
    title = wrapped(f"Test sets won by a: {rows[0].metric}, adjusted p over {pairs}")
    return f"{title}\n\n{drawn}"


def _names(pairs: Sequence[PairReport] | Sequence[WinsReport]) -> Group:
    return Group(
        (),
        (
            Column("a", tuple(printable(pair.a) for pair in pairs)),
            Column("b", tuple(printable(pair.b) for pair in pairs)),
        ),
    )


def _mark(pair: PairReport) -> str:
    return "?" if pair.undecided else _star(pair.significant)


def _star(significant: bool) -> str:
    return "*" if significant else " "


def _legend(suite: SuiteReport) -> str:
    p = "p" if suite.correction == "none" else f"p adjusted by {suite.correction}"
    lines = [f"* {p} is at most {suite.alpha:g}"]
    reports = [*(result.report.pairs for result in suite.testsets), suite.overall.pairs]
    if any(pair.undecided for pairs in reports for pair in pairs):
        lines.append("? more resamples could turn the decision round")
    return "\n".join(lines)


def _warnings(suite: SuiteReport) -> list[str]:
    """The suite's own, and those of the test sets, each once with all it is about."""
    about: dict[str, list[str]] = {}
    for result in suite.testsets:
        for warning in result.report.warnings:
            about.setdefault(warning, []).append(result.name)
    said = [
        warning if len(names) == len(suite.testsets) else f"{', '.join(names)}: {warning}"
        for warning, names in about.items()
    ]
    return [*suite.warnings, *said]
