"""A metric evaluation as people read it: sentences, tables, records and pictures."""

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise
from statistics import fmean, pstdev
from typing import NamedTuple

import numpy as np

from sigtest.data.names import choose
from sigtest.errors import InputError
from sigtest.meta_evaluation.report import (
    MetaReport,
    MetricEvaluation,
    MetricPair,
    SetReport,
    StatisticReport,
)
from sigtest.meta_evaluation.statistics import correlate
from sigtest.people.show import correcting
from sigtest.render import drawing as svg
from sigtest.render import marks, model, records
from sigtest.render.comparison import MANY
from sigtest.render.pictures import Picture
from sigtest.render.standings import abridged, leaders
from sigtest.render.words import (
    MINUS,
    correction_in_words,
    fixed,
    limit_in_words,
    short_probability,
    whole,
)
from sigtest.report import Sources, counted, listed


class Named(NamedTuple):
    """A statistic or test: in a sentence, above a column, and the papers behind it."""

    words: str
    title: str
    papers: tuple[str, ...]


STATISTICS = {
    "pearson": Named("Pearson's r", "Pearson's r", ()),
    "spearman": Named("Spearman's rho", "Spearman's rho", ()),
    "kendall": Named("Kendall's tau-b", "Kendall's tau", ()),
    "accuracy": Named("pairwise accuracy", "accuracy", ("kocmi-etal-2021-ship",)),
    "soft_accuracy": Named(
        "soft pairwise accuracy", "soft accuracy", ("thompson-etal-2024-improving",)
    ),
    "accuracy_ties": Named(
        "pairwise accuracy with tie calibration", "accuracy with ties", ("deutsch-etal-2023-ties",)
    ),
}
TESTS = {
    "williams": Named(
        "the Williams test", "Williams test",
        ("williams-1959-regression", "graham-baldwin-2014-testing"),
    ),
    "perm_both": Named("PERM-BOTH", "PERM-BOTH", ("deutsch-etal-2021-statistical",)),
}  # fmt: skip
CLAIMS = {
    "two-sided": "two-sided",
    "greater": "one-sided in both directions",
    "less": "one-sided in both directions",
}
GROUPS = {
    "none": "over all segments and systems",
    "item": "as means over segments",
    "system": "as means over systems",
}
PLACES = 3
R_LEVELS: tuple[tuple[float, svg.Colour], ...] = ((0.95, "three"), (0.9, "two"), (0.8, "one"))
SIDE = 196.0  # height of the plane
KEY = 9.0  # height of a line of the key
FEWEST = 3  # systems


def sentences(report: MetaReport, sources: Sources) -> Iterator[str]:
    """What was compared with what, by which statistics, and what was tested."""
    systems = [str(len(one.systems)) for one in report.sets]
    sets = f" of {len(report.sets)} sets" if len(report.sets) > 1 else ""
    yield (
        f"{counted(len(report.metrics), 'metric')} {'was' if len(report.metrics) == 1 else 'were'} "
        "compared with people's scores of "
        f"{listed(systems)} systems{sets} at the level of {report.level}s."
    )
    estimates = [
        (name, metric.statistic(name))
        for metric in (*report.metrics, *(m for one in report.sets for m in one.metrics))
        for name in STATISTICS
    ]
    found = {name for name, estimate in estimates if estimate is not None}
    shown = [
        f"{words}{sources.cite(*cited)}"
        for name, (words, _, cited) in STATISTICS.items()
        if name in found
    ]
    where = ""
    if report.level == "segment" and found != {"soft_accuracy"}:
        where = f", {GROUPS[report.group]}"
        if "soft_accuracy" in found:  # p-values over all segments, of pairs of systems
            where += " but for the soft accuracy, which is over pairs of systems"
    without = ", correlations without their sign" if report.absolute else ""
    yield f"We report {listed(shown)}{where}{without}."
    if report.pairs:
        yield _tests(report, sources)
    if any(estimate is not None and estimate.ci for _, estimate in estimates):
        level = f"{round(100 * (1 - report.alpha), 6):g}"
        cited = sources.cite("hesterberg-2015-what")
        yield f"Intervals are {level} % expanded percentile intervals of the bootstrap{cited}."


def _tests(report: MetaReport, sources: Sources) -> str:
    tests = dict.fromkeys(pair.test for pair in report.pairs)
    named = [
        f"{words}{sources.cite(*cited)}" for words, _, cited in (TESTS[name] for name in tests)
    ]
    drawn = any(pair.resamples and not pair.exact for pair in report.pairs)
    resamples = f", with {report.resamples:,} resamples where not exact" if drawn else ""
    pairs = " for all pairs of a statistic and test"
    corrected = correcting(report.correction, sources, pairs)
    return (
        f"Metrics were compared in pairs by {listed(named)}, {CLAIMS[report.alternative]}"
        f"{resamples}, at level {report.alpha:g}; {corrected}."
    )


# Documents and records ------------------------


def answer(report: MetaReport) -> tuple[str, ...]:
    """Which metrics may agree best with people, and which beat the baseline, on a single set."""
    sentences = []
    ordered = sorted(report.metrics, key=lambda metric: _order(metric, [*STATISTICS]))
    ranges = {metric.label: metric.range for metric in ordered if metric.range is not None}
    if len(ranges) > 1:
        sentences.append(leaders(ranges, "at agreeing with people", "metric"))
    if report.baseline is not None and len(report.sets) == 1:
        names = report.sets[0].beats_baseline
        whom = abridged(names) if names else "No metric"
        verb = "agree" if len(names) > 1 else "agrees"
        beaten = f"{report.baseline}{_alone(report)}"
        sentences.append(f"{whom} {verb} significantly better with people than {beaten}.")
    return tuple(sentences)


def pairs_sheet(report: MetaReport) -> model.Sheet:
    """One record a pair of metrics, statistic and test."""
    *names, last = records.fields_of(MetricPair)
    return records.sheet((last, *names), report.pairs)


def metrics_sheet(report: MetaReport) -> model.Sheet:
    """One record a metric, statistic and test; those over all sets come first, without a set."""
    names = records.fields_of(StatisticReport)
    rows = (
        [name, metric.label, statistic, *records.record(found, names), *place]
        for name, metrics in (
            ("", report.metrics),
            *((part.name, part.metrics) for part in report.sets),
        )
        for metric in metrics
        for statistic in STATISTICS
        if (found := metric.statistic(statistic)) is not None
        for place in records.places(metric.ranks.get(statistic, {}))
    )
    return model.Sheet(
        ("set", "metric", "statistic", *records.columns(names), *records.PLACE), rows
    )


SHEETS = {"pairs": pairs_sheet, "metrics": metrics_sheet}


def document(report: MetaReport) -> model.Document:
    """Metrics by rank, set by set, and which of two agrees better with people."""
    blocks: list[model.Block] = []
    named = any(part.name for part in report.sets)
    if named:
        blocks.append(_metrics(report, report.metrics, "Metrics over all sets"))
    for part in report.sets:
        caption = f"Metrics, {part.name}" if named else "Metrics"
        within: tuple[model.Paragraph | model.Figure | model.ReportTable, ...] = (
            _metrics(report, _metrics_of(report, part), caption, part.name),
            *_beating(report, part),
            *_drawn(report, part),
        )
        blocks.extend([model.Section(part.name, within)] if named else within)
    for statistic, test in dict.fromkeys((pair.statistic, pair.test) for pair in report.pairs):
        pairs = [p for p in report.pairs if (p.statistic, p.test) == (statistic, test)]
        blocks.append(_pairs(report, pairs, named))
    sets = f" on {len(report.sets)} sets" if named else ""
    meanings: dict[model.Mark, str] = {}
    if any(pair.significant for pair in report.pairs):
        meanings["significant"] = limit_in_words(report.correction, report.alpha)
    if any(pair.undecided for pair in report.pairs):
        meanings["undecided"] = "more resamples could change the decision or the rank"
    return model.Document(
        title=f"Evaluation of {counted(len(report.metrics), 'metric')}{sets}",
        facts=_facts(report),
        answer=answer(report),
        blocks=tuple(blocks),
        marks=meanings,
    )


def _facts(report: MetaReport) -> tuple[str, ...]:
    systems = "+".join(str(len(part.systems)) for part in report.sets)
    grouped = {"none": "", "item": ", segment by segment", "system": ", system by system"}
    correction = correction_in_words(report.correction)
    sided = "two-sided" if report.alternative == "two-sided" else "one-sided both ways"
    facts = [f"{systems} systems", f"{report.level} level{grouped[report.group]}"]
    segments, judged = report.sets[0].segments, report.sets[0].judged
    if segments:
        some = f", {whole(judged)} judged" if 0 < judged < segments else ""
        facts.insert(1, f"{whole(segments)} segments{some}")
    if report.pairs:
        facts.append(f"{sided}, {correction}, alpha {report.alpha:g}")
    return tuple(facts)


def _open(report: MetaReport, of: str) -> list[MetricPair]:
    """Undecided pairs of a set by the statistic and test whose ranks are shown."""
    tested = [pair for pair in report.pairs if pair.p_value is not None]
    return [
        pair
        for pair in tested
        if pair.undecided
        and (pair.set, pair.statistic, pair.test) == (of, tested[0].statistic, tested[0].test)
    ]


def _metrics(
    report: MetaReport, metrics: Sequence[MetricEvaluation], caption: str, of: str = ""
) -> model.ReportTable:
    """Best first; a rule where everyone above is better than everyone below."""
    statistics = [name for name in STATISTICS if any(own.statistic(name) for own in metrics)]
    ordered = sorted(metrics, key=lambda metric: _order(metric, statistics))
    unsure = {name for pair in _open(report, of) for name in (pair.a, pair.b)}
    ranges = [
        model.Range(*metric.range, marks=model.marked(undecided=metric.label in unsure))
        if metric.range
        else None
        for metric in ordered
    ]
    groups = [model.Group("", (model.Column("rank", tuple(ranges)),))] if any(ranges) else []
    for name in statistics:
        parts = (("value", f"{name}.value", PLACES), ("interval", f"{name}.ci", PLACES))
        columns = model.fields(ordered, *parts)
        some = columns if any(columns[1].cells) else columns[:1]
        groups.append(model.Group(STATISTICS[name].title, some))
    steps = enumerate(pairwise(metric.cluster for metric in ordered), 1)
    return model.ReportTable(
        name="metrics",
        caption=caption,
        names=(model.names("metric", [metric.label for metric in ordered]),),
        groups=tuple(groups),
        breaks=frozenset(i for i, (above, below) in steps if any(ranges) and above != below),
        clusters="cluster" if any(ranges) else "",
        facts="; ".join(_facts(report)),
        things="metrics",
    )


def _order(metric: MetricEvaluation, statistics: Sequence[str]) -> tuple[float, ...]:
    """By cluster, then by range, then by the first statistic; what is unknown stands last."""
    known = (metric.statistic(name) for name in statistics)
    value = next((statistic.value for statistic in known if statistic), None)
    ranks = metric.range or (math.inf, math.inf)
    return metric.cluster or math.inf, *ranks, math.inf if value is None else -value


def _beating(report: MetaReport, part: SetReport) -> list[model.Paragraph]:
    """Which metrics beat the baseline."""
    if report.baseline is None or not report.pairs:
        return []
    better = ", ".join(part.beats_baseline) or "none"
    unsure = sum(report.baseline in (pair.a, pair.b) for pair in _open(report, part.name))
    rest = f"; {counted(unsure, 'comparison')} with it undecided" if unsure else ""
    beaten = f"{report.baseline}{_alone(report)}"
    return [model.Paragraph(f"Significantly better than {beaten}: {better}{rest}.")]


def _alone(report: MetaReport) -> str:
    """How the baseline's pairs are corrected, other than those of ranks."""
    return "" if report.correction == "none" else " (corrected for comparisons with it alone)"


def _drawn(report: MetaReport, part: SetReport) -> list[model.Figure]:
    """The first of each picture of a set."""
    drawn = []
    for picture in PICTURES.values():
        of_set = [c for c in picture.shows(report) if c.get("testset", "") == part.name]
        drawn += [picture.figure(report, **chosen) for chosen in of_set[:1]]
    return drawn


def _metrics_of(report: MetaReport, part: SetReport) -> Sequence[MetricEvaluation]:
    return part.metrics or report.metrics


def _pairs(report: MetaReport, pairs: Sequence[MetricPair], named: bool) -> model.ReportTable:
    """Which of two metrics agrees better with people, by one statistic and test."""
    sides = ("set", "a", "b") if named else ("a", "b")
    columns = (
        *model.fields(
            pairs,
            ("a - b", "delta", PLACES, True),
            ("interval", "ci", PLACES),
            ("r of both", "r12", PLACES),
        ),
        *_p_columns(report, pairs),
        model.column(
            "conclusion",
            [
                model.verdict(
                    p, p.conclusion, "not tested" if p.p_value is None else "not separated"
                )
                for p in pairs
            ],
        ),
    )
    return model.ReportTable(
        name="pairs",
        caption=f"Pairs by {STATISTICS[pairs[0].statistic].title}, {TESTS[pairs[0].test].title}",
        names=model.sides(pairs, *sides),
        groups=model.plain(columns),
        facts="; ".join(_facts(report)),
        things="pairs",
        minor=frozenset(row for row, pair in enumerate(pairs) if not pair.undecided),
        minor_words=f"in all {sum(pair.significant for pair in pairs)} are separated.\n"
        "To see them: --table pairs, or --format csv.",
        folded_over=MANY,
    )


def _p_columns(report: MetaReport, pairs: Sequence[MetricPair]) -> list[model.Column]:
    """P-values of the question, or of both claims, and the corrected ones that decide."""
    if report.alternative != "two-sided":
        rows = [((p.p_greater, p.p_less, p.p_adjusted), p.conclusion, p.undecided) for p in pairs]
        return model.claims(rows, report.alpha, report.correction)
    plain = [model.decided(pair.p_value, report.alpha, False) for pair in pairs]
    decided = [
        model.decided(pair.p_adjusted, report.alpha, pair.significant, pair.undecided)
        for pair in pairs
    ]
    if report.correction == "none":
        return [model.Column("p", tuple(decided))]
    return [model.Column("p", tuple(plain)), model.Column("adjusted", tuple(decided))]


# Pictures ------------------------


def scatter_plot(report: MetaReport, metric: str | None = None, testset: str | None = None) -> str:
    """One metric against people, system by system, both standardised, with r and rho.

    As Figure 1 of Graham & Baldwin (2014), "Testing for Significance of Increased Correlation with
    Human Judgment".

    Args:
        report: Of a metric evaluation.
        metric: Label of the metric; the first that can be drawn where none is named.
        testset: Name of the set; the first where none is named.

    Raises:
        RecipeError: A metric or set that the report does not have.
        InputError: Fewer than three systems with both scores, or scores that are all equal.
    """
    part = _set(report, testset)
    metrics = {metric.label: metric for metric in _metrics_of(report, part)}
    metric = metric or next(iter([*_scattered(report, part), *metrics]))
    about = metrics[choose(metric, metrics, "metric", "metric")]
    names, people, scores = _scores(part, about)
    _require(len(names) >= FEWEST, "scores of three systems, by people and by the metric")
    _require(len(set(people)) > 1 and len(set(scores)) > 1, "scores that are not all equal")
    x, y = ([(v - fmean(of)) / pstdev(of) for v in of] for of in (scores, people))
    r, rho = (fixed(correlate(of, np.array(x), np.array(y)), 3) for of in ("pearson", "spearman"))
    what = f"r = {r}, rho = {rho}".replace("-", MINUS)
    points = list(zip(x, y, strict=True))
    points_in_words = (
        f"{name} {a:.2f} by the metric, {b:.2f} by people"
        for name, (a, b) in zip(names, points, strict=True)
    )
    turned = "" if about.higher_is_better else ", turned round"
    drawing = svg.Drawing(
        f"{'{}: ' if part.name else ''}{{}}{turned} and people",
        f"{what}. Standard deviations from the mean: {'; '.join(points_in_words)}.",
        (part.name, about.label) if part.name else (about.label,),
        (what,),
    )
    across = marks.Axis.around(x, margin=0.06, label=f"{about.label}{turned}, standardised")
    axes = marks.plane(
        drawing, across, marks.Axis.around(y, margin=0.06, label="people, standardised"), SIDE
    )
    marks.scatter(drawing, *axes, points, [True] * len(points), numbered=True)
    lines, half = math.ceil(len(names) / 2), svg.COLUMN / 2 - svg.MARGIN
    short = svg.short_names(names, half - 16, svg.SMALL)
    for i, name in enumerate(names):  # which number is which system, in two columns
        left, base = svg.MARGIN + (i // lines) * half, drawing.y + (i % lines + 1) * KEY
        drawing.text(left + 9, base, str(i + 1), size=svg.SMALL, anchor="end", colour="muted")
        drawing.text(left + 12, base, short[name], size=svg.SMALL)
    drawing.y += lines * KEY + svg.MARGIN
    return drawing.svg()


def _scores(
    part: SetReport, about: MetricEvaluation
) -> tuple[tuple[str, ...], tuple[float, ...], tuple[float, ...]]:
    """Systems that both score: names, scores by people, and by the metric, greater being better."""
    sign = 1.0 if about.higher_is_better else -1.0
    rows = [
        (system.name, system.human, sign * score)
        for system in part.systems
        if system.human is not None and (score := system.scores.get(about.label)) is not None
    ]
    names, people, scores = zip(*rows, strict=True) if rows else ((), (), ())
    return names, people, scores


def _scattered(report: MetaReport, part: SetReport) -> list[str]:
    """Labels of the metrics of a set that can be drawn against people."""
    rows = ((metric.label, *_scores(part, metric)) for metric in _metrics_of(report, part))
    return [
        label
        for label, names, *scores in rows
        if len(names) >= FEWEST and all(len(set(own)) > 1 for own in scores)
    ]


def correlations_plot(report: MetaReport, testset: str | None = None) -> str:
    """Correlations of metrics with each other, and which correlate better with people.

    As Figure 2 of Graham & Baldwin (2014): metrics in the order of their r with people; on the left
    r of each two, on the right the p-value of the row's metric being better than the column's.

    Args:
        report: Of a metric evaluation with Pearson's r and a test of its differences.
        testset: Name of the set; the first where none is named.

    Raises:
        RecipeError: A set that the report does not have.
        InputError: No two metrics compared by Pearson's r.
    """
    part = _set(report, testset)
    tests = _by_test(report, part)
    _require(bool(tests), "two metrics that were compared by Pearson's r")
    test, pairs = next(iter(tests.items()))
    with_people = {
        metric.label: metric.pearson.value
        for metric in _metrics_of(report, part)
        if metric.pearson is not None and metric.pearson.value is not None
    }
    labels = sorted(with_people, key=lambda label: -with_people[label])
    first: dict[tuple[str, str], tuple[svg.Colour, str, str]] = {}
    second: dict[tuple[str, str], tuple[svg.Colour, str, str]] = {}
    for pair in pairs:
        for a, b, p in ((pair.a, pair.b, pair.p_greater), (pair.b, pair.a, pair.p_less)):
            if (value := pair.r12) is not None:
                colour: svg.Colour = next((c for r, c in R_LEVELS if abs(value) >= r), "none")
                word = _two_places(value).replace("0.", ".")
                first[a, b] = colour, f"{a} and {b}: {word}", word
            if p is not None:
                word = short_probability(p)
                second[a, b] = marks.shade(p), f"{a} better than {b}: {word}", word
    panels = [marks.Panel(second, "p: the row's r with people is larger")]
    if first:
        panels.insert(0, marks.Panel(first, "r of two metrics"))
    ordered = ", ".join(f"{label} {fixed(with_people[label], 3)}" for label in labels)
    apart = sum((p or 1) <= 0.05 for pair in pairs for p in (pair.p_greater, pair.p_less))
    drawing = svg.Drawing(
        f"{'{}: ' if part.name else ''}which metric agrees better with people",
        f"r with people, best first: {ordered}. {test} finds {apart} of {len(pairs)} pairs "
        "different at p of .05, unadjusted.",
        (part.name,) if part.name else (),
        (f"{test}, one-sided, unadjusted p",),
        svg.PAGE,
    )
    beside = [_two_places(with_people[label]) for label in labels]
    marks.matrix(drawing, labels, {"": panels}, least=7.0, most=24.0, beside=beside)
    levels = zip(R_LEVELS, marks.P_LEVELS, strict=True)
    words = [(c, f"r ≥ {r:g}, p ≤ {p:g}".replace("0.", ".")) for (r, c), (p, _) in levels]
    drawing.legend([*words, ("none", "nearer 0; larger")])
    return drawing.svg()


def _two_places(value: float) -> str:
    return fixed(value, 2).replace("-", MINUS)


def _set(report: MetaReport, name: str | None) -> SetReport:
    """A set by its name; the first where none is named."""
    sets = {part.name: part for part in report.sets}
    return report.sets[0] if name is None else sets[choose(name, sets, "testset", "set")]


def _by_test(report: MetaReport, part: SetReport) -> dict[str, list[MetricPair]]:
    """Pairs of a set under Pearson's r, by test, where any has p-values."""
    of_set = [p for p in report.pairs if (p.set, p.statistic) == (part.name, "pearson")]
    by_test = {test: [pair for pair in of_set if pair.test == test] for test in TESTS}
    return {
        test: pairs
        for test, pairs in by_test.items()
        if any(pair.p_value is not None for pair in pairs)
    }


def _require(met: bool, what: str) -> None:
    if not met:
        raise InputError(f"This picture needs {what}.")


def _choices(part: SetReport, **others: str) -> dict[str, str]:
    return {"testset": part.name, **others} if part.name else others


PICTURES: dict[str, Picture] = {
    "scatter": Picture(
        "scatter",
        "A metric against people, system by system",
        scatter_plot,
        lambda report: [
            _choices(part, metric=label)
            for part in report.sets
            for label in _scattered(report, part)
        ],
    ),
    "correlations": Picture(
        "correlations",
        "Correlations of metrics, and which agrees better with people",
        correlations_plot,
        lambda report: [_choices(part) for part in report.sets if _by_test(report, part)],
    ),
}
