"""The pictures of accuracy of tests: the only place that knows which there are."""

from __future__ import annotations

from sigtest.questions.accuracy.plots.bars import bars_plot
from sigtest.questions.accuracy.plots.grid import grid_plot
from sigtest.questions.accuracy.report import AccuracyReport
from sigtest.render.picture import Picture


def _levels(report: AccuracyReport) -> list[dict[str, str]]:
    """Every level, where there are rows."""
    others = [{"alpha": f"{alpha:g}"} for alpha in report.alphas[1:]]
    return [{}, *others] if report.rows else []


PICTURES: dict[str, Picture] = {
    picture.name: picture
    for picture in (
        Picture(
            "accuracy",
            "How often tests conclude what people conclude",
            bars_plot,
            _levels,
            takes=("alpha",),
        ),
        Picture(
            "grid",
            "Conclusions of every metric and test, and of people",
            grid_plot,
            _levels,
            takes=("alpha",),
        ),
    )
}
