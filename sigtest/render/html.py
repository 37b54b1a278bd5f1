"""A page that stands alone: tables and pictures, no scripts, nothing loaded, light and dark."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape as escape_html

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
from sigtest.render.numbers import MINUS, fixed, interval, percent, signed
from sigtest.render.plots import intervals_plot, matrix_plot
from sigtest.render.plots.drawing import COLOURS, Colour
from sigtest.report import PairReport, Report

MANY = 30  # pairs of a metric, above which their table is folded

# Pictures are drawn for paper; on a dark screen each of their colours has a counterpart.
_DARK: dict[Colour, str] = {
    "ink": "#ececec",
    "muted": "#b4b4b4",
    "rule": "#4a4f57",
    "paper": "#16191d",
    "light": "#3a4757",
    "strong": "#7fb2f0",
    "one": "#2c4a6e",
    "two": "#5b8fc7",
    "three": "#b7d3f2",
    "none": "#22262c",
}

_STYLE = """
.sigtest { --ink: #161616; --muted: #555; --rule: #c4c4c4; --paper: #fff; --mark: #1d4f91;
  --note: #fff6dd; color: var(--ink); background: var(--paper); color-scheme: light dark;
  font: 16px/1.5 system-ui, "Helvetica Neue", Arial, sans-serif; margin: 0 auto;
  max-width: 72rem; padding: 1rem 1.25rem; }
.sigtest h1 { font-size: 1.5rem; margin: 0 0 .25rem; }
.sigtest h2 { font-size: 1.2rem; margin: 2.25rem 0 .5rem; }
.sigtest p { margin: .25rem 0 .75rem; }
.sigtest .facts, .sigtest caption, .sigtest figcaption { color: var(--muted); }
.sigtest .warnings { background: var(--note); border-left: 4px solid #c98a00; list-style: none;
  margin: 1rem 0; padding: .5rem 1rem; }
.sigtest .scroll { container-type: inline-size; overflow-x: auto; }
.sigtest table { border-collapse: collapse; border-bottom: 2px solid var(--ink);
  border-top: 2px solid var(--ink); font-variant-numeric: tabular-nums; margin: .5rem 0 1.5rem; }
.sigtest caption { caption-side: top; left: 0; max-width: 100cqi; padding: .25rem 0;
  position: sticky; text-align: left; width: max-content; }
.sigtest thead th[scope=colgroup] { text-align: center; }
.sigtest th, .sigtest td { background: none; border: 0; color: inherit; padding: .2rem .7rem;
  text-align: left; vertical-align: baseline; white-space: nowrap; }
.sigtest thead th { border-bottom: 1px solid var(--ink); font-weight: 600; }
.sigtest tbody th { font-weight: 400; }
.sigtest tbody tr:hover { background: color-mix(in srgb, var(--mark) 9%, transparent); }
.sigtest tbody + tbody { border-top: 1px solid var(--muted); }
.sigtest .number { text-align: right; }
.sigtest .significant { color: var(--mark); font-weight: 600; }
.sigtest .figures { align-items: flex-start; display: flex; flex-wrap: wrap; gap: 1.5rem; }
.sigtest figure { margin: 0; max-width: 100%; }
.sigtest figure svg { height: auto; max-width: 100%; width: 30rem; }
.sigtest summary { cursor: pointer; }
.sigtest code { font-size: .85em; overflow-wrap: anywhere; }
@media (prefers-color-scheme: dark) {
.sigtest { --ink: #ececec; --muted: #b4b4b4; --rule: #4a4f57; --paper: #16191d; --mark: #7fb2f0;
  --note: #33290f; }
@DARK@
}
"""


def render(report: Report) -> str:
    """The report as an HTML document."""
    title = _title(report)
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta http-equiv="Content-Security-Policy" '
        "content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"<title>{title}</title>\n"
        "<style>@media (prefers-color-scheme: dark) { body { background: #16191d; } }</style>\n"
        f"</head>\n<body>\n{fragment(report)}</body>\n</html>\n"
    )


def fragment(report: Report) -> str:
    """The report as one element, for a notebook or another page; its style stays inside it."""
    test = leading_test(report)
    facts = f"{test_set_line(report)}; {percent(1 - report.alpha)} bootstrap intervals"
    parts = [
        f"<h1>{_title(report)}</h1>",
        f'<p class="facts">{escape(facts)}; {escape(decision_line(report))}.</p>',
        _warnings(report),
        *(_metric(report, metric, test) for metric in report.metrics),
        f'<p class="facts">{escape(DETECTS)}.</p>',
        f"<h2>Signature</h2>\n<p><code>{escape(report.signature)}</code></p>",
    ]
    body = "\n".join(part for part in parts if part)
    return f'<main class="sigtest">\n<style>{_style()}</style>\n{body}\n</main>\n'


def escape(text: str) -> str:
    """`text` as HTML shows it, in content and in attributes."""
    return escape_html(printable(text), quote=True)


def _style() -> str:
    dark = [
        f'.sigtest svg [{what}="{COLOURS[name]}"] {{ {what}: {shade}; }}'
        for name, shade in _DARK.items()
        for what in ("fill", "stroke")
    ]
    return _STYLE.replace("@DARK@", "\n".join(dark))


def _title(report: Report) -> str:
    return f"Comparison of {len(report.systems)} systems"


def _warnings(report: Report) -> str:
    if not report.warnings:
        return ""
    items = "\n".join(f"<li>{escape(warning)}</li>" for warning in report.warnings)
    return f'<ul class="warnings" aria-label="Warnings">\n{items}\n</ul>'


def _metric(report: Report, metric: str, test: str) -> str:
    parts = [
        f"<h2>{escape(metric_heading(report, metric))}</h2>",
        _systems(report, metric, test),
        _figures(report, metric, test),
        _pairs(report, metric),
    ]
    return "<section>\n" + "\n".join(parts) + "\n</section>"


def _systems(report: Report, metric: str, test: str) -> str:
    """One body of rows a cluster."""
    ordered = standings(report, metric, test)
    places = metric_decimals(report, metric)
    ranked = ordered[0].rank is not None
    caption = f"Systems, best first{f'; ranks and clusters by {test}' if ranked else ''}"
    heading = [("system", False), ("score", True), ("interval", False)]
    if ranked:
        heading.insert(0, ("rank", True))
    if ordered[0].score.replicas:
        heading.append(("training sd", True))
    bodies: list[list[str]] = [[]]
    for standing in ordered:
        if standing.opens:
            bodies.append([])
        bodies[-1].append(_system(standing, places))
    return _table(caption, [_heading(heading)], bodies)


def _system(standing: Standing, places: int) -> str:
    score = standing.score
    cells = [] if standing.rank is None else [_number(rank_range(standing.rank))]
    cells.append(f'<th scope="row">{escape(standing.system.name)}</th>')
    cells += [_number(fixed(score.score, places)), f"<td>{_minus(interval(score.ci, places))}</td>"]
    if score.training_stderr is not None:
        cells.append(_number(fixed(score.training_stderr, places)))
    return f"<tr>{''.join(cells)}</tr>"


def _figures(report: Report, metric: str, test: str) -> str:
    drawn = [intervals_plot(report, metric, test)]
    if any(system.ranks for system in report.systems):
        drawn.append(matrix_plot(report, metric, test))
    figures = "\n".join(f"<figure>\n{svg}</figure>" for svg in drawn)
    return f'<div class="figures">\n{figures}\n</div>'


def _pairs(report: Report, metric: str) -> str:
    rows = pair_rows(report, metric)
    tests = rows[0].tests
    groups = "".join(
        f'<th scope="colgroup" colspan="2">{escape(_trust(pair))}</th>' for pair in tests
    )
    columns = [("p", True), ("adjusted p", True)] * len(tests)
    left = [("a", False), ("b", False), ("a − b", True), ("interval", False), ("verdict", False)]
    head = [
        f'<tr><th colspan="{len(left)}"></th>{groups}</tr>',
        _heading([*left, *columns]),
    ]
    places = metric_decimals(report, metric)
    body = [_pair(row, places, report.alpha) for row in rows]
    table = _table(f"Pairs of systems, {metric_heading(report, metric)}", head, [body])
    if len(rows) <= MANY:
        return table
    return f"<details>\n<summary>All {len(rows)} pairs</summary>\n{table}\n</details>"


def _pair(row: PairRow, places: int, alpha: float) -> str:
    pair = row.pair
    cells = [
        f'<th scope="row">{escape(pair.a)}</th>',
        f'<th scope="row">{escape(pair.b)}</th>',
        _number(signed(pair.difference, places)),
        f"<td>{_minus(interval(pair.ci, places))}</td>",
        f"<td>{escape(row.verdict)}</td>",
    ]
    for test in row.tests:
        p, adjusted = shown_p(test, alpha)
        cells += [_number(p), _number(adjusted, "significant" if test.significant else "")]
    return f"<tr>{''.join(cells)}</tr>"


def _trust(pair: PairReport) -> str:
    return pair.test if pair.calibrated else f"{pair.test} (not calibrated)"


def _heading(columns: Iterable[tuple[str, bool]]) -> str:
    cells = (
        f'<th scope="col"{" class=number" if number else ""}>{name}</th>'
        for name, number in columns
    )
    return f"<tr>{''.join(cells)}</tr>"


def _number(shown: str, extra: str = "") -> str:
    classes = f"number {extra}".strip()
    return f'<td class="{classes}">{_minus(escape(shown))}</td>'


def _minus(shown: str) -> str:
    """Minus signs for hyphens, and an en dash in a range of ranks."""
    if shown.replace("-", "").isdigit():
        return shown.replace("-", "–")
    return shown.replace("-", MINUS)


def _table(caption: str, head: Sequence[str], bodies: Sequence[Sequence[str]]) -> str:
    rows = "\n".join("<tbody>\n" + "\n".join(body) + "\n</tbody>" for body in bodies)
    return (
        f'<div class="scroll">\n<table>\n<caption>{escape(caption)}</caption>\n'
        f"<thead>{''.join(head)}</thead>\n{rows}\n</table>\n</div>"
    )
