"""A comparison's report as a document, in tables and as records, on one test set or on several.

The tables are of systems, of pairs, of wins, and of who is better than whom.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, replace
from functools import partial

from sigtest.data.names import choose
from sigtest.errors import RecipeError
from sigtest.render import records, standings
from sigtest.render.formats import Layout, Presented, verbatim
from sigtest.render.model import (
    Abreast,
    Block,
    Column,
    Document,
    Figure,
    FlatBlock,
    Group,
    Interval,
    Mark,
    Number,
    PValue,
    Range,
    ReportTable,
    Section,
    Sheet,
    column,
    marked,
    names,
    sides,
)
from sigtest.render.pictures import PICTURES
from sigtest.render.words import in_words, limit_in_words, percent
from sigtest.report import PairReport, Report, SmallTest, WinsReport, counted, renamed

PLAIN = Layout()
MANY = 30  # pairs, above which a table is folded, or those that are settled are only counted
KINDS = ("substitutions", "deletions", "insertions")  # of errors, where a metric counts them
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
    shown = layout.new_names([*report.metrics, *(system.name for system in report.systems)])
    as_latex = verbatim([layout.bare_caption, *shown.values()])
    return Presented(
        report.as_json,
        partial(document, renamed(report, shown), layout, as_latex),
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
    if table in ("matrix", "board") and not all_pairs:
        raise RecipeError(f"A {table} needs all pairs of two systems or more.", field="table")


def document(report: Report, layout: Layout = PLAIN, as_latex: tuple[str, ...] = ()) -> Document:
    """The report as people read it; see `present`.

    Args:
        report: What to show, under the names that it is to have.
        layout: Which table, and how it is called.
        as_latex: Names and captions that LaTeX takes as they stand.
    """
    many = None if layout.every_pair else MANY
    on = f" on {len(report.several.testsets)} test sets" if report.several else ""
    made = Document(
        title=f"Comparison of {counted(len(report.systems), 'system')}{on}",
        facts=standings.facts(report),
        blocks=tuple(_blocks(report, many) if layout.table is None else _chosen(report, layout)),
        answer=standings.answer(report) if report.systems else (),
        warnings=_warnings(report),
        signature=report.signature,
        methods=report.methods,
        verbatim=as_latex,
    )
    verdicts = [c for own in made.tables() for c in own.columns if c.heading == "verdict"]
    detects = any(cell and "(detects " in cell.plain for own in verdicts for cell in own.cells)
    marks = frozenset[Mark]().union(*(cell.marks for cell in made.cells()))
    return replace(
        made,
        marks={mark: meaning for mark, meaning in _meanings(report).items() if mark in marks},
        notes=tuple(_notes(report, detects)),
    )


def _blocks(report: Report, many: int | None) -> Iterator[Block]:
    """All systems; for each metric pictures, pairs, wins of several test sets; all metrics.

    On several test sets each metric has its systems, too.
    """
    if report.several is None:
        yield from systems(report)
    for metric in report.metrics if report.pairs else ():
        blocks: list[FlatBlock] = [systems_by(report, metric)] if report.several else []
        blocks += _figures(report, whole=False, metric=metric)
        blocks += pairs_by(report, metric, many)
        yield Section(standings.metric_heading(report, metric), tuple(blocks))
    if report.discriminative_power is not None:
        power = _discriminative_power(report, report.discriminative_power)
        yield Section("All metrics", (*_figures(report, whole=True), power))


def _figures(report: Report, whole: bool, **chosen: str) -> list[Figure]:
    """Pictures of one metric, or of all metrics and tests at once."""
    return [
        picture.figure(report, **chosen)
        for picture in PICTURES.values()
        if picture.needs == "report" and picture.whole == whole and picture.fits(report)
    ]


def _chosen(report: Report, layout: Layout) -> Iterator[Block]:
    """One kind of table alone, with its caption and label; several of them are told apart."""
    assert layout.table is not None
    found = list(TABLES[layout.table](report, None if layout.every_pair else MANY))
    for number, block in enumerate(found, 1):
        if isinstance(block, Abreast):
            own = tuple(layout.called(table, number, len(found)) for table in block.tables)
            yield replace(block, tables=own)
        else:
            yield layout.called(block, number, len(found))


def _meanings(report: Report) -> dict[Mark, str]:
    """What marks say in this report."""
    limit = limit_in_words(report.correction, report.alpha)
    claim = {"greater": "better than", "less": "worse than"}.get(
        report.pairs[0].alternative if report.pairs else "", "different from"
    )
    return {
        "best": "no system is significantly better",
        "baseline": f"significantly {claim} {standings.baseline_of(report)} ({limit})",
        "significant": limit,
        "undecided": "more resamples could change the decision or the rank",
        "exact": "p is exact: a probability under the null hypothesis"
        if "binomial" in report.tests
        else "p is exact: every exchange of the two systems' outputs is counted, none is sampled",
    }


def _notes(report: Report, detects: bool) -> Iterator[str]:
    """What tests take for granted, and how far claims and ranks can be trusted together."""
    granted = [f"{in_words(test)}, {null}" for test, null in report.nulls.items()]
    if report.pairs and granted:
        yield f"null hypotheses: {'; '.join(granted)}"
    if report.correction == "none" and report.comparisons > 1:  # Riezler & Maxwell (2005), 4.4
        share = math.floor(1000 * report.experimentwise_error) / 10  # never 100
        yield (
            f"not corrected: were the {report.comparisons:,} comparisons independent and no "
            "difference true, at least one would be significant with a probability of "
            f"{share:g} %"
        )
    if report.pairs and report.rank_doubt is not None:
        yield f"rank ranges have no stated confidence: {report.rank_doubt}"
    elif report.pairs and report.rank_confidence is not None:
        level = percent(report.rank_confidence)
        yield f"rank ranges hold the true ranks of all systems together with {level} confidence"
    if detects:
        yield DETECTS if report.correction == "none" else f"{DETECTS} after correction"


def _warnings(report: Report) -> tuple[str, ...]:
    """The report's own, and those of several test sets, each once with all that it is about.

    Those of all test sets come before those of some.
    """
    own = tuple(map(str, report.warnings))
    if report.several is None:
        return own
    about: dict[str, list[str]] = {}
    for entry in report.several.testsets:
        for warning in map(str, entry.report.warnings):
            about.setdefault(warning, []).append(entry.name)
    everywhere = len(report.several.testsets)
    sentences = (
        warning if len(on) == everywhere else f"{', '.join(on)}: {warning}"
        for warning, on in sorted(about.items(), key=lambda item: len(item[1]) < everywhere)
    )
    return (*own, *sentences)


# Systems ------------------------


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
    test = standings.leading_test(report)
    ordered = standings.standings(report, metric, test)
    order = [standing.system.name for standing in ordered]
    groups = []
    for title, own in standings.titled(report):
        placed = {
            standing.system.name: standing for standing in standings.standings(own, metric, test)
        }
        columns = _scores(own, metric, [placed[name] for name in order], spare)
        groups.append(Group(title or standings.metric_heading(report, metric), tuple(columns)))
    remark = ""
    ranked = bool(ordered) and ordered[0].rank is not None
    if ranked and report.several is None:
        remark = f"ranks and cluster lines by {in_words(test)}"
    elif ranked:
        remark = f"ranks by {in_words(test)}, cluster lines for all together"
    return ReportTable(
        caption=f"Systems by {standings.metric_heading(report, metric)}",
        remark=remark,
        names=(names("system", order),),
        groups=tuple(groups),
        facts="; ".join(standings.facts(report)),
        breaks=frozenset(row for row, standing in enumerate(ordered) if standing.opens),
        clusters="cluster" if ranked else "",
        things="systems",
    )


def _scores(
    report: Report, metric: str, rows: Sequence[standings.Standing], spare: int
) -> Iterator[Column]:
    """Rank range (where there are ranks), score, interval, and spread over runs of any kind."""
    places, short = max(1, standings.metric_decimals(report, metric) - spare), spare > 0
    ranks = [
        Range(*row.rank.range, marks=marked(undecided=row.undecided)) for row in rows if row.rank
    ]
    if ranks:
        yield column("rank", ranks)
    marks, scores = _marks_of_scores(report, metric, rows), [row.score for row in rows]
    cells = (Number(own.score, places, marks=m) for own, m in zip(scores, marks, strict=True))
    yield column("score", cells)
    yield column("interval", (Interval(*own.ci, places, short) for own in scores))
    further: dict[str, list[float | None]] = {
        "training sd": [own.training_stderr for own in scores],
        "clustered se": [own.clustered_stderr for own in scores],
        "item se": [own.runs.item_variance**0.5 if own.runs else None for own in scores],
        "run se": [own.runs.run_variance**0.5 if own.runs else None for own in scores],
        "sclite": [own.counts.get("sclite") for own in scores],
    }
    for title, values in further.items():
        if any(value is not None for value in values):
            yield column(title, values, places + spare)  # as small as what is rounded away
    counts = scores[0].counts if scores else {}
    if KINDS[0] in counts:
        errors = ([f"{round(own.counts[k], 1):,}" for k in KINDS] for own in scores)
        yield column("sub/del/ins", map("/".join, errors))
    elif counts and not report.pairs:  # of one system alone there is room
        grams = [name for name in counts if name.startswith("precision")]
        each = ("/".join(f"{own.counts[k]:.1f}" for k in grams) for own in scores)
        yield column("precisions", each)
        for name in (own for own in counts if own not in grams):
            yield column(name.replace("_", " "), [own.counts[name] for own in scores], 3)


def board(report: Report, metric: str) -> ReportTable:
    """Which ranks are real: whether the first is told from a system, and that may be the best."""
    table, placed = systems_by(report, metric), standings.against_first(report, metric)
    best = [row.score.p_best for row, _ in placed]
    columns = [*table.groups[-1].columns, column("to the first", (word for _, word in placed))]
    first, test = placed[0][0].system.name, in_words(standings.leading_test(report) or "")
    remark = f"ranks and comparison with {first} by {test}"
    if best[0] is not None:
        may = ["yes" if (p or 0.0) > report.alpha else "no" for p in best]
        p = [
            # those that other draws could turn round are marked
            PValue(row.score.p_best or 0.0, marks=marked(undecided=low <= report.alpha < high))
            for row, _ in placed
            for low, high in [row.score.p_best_interval or (1.0, 1.0)]
        ]
        columns += [column("may be best", may), column("p", p)]
        remark += "; who may be best by comparisons with the best, from bootstrap resamples"
    heading = standings.metric_heading(report, metric)
    groups = (Group(heading, tuple(columns)),)
    return replace(table, caption=f"Board by {heading}", remark=remark, groups=groups)


def _marks_of_scores(
    report: Report, metric: str, rows: Sequence[standings.Standing]
) -> list[frozenset[Mark]]:
    """Which systems no other is better than, and which are not like the baseline."""
    baseline = standings.baseline_of(report)
    found = report.pairs_of(metric, standings.leading_test(report))
    apart = {pair.a for pair in found if pair.significant and baseline is not None}
    return [
        marked(
            baseline=row.system.name in apart,
            best=row.rank is not None and row.rank.range[0] == 1,
            undecided=row.undecided and row.rank is None and baseline is not None,
        )
        for row in rows
    ]


def _other_ranks(report: Report) -> Iterator[str]:
    """For each further test, the rank ranges that are not those of the tables."""
    test = standings.leading_test(report)
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


def _discriminative_power(report: Report, shares: Mapping[str, Mapping[str, float]]) -> ReportTable:
    """The share of pairs that each of several metrics separates, test by test."""
    unsure = {(pair.metric, pair.test) for pair in report.pairs if pair.undecided}
    columns = (
        column(f"{in_words(test)}, %", (
            Number(100 * own[test], 1, marks=marked(undecided=(metric, test) in unsure))
            for metric, own in shares.items()
        ))
        for test in report.tests
    )  # fmt: skip
    return ReportTable(
        caption="Discriminative power: pairs found significantly different",
        names=(names("metric", shares),),
        groups=(Group("", tuple(columns)),),
        facts=standings.decision_line(report),
        things="metrics",
    )


# Pairs ------------------------


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


def _pairs(report: Report, metric: str, many: int | None) -> ReportTable:
    """The pairs of one metric under every test, and what to conclude."""
    rows = standings.pair_rows(report, metric)
    pairs = [row.pair for row in rows]
    differences = Group("", _differences(pairs, standings.metric_decimals(report, metric)))
    tests = [_test(report, [row.tests[t] for row in rows]) for t in range(len(report.tests))]
    verdicts = column("verdict", (row.verdict for row in rows), detail=True)
    return replace(
        _of_pairs(report, f"Pairs: {standings.metric_heading(report, metric)}", pairs, many),
        groups=(differences, *tests, Group("", (verdicts,))),
        parted=False,
        minor=frozenset(number for number, row in enumerate(rows) if row.settled),
        minor_words=_left_out("which every test finds significant"),
        notes=tuple(_unlike_p(report, rows)),
    )


def _unlike_p(report: Report, rows: Sequence[standings.PairRow]) -> Iterator[str]:
    """That intervals say something else than p-values do, and of how many pairs they do."""
    corrected = report.correction != "none" and report.comparisons > 1
    against = sum(any(pair.interval_agrees is False for pair in row.tests) for row in rows)
    if corrected or against:
        over = f"while p is corrected for {report.comparisons:,} comparisons"
        how = f"are those of each pair alone, {over}" if corrected else "come not from the tests"
        few = f"; of {counted(against, 'pair')} interval and p disagree"
        yield f"Intervals {how}{few if against else ''}."


def _pairs_on_several(report: Report, metric: str, test: str, many: int | None) -> ReportTable:
    """Differences and adjusted p-values of all pairs, on every test set and on the whole."""
    groups, settled = [], []
    for title, own in standings.titled(report):
        pairs = own.pairs_of(metric, test)
        difference, _ = _differences(pairs, standings.metric_decimals(own, metric))
        groups.append(Group(title, (difference, _decided("p", report, pairs, exact=True))))
        settled.append([pair.significant and not pair.undecided for pair in pairs])
    p = "p" if report.correction == "none" else "adjusted p"
    heading = f"{standings.metric_heading(report, metric)}, {in_words(test)}, {p}"
    return replace(
        _of_pairs(report, f"Pairs: {heading}", pairs, many),
        groups=tuple(groups),
        minor=frozenset(row for row, own in enumerate(zip(*settled, strict=True)) if all(own)),
        minor_words=_left_out("which are significant on every test set and on all"),
    )


def _wins(report: Report, rows: Sequence[WinsReport]) -> ReportTable:
    counts = (
        column(what, (getattr(row, what) for row in rows)) for what in ("won", "lost", "tied")
    )
    p = (
        column("sign test p", (_decision(report, row.sign_test) for row in rows)),
        column("signed-rank test p", (_decision(report, row.signed_rank) for row in rows)),
    )
    over = counted(len(rows), "pair")
    caption = f"Test sets won by a: {rows[0].metric}, adjusted p over {over}"
    groups = (Group("", tuple(counts)), Group("", p))
    return replace(_of_pairs(report, caption, rows, None), groups=groups)


def _of_pairs(
    report: Report, caption: str, pairs: Sequence[PairReport | WinsReport], many: int | None
) -> ReportTable:
    facts = standings.decision_line(report)
    return ReportTable(caption, sides(pairs), (), facts, things="pairs", folded_over=many)


def _left_out(which: str) -> str:
    return f"{which}.\nTo see them: --every-pair, or --format csv."


def _differences(pairs: Sequence[PairReport], places: int) -> tuple[Column, Column]:
    shown = (Number(pair.difference, places, signed=True, pair=(pair.a, pair.b)) for pair in pairs)
    return column("a - b", shown), column("interval", (pair.ci for pair in pairs), places)


def _test(report: Report, pairs: Sequence[PairReport]) -> Group:
    """P-value and adjusted p-value, or the p-value alone where nothing is corrected."""
    remark = "" if all(pair.calibrated for pair in pairs) else "not calibrated"
    heading, columns = in_words(pairs[0].test), []
    if pairs[0].stretches is not None:
        columns.append(column("stretches", (pair.stretches for pair in pairs)))
        columns.append(column("z", (pair.z for pair in pairs), 3, signed=True))
    if report.correction == "none":
        return Group(heading, (*columns, _decided("p", report, pairs, exact=True)), remark)
    plain = (PValue(pair.p_value, marks=marked(exact=pair.exact)) for pair in pairs)
    columns.append(column("p", plain, detail=len(report.tests) > 1))
    columns.append(_decided("adjusted", report, pairs, exact=False))
    return Group(heading, tuple(columns), remark)


def _decided(heading: str, report: Report, pairs: Iterable[PairReport], exact: bool) -> Column:
    """Adjusted p-values; `exact` says whether they tell that, too."""
    return column(heading, (
        _decision(report, pair, undecided=pair.undecided, exact=pair.exact and exact)
        for pair in pairs
    ))  # fmt: skip


def _decision(report: Report, own: PairReport | SmallTest, **further: bool) -> PValue:
    marks = marked(significant=own.significant, **further)
    return PValue(own.p_adjusted, report.alpha, marks=marks)


def matrix(report: Report, metric: str) -> ReportTable:
    """Adjusted p-values of all pairs: two-sided, each system against those that stand below it."""
    test = standings.leading_test(report)
    assert test is not None
    shown = standings.matrix_of(report, metric, test)
    order = shown.order
    cells = {
        both: replace(_decision(report, pair, undecided=pair.undecided), short=True, pair=both)
        for both, pair in shown.cells.items()
    }
    columns = tuple(
        column(str(place + 1), (cells.get((name, other)) for name in order))
        for place, other in enumerate(order)
        if any((name, other) in cells for name in order)
    )
    what = f"{shown.what[:1].upper()}{shown.what[1:]}: {standings.metric_heading(report, metric)}"
    places = column("", range(1, len(order) + 1))
    return ReportTable(
        caption=f"{what}, {'p' if report.correction == 'none' else 'adjusted p'}".replace(
            "?:", "?"
        ),
        names=(places, names("system", order)),
        groups=(Group(in_words(test), columns),),
        facts=standings.decision_line(report),
        parted=False,
        things="systems",
    )


# Records ------------------------


def pairs_sheet(report: Report) -> Sheet:
    """All that is known of the pairs: of each test set, and last of all together."""
    left_out = {"calibration", "interval_agrees"}
    if all(pair.stretches is None for pair in report.pairs):
        left_out |= {"stretches", "z"}
    fields = tuple(name for name in records.fields_of(PairReport) if name not in left_out)
    if report.several is None:
        return records.sheet(fields, report.pairs)
    rows = (
        [name, *records.record(pair, fields)]
        for name, own in standings.titled(report)
        for pair in own.pairs
    )
    return Sheet(("testset", *records.columns(fields)), rows)


def systems_sheet(report: Report) -> Sheet:
    """Scores and places of the systems: of each test set, and last of all together."""
    fields = ("score", "ci", "stderr", "training_stderr")
    known = [
        (name, system, metric, score)
        for name, own in standings.titled(report)
        for system in own.systems
        for metric, score in system.scores.items()
    ]
    named = () if report.several is None else ("testset",)
    runs = ("runs", "item_variance", "run_variance") * any(s.runs is not None for *_, s in known)
    clustered = ("clustered_stderr",) * any(s.clustered_stderr is not None for *_, s in known)
    counts = dict.fromkeys(name for *_, score in known for name in score.counts)
    rows = (
        [
            *([name] if named else []), system.name, metric, *records.record(score, fields), *place,
            *((astuple(score.runs) if score.runs else (None,) * 3) if runs else ()),
            *records.record(score, clustered), *map(score.counts.get, counts),
        ]
        for name, system, metric, score in known
        for place in records.places(system.ranks.get(metric, {}))
    )  # fmt: skip
    columns = (*named, "system", "metric", *records.columns(fields), *records.PLACE)
    return Sheet((*columns, *runs, *clustered, *counts), rows)


def board_sheet(report: Report) -> Sheet:
    """A row for each system and metric, to be joined to a board by the system's name."""
    fields = ("score", "ci", "p_best")
    rows = (
        [
            row.system.name, metric, *records.record(row.score, fields),
            *(row.rank.range if row.rank else (None, None)), word,
            None if row.score.p_best is None else row.score.p_best > report.alpha,
        ]
        for metric in report.metrics
        for row, word in standings.against_first(report, metric)
    )  # fmt: skip
    place = ("rank_low", "rank_high", "to_the_first", "may_be_best")
    return Sheet(("system", "metric", *records.columns(fields), *place), rows)


# What --table takes: for papers, one table with little in it.
TABLES: dict[str, Callable[[Report, int | None], Iterable[ReportTable | Abreast]]] = {
    "systems": lambda report, many: systems(report, spare=1),
    "pairs": lambda report, many: (
        table for metric in report.metrics for table in pairs_by(report, metric, many)
    ),
    "matrix": lambda report, many: [matrix(report, metric) for metric in report.metrics],
    "row": lambda report, many: systems(report, spare=1, bare=True),
    "board": lambda report, many: [board(report, metric) for metric in report.metrics],
}
# The records that go with a table.
SHEETS = {
    "pairs": pairs_sheet,
    "matrix": pairs_sheet,
    "systems": systems_sheet,
    "row": systems_sheet,
    "board": board_sheet,
}
