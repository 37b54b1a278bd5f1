"""The pictures of accuracy of tests: the only place that knows which there are."""

from __future__ import annotations

from itertools import cycle

from sigtest.accuracy_of_tests.report import AccuracyReport
from sigtest.data.choices import choose
from sigtest.render.digits import fixed
from sigtest.render.drawing import Colour, Drawing
from sigtest.render.marks import Axis, Forest, ForestRow, Panel, beaten, forest
from sigtest.render.names import in_words
from sigtest.render.pictures import Picture, draw_grid

SHADES: tuple[Colour, ...] = ("light", "one", "two", "rule")  # lighter than intervals
SHARES = [(share / 4, f"{25 * share} %") for share in range(5)]


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
    bars: list[ForestRow] = []
    told = []
    for before, row in zip([None, *rows], rows, strict=False):
        opens = before is None or before.metric != row.metric
        of, test = f"{row.correct} of {row.n}", in_words(row.test)
        low, high = (100 * end for end in row.ci)
        told.append(f"{row.metric} by {test} {of}, {low:.1f} to {high:.1f} %")
        bars.append(
            ForestRow(
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
        f"{'; '.join(told)}.",
        lines=(f"share of {rows[0].n} pairs of systems, 95 % Clopper-Pearson intervals",),
    )
    forest(drawing, Forest(bars, line=0.5, axis=Axis(0.0, 1.0, ticks=SHARES)))
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
    human = Panel(beaten(conclusions), "people", f"{n - people.ties} of {n} apart")
    rows: dict[str, list[Panel]] = {}
    for row in report.rows:
        if row.alpha == level:
            p = {(pair.a, pair.b): pair.p_greater[row.metric][row.test] for pair in report.pairs}
            p |= {(pair.b, pair.a): pair.p_less[row.metric][row.test] for pair in report.pairs}
            panels = rows.setdefault(in_words(row.test), [human])
            panels.append(Panel(beaten(p), row.metric, f"{100 * row.share:.1f} % as people"))
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
        "accuracy",
        "How often tests conclude what people conclude",
        bars_plot,
        _levels,
        takes=("alpha",),
    ),
    "grid": Picture(
        "grid",
        "Conclusions of every metric and test, and of people",
        grid_plot,
        _levels,
        takes=("alpha",),
    ),
}
