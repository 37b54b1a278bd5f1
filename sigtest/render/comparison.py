"""A comparison's report as a document and as rows, on one test set or on several."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial

from sigtest.render.digits import percent
from sigtest.render.formats import Presented
from sigtest.render.model import (
    Abreast,
    Block,
    Column,
    Document,
    Figure,
    Group,
    Interval,
    Mark,
    Name,
    Number,
    PValue,
    Range,
    Section,
    Sheet,
    Table,
    Words,
)
from sigtest.render.plots import PICTURES
from sigtest.render.standings import (
    Standing,
    decision_line,
    leading_test,
    metric_decimals,
    metric_heading,
    pair_rows,
    standings,
    test_set_line,
    titled,
)
from sigtest.report import PairReport, Report, SmallTest, WinsReport

MANY = 30  # pairs, above which a table is folded, or those that are settled are only counted
DETECTS = (
    "detects: this test set would show a true difference of that size with 80 % power after "
    "correction"
)
ENDS = {
    "ci": ("ci_low", "ci_high"),
    "p_interval": ("p_low", "p_high"),
    "detectable": ("detectable", "detectable_corrected"),
}


def present(report: Report, *, every_pair: bool = False) -> Presented:
    """The report for any format.

    Args:
        report: What to show.
        every_pair: Fold nothing, however many pairs there are.
    """
    return Presented(report.as_json, partial(document, report, every_pair), partial(sheet, report))


def document(report: Report, every_pair: bool = False) -> Document:
    """The report as people read it; see `present`."""
    many = None if every_pair else MANY
    blocks = _on_one(report, many) if report.several is None else _on_several(report, many)
    shown = [pair for _, own in titled(report) for pair in own.pairs]
    unseparated = report.several is None and not all(pair.significant for pair in shown)
    return Document(
        title=_title(report),
        facts=_facts(report),
        blocks=tuple(blocks),
        marks=_marks(report, shown),
        notes=(DETECTS,) if unseparated else (),
        warnings=_warnings(report),
        signature=report.signature,
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
    of = f"Comparison of {_counted(len(report.systems), 'system')}"
    return f"{of} on {len(report.several.testsets)} test sets" if report.several else of


def _facts(report: Report) -> tuple[str, ...]:
    intervals = f"{percent(1 - report.alpha)} bootstrap intervals"
    sizes = [f"{name}: {test_set_line(own)}" for name, own in titled(report)[:-1]]
    return (*(sizes or [test_set_line(report)]), intervals, decision_line(report))


def _marks(report: Report, pairs: Sequence[PairReport]) -> dict[Mark, str]:
    """What the marks mean that stand at any of these pairs."""
    p = "p" if report.correction == "none" else f"p adjusted by {report.correction}"
    meanings: dict[Mark, tuple[bool, str]] = {
        "significant": (
            any(pair.significant for pair in pairs)
            or any(test.significant for test in _small_tests(report)),
            f"{p} is at most {report.alpha:g}",
        ),
        "undecided": (
            any(pair.undecided for pair in pairs),
            "more resamples could turn the decision round",
        ),
        "exact": (
            any(pair.exact for pair in pairs),
            "p is exact: every exchange of the two systems' outputs is counted, none is sampled",
        ),
    }
    return {mark: words for mark, (occurs, words) in meanings.items() if occurs}


def _small_tests(report: Report) -> list[SmallTest]:
    wins = report.several.wins if report.several else ()
    return [test for row in wins for test in (row.sign_test, row.signed_rank)]


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


def _on_one(report: Report, many: int | None) -> Iterator[Block]:
    """The systems, and for each metric pictures and pairs."""
    test = leading_test(report)
    tables = tuple(_systems(report, metric, test) for metric in report.metrics)
    yield Abreast(tables, tuple(_other_ranks(report, test)))
    if not report.pairs:
        return
    for metric in report.metrics:
        pairs = _pairs(report, metric, many)
        yield Section(metric_heading(report, metric), (*_figures(report, metric), pairs))


def _on_several(report: Report, many: int | None) -> Iterator[Block]:
    """For each metric systems, pairs and wins, of every test set side by side."""
    assert report.several is not None
    for metric in report.metrics:
        wins = [row for row in report.several.wins if row.metric == metric]
        blocks: list[Figure | Table | Abreast] = [
            _systems_on_several(report, metric),
            *_figures(report, metric),
            *(_pairs_on_several(report, metric, test, many) for test in report.tests),
            _wins(report, metric, wins),
        ]
        yield Section(metric_heading(report, metric), tuple(blocks))


def _figures(report: Report, metric: str) -> list[Figure]:
    return [
        Figure(picture.title, partial(picture.of, report, metric))
        for picture in PICTURES.values()
        if picture.needs == "report" and picture.fits(report)
    ]


def _systems(report: Report, metric: str, test: str | None) -> Table:
    """The systems by one metric, best first."""
    ordered = standings(report, metric, test)
    heading = metric_heading(report, metric)
    caption = f"Systems by {heading}"
    ranked = bool(ordered) and ordered[0].rank is not None
    if ranked:
        caption += f"; ranks and cluster lines by {words(test)}"
    return Table(
        caption=caption,
        names=(_names("system", (standing.system.name for standing in ordered)),),
        groups=(_scores(heading, ordered, metric_decimals(report, metric)),),
        facts="; ".join(_facts(report)),
        breaks=frozenset(row for row, standing in enumerate(ordered) if standing.opens),
        clusters="cluster" if ranked else "",
        things="systems",
    )


def _scores(heading: str, rows: Sequence[Standing], places: int) -> Group:
    """Rank range (where there are ranks), score, interval and spread over training runs."""
    columns = [
        Column("score", tuple(Number(row.score.score, places) for row in rows)),
        Column("interval", tuple(Interval(*row.score.ci, places) for row in rows)),
    ]
    ranks = tuple(Range(*row.rank.range) for row in rows if row.rank is not None)
    if ranks:
        columns.insert(0, Column("rank", ranks))
    spreads = [row.score.training_stderr for row in rows]
    if any(spread is not None for spread in spreads):
        cells = (None if spread is None else Number(spread, places) for spread in spreads)
        columns.append(Column("training sd", tuple(cells)))
    return Group(heading, tuple(columns))


def _other_ranks(report: Report, test: str | None) -> Iterator[str]:
    """For each further test, the rank ranges that are not those of the tables."""
    for other in report.tests:
        if other == test or test is None or not report.systems[0].ranks:
            continue
        changed = [
            f"{system.name} {Range(*ranks[other].range).shown} ({metric})"
            for metric in report.metrics
            for system in report.systems
            if (ranks := system.ranks.get(metric)) and ranks[other] != ranks[test]
        ]
        differ = f"differ: {', '.join(changed)}" if changed else "are the same"
        yield f"Ranks by {words(other)} {differ}."


def _pairs(report: Report, metric: str, many: int | None) -> Table:
    """The pairs of one metric under every test, and what to conclude."""
    rows = pair_rows(report, metric)
    places = metric_decimals(report, metric)
    tests = [[row.tests[t] for row in rows] for t in range(len(report.tests))]
    differences = Group("", _differences([row.pair for row in rows], places))
    verdicts = Column("verdict", tuple(Words(row.verdict) for row in rows), detail=True)
    table = Table(
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
    heading = words(pairs[0].test)
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


def _decision(report: Report, decided: PairReport | SmallTest, **further: bool) -> PValue:
    marks: dict[Mark, bool] = {
        "significant": decided.significant,
        "undecided": further.get("undecided", False),
        "exact": further.get("exact", False),
    }
    shown = frozenset(mark for mark, there in marks.items() if there)
    return PValue(decided.p_adjusted, report.alpha, shown)


def _systems_on_several(report: Report, metric: str) -> Table:
    """All systems, best on the whole first, on every test set and on the whole."""
    test = leading_test(report)
    ordered = standings(report, metric, test)
    groups = []
    for title, own in titled(report):
        placed = {standing.system.name: standing for standing in standings(own, metric, test)}
        rows = [placed[standing.system.name] for standing in ordered]
        groups.append(_scores(title, rows, metric_decimals(own, metric)))
    caption = f"Systems by {metric_heading(report, metric)}"
    ranked = bool(ordered) and ordered[0].rank is not None
    if ranked:
        caption += f"; ranks by {words(test)}, cluster lines for all together"
    return Table(
        caption=caption,
        names=(_names("system", (standing.system.name for standing in ordered)),),
        groups=tuple(groups),
        facts="; ".join(_facts(report)),
        breaks=frozenset(row for row, standing in enumerate(ordered) if standing.opens),
        clusters="cluster" if ranked else "",
        things="systems",
    )


def _pairs_on_several(report: Report, metric: str, test: str, many: int | None) -> Table:
    """Differences and adjusted p-values of all pairs, on every test set and on the whole."""
    groups, decided = [], []
    for title, own in titled(report):
        pairs = [pair for pair in own.pairs if (pair.metric, pair.test) == (metric, test)]
        difference, _ = _differences(pairs, metric_decimals(own, metric))
        columns = (difference, Column("p", _decided(report, pairs, exact=True)))
        groups.append(Group(title, columns))
        decided.append([pair.significant and not pair.undecided for pair in pairs])
    p = "p" if report.correction == "none" else "adjusted p"
    table = Table(
        caption=f"Pairs: {metric_heading(report, metric)}, {words(test)}, {p}",
        names=_two_names(pairs),
        groups=tuple(groups),
        facts=decision_line(report),
    )
    minor = [row for row, settled in enumerate(zip(*decided, strict=True)) if all(settled)]
    return _foldable(table, minor, "which are significant on every test set and on all", many)


def _wins(report: Report, metric: str, rows: Sequence[WinsReport]) -> Table:
    counts = Group(
        "",
        (
            Column("won", tuple(Number(row.won) for row in rows)),
            Column("lost", tuple(Number(row.lost) for row in rows)),
            Column("tied", tuple(Number(row.tied) for row in rows)),
        ),
    )
    tests = (
        ("sign test", tuple(_decision(report, row.sign_test) for row in rows)),
        ("signed-rank test", tuple(_decision(report, row.signed_rank) for row in rows)),
    )
    return Table(
        caption=f"Test sets won by a: {metric}, adjusted p over {_counted(len(rows), 'pair')}",
        names=_two_names(rows),
        groups=(counts, Group("", tuple(Column(f"{name} p", cells) for name, cells in tests))),
        facts=decision_line(report),
        things="pairs",
    )


def _differences(pairs: Sequence[PairReport], places: int) -> tuple[Column, Column]:
    return (
        Column("a - b", tuple(Number(pair.difference, places, signed=True) for pair in pairs)),
        Column("interval", tuple(Interval(*pair.ci, places) for pair in pairs)),
    )


def _foldable(table: Table, minor: Iterable[int], which: str, many: int | None) -> Table:
    return replace(
        table,
        things="pairs",
        minor=frozenset(minor),
        minor_words=f"{which}.\nTo see them: --every-pair, or --format csv.",
        folded_over=many,
    )


def _names(heading: str, names: Iterable[str]) -> Column:
    return Column(heading, tuple(map(Name, names)))


def _two_names(pairs: Sequence[PairReport | WinsReport]) -> tuple[Column, Column]:
    return _names("a", (pair.a for pair in pairs)), _names("b", (pair.b for pair in pairs))


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"


def words(test: str | None) -> str:
    """What a test is called in prose."""
    return (test or "").replace("_", " ")
