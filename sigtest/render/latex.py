r"""Tables for a paper: booktabs, clusters as rules, stars with a legend; every name escaped.

The output is a fragment to \input; it needs \usepackage{booktabs} and nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from sigtest.render.layout import (
    STARS,
    PairRow,
    decision_line,
    leading_test,
    metric_decimals,
    metric_heading,
    pair_rows,
    rank_range,
    shown_p,
    standings,
    stars,
    test_set_line,
)
from sigtest.render.names import printable
from sigtest.render.numbers import fixed, interval, percent, signed
from sigtest.report import PairReport, Report

ROWS = 40  # of one table of pairs; LaTeX does not break a table over pages
METRICS = 3  # side by side in one table of systems
METRICS_WITH_RUNS = 2  # the same where each has a column about training runs

_ESCAPES = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\char34{}",
    "'": r"\textquoteright{}",
    "`": r"\textquoteleft{}",
    # ligatures, and what \\ and \toprule would take for their arguments
    "-": r"{-}",
    "[": r"{[}",
    "]": r"{]}",
    "*": r"{*}",
}


def render(report: Report) -> str:
    """Tables of systems, then as many of pairs as there are metrics (and pages) for."""
    test = leading_test(report)
    metrics = tuple(report.metrics)
    parts = [
        "% Needs \\usepackage{booktabs}; names beyond Latin scripts need LuaLaTeX or XeLaTeX.",
        *(f"% Warning: {printable(warning, '?')}" for warning in report.warnings),
        f"% Signature: {printable(report.signature, '?')}",
    ]
    abreast = METRICS_WITH_RUNS if _has_runs(report) else METRICS
    for first in range(0, len(metrics), abreast):
        parts.append(_systems(report, metrics[first : first + abreast], test))
    for metric in metrics:
        rows = pair_rows(report, metric)
        for first in range(0, len(rows), ROWS):
            parts.append(_pairs(report, metric, rows[first : first + ROWS], first > 0))
    return "\n".join(parts) + "\n"


def escape(text: str) -> str:
    """`text` so that LaTeX prints it as it is."""
    return "".join(_ESCAPES.get(c, c) for c in printable(text, "?"))


def _systems(report: Report, metrics: Sequence[str], test: str) -> str:
    """The systems in the order of the report's first metric, with rules between its clusters."""
    ordered = standings(report, next(iter(report.metrics)), test)
    ranked, trained = ordered[0].rank is not None, _has_runs(report)
    columns, sides = _columns(ranked, trained)
    span = len(columns)
    headings = [_spanning(span, metric_heading(report, metric)) for metric in metrics]
    rules = _rules(2, span, len(metrics))
    body: list[str] = []
    for standing in ordered:
        if standing.opens:
            body.append(r"\midrule")
        name = standing.system.name
        cells = [cell for metric in metrics for cell in _score(report, metric, test, name)]
        body.append(_row([escape(name), *cells]))
    by = f" Ranks, and rules between clusters, by {escape(_words(test))}." if ranked else ""
    spread = " Sd: standard deviation over training runs." if trained else ""
    caption = (
        f"Systems: {escape(test_set_line(report))}, "
        f"{escape(percent(1 - report.alpha))} bootstrap intervals.{by}{spread} "
        f"{escape(_sentence(decision_line(report)))}."
    )
    head = [_row(["", *headings]), rules, _row(["system", *columns * len(metrics)])]
    return _table(caption, "l" + sides * len(metrics), head, body)


def _has_runs(report: Report) -> bool:
    """Whether systems have training replicas."""
    return any(score.replicas for score in report.systems[0].scores.values())


def _columns(ranked: bool, trained: bool) -> tuple[list[str], str]:
    """What is told of a system for each metric, and the sides of these columns."""
    columns, sides = ["score", "interval"], "rc"
    if ranked:
        columns, sides = ["rank", *columns], f"r{sides}"
    if trained:
        columns, sides = [*columns, "sd"], f"{sides}r"
    return columns, sides


def _score(report: Report, metric: str, test: str, name: str) -> list[str]:
    """Rank range (where there are ranks), score, interval and spread over training runs."""
    system = next(system for system in report.systems if system.name == name)
    score = system.scores[metric]
    places = metric_decimals(report, metric)
    cells = [_math(fixed(score.score, places)), _math(interval(score.ci, places))]
    if score.training_stderr is not None:
        cells.append(_math(fixed(score.training_stderr, places)))
    ranks = system.ranks.get(metric, {})
    return [rank_range(ranks[test]).replace("-", "--"), *cells] if test in ranks else cells


def _pairs(report: Report, metric: str, rows: Sequence[PairRow], continued: bool) -> str:
    """P-values of one test, plain and adjusted; of several tests the adjusted ones alone."""
    tests = rows[0].tests
    places = metric_decimals(report, metric)
    head = [_row(["$a$", "$b$", "$a - b$", "interval", "$p$", "adjusted $p$"])]
    columns = "llrcrl"
    if len(tests) > 1:
        head = _test_headings(tests)
        columns = "llrc" + "l" * len(tests)
    body = [_row(_pair(row, places, report.alpha)) for row in rows]
    what = f"by {escape(_words(tests[0].test))}" if len(tests) == 1 else "adjusted $p$ by test"
    caption = (
        f"{escape(metric_heading(report, metric))}: pairs of systems, {what}"
        f"{' (continued)' if continued else ''}. "
        f"{escape(_sentence(decision_line(report)))}. {_legend(tests)}"
    )
    return _table(caption, columns, head, body)


def _test_headings(tests: Sequence[PairReport]) -> list[str]:
    """Names of tests over two lines, split before their last word."""
    above, below = [], []
    for pair in tests:
        first, _, last = _words(pair.test).rpartition(" ")
        above.append(escape(first))
        below.append(escape(last) + ("" if pair.calibrated else r"$^{\dagger}$"))
    return [
        _row(["", "", "", "", *above]),
        _row(["$a$", "$b$", "$a - b$", "interval", *below]),
    ]


def _pair(row: PairRow, places: int, alpha: float) -> list[str]:
    pair = row.pair
    cells = [escape(pair.a), escape(pair.b), _math(signed(pair.difference, places))]
    cells.append(_math(interval(pair.ci, places)))
    if len(row.tests) == 1:
        cells.append(_math(shown_p(pair, alpha)[0]))
    for test in row.tests:
        mark = stars(test.p_adjusted)
        shown = _math(shown_p(test, alpha)[1])
        cells.append(f"{shown}$^{{{mark}}}$" if mark else shown)
    return cells


def _spanning(span: int, heading: str) -> str:
    return rf"\multicolumn{{{span}}}{{c}}{{{escape(heading)}}}"


def _rules(first: int, span: int, count: int) -> str:
    starts = range(first, first + span * count, span)
    return " ".join(rf"\cmidrule(lr){{{start}-{start + span - 1}}}" for start in starts)


def _legend(tests: Sequence[PairReport]) -> str:
    marks = ", ".join(rf"$^{{{mark}}}$ adjusted $p \le {limit:g}$" for limit, mark in STARS)
    if all(pair.calibrated for pair in tests):
        return f"{marks}."
    return rf"{marks}; $^{{\dagger}}$ not calibrated."


def _table(caption: str, columns: str, head: Sequence[str], body: Sequence[str]) -> str:
    lines = [
        r"\begin{table*}",
        r"\centering\footnotesize",
        rf"\begin{{tabular}}{{@{{}}{columns}@{{}}}}",
        r"\toprule",
        *head,
        r"\midrule",
        *body,
        r"\bottomrule",
        r"\end{tabular}",
        rf"\caption{{{caption}}}",
        r"\end{table*}",
    ]
    return "\n".join(lines)


def _row(cells: Sequence[str]) -> str:
    return " & ".join(cells) + r" \\"


def _math(number: str) -> str:
    """A number or interval in mathematics, where a hyphen is a minus sign."""
    power = re.fullmatch(r"(<?)([\d.]+)e([+-]\d+)", number)
    if power:
        sign, mantissa, exponent = power.groups()
        return rf"${sign}{mantissa}\times10^{{{int(exponent)}}}$"
    return f"${number}$"


def _words(test: str) -> str:
    return test.replace("_", " ")


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]
