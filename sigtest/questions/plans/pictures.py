"""The pictures of plans: the only place that knows which there are."""

from __future__ import annotations

from sigtest.questions.plans.plots.curve import curve_plot
from sigtest.render.picture import ReportPicture, where

PICTURES: dict[str, ReportPicture] = {
    "plan": ReportPicture(
        "plan",
        "Smallest difference that shows, against the size of the test set",
        curve_plot,
        where(lambda report: any(pair.stderr > 0 for pair in report.pairs)),
        takes=("a", "b"),
    ),
}
