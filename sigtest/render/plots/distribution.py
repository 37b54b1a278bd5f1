"""The pseudo-statistics of one pair, the observed difference, and the tail that is counted.

As Figures 5 and 6 of Graham, Mathur & Baldwin (2014).
"""

from __future__ import annotations

import numpy as np

from sigtest.arrays import Array, Flags
from sigtest.draws.distribution import Distribution
from sigtest.render.digits import MINUS, probability, signed, whole
from sigtest.render.plots.drawing import (
    BODY,
    BOLD,
    COLUMN,
    HEADING,
    SMALL,
    Drawing,
    Scale,
    text_width,
)
from sigtest.render.plots.labels import short_names, shortened
from sigtest.render.plots.view import View, find_pair
from sigtest.render.standings import metric_decimals
from sigtest.report import PairReport
from sigtest.significance.base import SLACK

HEIGHT = 150.0
LEFT, RIGHT, TOP, BOTTOM = 30.0, 7.0, 40.0, 30.0
BINS = 50  # over the whole axis, about
FEWEST = 20  # over the pseudo-statistics alone, about


def plot(view: View) -> str:
    """The picture as SVG, of a view with a distribution."""
    distribution = view.distribution
    assert distribution is not None
    report, d = view.report, distribution
    pair = find_pair(report, d.a, d.b, d.metric, d.test)
    higher = report.metrics[pair.metric].higher_is_better
    tail = counted(distribution, pair, higher)
    heading = _heading(pair)
    wide = max(COLUMN, LEFT + text_width(heading, HEADING) * BOLD + RIGHT)
    summary = _summary(pair, tail)
    full = f"{pair.a} {MINUS} {pair.b}, {pair.metric}"
    drawing = Drawing(full, f"{pair.test}: {'; '.join(summary)}", wide, HEIGHT)
    drawing.text(LEFT, 11, heading, size=HEADING, bold=True)
    test = f"{pair.test}, {pair.alternative}"
    if view.title:
        test += f" ({shortened(view.title, wide / 3, SMALL)})"
    for i, line in enumerate((test, summary[0])):
        drawing.text(LEFT, 20.5 + 8.5 * i, line, size=SMALL, colour="muted")
    across, up = _histogram(drawing, distribution, tail)
    _axes(drawing, across, up, pair)
    _marks(drawing, across, distribution, pair, metric_decimals(report, pair.metric))
    return drawing.render()


def counted(distribution: Distribution, pair: PairReport, higher_is_better: bool) -> Flags:
    """(R,) which pseudo-statistics the test counts against the claim, for the pair's alternative.

    What `SignificanceTest.count` counts, on values that are centred already.
    """
    sign = 1.0 if higher_is_better else -1.0
    values, observed = sign * distribution.values, sign * distribution.observed
    slack = SLACK * max(abs(pair.score_a), abs(pair.score_b))
    if pair.test == "paired_bootstrap":
        return _paired(values, pair.alternative, slack)
    if pair.alternative == "two-sided":
        return np.abs(values) >= abs(observed) - slack
    if pair.alternative == "as printed":  # lengths, which have no direction
        return distribution.values >= abs(observed) - slack
    claim = -1.0 if pair.alternative == "less" else 1.0
    return claim * values >= claim * observed - slack


def _paired(values: Array, alternative: str, slack: float) -> Flags:
    against_a, against_b = values <= slack, values >= -slack
    if alternative == "two-sided":
        fewer = np.count_nonzero(against_a) <= np.count_nonzero(against_b)
        return against_a if fewer else against_b
    return against_a if alternative == "greater" else against_b


def _heading(pair: PairReport) -> str:
    """The two systems and the metric, as far as a column has room for them."""
    room = (COLUMN - LEFT - RIGHT) / BOLD
    given = f"{pair.a} {MINUS} {pair.b}, {pair.metric}"
    if text_width(given, HEADING) <= room:
        return given
    metric = shortened(pair.metric, 0.35 * room, HEADING)
    rest = room - text_width(f" {MINUS} , {metric}", HEADING)
    names = short_names([pair.a, pair.b], rest / 2, HEADING)
    return f"{names[pair.a]} {MINUS} {names[pair.b]}, {metric}"


def _summary(pair: PairReport, tail: Flags) -> tuple[str, str]:
    """How p came about, and the observed difference."""
    p, drawn = f"p = {probability(pair.p_value)}", whole(len(tail))
    share = f"{whole(int(np.count_nonzero(tail)))} of {drawn} counted; {p}"
    if pair.exact:
        share = f"{p} is exact; the histogram shows {drawn} sampled exchanges"
    return share, f"observed difference {pair.difference:+.4g}"


def _histogram(drawing: Drawing, distribution: Distribution, tail: Flags) -> tuple[Scale, Scale]:
    """All pseudo-statistics in light, the counted ones in dark before them."""
    edges = bin_edges(distribution)
    counts, _ = np.histogram(distribution.values, bins=edges)
    inside, _ = np.histogram(distribution.values[tail], bins=edges)
    low = min(float(edges[0]), -abs(distribution.observed))
    high = max(float(edges[-1]), abs(distribution.observed))
    across = Scale(low, high, LEFT + 4, drawing.width - RIGHT)
    up = Scale(0, max(1.0, float(counts.max()) * 1.05), HEIGHT - BOTTOM, TOP + 10)
    for heights, strong in ((counts, False), (inside, True)):
        outline = [(across(float(edges[0])), up(0))]
        for i, height in enumerate(heights):
            y = up(float(height))
            outline += [(across(float(edges[i])), y), (across(float(edges[i + 1])), y)]
        outline.append((across(float(edges[-1])), up(0)))
        drawing.area(outline, "strong" if strong else "light")
    return across, up


def bin_edges(distribution: Distribution) -> Array:
    """Edges of equal bins that hold all pseudo-statistics.

    Zero and both observed differences, where counting begins, are edges, so that no bar is half
    dark; pseudo-statistics that are far from the observed difference have narrow bins.
    """
    observed = abs(distribution.observed)
    low, high = float(distribution.values.min()), float(distribution.values.max())
    span = max(high, observed) - min(low, -observed)
    if span == 0:
        return (np.arange(26) - 12.5) / 25  # all at 0: one bar of 25
    width = min(span / BINS, max((high - low) / FEWEST, span / (4 * BINS)))
    if observed >= width / 2:
        width = observed / max(1, round(observed / width))
    first, last = np.floor(low / width), np.floor(high / width) + 1
    return np.asarray(width * np.arange(first, last + 1), dtype=np.float64)


def _axes(drawing: Drawing, across: Scale, up: Scale, pair: PairReport) -> None:
    floor = up(0)
    drawing.line((across.start, floor), (across.end, floor))
    for value in across.ticks(8):
        drawing.line((across(value), floor), (across(value), floor + 2.5))
        label = f"{value:g}".replace("-", MINUS)
        drawing.text(across(value), floor + 9.5, label, size=SMALL, anchor="middle")
    for value in up.ticks(5):
        drawing.line((LEFT, up(value)), (LEFT + 2.5, up(value)), colour="muted")
        drawing.text(LEFT - 2, up(value) + 2.2, whole(int(value)), size=SMALL, anchor="end")
    kind = "bootstrap differences" if pair.test == "paired_bootstrap" else "pseudo-statistics"
    room = across.end - across.start - text_width(kind)
    what = f"{kind} of {shortened(pair.metric, 0.8 * room)}"
    drawing.text((across.start + across.end) / 2, floor + 20, what, anchor="middle")


def _marks(
    drawing: Drawing, across: Scale, distribution: Distribution, pair: PairReport, places: int
) -> None:
    """The observed difference, and where else counting begins."""
    floor = HEIGHT - BOTTOM
    if pair.test == "paired_bootstrap":
        drawing.line((across(0), TOP + 10), (across(0), floor), dashed=True)
    elif pair.alternative in {"two-sided", "as printed"}:
        x = across(-distribution.observed)
        if pair.alternative == "two-sided" or distribution.observed < 0:
            drawing.line((x, TOP + 10), (x, floor), dashed=True)
    x = across(distribution.observed)
    drawing.line((x, TOP + 2), (x, floor), thick=1.2)
    label = f"observed {signed(distribution.observed, places)}".replace("-", MINUS)
    fits = x + 3 + text_width(label) * 1.1 < drawing.width
    drawing.text(x + (3 if fits else -3), TOP + 2 + BODY, label, anchor="start" if fits else "end")
