"""The pseudo-statistics of one pair as a picture, and which of them are counted."""

from dataclasses import replace
from typing import Any

import numpy as np

from sigtest.arrays import Array, Flags
from sigtest.data.names import choose
from sigtest.draws.distribution import Distribution
from sigtest.render.drawing import BODY, Anchor, Drawing, text_width
from sigtest.render.marks import Axis, histogram, plane
from sigtest.render.pictures import find_pair, view
from sigtest.render.standings import metric_decimals
from sigtest.render.words import MINUS, in_words, probability, signed, whole
from sigtest.report import PairReport, Report
from sigtest.significance import ALTERNATIVES, Alternative, resampling_tests
from sigtest.significance.base import ResamplingTest, slack

BINS = 50  # over the whole axis, about
FEWEST = 20  # over the pseudo-statistics alone, about


def distribution_plot(report: Report, **chosen: Any) -> str:
    """The pseudo-statistics of one pair, the observed difference, and the tail that is counted.

    As Figures 5 and 6 of Graham, Mathur & Baldwin (2014).
    """
    seen = view(report, **chosen)
    d = seen.distribution
    assert d is not None
    pair = find_pair(seen.report, d.a, d.b, d.metric, d.test)
    higher = seen.report.metrics[pair.metric].higher_is_better
    tail, edges = counted_tail(d, pair, higher), bin_edges(d)
    p, resamples = f"p = {probability(pair.p_value)}", whole(len(tail))
    share = f"{whole(int(np.count_nonzero(tail)))} of {resamples} counted; {p}"
    if pair.exact:
        share = f"{p} is exact; the histogram shows {resamples} sampled exchanges"
    test = in_words(pair.test)
    on = f" ({seen.title})" if seen.title else ""
    drawing = Drawing(
        f"{{}} {MINUS} {{}}, {{}}",
        f"{test}: {share}; observed difference {pair.difference:+.4g}",
        (pair.a, pair.b, pair.metric),
        (f"{test}, {pair.alternative}{on}", share),
        style=seen.style,
    )
    (counts, _), (inside, _) = (np.histogram(v, bins=edges) for v in (d.values, d.values[tail]))
    ends = (edges[0], edges[-1], d.observed, -d.observed)
    what = f"{_test(pair).plural} of {pair.metric}"
    across = Axis(float(min(ends)), float(max(ends)), what)
    up = Axis(0, max(1.0, float(counts.max()) * 1.05))
    ticks = [(value, whole(int(value))) for value, _ in up.marked(5) if value.is_integer()]
    drawing.y += 9
    x, y = plane(drawing, across, replace(up, ticks=ticks))
    histogram(drawing, x, y, edges.tolist(), counts.tolist(), "light")
    histogram(drawing, x, y, edges.tolist(), inside.tolist(), "strong")
    counted, sign = _test(pair), 1.0 if higher else -1.0
    for limit in counted.limits(sign * d.observed, _alternative(pair)):  # where counting begins
        place = sign * limit if counted.directed else limit
        if place != d.observed:
            drawing.line((x(place), y.end), (x(place), y.start), dashed=True)
    at, top = x(d.observed), y.end - 8
    drawing.line((at, top), (at, y.start), thick=1.2)
    number = signed(d.observed, metric_decimals(seen.report, pair.metric))
    label = f"observed {number}".replace("-", MINUS)
    fits = at + 3 + text_width(label) * 1.1 < drawing.width
    anchor: Anchor = "start" if fits else "end"
    drawing.text(at + (3 if fits else -3), top + BODY, label, anchor=anchor)
    return drawing.svg()


def counted_tail(distribution: Distribution, pair: PairReport, higher_is_better: bool) -> Flags:
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


def _test(pair: PairReport) -> ResamplingTest:
    tests = resampling_tests()
    return tests[choose(pair.test, tests, "test", "significance test with pseudo-statistics")]


def _alternative(pair: PairReport) -> Alternative:
    """The claim; tests that state something else, such as `as printed`, look at none."""
    return next((known for known in ALTERNATIVES if known == pair.alternative), "two-sided")


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
    return np.asarray(width * np.arange(first, last + 1), float)
