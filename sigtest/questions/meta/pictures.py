"""The pictures of a metric evaluation: the only place that knows which there are."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from sigtest.questions.meta.plots import correlations_plot, scatter_plot, scattered, shown
from sigtest.questions.meta.report import MetaReport

Chosen = Mapping[str, str]


@dataclass(frozen=True)
class MetaPicture:
    """One way to draw a metric evaluation.

    Attributes:
        name: What addresses and the command line call it.
        title: What it shows.
        plot: Makes the SVG of a `metric` and a `testset` (a set), the first where none is named.
        shows: All that it can show of a report, of which the first is shown unless another is
            chosen.
    """

    name: str
    title: str
    plot: Callable[[MetaReport, Chosen], str]
    shows: Callable[[MetaReport], Sequence[Chosen]]

    @property
    def needs(self) -> Literal["report", "distribution"]:
        """The report alone."""
        return "report"

    def fits(self, report: MetaReport) -> bool:
        """Whether it can be drawn of a report."""
        return bool(self.shows(report))

    def draw(self, report: MetaReport, chosen: Chosen) -> str:
        """The SVG."""
        return self.plot(report, chosen or next(iter(self.shows(report)), {}))


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


PICTURES: dict[str, MetaPicture] = {
    picture.name: picture
    for picture in (
        MetaPicture(
            "scatter",
            "A metric against people, system by system",
            lambda report, chosen: scatter_plot(
                report, chosen.get("metric"), chosen.get("testset")
            ),
            _scatters,
        ),
        MetaPicture(
            "correlations",
            "Correlations of metrics, and which agrees better with people",
            lambda report, chosen: correlations_plot(report, chosen.get("testset")),
            _squares,
        ),
    )
}
