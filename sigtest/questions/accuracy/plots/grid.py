"""Conclusions of every metric under every test, side by side with those of people.

As Figure 8 of Graham, Mathur & Baldwin (2014).
"""

from __future__ import annotations

from sigtest.data.choices import choose
from sigtest.questions.accuracy.report import AccuracyReport
from sigtest.render.names import in_words
from sigtest.render.plots.grid import Grid, Panel, draw


def grid_plot(report: AccuracyReport, alpha: str | None = None) -> str:
    """Conclusions of metrics and tests beside those of people, as SVG.

    Args:
        report: Of accuracy of tests.
        alpha: Level of the conclusions of people; the first of the report where none is named.

    Raises:
        RecipeError: A level that the report does not have.
    """
    levels = {f"{level:g}": level for level in report.alphas}
    level = levels[choose(alpha or next(iter(levels)), levels, "alpha", "level")]
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
    human = Panel("people", f"{n - people.ties} of {n} apart", conclusions)
    rows = {}
    for test in dict.fromkeys(row.test for row in report.rows):
        panels = [human]
        for row in report.rows:
            if (row.test, row.alpha) == (test, level):
                p = {(pair.a, pair.b): pair.p_greater[row.metric][test] for pair in report.pairs}
                p |= {(pair.b, pair.a): pair.p_less[row.metric][test] for pair in report.pairs}
                panels.append(Panel(row.metric, f"{100 * row.share:.1f} % as people", p))
        rows[in_words(test)] = panels
    systems = tuple(sorted(report.systems, key=lambda name: -wins[name]))
    title = f"conclusions of metrics and of people, alpha {level:g}"
    return draw(Grid(title, systems, rows, "one-sided, unadjusted p"))
