"""The pictures of a metric evaluation: the only place that knows which there are."""

from __future__ import annotations

from sigtest.questions.meta.plots.correlations import correlations_plot
from sigtest.questions.meta.plots.scatter import scatter_plot, scattered
from sigtest.questions.meta.plots.shown import shown
from sigtest.questions.meta.report import MetaReport
from sigtest.render.picture import Picture


def _scatters(report: MetaReport) -> list[dict[str, str]]:
    """Every metric of every set."""
    return [
        {**_named(own.name), "metric": label}
        for own in report.sets
        for label in scattered(shown(report, own.name))
    ]


def _squares(report: MetaReport) -> list[dict[str, str]]:
    """Every set whose metrics were tested."""
    return [_named(own.name) for own in report.sets if shown(report, own.name).by_test()]


def _named(testset: str) -> dict[str, str]:
    return {"testset": testset} if testset else {}


PICTURES: dict[str, Picture] = {
    picture.name: picture
    for picture in (
        Picture(
            "scatter",
            "A metric against people, system by system",
            scatter_plot,
            _scatters,
            takes=("metric", "testset"),
        ),
        Picture(
            "correlations",
            "Correlations of metrics, and which agrees better with people",
            correlations_plot,
            _squares,
            takes=("testset",),
        ),
    )
}
