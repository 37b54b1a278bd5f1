"""Tables in GitHub's Markdown, every name escaped."""

from __future__ import annotations

import re
from collections.abc import Sequence

from sigtest.render.layout import (
    DETECTS,
    PairRow,
    Standing,
    decision_line,
    leading_test,
    metric_decimals,
    metric_heading,
    pair_rows,
    rank_range,
    shown_p,
    standings,
    test_set_line,
)
from sigtest.render.names import printable
from sigtest.render.numbers import fixed, interval, percent, signed
from sigtest.report import PairReport, Report

# What can begin emphasis, code, links, HTML, entities, mathematics, tables, lists or autolinks.
_SPECIAL = re.compile(r"""[\\`*_{}\[\]<>()#+!|~&$@^:="']|(?<=[wW]{3})\.|^[-.]""")


def render(report: Report) -> str:
    """The report: systems by metric, pairs by metric, warnings, signature."""
    test = leading_test(report)
    parts = [
        f"{escape(test_set_line(report))}; {percent(1 - report.alpha)} bootstrap intervals; "
        f"{escape(decision_line(report))}."
    ]
    for metric in report.metrics:
        parts.append(f"### {escape(metric_heading(report, metric))}")
        parts.append(_systems(report, metric, test))
        parts.append(_pairs(report, metric))
    if any(pair.significant for pair in report.pairs):
        parts.append(f"**Bold**: adjusted p is at most {report.alpha:g}.")
    if not all(pair.significant for pair in report.pairs):
        parts.append(f"{escape(DETECTS)}.")
    parts += [f"> **Warning:** {escape(warning)}" for warning in report.warnings]
    parts.append(f"Signature: {escape(report.signature)}")
    return "\n\n".join(parts) + "\n"


def escape(text: str) -> str:
    """`text` so that Markdown shows it as it is."""
    return _SPECIAL.sub(r"\\\g<0>", printable(text))


def _systems(report: Report, metric: str, test: str) -> str:
    ordered = standings(report, metric, test)
    places = metric_decimals(report, metric)
    heading, sides = ["system", "score", "interval"], "lrl"
    if ordered[0].score.replicas:
        heading, sides = [*heading, "training sd"], sides + "r"
    if ordered[0].rank is None:
        rows = [[escape(s.system.name), *_score(s, places)] for s in ordered]
        return _table(heading, sides, rows)
    rows = [
        [str(s.rank.cluster), rank_range(s.rank), escape(s.system.name), *_score(s, places)]
        for s in ordered
        if s.rank is not None
    ]
    title = f"Ranks and clusters by {escape(test)}:\n\n"
    return title + _table(["cluster", "rank", *heading], f"rr{sides}", rows)


def _score(standing: Standing, places: int) -> list[str]:
    score = standing.score
    cells = [fixed(score.score, places), escape(interval(score.ci, places))]
    trained = score.training_stderr
    return cells if trained is None else [*cells, fixed(trained, places)]


def _pairs(report: Report, metric: str) -> str:
    rows = pair_rows(report, metric)
    tests = rows[0].tests
    heading = ["a", "b", "a − b", "interval"]
    for pair in tests:
        name = escape(pair.test if pair.calibrated else f"{pair.test} (not calibrated)")
        heading += [f"{name} p", "adjusted p"]
    places = metric_decimals(report, metric)
    body = [_pair(row, places, report.alpha) for row in rows]
    return _table([*heading, "verdict"], "llrl" + "rr" * len(tests) + "l", body)


def _pair(row: PairRow, places: int, alpha: float) -> list[str]:
    pair = row.pair
    cells = [escape(pair.a), escape(pair.b), signed(pair.difference, places)]
    cells.append(escape(interval(pair.ci, places)))
    for test in row.tests:
        cells += _probabilities(test, alpha)
    return [*cells, escape(row.verdict)]


def _probabilities(pair: PairReport, alpha: float) -> list[str]:
    p, adjusted = (escape(shown) for shown in shown_p(pair, alpha))
    return [p, f"**{adjusted}**" if pair.significant else adjusted]


def _table(heading: Sequence[str], alignment: str, rows: Sequence[Sequence[str]]) -> str:
    rules = [{"l": ":--", "r": "--:"}[side] for side in alignment]
    return "\n".join(f"| {' | '.join(row)} |" for row in (heading, rules, *rows))
