"""The tables of a comparison's report: systems, pairs, wins, and who is better than whom."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from sigtest.render.digits import counted
from sigtest.render.model import (
    Abreast,
    Column,
    Group,
    Interval,
    Mark,
    Number,
    PValue,
    Range,
    ReportTable,
    Words,
    decided,
    intervals,
    names,
    numbers,
)
from sigtest.render.names import in_words
from sigtest.render.standings import (
    Standing,
    baseline_of,
    decision_line,
    facts,
    leading_test,
    matrix_of,
    metric_decimals,
    metric_heading,
    pair_rows,
    standings,
    titled,
)
from sigtest.report import PairReport, Report, SmallTest, WinsReport

MANY = 30  # pairs, above which a table is folded, or those that are settled are only counted


def systems(report: Report, spare: int = 0, bare: bool = False) -> list[Abreast | ReportTable]:
    """The systems by each metric; of several test sets, each metric has a table of its own.

    Args:
        report: On one test set or on several.
        spare: Decimals that are left out.
        bare: Whether only the rows are wanted.
    """
    tables = tuple(
        replace(systems_by(report, metric, spare), bare=bare) for metric in report.metrics
    )
    return [Abreast(tables, tuple(_other_ranks(report)))] if report.several is None else [*tables]


def systems_by(report: Report, metric: str, spare: int = 0) -> ReportTable:
    """The systems by one metric, best first, on every test set and on all together."""
    test = leading_test(report)
    ordered = standings(report, metric, test)
    order = [standing.system.name for standing in ordered]
    groups = []
    for title, own in titled(report):
        placed = {standing.system.name: standing for standing in standings(own, metric, test)}
        rows = [placed[name] for name in order]
        heading = title or metric_heading(report, metric)
        groups.append(Group(heading, tuple(_scores(own, metric, rows, spare))))
    remark = ""
    ranked = bool(ordered) and ordered[0].rank is not None
    if ranked and report.several is None:
        remark = f"ranks and cluster lines by {in_words(test)}"
    elif ranked:
        remark = f"ranks by {in_words(test)}, cluster lines for all together"
    return ReportTable(
        caption=f"Systems by {metric_heading(report, metric)}",
        remark=remark,
        names=(names("system", order),),
        groups=tuple(groups),
        facts="; ".join(facts(report)),
        breaks=frozenset(row for row, standing in enumerate(ordered) if standing.opens),
        clusters="cluster" if ranked else "",
        things="systems",
    )


def discriminative_power(report: Report) -> Iterator[ReportTable]:
    """The share of pairs that each of several metrics separates, test by test."""
    if report.discriminative_power is None:
        return
    shares = report.discriminative_power
    unsure = {(pair.metric, pair.test) for pair in report.pairs if pair.undecided}
    columns = (
        Column(
            f"{in_words(test)}, %",
            tuple(
                Number(100 * own[test], 1, marks=_unsure((metric, test) in unsure))
                for metric, own in shares.items()
            ),
        )
        for test in report.tests
    )
    yield ReportTable(
        caption="Discriminative power: pairs found significantly different",
        names=(names("metric", shares),),
        groups=(Group("", tuple(columns)),),
        facts=decision_line(report),
        things="metrics",
    )


def pairs_by(report: Report, metric: str, many: int | None = MANY) -> Iterator[ReportTable]:
    """The pairs of one metric; of several test sets, a table for each test and one of wins.

    Args:
        report: On one test set or on several.
        metric: Label of the metric.
        many: Number of pairs above which a table is folded; never where there is none.
    """
    if report.several is None:
        yield _pairs(report, metric, many)
        return
    for test in report.tests:
        yield _pairs_on_several(report, metric, test, many)
    yield _wins(report, [row for row in report.several.wins if row.metric == metric])


def matrix(report: Report, metric: str) -> ReportTable:
    """Adjusted p-values of all pairs: two-sided, each system against those that stand below it."""
    test = leading_test(report)
    assert test is not None
    shown = matrix_of(report, metric, test)
    order, what = shown.order, shown.what
    cells = {
        both: replace(_decision(report, pair, undecided=pair.undecided), short=True, pair=both)
        for both, pair in shown.cells.items()
    }
    columns = tuple(
        Column(str(place + 1), tuple(cells.get((name, other)) for name in order))
        for place, other in enumerate(order)
        if any((name, other) in cells for name in order)
    )
    p = "p" if report.correction == "none" else "adjusted p"
    return ReportTable(
        caption=f"{what[:1].upper()}{what[1:]}: {metric_heading(report, metric)}, {p}".replace(
            "?:", "?"
        ),
        names=(
            Column("", tuple(Number(place + 1) for place in range(len(order)))),
            names("system", order),
        ),
        groups=(Group(in_words(test), columns),),
        facts=decision_line(report),
        parted=False,
        things="systems",
    )


def _scores(report: Report, metric: str, rows: Sequence[Standing], spare: int) -> Iterator[Column]:
    """Rank range (where there are ranks), score, interval, and spread over runs of any kind."""
    places, short = max(1, metric_decimals(report, metric) - spare), spare > 0
    marks = _marks_of_scores(report, metric, rows)
    ranks = tuple(
        Range(*row.rank.range, m & {"undecided"})
        for row, m in zip(rows, marks, strict=True)
        if row.rank is not None
    )
    if ranks:
        yield Column("rank", ranks)
    scores = (
        Number(row.score.score, places, marks=m - {"undecided"} if ranks else m)
        for row, m in zip(rows, marks, strict=True)
    )
    yield Column("score", tuple(scores))
    yield Column("interval", tuple(Interval(*row.score.ci, places, short) for row in rows))
    further = [
        ("training sd", [row.score.training_stderr for row in rows]),
        ("clustered se", [row.score.clustered_stderr for row in rows]),
    ]
    runs = [row.score.runs for row in rows]
    for title, of in (("item se", "item_variance"), ("run se", "run_variance")):
        further.append((title, [getattr(own, of) ** 0.5 if own else None for own in runs]))
    for title, values in further:
        if any(value is not None for value in values):
            yield numbers(title, values, places + spare)  # as small as what is rounded away


def _marks_of_scores(
    report: Report, metric: str, rows: Sequence[Standing]
) -> list[frozenset[Mark]]:
    """Which systems no other is better than, and which are not like the baseline."""
    test, baseline = leading_test(report), baseline_of(report)
    apart = {
        pair.a
        for pair in report.pairs
        if baseline is not None and pair.significant and (pair.metric, pair.test) == (metric, test)
    }
    marks: list[frozenset[Mark]] = []
    for row in rows:
        found: set[Mark] = {"baseline"} if row.system.name in apart else set()
        if row.rank is not None and row.rank.range[0] == 1:
            found.add("best")
        if row.undecided and (row.rank is not None or baseline is not None):
            found.add("undecided")
        marks.append(frozenset(found))
    return marks


def _unsure(undecided: bool) -> frozenset[Mark]:
    return frozenset(["undecided"] if undecided else [])


def _other_ranks(report: Report) -> Iterator[str]:
    """For each further test, the rank ranges that are not those of the tables."""
    test = leading_test(report)
    for other in report.tests:
        if other == test or test is None or not report.systems[0].ranks:
            continue
        changed = [
            f"{system.name} {Range(*ranks[other].range).plain} ({metric})"
            for metric in report.metrics
            for system in report.systems
            if (ranks := system.ranks.get(metric)) and ranks[other] != ranks[test]
        ]
        differ = f"differ: {', '.join(changed)}" if changed else "are the same"
        open_ = sum(pair.undecided for pair in report.pairs if pair.test == other)
        rest = f"; {counted(open_, 'decision')} behind them can still change" if open_ else ""
        yield f"Ranks by {in_words(other)} {differ}{rest}."


def _pairs(report: Report, metric: str, many: int | None) -> ReportTable:
    """The pairs of one metric under every test, and what to conclude."""
    rows = pair_rows(report, metric)
    places = metric_decimals(report, metric)
    tests = [[row.tests[t] for row in rows] for t in range(len(report.tests))]
    differences = Group("", _differences([row.pair for row in rows], places))
    verdicts = Column("verdict", tuple(Words(row.verdict) for row in rows), detail=True)
    table = ReportTable(
        caption=f"Pairs: {metric_heading(report, metric)}",
        names=_two_names([row.pair for row in rows]),
        groups=(differences, *(_test(report, own) for own in tests), Group("", (verdicts,))),
        facts=decision_line(report),
        parted=False,
    )
    minor = [number for number, row in enumerate(rows) if row.settled]
    return _foldable(table, minor, "which every test finds significant", many)


def _test(report: Report, pairs: Sequence[PairReport]) -> Group:
    """P-value and adjusted p-value, or the p-value alone where nothing is corrected."""
    remark = "" if all(pair.calibrated for pair in pairs) else "not calibrated"
    heading = in_words(pairs[0].test)
    if report.correction == "none":
        return Group(heading, (Column("p", _decided(report, pairs, exact=True)),), remark)
    plain = tuple(
        PValue(pair.p_value, marks=frozenset(["exact"] if pair.exact else [])) for pair in pairs
    )
    columns = (
        Column("p", plain, detail=len(report.tests) > 1),
        Column("adjusted", _decided(report, pairs, exact=False)),
    )
    return Group(heading, columns, remark)


def _decided(report: Report, pairs: Iterable[PairReport], exact: bool) -> tuple[PValue, ...]:
    """Adjusted p-values; `exact` says whether they tell that, too."""
    return tuple(
        _decision(report, pair, undecided=pair.undecided, exact=pair.exact and exact)
        for pair in pairs
    )


def _decision(report: Report, own: PairReport | SmallTest, **further: bool) -> PValue:
    return decided(own.p_adjusted, report.alpha, own.significant, **further)


def _pairs_on_several(report: Report, metric: str, test: str, many: int | None) -> ReportTable:
    """Differences and adjusted p-values of all pairs, on every test set and on the whole."""
    groups, settled = [], []
    for title, own in titled(report):
        pairs = [pair for pair in own.pairs if (pair.metric, pair.test) == (metric, test)]
        difference, _ = _differences(pairs, metric_decimals(own, metric))
        columns = (difference, Column("p", _decided(report, pairs, exact=True)))
        groups.append(Group(title, columns))
        settled.append([pair.significant and not pair.undecided for pair in pairs])
    p = "p" if report.correction == "none" else "adjusted p"
    table = ReportTable(
        caption=f"Pairs: {metric_heading(report, metric)}, {in_words(test)}, {p}",
        names=_two_names(pairs),
        groups=tuple(groups),
        facts=decision_line(report),
    )
    minor = [row for row, own in enumerate(zip(*settled, strict=True)) if all(own)]
    return _foldable(table, minor, "which are significant on every test set and on all", many)


def _wins(report: Report, rows: Sequence[WinsReport]) -> ReportTable:
    counts = tuple(
        numbers(what, (getattr(row, what) for row in rows), 0) for what in ("won", "lost", "tied")
    )
    tests = (
        ("sign test", tuple(_decision(report, row.sign_test) for row in rows)),
        ("signed-rank test", tuple(_decision(report, row.signed_rank) for row in rows)),
    )
    over = counted(len(rows), "pair")
    return ReportTable(
        caption=f"Test sets won by a: {rows[0].metric}, adjusted p over {over}",
        names=_two_names(rows),
        groups=(
            Group("", counts),
            Group("", tuple(Column(f"{name} p", cells) for name, cells in tests)),
        ),
        facts=decision_line(report),
        things="pairs",
    )


def _differences(pairs: Sequence[PairReport], places: int) -> tuple[Column, Column]:
    shown = (Number(pair.difference, places, signed=True, pair=(pair.a, pair.b)) for pair in pairs)
    return Column("a - b", tuple(shown)), intervals((pair.ci for pair in pairs), places)


def _foldable(
    table: ReportTable, minor: Iterable[int], which: str, many: int | None
) -> ReportTable:
    return replace(
        table,
        things="pairs",
        minor=frozenset(minor),
        minor_words=f"{which}.\nTo see them: --every-pair, or --format csv.",
        folded_over=many,
    )


def _two_names(pairs: Sequence[PairReport | WinsReport]) -> tuple[Column, Column]:
    return names("a", (pair.a for pair in pairs)), names("b", (pair.b for pair in pairs))
