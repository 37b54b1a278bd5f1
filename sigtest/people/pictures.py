"""The pictures of a human evaluation: the only place that knows which there are."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

from sigtest.data.choices import choose
from sigtest.errors import RecipeError
from sigtest.people.report import (
    AnnotatorsReport,
    CriterionReport,
    HumanReport,
    JudgedSystem,
)
from sigtest.render.digits import MINUS, fixed, interval, percent, short_probability, signed
from sigtest.render.drawing import COLUMN, PAGE, Drawing
from sigtest.render.marks import (
    CLUSTER,
    Axis,
    Forest,
    ForestRow,
    Ordered,
    Panel,
    beaten,
    forest,
    level,
    level_words,
    matrix,
    plane,
    scatter,
)
from sigtest.render.names import in_words, p_in_words
from sigtest.render.pictures import Picture, where

SMALLEST = -12.0  # decades of p that are drawn; smaller ones lie on the floor


def heatmap_plot(report: HumanReport, criterion: str | None = None) -> str:
    """P-values of all ordered pairs by one criterion: is the row's system better?

    Args:
        report: Of a human evaluation.
        criterion: Its name, or `combined`; the report's own conclusions where none is named.

    Raises:
        RecipeError: A criterion that the report does not have.
    """
    known = list(dict.fromkeys(pair.criterion for pair in report.pairs))
    return _heatmap(report, [choose(criterion or known[-1], known, "criterion", "criterion")])


def panels_plot(report: HumanReport) -> str:
    """The same for all criteria and their combination side by side.

    As Figure 7 of Graham, Mathur & Baldwin (2014).
    """
    return _heatmap(report, list(dict.fromkeys(pair.criterion for pair in report.pairs)))


def _heatmap(report: HumanReport, criteria: Sequence[str]) -> str:
    order_by = criteria[0] if len(criteria) == 1 else report.pairs[-1].criterion
    systems = in_order(report, order_by)
    names = [system.name for system in systems]
    told, panels = [], []
    for criterion in criteria:
        pairs = [pair for pair in report.pairs if pair.criterion == criterion]
        apart = sum(pair.conclusion != "tie" for pair in pairs)
        told.append(f"{criterion} separates {apart} of {len(pairs)} pairs")
        starts = [0, *_openings(systems, criterion), len(systems)]
        cells = beaten(_ordered_p(report, criterion), short_probability)
        panels.append(Panel(cells, criterion if len(criteria) > 1 else "", starts=starts))
    drawing = Drawing(
        f"{' / '.join(['{}'] * len(criteria))}: who is better than whom",
        f"From best to worst: {', '.join(names)}. {'; '.join(told)}.",
        tuple(criteria),
        (f"{in_words(report.test)}, one-sided, {p_in_words(report.correction)}",),
        width=PAGE if len(criteria) > 1 else COLUMN,
    )
    matrix(drawing, names, {"": panels}, least=7.0, most=24.0)
    drawing.legend([*level_words(), CLUSTER])
    return drawing.svg()


def in_order(report: HumanReport, criterion: str) -> list[JudgedSystem]:
    """Systems from best to worst: by mean; combined conclusions by cluster and rank range first."""

    def place(system: JudgedSystem) -> tuple[float, ...]:
        own = system.criteria.get(criterion)
        if own is not None:
            return (-report.sign(criterion) * _mean(own),)
        return system.cluster, sum(system.range), -report.sign(criterion) * _mean(system)

    return sorted(report.systems, key=place)


def _mean(own: JudgedSystem | CriterionReport) -> float:
    """What was tested, on average."""
    known = own.z if own.z is not None else own.raw
    return known if known is not None else 0.0


def _openings(systems: Sequence[JudgedSystem], criterion: str) -> list[int]:
    """Places at which a new cluster begins, the first one left out.

    None where the systems are in the order of other conclusions, which mixes the clusters.
    """
    clusters = [(system.criteria.get(criterion) or system).cluster for system in systems]
    if clusters != sorted(clusters):
        return []
    return [i + 1 for i, (above, below) in enumerate(pairwise(clusters)) if below > above]


def _ordered_p(report: HumanReport, criterion: str) -> Ordered:
    """For every ordered pair, the p-value of the claim that the first is better, corrected.

    The correction is known for the more likely direction only; the other one has no smaller value.
    """
    p = {}
    for pair in report.pairs:
        if pair.criterion == criterion:
            likely = pair.p_greater <= pair.p_less
            greater, less = (max(one, pair.p_adjusted) for one in (pair.p_greater, pair.p_less))
            p[pair.a, pair.b] = pair.p_adjusted if likely else greater
            p[pair.b, pair.a] = less if likely else pair.p_adjusted
    return p


def boxes_plot(report: HumanReport, criterion: str | None = None) -> str:
    """How each system's scores are spread: boxes in the order of clusters.

    Args:
        report: Of a human evaluation.
        criterion: Its name; the first where none is named.

    Raises:
        RecipeError: A criterion that the report does not have, or rankings.
    """
    _require(report.tested != "rankings", "scores: these are rankings")
    criterion = choose(criterion or report.criteria[0], report.criteria, "criterion", "criterion")
    systems = in_order(report, criterion)
    openings, rows, told = _openings(systems, criterion), [], []
    for i, system in enumerate(systems):
        own = system.criteria[criterion]
        first, low, middle, high, last = own.box
        told.append(f"{system.name} median {middle:.3g}, quartiles {low:.3g} and {high:.3g}")
        mean = _mean(own)
        number = fixed(mean, 2).replace("-", MINUS)
        box, ruled = (low, middle, high), i in openings
        rows.append(ForestRow((system.name,), mean, number, (first, last), ruled=ruled, box=box))
    unit = "z" if report.tested == "z" else "score"
    drawing = Drawing(
        f"{{}}: {unit} by {report.aggregate}", f"{'; '.join(told)}.", (criterion,),
        ("box: quartiles and median; whiskers: within 1.5 of the box; mark: mean",),
    )  # fmt: skip
    forest(drawing, Forest(rows))
    return drawing.svg()


def gain_plot(report: HumanReport) -> str:
    """Longitudinal gains with their intervals, one row a language pair and criterion.

    They are raw, or standardised where raw scores are unknown.

    Raises:
        RecipeError: The report has no gain.
    """
    _require(bool(report.gain), "longitudinal gain")
    raw = all(own.raw is not None for gain in report.gain for own in gain.criteria.values())
    rows = []
    for gain in report.gain:
        for criterion, own in gain.criteria.items():
            figures = own.raw if raw else own.z
            if figures is not None:
                number, ends = signed(figures.gain, 2), figures.ci
                number += f" {interval(ends, 2)}" if ends else ""
                apart = ends is not None and not ends[0] <= 0 <= ends[1]
                label = (f"{gain.name} {criterion}".strip(),)
                rows.append(ForestRow(label, figures.gain, number.replace("-", MINUS), ends, apart))
    drawing = Drawing(
        f"Gain ({'points' if raw else 'z'}), {percent(1 - report.alpha)} intervals",
        "; ".join(f"{row.names[0]} {row.number}" for row in rows) + ".",
        lines=(f"best new {MINUS} best old + current old {MINUS} current new",),
    )
    forest(drawing, Forest(rows, line=0.0))
    return drawing.svg()


def annotators_plot(report: HumanReport) -> str:
    """Annotators: the p-value of their quality control against the time they take.

    As Figure 4 of Graham, Baldwin, Moffat & Zobel (2013).

    Raises:
        RecipeError: Annotators, their times or their p-values are unknown.
    """
    annotators = report.annotators
    rows = [] if annotators is None else _timed(annotators)
    _require(bool(rows), "annotators with both a p-value and a time")
    assert annotators is not None
    passed = [verdict == "kept" for _, _, verdict in rows]
    test = in_words(annotators.test)
    told = [f"{sum(passed)} of {len(rows)} annotators pass {test}"]
    for what, verdict in (("careful", "kept"), ("careless", "careless")):
        times = [seconds for seconds, _, own in rows if own == verdict]
        if times:
            mean = sum(times) / len(times)
            told.append(f"{what} ones take {mean:.3g} seconds on average")
    drawing = Drawing(
        "Annotators: p-value against time",
        f"{'; '.join(told)}.",
        lines=(f"{test}; p below {annotators.threshold:g} passes",),
    )
    points = [(seconds, _decade(p)) for seconds, p, _ in rows]
    low = min(-2.0, *(decade for _, decade in points)) - 0.3
    decades = range(0, math.ceil(low) - 1, -max(1, round(-low / 6)))
    ticks = [(d, f"{10.0**d:g}" if d > -3 else f"1e{MINUS}{-d}") for d in decades]
    waits = Axis.around([0.0, *(seconds for seconds, _ in points)], margin=0.03,
                        label="mean seconds a judgement")  # fmt: skip
    x, y = plane(drawing, waits, Axis(low, 0.15, ticks=ticks))
    level(drawing, x, y(math.log10(annotators.threshold)))
    scatter(drawing, x, y, points, passed)
    drawing.legend([("filled", "passes"), ("hollow", "does not")])
    return drawing.svg()


def _timed(annotators: AnnotatorsReport) -> list[tuple[float, float, str]]:
    """Seconds, p-value and verdict of annotators for whom both are known."""
    rows = []
    for row in annotators.each:
        p: float | None = getattr(row, annotators.test)
        if p is not None and row.seconds is not None and row.verdict != "untestable":
            rows.append((row.seconds, p, row.verdict))
    return rows


def _decade(p: float) -> float:
    return max(SMALLEST, math.log10(p)) if p > 0 else SMALLEST


def _require(known: bool, what: str) -> None:
    if not known:
        raise RecipeError(f"This report has no {what}.", field="plot")


def _conclusions(report: HumanReport) -> list[dict[str, str]]:
    """The report's own conclusions, which are by the last criterion; and those by the others."""
    known = list(dict.fromkeys(pair.criterion for pair in report.pairs))
    return [{}, *({"criterion": criterion} for criterion in known[:-1])]


def _scores(report: HumanReport) -> list[dict[str, str]]:
    """Every criterion, where there are scores."""
    scored = any(system.criteria for system in report.systems) and report.tested in {"raw", "z"}
    others = [{"criterion": criterion} for criterion in report.criteria[1:]]
    return [{}, *others] if scored else []


PICTURES: dict[str, Picture] = {
    picture.name: picture
    for picture in (
        Picture(
            "heatmap",
            "Which system people find better than which",
            heatmap_plot,
            _conclusions,
            takes=("criterion",),
        ),
        Picture(
            "criteria",
            "The same for every criterion and for all combined",
            panels_plot,
            where(lambda report: len(report.criteria) > 1),
        ),
        Picture("boxes", "Scores of segments by system", boxes_plot, _scores, takes=("criterion",)),
        Picture(
            "annotators",
            "Each annotator's p-value and time for a judgement",
            annotators_plot,
            where(lambda own: own.annotators is not None and bool(_timed(own.annotators))),
        ),
        Picture(
            "gain",
            "Gain over the years, with its interval",
            gain_plot,
            where(lambda report: bool(report.gain)),
        ),
    )
}
