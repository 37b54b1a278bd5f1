"""The pictures of plans: the only place that knows which there are."""

from __future__ import annotations

from sigtest.questions.plans.plots.curve import curve_plot
from sigtest.render.picture import Picture, where

PICTURES: dict[str, Picture] = {
    "plan": Picture(
        "plan",
        "Smallest difference that shows, against the size of the test set",
        curve_plot,
        where(lambda report: any(pair.stderr > 0 for pair in report.pairs)),
        takes=("a", "b"),
    ),
}
