"""The pictures of a metric evaluation: the only place that knows which there are."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from statistics import fmean, pstdev

import numpy as np

from sigtest.data.choices import choose
from sigtest.errors import InputError
from sigtest.meta_evaluation.report import MetaReport, MetricEvaluation, MetricPair, SetReport
from sigtest.meta_evaluation.statistics.correlation import pearson, spearman
from sigtest.render.digits import MINUS, fixed, short_probability
from sigtest.render.drawing import (
    COLUMN,
    MARGIN,
    PAGE,
    SMALL,
    Colour,
    Drawing,
    short_names,
)
from sigtest.render.marks import (
    P_LEVELS,
    Axis,
    Cells,
    Panel,
    matrix,
    plane,
    scatter,
    shade,
)
from sigtest.render.pictures import Picture
from sigtest.requests.meta import TESTS

R_LEVELS: tuple[tuple[float, Colour], ...] = ((0.95, "three"), (0.9, "two"), (0.8, "one"))
SIDE = 196.0  # height of the plane
KEY = 9.0  # height of a line of the key
FEWEST = 3  # systems


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
    metrics = {own.label: own for own in _metrics(report, part)}
    metric = metric or next(iter([*_scattered(report, part), *metrics]))
    about = metrics[choose(metric, metrics, "metric", "metric")]
    names, people, scores = _scores(part, about)
    _require(len(names) >= FEWEST, "scores of three systems, by people and by the metric")
    _require(len(set(people)) > 1 and len(set(scores)) > 1, "scores that are not all equal")
    x, y = ([(v - fmean(of)) / pstdev(of) for v in of] for of in (scores, people))
    r, rho = (fixed(of(np.array(x), np.array(y)), 3) for of in (pearson, spearman))
    what = f"r = {r}, rho = {rho}".replace("-", MINUS)
    points = list(zip(x, y, strict=True))
    told = (
        f"{name} {a:.2f} by the metric, {b:.2f} by people"
        for name, (a, b) in zip(names, points, strict=True)
    )
    turned = "" if about.higher_is_better else ", turned round"
    drawing = Drawing(
        f"{'{}: ' if part.name else ''}{{}}{turned} and people",
        f"{what}. Standard deviations from the mean: {'; '.join(told)}.",
        (part.name, about.label) if part.name else (about.label,),
        (what,),
    )
    across = Axis.around(x, margin=0.06, label=f"{about.label}{turned}, standardised")
    axes = plane(drawing, across, Axis.around(y, margin=0.06, label="people, standardised"), SIDE)
    scatter(drawing, *axes, points, [True] * len(points), numbered=True)
    lines, half = math.ceil(len(names) / 2), COLUMN / 2 - MARGIN
    short = short_names(names, half - 16, SMALL)
    for i, name in enumerate(names):  # which number is which system, in two columns
        left, base = MARGIN + (i // lines) * half, drawing.y + (i % lines + 1) * KEY
        drawing.text(left + 9, base, str(i + 1), size=SMALL, anchor="end", colour="muted")
        drawing.text(left + 12, base, short[name], size=SMALL)
    drawing.y += lines * KEY + MARGIN
    return drawing.svg()


def _scores(part: SetReport, about: MetricEvaluation) -> tuple[list[str], list[float], list[float]]:
    """Systems that both score: names, scores by people, and by the metric, greater being better."""
    sign = 1.0 if about.higher_is_better else -1.0
    rows = [
        (system.name, system.human, sign * score)
        for system in part.systems
        if system.human is not None and (score := system.scores.get(about.label)) is not None
    ]
    return [row[0] for row in rows], [row[1] for row in rows], [row[2] for row in rows]


def _scattered(report: MetaReport, part: SetReport) -> list[str]:
    """Labels of the metrics of a set that can be drawn against people."""
    labels = []
    for about in _metrics(report, part):
        names, people, scores = _scores(part, about)
        if len(names) >= FEWEST and len(set(people)) > 1 and len(set(scores)) > 1:
            labels.append(about.label)
    return labels


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
    r = {
        own.label: own.pearson.value
        for own in _metrics(report, part)
        if own.pearson is not None and own.pearson.value is not None
    }
    labels = sorted(r, key=lambda label: -r[label])
    between: dict[tuple[str, str], float] = {}
    better: dict[tuple[str, str], float] = {}
    for pair in pairs:
        if pair.r12 is not None:
            between[pair.a, pair.b] = between[pair.b, pair.a] = pair.r12
        if pair.p_greater is not None and pair.p_less is not None:
            better[pair.a, pair.b], better[pair.b, pair.a] = pair.p_greater, pair.p_less
    first = Panel(_cells(between, _shade_r, _word_r, "and"), "r of two metrics")
    title = "p: the row's r with people is larger"
    second = Panel(_cells(better, shade, short_probability, "better than"), title)
    ordered = ", ".join(f"{label} {fixed(r[label], 3)}" for label in labels)
    apart = sum((p or 1) <= 0.05 for pair in pairs for p in (pair.p_greater, pair.p_less))
    drawing = Drawing(
        f"{'{}: ' if part.name else ''}which metric agrees better with people",
        f"r with people, best first: {ordered}. {test} finds {apart} of {len(pairs)} pairs "
        "different at p of .05, unadjusted.",
        (part.name,) if part.name else (),
        (f"{test}, one-sided, unadjusted p",),
        PAGE,
    )
    panels = [first, second] if between else [second]
    beside = [fixed(r[label], 2).replace("-", MINUS) for label in labels]
    matrix(drawing, labels, {"": panels}, least=7.0, most=24.0, beside=beside)
    levels = zip(R_LEVELS, P_LEVELS, strict=True)
    words = [(c, f"r ≥ {r:g}, p ≤ {p:g}".replace("0.", ".")) for (r, c), (p, _) in levels]
    drawing.legend([*words, ("none", "nearer 0; larger")])
    return drawing.svg()


def _cells(
    values: Mapping[tuple[str, str], float],
    colour: Callable[[float], Colour],
    word: Callable[[float], str],
    what: str,
) -> Cells:
    return {
        (row, column): (colour(value), f"{row} {what} {column}: {word(value)}", word(value))
        for (row, column), value in values.items()
    }


def _shade_r(value: float) -> Colour:
    return next((colour for limit, colour in R_LEVELS if abs(value) >= limit), "none")


def _word_r(value: float) -> str:
    return fixed(value, 2).replace("0.", ".").replace("-", MINUS)


def _set(report: MetaReport, name: str | None) -> SetReport:
    """A set by its name; the first where none is named."""
    sets = {own.name: own for own in report.sets}
    return report.sets[0] if name is None else sets[choose(name, sets, "testset", "set")]


def _metrics(report: MetaReport, part: SetReport) -> Sequence[MetricEvaluation]:
    return part.metrics or report.metrics


def _by_test(report: MetaReport, part: SetReport) -> dict[str, list[MetricPair]]:
    """Pairs of a set under Pearson's r that have p-values, by test."""
    by_test: dict[str, list[MetricPair]] = {}
    for pair in report.pairs:
        if (pair.set, pair.statistic) == (part.name, "pearson"):
            by_test.setdefault(pair.test, []).append(pair)
    return {
        test: by_test[test]
        for test in TESTS
        if any(pair.p_value is not None for pair in by_test.get(test, ()))
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
        takes=("metric", "testset"),
    ),
    "correlations": Picture(
        "correlations",
        "Correlations of metrics, and which agrees better with people",
        correlations_plot,
        lambda report: [_choices(part) for part in report.sets if _by_test(report, part)],
        takes=("testset",),
    ),
}
