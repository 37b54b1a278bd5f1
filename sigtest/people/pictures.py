"""Human evaluations as pictures: p-values, strengths, wins, spread of scores, annotators, gains."""

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise

from sigtest.data.names import choose
from sigtest.people.report import CriterionReport, HumanReport, JudgedPair, JudgedSystem
from sigtest.render import marks, words
from sigtest.render.drawing import COLUMN, PAGE, Drawing
from sigtest.render.pictures import Picture, where
from sigtest.requests.people import COMBINED

PLACES = 2  # of strengths, probabilities and what is drawn
SHARES: tuple[marks.Level, ...] = ((0.2, "three"), (0.3, "two"), (0.4, "one"))  # of the loser
SMALLEST = 1e-12  # p that is drawn; smaller ones lie on the floor


def in_order(report: HumanReport, criterion: str = COMBINED) -> list[JudgedSystem]:
    """Systems from best to worst: by mean; combined conclusions by cluster and rank range first."""

    def place(system: JudgedSystem) -> tuple[float, ...]:
        own = system.criteria.get(criterion)
        ranks = () if own else (system.cluster, *system.range)
        return *ranks, -report.sign(criterion) * _mean(own or system)

    return sorted(report.systems, key=place)


def _mean(own: JudgedSystem | CriterionReport) -> float:
    """What was tested, on average."""
    if isinstance(own, JudgedSystem) and own.strength is not None:
        return 0.0  # reports have them from best to worst
    return next((value for value in (own.z, own.raw) if value is not None), 0.0)


def openings(systems: Sequence[JudgedSystem], criterion: str = COMBINED) -> list[int]:
    """Places at which a new cluster begins, the first one left out.

    None where the systems are in the order of other conclusions, which mixes the clusters.
    """
    clusters = [(system.criteria.get(criterion) or system).cluster for system in systems]
    if clusters != sorted(clusters):
        return []
    return [i + 1 for i, (above, below) in enumerate(pairwise(clusters)) if below > above]


def heatmap_plot(report: HumanReport, criterion: str | None = None) -> str:
    """P-values of all ordered pairs by one criterion: is the row's system better?

    Args:
        report: Of a human evaluation.
        criterion: Its name, or `combined`; the report's own conclusions where none is named.

    Raises:
        RecipeError: A criterion that the report does not have.
    """
    by = report.by_criterion
    name = choose(criterion or [*by][-1], by, "criterion", "criterion")
    return _heatmap(report, {name: by[name]}, name)


def panels_plot(report: HumanReport) -> str:
    """The same for all criteria and their combination side by side.

    As Figure 7 of Graham, Mathur & Baldwin (2014).
    """
    by = report.by_criterion
    return _heatmap(report, by, [*by][-1])


def _heatmap(report: HumanReport, by: Mapping[str, Sequence[JudgedPair]], leading: str) -> str:
    systems, several = in_order(report, leading), len(by) > 1
    names = [system.name for system in systems]
    apart, panels = [], []
    for criterion, pairs in by.items():
        separated = sum(pair.conclusion != "tie" for pair in pairs)
        apart.append(f"{criterion} separates {separated} of {len(pairs)} pairs")
        starts = [0, *openings(systems, criterion), len(systems)]
        p = {  # the correction is known for the more likely claim; the other has no smaller value
            (better, worse): max(p, pair.p_adjusted)
            for pair in pairs
            for better, worse, p in (
                (pair.a, pair.b, pair.p_greater),
                (pair.b, pair.a, pair.p_less),
            )
        }
        cells = marks.beaten(p, words.short_probability)
        panels.append(marks.Panel(cells, criterion * several, starts=starts))
    drawing = Drawing(
        f"{' / '.join(['{}'] * len(by))}: who is better than whom",
        f"From best to worst: {', '.join(names)}. {'; '.join(apart)}.",
        tuple(by),
        (f"{words.in_words(report.test)}, one-sided, {words.p_in_words(report.correction)}",),
        width=PAGE if several else COLUMN,
    )
    marks.matrix(drawing, names, {"": panels}, least=7.0, most=24.0)
    drawing.legend([*marks.level_words(), marks.CLUSTER])
    return drawing.svg()


def strengths_plot(report: HumanReport) -> str:
    """Strengths with their intervals; a rule parts clusters."""
    systems = in_order(report)
    opened, rows = openings(systems), list[marks.ForestRow]()
    for i, system in enumerate(systems):
        own = system.strength
        assert own is not None
        known = own.value is not None
        value = own.value if own.value is not None else sum(filter(math.isfinite, own.ci))
        number = words.estimate(own.value, own.ci, PLACES)
        rows.append(marks.ForestRow((system.name,), value, number, own.ci, known, i in opened))
    return marks.forest_picture(
        f"strengths, {words.percent(1 - report.alpha)} intervals",
        rows,
        "log odds of winning against a system of mean strength",
    )


def wins_plot(report: HumanReport) -> str:
    """How probably the row's system is preferred to the column's, and how often they met."""
    names = [system.name for system in in_order(report)]
    expected: marks.Cells = {}
    observed: marks.Cells = {}
    for pair in report.pairs:
        p, ties, lost = pair.probability, pair.ties or 0.0, pair.n_a - pair.u
        met = pair.n_a + ties
        turned = None if p is None else 1 - p
        for a, b, wins, share in ((pair.a, pair.b, pair.u, p), (pair.b, pair.a, lost, turned)):
            hint = f"{a} and {b}: {wins:g} won, {ties:g} tied, {met - wins - ties:g} lost"
            if share is not None:
                word = f"{share:.2f}".removeprefix("0")
                expected[a, b] = marks.shade(1 - share, SHARES), hint, word
            if met:
                shade = marks.shade(1 - (wins + ties / 2) / met, SHARES)
                observed[a, b] = shade, hint, f"{met:g}"
    drawing = Drawing(
        "how probably the row's system is preferred to the column's",
        f"From strongest to weakest: {', '.join(names)}.",
        lines=("ties count half; right: comparisons, shaded by the share that was won",),
        width=PAGE,
    )
    panels = [marks.Panel(expected, "expected"), marks.Panel(observed, "observed")]
    marks.matrix(drawing, names, {"": panels}, least=7.0, most=24.0)
    drawing.legend([(colour, f"{1 - limit:.1f} and more") for limit, colour in SHARES])
    return drawing.svg()


def boxes_plot(report: HumanReport, criterion: str | None = None) -> str:
    """How each system's scores are spread: boxes in the order of clusters.

    Args:
        report: Of a human evaluation.
        criterion: Its name; the first where none is named.

    Raises:
        RecipeError: A criterion that the report does not have.
    """
    criterion = choose(criterion or report.criteria[0], report.criteria, "criterion", "criterion")
    systems = in_order(report, criterion)
    opened, rows, spread = openings(systems, criterion), list[marks.ForestRow](), []
    for i, system in enumerate(systems):
        own = system.criteria[criterion]
        first, low, middle, high, last = own.box
        spread.append(f"{system.name} median {middle:.3g}, quartiles {low:.3g} and {high:.3g}")
        shown = _mean(own), words.estimate(_mean(own), None, PLACES), (first, last)
        row = marks.ForestRow((system.name,), *shown, ruled=i in opened, box=(low, middle, high))
        rows.append(row)
    unit = "z" if report.tested == "z" else "score"
    drawing = Drawing(
        f"{{}}: {unit} by {report.aggregate}", f"{'; '.join(spread)}.", (criterion,),
        ("box: quartiles and median; whiskers: within 1.5 of the box; mark: mean",),
    )  # fmt: skip
    marks.forest(drawing, marks.Forest(rows))
    return drawing.svg()


def gain_plot(report: HumanReport) -> str:
    """Longitudinal gains with their intervals, one row a language pair and criterion.

    They are raw, or standardised where raw scores are unknown.
    """
    raw = all(own.raw is not None for gain in report.gain for own in gain.criteria.values())
    rows = [
        marks.ForestRow(
            (f"{gain.name} {criterion}".strip(),),
            own.gain,
            words.estimate(own.gain, own.ci, PLACES, words.signed),
            own.ci,
            own.ci is not None and not own.ci[0] <= 0 <= own.ci[1],
        )
        for gain in report.gain
        for criterion, gained in gain.criteria.items()
        if (own := gained.raw if raw else gained.z) is not None
    ]
    return marks.forest_picture(
        f"Gain ({'points' if raw else 'z'}), {words.percent(1 - report.alpha)} intervals",
        rows,
        f"best new {words.MINUS} best old + current old {words.MINUS} current new",
    )


def annotators_plot(report: HumanReport) -> str:
    """Annotators: the p-value of their quality control against the time they take.

    As Figure 4 of Graham, Baldwin, Moffat & Zobel (2013).
    """
    annotators, rows = report.annotators, _timed(report)
    assert annotators is not None
    passed = [verdict == "kept" for _, _, verdict in rows]
    test = words.in_words(annotators.test)
    facts = [f"{sum(passed)} of {len(rows)} annotators pass {test}"]
    for what, verdict in (("careful", "kept"), ("careless", "careless")):
        times = [seconds for seconds, _, own in rows if own == verdict]
        if times:
            mean = sum(times) / len(times)
            facts.append(f"{what} ones take {mean:.3g} seconds on average")
    drawing = Drawing(
        "Annotators: p-value against time",
        f"{'; '.join(facts)}.",
        lines=(f"{test}; p below {annotators.threshold:g} passes",),
    )
    points = [(seconds, math.log10(max(p, SMALLEST))) for seconds, p, _ in rows]
    low = min(-2.0, *(decade for _, decade in points)) - 0.3
    decades = range(0, math.ceil(low) - 1, -max(1, round(-low / 6)))
    ticks = [(d, f"{10.0**d:g}" if d > -3 else f"1e{words.MINUS}{-d}") for d in decades]
    waits = marks.Axis.around([0.0, *(seconds for seconds, _ in points)], margin=0.03,
                        label="mean seconds a judgement")  # fmt: skip
    x, y = marks.plane(drawing, waits, marks.Axis(low, 0.15, ticks=ticks))
    marks.level(drawing, x, y(math.log10(annotators.threshold)))
    marks.scatter(drawing, x, y, points, passed)
    drawing.legend([("filled", "passes"), ("hollow", "does not")])
    return drawing.svg()


def _timed(report: HumanReport) -> list[tuple[float, float, str]]:
    """Seconds, p-value and verdict of annotators for whom both are known."""
    group = report.annotators
    return [
        (row.seconds, p, row.verdict)
        for row in (group.each if group else ())
        if row.seconds is not None and row.verdict != "untestable"
        if (p := getattr(row, group.test if group else "")) is not None
    ]


def _scores(report: HumanReport) -> list[dict[str, str]]:
    """Every criterion, where there are scores."""
    scored = any(system.criteria for system in report.systems) and report.tested in {"raw", "z"}
    others = [{"criterion": criterion} for criterion in report.criteria[1:]]
    return [{}, *others] if scored else []


_PREFERENCES = where(lambda report: report.preferences is not None)

PICTURES: dict[str, Picture] = {
    picture.name: picture
    for picture in (
        Picture(
            "heatmap", "Which system people find better than which", heatmap_plot,
            # the report's own conclusions, by the last criterion, and those by the others
            lambda report: [{}, *({"criterion": own} for own in [*report.by_criterion][:-1])],
        ),
        Picture(
            "strengths", "Strengths of systems, with intervals", strengths_plot, _PREFERENCES,
            lacks="strengths, only scores",
        ),
        Picture(
            "wins", "How probably one system is preferred to another", wins_plot, _PREFERENCES,
            lacks="comparisons of systems, only scores",
        ),
        Picture(
            "criteria", "The same for every criterion and for all combined", panels_plot,
            where(lambda report: len(report.criteria) > 1),
        ),
        Picture("boxes", "Scores of segments by system", boxes_plot, _scores, lacks="scores"),
        Picture(
            "annotators", "Each annotator's p-value and time for a judgement", annotators_plot,
            where(lambda report: bool(_timed(report))),
            lacks="annotators with a p-value and a time",
        ),
        Picture(
            "gain", "Gain over the years, with its interval", gain_plot,
            where(lambda report: bool(report.gain)), lacks="longitudinal gain",
        ),
    )
}  # fmt: skip
