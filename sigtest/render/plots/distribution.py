"""The pseudo-statistics of one pair, the observed difference, and the tail that is counted.

As Figures 5 and 6 of Graham, Mathur & Baldwin (2014).
"""

from __future__ import annotations

import numpy as np

from sigtest.arrays import Array, Flags
from sigtest.data.choices import choose
from sigtest.draws.distribution import Distribution
from sigtest.render.digits import MINUS, probability, signed, whole
from sigtest.render.names import in_words
from sigtest.render.plots.drawing import (
    BODY,
    BOLD,
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
from sigtest.significance import ALTERNATIVES, Alternative, ResamplingTest, resampling_tests
from sigtest.significance.base import slack

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
    heading = view.titled(_heading(pair, view.width))
    wide = max(view.width, LEFT + text_width(heading, HEADING) * BOLD + RIGHT)
    summary = _summary(pair, tail)
    full = f"{pair.a} {MINUS} {pair.b}, {pair.metric}"
    said = f"{in_words(pair.test)}: {'; '.join(summary)}"
    drawing = Drawing(full, said, wide, HEIGHT, shown_width=view.style.width)
    test = f"{in_words(pair.test)}, {pair.alternative}"
    if view.title:
        test += f" ({shortened(view.title, wide / 3, SMALL)})"
    shown = view.style.has("title")
    drawing.heading(heading, test, summary[0], left=LEFT, shown=shown, top=TOP - 4)
    across, up = _histogram(drawing, distribution, tail)
    _axes(drawing, across, up, pair)
    limits = _limits(distribution, pair, higher)
    _marks(drawing, across, d.observed, limits, metric_decimals(report, pair.metric))
    return drawing.render()


def counted(distribution: Distribution, pair: PairReport, higher_is_better: bool) -> Flags:
    """(R,) which pseudo-statistics the test calls extreme, for the pair's alternative.

    Args:
        distribution: Values that are held against the difference, not oriented.
        pair: Of the report, in the distribution's order.
        higher_is_better: False for error metrics.

    Raises:
        RecipeError: A test without pseudo-statistics, or one that is not known here.
    """
    test, sign = _test(pair), 1.0 if higher_is_better else -1.0
    values = sign * distribution.values if test.directed else distribution.values
    observed = np.array([sign * distribution.observed])
    tolerance = slack(np.array([pair.score_a]), np.array([pair.score_b]))
    return test.extreme(observed, values[None], tolerance, _alternative(pair))[0]


def _limits(
    distribution: Distribution, pair: PairReport, higher_is_better: bool
) -> tuple[float, ...]:
    """Where counting begins on the axis of the distribution."""
    test, sign = _test(pair), 1.0 if higher_is_better else -1.0
    limits = test.limits(sign * distribution.observed, _alternative(pair))
    return tuple(sign * limit for limit in limits) if test.directed else limits


def _test(pair: PairReport) -> ResamplingTest:
    tests = resampling_tests()
    return tests[choose(pair.test, tests, "test", "significance test with pseudo-statistics")]


def _alternative(pair: PairReport) -> Alternative:
    """The claim; tests that state something else, such as `as printed`, look at none."""
    return next((known for known in ALTERNATIVES if known == pair.alternative), "two-sided")


def _heading(pair: PairReport, width: float) -> str:
    """The two systems and the metric, as far as a column has room for them."""
    room = (width - LEFT - RIGHT) / BOLD
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
    drawing.axis(across, floor, 8)
    for value in up.ticks(5):
        drawing.line((LEFT, up(value)), (LEFT + 2.5, up(value)), colour="muted")
        drawing.text(LEFT - 2, up(value) + 2.2, whole(int(value)), size=SMALL, anchor="end")
    drawn = _test(pair).drawn
    room = across.end - across.start - text_width(drawn)
    what = f"{drawn} of {shortened(pair.metric, 0.8 * room)}"
    drawing.text((across.start + across.end) / 2, floor + 20, what, anchor="middle")


def _marks(
    drawing: Drawing, across: Scale, observed: float, limits: tuple[float, ...], places: int
) -> None:
    """The observed difference, and where else counting begins."""
    floor = HEIGHT - BOTTOM
    for limit in limits:
        if limit != observed:
            drawing.line((across(limit), TOP + 10), (across(limit), floor), dashed=True)
    x = across(observed)
    drawing.line((x, TOP + 2), (x, floor), thick=1.2)
    label = f"observed {signed(observed, places)}".replace("-", MINUS)
    fits = x + 3 + text_width(label) * 1.1 < drawing.width
    drawing.text(x + (3 if fits else -3), TOP + 2 + BODY, label, anchor="start" if fits else "end")
