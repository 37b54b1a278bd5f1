"""A metric evaluation as people read it, and as records for a spreadsheet."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from sigtest.meta_evaluation.pictures import PICTURES
from sigtest.meta_evaluation.report import (
    MetaReport,
    MetricEvaluation,
    MetricPair,
    SetReport,
    StatisticReport,
)
from sigtest.render import records
from sigtest.render.digits import counted, whole
from sigtest.render.formats import Presented
from sigtest.render.model import (
    Abreast,
    Block,
    Column,
    Document,
    Figure,
    Group,
    Mark,
    Paragraph,
    Range,
    ReportTable,
    Section,
    Sheet,
    claims,
    intervals,
    names,
    numbers,
    p_value,
    words,
)
from sigtest.render.names import in_words
from sigtest.render.standings import leaders, listed
from sigtest.render.tables import MANY
from sigtest.report import encode

PLACES = 3
TITLES = {
    "pearson": "Pearson's r",
    "spearman": "Spearman's rho",
    "kendall": "Kendall's tau",
    "accuracy": "accuracy",
    "soft_accuracy": "soft accuracy",
    "accuracy_ties": "accuracy with ties",
}
TESTS = {"williams": "Williams test", "perm_both": "PERM-BOTH"}
Shown = Paragraph | Figure | ReportTable | Abreast


def present(report: MetaReport) -> Presented:
    """The report for any format."""
    sheets = {"pairs": partial(pairs_sheet, report), "metrics": partial(metrics_sheet, report)}
    return Presented(partial(encode, report), partial(document, report), sheets)


def answer(report: MetaReport) -> tuple[str, ...]:
    """Which metrics may agree best with people, and which beat the baseline, on a single set."""
    said = []
    ranges = {own.label: own.range for own in report.metrics if own.range is not None}
    if len(ranges) > 1:
        said.append(leaders(ranges, "at agreeing with people", "metric"))
    beating = [list(own.beats_baseline) for own in report.sets]
    if report.baseline is not None and len(beating) == 1:
        (names,) = beating
        whom = listed(names) if names else "No metric"
        verb = "agree" if len(names) > 1 else "agrees"
        beaten = f"{report.baseline}{_alone(report)}"
        said.append(f"{whom} {verb} significantly better with people than {beaten}.")
    return tuple(said)


def pairs_sheet(report: MetaReport) -> Sheet:
    """One record a pair of metrics, statistic and test."""
    *names, last = records.fields_of(MetricPair)
    return records.sheet((last, *names), report.pairs)


def metrics_sheet(report: MetaReport) -> Sheet:
    """One record a metric, statistic and test; those over all sets come first, without a set."""
    names = records.fields_of(StatisticReport)
    rows = (
        [name, metric.label, statistic, *records.record(found, names), *place]
        for name, metrics in (
            ("", report.metrics),
            *((own.name, own.metrics) for own in report.sets),
        )
        for metric in metrics
        for statistic in TITLES
        if (found := metric.statistic(statistic)) is not None
        for place in records.places(metric.ranks.get(statistic, {}))
    )
    return Sheet(("set", "metric", "statistic", *records.columns(names), *records.PLACE), rows)


def document(report: MetaReport) -> Document:
    """Metrics by rank, set by set, and which of two agrees better with people."""
    blocks: list[Block] = []
    named = any(own.name for own in report.sets)
    if named:
        blocks.append(_metrics(report, report.metrics, "Metrics over all sets"))
    for own in report.sets:
        metrics = own.metrics if named else report.metrics
        caption = f"Metrics, {own.name}" if named else "Metrics"
        shown: list[Shown] = [
            _metrics(report, metrics, caption, own.name),
            *_beating(report, own),
            *_drawn(report, own),
        ]
        blocks.extend([Section(own.name, tuple(shown))] if named else shown)
    for statistic, test in dict.fromkeys((pair.statistic, pair.test) for pair in report.pairs):
        pairs = [p for p in report.pairs if (p.statistic, p.test) == (statistic, test)]
        blocks.append(_pairs(report, pairs, named))
    sets = f" on {len(report.sets)} sets" if named else ""
    return Document(
        title=f"Evaluation of {counted(len(report.metrics), 'metric')}{sets}",
        facts=_facts(report),
        answer=answer(report),
        blocks=tuple(blocks),
        marks=_marks(report),
        warnings=report.warnings,
        signature=report.signature,
        methods=report.methods,
    )


def _facts(report: MetaReport) -> tuple[str, ...]:
    systems = "+".join(str(len(own.systems)) for own in report.sets)
    grouped = {"none": "", "item": ", segment by segment", "system": ", system by system"}
    correction = "no correction" if report.correction == "none" else in_words(report.correction)
    sided = "two-sided" if report.alternative == "two-sided" else "one-sided both ways"
    tested = [f"{sided}, {correction}, alpha {report.alpha:g}"] if report.pairs else []
    return (
        f"{systems} systems",
        *(_segments(own) for own in report.sets[:1] if own.segments),
        f"{report.level} level{grouped[report.group]}",
        *tested,
    )


def _segments(own: SetReport) -> str:
    """How many there are, and how many of them people judged."""
    found = f"{whole(own.segments)} segments"
    return f"{found}, {whole(own.judged)} judged" if 0 < own.judged < own.segments else found


def _marks(report: MetaReport) -> dict[Mark, str]:
    """What the marks say that occur."""
    p = "p" if report.correction == "none" else f"p adjusted by {in_words(report.correction)}"
    meanings: dict[Mark, str] = {}
    if any(pair.significant for pair in report.pairs):
        meanings["significant"] = f"{p} is at most {report.alpha:g}"
    if any(pair.undecided for pair in report.pairs):
        meanings["undecided"] = "more resamples could change the decision or the rank"
    return meanings


def _open(report: MetaReport, of: str) -> list[MetricPair]:
    """Undecided pairs of a set by the statistic and test whose ranks are shown."""
    tested = [pair for pair in report.pairs if pair.p_value is not None]
    leading = {(pair.statistic, pair.test) for pair in tested[:1]}
    return [
        pair
        for pair in tested
        if pair.undecided and pair.set == of and (pair.statistic, pair.test) in leading
    ]


def _metrics(
    report: MetaReport, metrics: Sequence[MetricEvaluation], caption: str, of: str = ""
) -> ReportTable:
    """Best first; a rule where everyone above is better than everyone below."""
    shown = [name for name in TITLES if any(metric.statistic(name) for metric in metrics)]
    ranked = any(metric.range for metric in metrics)
    ordered = sorted(metrics, key=lambda own: _place(own, shown))
    unsure = {name for pair in _open(report, of) for name in (pair.a, pair.b)}
    ranges = tuple(
        Range(*own.range, frozenset(["undecided"] if own.label in unsure else []))
        if own.range
        else None
        for own in ordered
    )
    ranks = (Group("", (Column("rank", ranges),)),) if ranked else ()
    return ReportTable(
        name="metrics",
        caption=caption,
        names=(names("metric", [own.label for own in ordered]),),
        groups=(*ranks, *(_statistic(name, ordered) for name in shown)),
        breaks=frozenset(
            i for i in range(1, len(ordered))
            if ranked and ordered[i].cluster != ordered[i - 1].cluster
        ),
        clusters="cluster" if ranked else "",
        facts="; ".join(_facts(report)),
        things="metrics",
    )  # fmt: skip


def _place(metric: MetricEvaluation, shown: Sequence[str]) -> tuple[float, ...]:
    """By cluster, then by range, then by the first statistic; what is unknown stands last."""
    found = (metric.statistic(name) for name in shown)
    value = next((own.value for own in found if own), None)
    last = float("inf")
    ranks = metric.range or (last, last)
    return metric.cluster or last, *ranks, last if value is None else -value


def _statistic(name: str, metrics: Sequence[MetricEvaluation]) -> Group:
    found = [metric.statistic(name) for metric in metrics]
    value = numbers("value", [own.value if own else None for own in found], PLACES)
    ends = intervals([own.ci if own else None for own in found], PLACES)
    return Group(TITLES[name], (value, ends) if any(ends.cells) else (value,))


def _beating(report: MetaReport, own: SetReport) -> list[Paragraph]:
    """Which metrics beat the baseline."""
    if report.baseline is None or not report.pairs:
        return []
    better = ", ".join(own.beats_baseline) or "none"
    unsure = sum(report.baseline in (pair.a, pair.b) for pair in _open(report, own.name))
    rest = f"; {counted(unsure, 'comparison')} with it undecided" if unsure else ""
    said = f"Significantly better than {report.baseline}{_alone(report)}: {better}{rest}."
    return [Paragraph(said)]


def _alone(report: MetaReport) -> str:
    """How the baseline's pairs are corrected, other than those of ranks."""
    return "" if report.correction == "none" else " (corrected for comparisons with it alone)"


def _drawn(report: MetaReport, own: SetReport) -> list[Figure]:
    found = []
    for picture in PICTURES.values():
        of_set = (c for c in picture.shows(report) if c.get("testset", "") == own.name)
        if (chosen := next(of_set, None)) is not None:
            found.append(picture.figure(report, **chosen))
    return found


def _pairs(report: MetaReport, pairs: Sequence[MetricPair], named: bool) -> ReportTable:
    """Which of two metrics agrees better with people, by one statistic and test."""
    first = pairs[0]
    sides = [names("a", [pair.a for pair in pairs]), names("b", [pair.b for pair in pairs])]
    if named:
        sides.insert(0, names("set", [pair.set for pair in pairs]))
    columns = (
        numbers("a - b", [pair.delta for pair in pairs], PLACES, signed=True),
        intervals([pair.ci for pair in pairs], PLACES),
        numbers("r of both", [pair.r12 for pair in pairs], PLACES),
        *_p_columns(report, pairs),
        words("conclusion", [_conclusion(pair) for pair in pairs]),
    )
    return ReportTable(
        name="pairs",
        caption=f"Pairs by {TITLES[first.statistic]}, {TESTS[first.test]}",
        names=tuple(sides),
        groups=(Group("", tuple(column for column in columns if any(column.cells))),),
        facts="; ".join(_facts(report)),
        things="pairs",
        minor=frozenset(row for row, pair in enumerate(pairs) if not pair.undecided),
        minor_words=f"in all {sum(pair.significant for pair in pairs)} are separated.\n"
        "To see them: --table pairs, or --format csv.",
        folded_over=MANY,
    )


def _p_columns(report: MetaReport, pairs: Sequence[MetricPair]) -> list[Column]:
    """P-values of the question, or of both claims, and the corrected ones that decide."""
    if report.alternative != "two-sided":
        found = [((own.p_greater, own.p_less, own.p_adjusted), own.conclusion, own.undecided)
                 for own in pairs]  # fmt: skip
        return claims(found, report.alpha, report.correction)
    plain = (p_value(pair.p_value, report.alpha, False) for pair in pairs)
    decided = (p_value(pair.p_adjusted, report.alpha, pair.significant, pair.undecided)
               for pair in pairs)  # fmt: skip
    if report.correction == "none":
        return [Column("p", tuple(decided))]
    return [Column("p", tuple(plain)), Column("adjusted", tuple(decided))]


def _conclusion(pair: MetricPair) -> str:
    if pair.p_value is None:
        return "not tested"
    if pair.conclusion == "tie":
        return "not separated"
    return f"{pair.a if pair.conclusion == 'a' else pair.b} is better"
