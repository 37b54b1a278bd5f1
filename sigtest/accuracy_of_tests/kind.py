"""Accuracy of tests as questions: texts and judgements in, how often tests are right out."""

from collections.abc import Callable, Mapping, Sequence
from itertools import cycle
from typing import ClassVar

from sigtest.accuracy_of_tests import compute as accuracy
from sigtest.accuracy_of_tests.compute import AccuracyReport, AccuracyRow, BetweenTests
from sigtest.data.names import choose
from sigtest.kinds import comparisons
from sigtest.kinds.base import EXAMPLES, WholeKind
from sigtest.people.kind import FINISHED
from sigtest.people.kind import recognised as judged
from sigtest.people.question import HumanQuestion
from sigtest.render import marks, model, records
from sigtest.render.drawing import Colour, Drawing
from sigtest.render.pictures import Picture, draw_grid
from sigtest.render.standings import abridged
from sigtest.render.words import fixed, in_words, probability, whole
from sigtest.requests.model import Option, options
from sigtest.requests.people import AccuracyRequest, Judging

SHADES: tuple[Colour, ...] = ("light", "one", "two", "rule")  # lighter than intervals
SHARES = [(share / 4, f"{25 * share} %") for share in range(5)]
ERRORS = (
    "reversed: test and people see opposite winners; claimed: people see none; missed: the test "
    "sees none",
)


def _rows_sheet(report: AccuracyReport) -> model.Sheet:
    return records.sheet(records.fields_of(AccuracyRow), report.rows)


SHEETS: dict[str, Callable[[AccuracyReport], model.Sheet]] = {
    "correct": _rows_sheet,
    "errors": _rows_sheet,
    "agreement": lambda own: records.sheet(records.fields_of(BetweenTests), own.between_tests),
}


def answer(report: AccuracyReport) -> tuple[str, ...]:
    """Which metric and test are right most often, at the first level, and how often the least."""
    alpha = report.alphas[0]
    rows = [row for row in report.rows if row.alpha == alpha]
    if not rows:
        return ()
    most, least = (of(row.correct for row in rows) for of in (max, min))
    best = [f"{row.metric} by {in_words(row.test)}" for row in rows if row.correct == most]
    verb = "conclude" if len(best) > 1 else "concludes"
    pairs = f"{most} of {rows[0].n} pairs of systems"
    sentence = f"At alpha {alpha:g}, {abridged(best)} {verb} what people conclude for {pairs}"
    return (f"{sentence}." if least == most else f"{sentence}, others for {least} at the least.",)


def document(report: AccuracyReport) -> model.Document:
    """At each level: conclusions that are people's, errors, and agreement between tests."""
    sections = []
    for people in report.human:
        pairs, level = len(people.conclusions), f"{people.alpha:g}"
        within: tuple[model.Paragraph | model.ReportTable | model.Figure, ...] = (
            model.Paragraph(
                f"People separate {pairs - people.ties} of {pairs} pairs at level "
                f"{people.human_alpha:g}."
            ),
            _by_test(report, people.alpha, "correct", f"Conclusions as people's, of {pairs} pairs"),
            *_equal(report, people.alpha),
            _by_test(report, people.alpha, "errors", "Errors and separated pairs"),
            *_between(report, people.alpha),
            *(picture.figure(report, alpha=level) for picture in PICTURES.values()),
        )
        sections.append(model.Section(f"alpha {level}", within))
    return model.Document(
        title=f"Accuracy of tests on {_facts(report)[0]} of {len(report.systems)} systems",
        facts=_facts(report),
        answer=answer(report),
        blocks=tuple(sections),
        notes=ERRORS,
    )


def _facts(report: AccuracyReport) -> tuple[str, ...]:
    return (
        f"{whole(len(report.pairs))} pairs",
        f"people by {', then '.join(report.criteria)}",
        "both one-sided claims at each level, no correction",
    )


def _correct(rows: Sequence[AccuracyRow]) -> tuple[model.Column, ...]:
    """Tables 1 and 2 of the 2014 study: correct conclusions in percent, with their interval."""
    return (
        model.column("correct", [row.correct for row in rows]),
        model.column("%", [100 * row.share for row in rows], 1),
        model.column("interval", [(100 * row.ci[0], 100 * row.ci[1]) for row in rows], 1),
    )


def _errors(rows: Sequence[AccuracyRow]) -> tuple[model.Column, ...]:
    """How the other conclusions are wrong, and how many pairs the metric separates."""
    counts = ("reversed", "claimed", "missed", "separated")
    return (
        *model.fields(rows, *((name, name) for name in counts)),
        model.column("p, share 1/2", (model.PValue(row.p_half) for row in rows)),
    )


COLUMNS = {"correct": _correct, "errors": _errors}


def _by_test(report: AccuracyReport, alpha: float, name: str, caption: str) -> model.ReportTable:
    """A row for each metric, columns for each test."""
    by_test: dict[str, list[AccuracyRow]] = {}
    for row in report.rows:
        if row.alpha == alpha:
            by_test.setdefault(row.test, []).append(row)
    return model.ReportTable(
        name=name,
        caption=f"{caption}, alpha {alpha:g}",
        names=(model.names("metric", dict.fromkeys(row.metric for row in report.rows)),),
        groups=tuple(
            model.Group(in_words(test), COLUMNS[name](rows)) for test, rows in by_test.items()
        ),
        facts="; ".join(_facts(report)),
        things="metrics",
    )


def _equal(report: AccuracyReport, alpha: float) -> list[model.Paragraph]:
    """Whether all metrics are equally accurate under a test."""
    squares = [square for square in report.chi_square if square.alpha == alpha]
    each = "; ".join(
        f"{in_words(square.test)} {square.statistic:.2f}, "
        + ("p not defined" if square.p_value is None else f"p = {probability(square.p_value)}")
        for square in squares
    )
    equal = "Equally accurate metrics, chi-square with df"
    return [model.Paragraph(f"{equal} {squares[0].df}: {each}.")] if squares else []


def _between(report: AccuracyReport, alpha: float) -> list[model.ReportTable]:
    """How far two tests draw the same conclusions."""
    rows = [row for row in report.between_tests if row.alpha == alpha]
    share = model.column("%", [100 * row.share for row in rows], 1)
    table = model.ReportTable(
        name="agreement",
        caption=f"Agreement between tests, alpha {alpha:g}",
        names=(
            model.names("metric", [row.metric for row in rows]),
            model.column("a", [in_words(row.a) for row in rows]),
            model.column("b", [in_words(row.b) for row in rows]),
        ),
        groups=model.plain((*model.fields(rows, ("same", "same")), share)),
        things="pairs of tests",
    )
    return [table] if rows else []


# Pictures ------------------------


def bars_plot(report: AccuracyReport, alpha: str | None = None) -> str:
    """How often each metric and test concludes what people conclude, with exact intervals.

    Args:
        report: Of accuracy of tests.
        alpha: Level; the first of the report where none is named.

    Raises:
        RecipeError: A level that the report does not have.
    """
    level = _level(report, alpha)
    rows = [row for row in report.rows if row.alpha == level]
    shades = dict(zip(dict.fromkeys(row.test for row in rows), cycle(SHADES), strict=False))
    bars: list[marks.ForestRow] = []
    texts = []
    for before, row in zip([None, *rows], rows, strict=False):
        opens = before is None or before.metric != row.metric
        of, test = f"{row.correct} of {row.n}", in_words(row.test)
        low, high = (100 * end for end in row.ci)
        texts.append(f"{row.metric} by {test} {of}, {low:.1f} to {high:.1f} %")
        bars.append(
            marks.ForestRow(
                (row.metric if opens else "",),
                row.share,
                f"{fixed(100 * row.share, 1)} %",
                row.ci,
                ruled=opens and before is not None,
                bar=shades[row.test],
                hint=f"{row.metric}, {test}: {of}",
            )
        )
    drawing = Drawing(
        f"conclusions as people's, alpha {level:g}",
        f"{'; '.join(texts)}.",
        lines=(f"share of {rows[0].n} pairs of systems, 95 % Clopper-Pearson intervals",),
    )
    marks.forest(drawing, marks.Forest(bars, line=0.5, axis=marks.Axis(0.0, 1.0, ticks=SHARES)))
    drawing.legend([(shade, in_words(test)) for test, shade in shades.items()])
    return drawing.svg()


def grid_plot(report: AccuracyReport, alpha: str | None = None) -> str:
    """Conclusions of every metric under every test, side by side with those of people.

    As Figure 8 of Graham, Mathur & Baldwin (2014).

    Args:
        report: Of accuracy of tests.
        alpha: Level of the conclusions of people; the first of the report where none is named.

    Raises:
        RecipeError: A level that the report does not have.
    """
    level = _level(report, alpha)
    people = next(human for human in report.human if human.alpha == level)
    conclusions: dict[tuple[str, str], float] = {}
    wins = dict.fromkeys(report.systems, 0)
    for pair, winner in zip(report.pairs, people.conclusions, strict=True):
        conclusions[pair.a, pair.b] = 0.0 if winner == "a" else 1.0
        conclusions[pair.b, pair.a] = 0.0 if winner == "b" else 1.0
        step = {"a": 1, "b": -1, "tie": 0}[winner]
        wins[pair.a] += step
        wins[pair.b] -= step
    n = len(report.pairs)
    human = marks.Panel(marks.beaten(conclusions), "people", f"{n - people.ties} of {n} apart")
    rows: dict[str, list[marks.Panel]] = {}
    for row in report.rows:
        if row.alpha == level:
            p = {(pair.a, pair.b): pair.p_greater[row.metric][row.test] for pair in report.pairs}
            p |= {(pair.b, pair.a): pair.p_less[row.metric][row.test] for pair in report.pairs}
            panels = rows.setdefault(in_words(row.test), [human])
            panels.append(
                marks.Panel(marks.beaten(p), row.metric, f"{100 * row.share:.1f} % as people")
            )
    systems = sorted(report.systems, key=lambda name: -wins[name])
    title = f"conclusions of metrics and of people, alpha {level:g}"
    return draw_grid(title, systems, rows, "one-sided, unadjusted p")


def _level(report: AccuracyReport, alpha: str | None) -> float:
    levels = {f"{level:g}": level for level in report.alphas}
    return levels[choose(alpha or next(iter(levels)), levels, "alpha", "level")]


def _levels(report: AccuracyReport) -> list[dict[str, str]]:
    """Every level, where there are rows."""
    others = [{"alpha": f"{alpha:g}"} for alpha in report.alphas[1:]]
    return [{}, *others] if report.rows else []


PICTURES: dict[str, Picture] = {
    "accuracy": Picture(
        "accuracy", "How often tests conclude what people conclude", bars_plot, _levels
    ),
    "grid": Picture(
        "grid", "Conclusions of every metric and test, and of people", grid_plot, _levels
    ),
}


# The kind ------------------------

PARTS = {
    "judgements": "Files of judgements by people, recognised by what is in them.",
}


class AccuracyOfTests(WholeKind[accuracy.AccuracyQuestion]):
    """How often significance tests conclude what people conclude."""

    name = "test accuracy"
    path = "test-accuracy"
    summary = "How often do metrics and significance tests conclude what people do?"
    content = accuracy.AccuracyQuestion
    reports = (AccuracyReport,)

    examples = EXAMPLES["test-accuracy"]
    parts = PARTS
    command = "accuracy"
    request = AccuracyRequest
    fields = options(AccuracyRequest, ("human", "comparison"))
    inside: ClassVar[Mapping[str, tuple[Option, ...]]] = {"human": options(Judging)}
    compares = "comparison"
    named = (FINISHED, comparisons.FINISHED)
    pictures = PICTURES
    tables = ("correct", "errors", "agreement")
    naming = ("metric",)

    def recognised(self, question: accuracy.AccuracyQuestion) -> tuple[str, ...]:
        people = question.people
        read = judged(people) if isinstance(people, HumanQuestion) else ()
        return (*read, *super().recognised(question))

    question = staticmethod(accuracy.parse)
    compute = staticmethod(accuracy.compute)
    document = staticmethod(document)
    sheets = SHEETS


KIND = AccuracyOfTests()
