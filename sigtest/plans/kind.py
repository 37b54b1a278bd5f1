"""Plans as questions: a pilot in, what test sets of other sizes would show out."""

import math

from sigtest.errors import RecipeError
from sigtest.kinds.base import EXAMPLES, WholeKind
from sigtest.kinds.comparisons import FINISHED
from sigtest.plans.compute import PlannedPair, PlanQuestion, PlanReport, compute, parse
from sigtest.render import marks, model
from sigtest.render.comparison import MANY
from sigtest.render.drawing import Drawing
from sigtest.render.pictures import Picture, where
from sigtest.render.words import fixed, in_words, interval, percent, whole
from sigtest.report import counted
from sigtest.requests.comparisons import PlanRequest
from sigtest.requests.model import options

STEPS = 40
APART = 1.35  # times more units than at the tick before, so that their labels keep apart


def curve_plot(report: PlanReport, a: str | None = None, b: str | None = None) -> str:
    """The smallest difference that shows against the number of units, with its interval.

    Args:
        report: Of a plan.
        a: First system of the pair; that with the largest standard error where none is named.
        b: Second system.

    Raises:
        RecipeError: A pair that the report does not have, or whose systems do not differ.
    """
    pair = _pair(report, a, b)
    first, last = pair.sizes[0], pair.sizes[-1]
    shown = places(last.ci[0])
    told = "; ".join(
        f"{whole(size.units)} {report.unit}s: {fixed(size.detectable, shown)} "
        f"{interval(size.ci, shown)}"
        for size in pair.sizes
    )
    drawing = Drawing(
        f"what more {report.unit}s show: {{}}, {{}}, {{}}",
        f"{told}.",
        (pair.a, pair.b, report.metric),
        (f"true difference that shows with power {report.power:g} at level {report.level:.3g}",),
    )
    ticks: list[tuple[float, str]] = []
    for size in pair.sizes:
        at = math.log(size.units)
        if not ticks or at >= ticks[-1][0] + math.log(APART):
            ticks.append((at, whole(size.units)))
    ends = marks.Axis.around((math.log(first.units), math.log(last.units)))
    label = f"{report.unit}s, the pilot has {whole(report.pilot)}; shaded: 95 % interval"
    across = marks.Axis(ends.low, ends.high, label, ticks)
    x, y = marks.plane(drawing, across, marks.Axis(0.0, first.ci[1] * 1.05))
    # the curve and its interval all go with one over the root of the units
    span = math.log(last.units / first.units)
    logs = [math.log(first.units) + span * step / STEPS for step in range(STEPS + 1)]
    low, middle, high = (
        [(at, value * math.exp((logs[0] - at) / 2)) for at in logs]
        for value in (first.ci[0], first.detectable, first.ci[1])
    )
    marks.curve(drawing, x, y, middle, low, high)
    points = [(math.log(size.units), size.detectable) for size in pair.sizes]
    marks.scatter(drawing, x, y, points, [True] * len(points))
    if report.difference is not None and report.difference <= y.high:
        marks.level(drawing, x, y(report.difference))
    return drawing.svg()


def _pair(report: PlanReport, a: str | None, b: str | None) -> PlannedPair:
    if a is None and b is None:
        pair = max(report.pairs, key=lambda own: own.stderr)
    else:
        of = [pair for pair in report.pairs if {pair.a, pair.b} == {a, b}]
        if not of:
            raise RecipeError(f"The plan has no pair of {a} and {b}.", field="b" if a else "a")
        (pair,) = of
    if pair.stderr <= 0:
        raise RecipeError(f"{pair.a} and {pair.b} do not differ in the pilot.", field="a")
    return pair


def places(value: float) -> int:
    """Decimals that show two digits of a small value."""
    return max(0, min(8, 1 - math.floor(math.log10(value)))) if value > 0 else 2


PICTURES: dict[str, Picture] = {
    "plan": Picture(
        "plan",
        "Smallest difference that shows, against the size of the test set",
        curve_plot,
        where(lambda report: any(pair.stderr > 0 for pair in report.pairs)),
    ),
}


PLACES = 2
COLUMNS = ("a", "b", "metric", "unit", "units", "detectable", "ci_low", "ci_high", "level", "power",
           "needed", "needed_low", "needed_high")  # fmt: skip
NOTES = (
    "detects: smallest true difference that shows with this power, in units of the metric; "
    "intervals: 95 %, from the uncertainty of the pilot's standard error",
)


def answer(report: PlanReport) -> tuple[str, ...]:
    """How many units show the difference that was asked for, or what the pilot's size shows."""
    power = f"with {100 * report.power:g} % power"
    known = [pair for pair in report.pairs if pair.sizes]
    if not known:
        return ("The systems do not differ in the pilot, which says nothing of other sizes.",)
    needing = [pair for pair in known if pair.needed is not None and pair.needed_ci is not None]
    if report.difference is not None and needing:
        most = max(needing, key=lambda pair: pair.needed or 0)
        low, high = most.needed_ci or (0, 0)
        of = f" of {most.a} and {most.b}" if len(needing) > 1 else ""
        return (
            f"A true difference of {report.difference:g} {report.metric}{of} shows {power} in "
            f"about {whole(most.needed or 0)} {report.unit}s: {whole(low)} to {whole(high)}, as "
            "far as the pilot tells.",
        )
    widest = max(known, key=lambda pair: pair.stderr)
    size = min(widest.sizes, key=lambda own: abs(own.units - report.pilot))
    return (
        f"{whole(size.units)} {report.unit}s show a true difference of "
        f"{fixed(size.detectable, _places(report))} {report.metric} {power}; four "
        "times as many show one of half that size.",
    )


def sheet(report: PlanReport) -> model.Sheet:
    """One record a pair and size."""
    return model.Sheet(COLUMNS, [
        (pair.a, pair.b, report.metric, report.unit, size.units, size.detectable, *size.ci,
         report.level, report.power, pair.needed, *(pair.needed_ci or (None, None)))
        for pair in report.pairs
        for size in pair.sizes
    ])  # fmt: skip


def document(report: PlanReport) -> model.Document:
    """What each size detects, and how many units a difference needs."""
    plan = PICTURES["plan"]
    drawn = (plan.figure(report),) if plan.fits(report) else ()
    return model.Document(
        title=f"Plan by {report.metric} from a pilot of {whole(report.pilot)} {report.unit}s",
        facts=_facts(report),
        answer=answer(report),
        blocks=(_table(report), *drawn),
        notes=NOTES,
    )


def _facts(report: PlanReport) -> tuple[str, ...]:
    how = (
        f"{in_words(report.correction)} over {counted(report.comparisons, 'comparison')}"
        if report.corrected
        else "uncorrected"
    )
    return (
        f"pilot of {whole(report.pilot)} {report.unit}s",
        f"power {percent(report.power)} at level {report.level:.3g}, {report.alternative}, {how}",
    )


def _places(report: PlanReport) -> int:
    """Decimals that show two digits of the least that any size detects, two at least."""
    ends = [size.ci[0] for pair in report.pairs for size in pair.sizes]
    return max(PLACES, places(min(ends, default=1.0)))


def _table(report: PlanReport) -> model.ReportTable:
    pairs, shown = report.pairs, _places(report)
    differences = (("a - b", "difference", shown, True), ("stderr", "stderr", shown + 1))
    groups = [model.Group("pilot", model.fields(pairs, *differences))]
    if report.difference is not None:
        units = model.fields(pairs, (f"{report.unit}s", "needed"), ("interval", "needed_ci"))
        groups.append(model.Group(f"to show {report.difference:g}", units))
    sizes = [pair.sizes for pair in pairs if pair.sizes]
    for i, size in enumerate(sizes[0] if sizes else ()):
        planned = [pair.sizes[i] if pair.sizes else None for pair in pairs]
        parts = (("detects", "detectable", shown), ("interval", "ci", shown))
        groups.append(
            model.Group(f"{whole(size.units)} {report.unit}s", model.fields(planned, *parts))
        )
    return model.ReportTable(
        name="pairs",
        caption=f"What test sets of other sizes show: {report.metric}",
        names=model.sides(pairs),
        groups=tuple(groups),
        facts="; ".join(_facts(report)),
        things="pairs",
        folded_over=MANY,
    )


class Plans(WholeKind[PlanQuestion]):
    """Which differences test sets of other sizes would show."""

    name = "plan"
    path = "plans"
    summary = "How many segments or documents show a difference, from a pilot?"
    content = PlanQuestion
    reports = (PlanReport,)
    request = PlanRequest
    examples = EXAMPLES["plans"]
    command = "plan"
    fields = options(PlanRequest, without=("comparison",))
    compares = "comparison"
    named = (FINISHED,)
    pictures = PICTURES
    tables = ("pairs",)
    naming = ("a", "b", "metric")

    question = staticmethod(parse)
    compute = staticmethod(compute)
    document = staticmethod(document)
    sheets = {"pairs": sheet}


KIND = Plans()
