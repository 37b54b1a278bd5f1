"""The pictures of a metric evaluation: the only place that knows which there are."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from sigtest.meta.plots import correlations_plot, scatter_plot
from sigtest.meta.report import MetaReport


@dataclass(frozen=True)
class MetaPicture:
    """One way to draw a metric evaluation.

    Attributes:
        name: What addresses and the command line call it.
        title: What it shows.
        draw: Makes the SVG; what was chosen has `metric` and `testset` (a set), where named.
        fits: Whether it can be drawn of a report.
    """

    name: str
    title: str
    draw: Callable[[MetaReport, Mapping[str, str]], str]
    fits: Callable[[MetaReport], bool]

    @property
    def needs(self) -> Literal["report", "distribution"]:
        """The report alone."""
        return "report"


def _has_scores(report: MetaReport) -> bool:
    return any(sum(system.human is not None for system in own.systems) > 2 for own in report.sets)


def _has_tests(report: MetaReport) -> bool:
    return any(p.statistic == "pearson" and p.p_value is not None for p in report.pairs)


PICTURES: dict[str, MetaPicture] = {
    picture.name: picture
    for picture in (
        MetaPicture(
            "scatter",
            "A metric against people, system by system",
            lambda report, chosen: scatter_plot(
                report, chosen.get("metric"), chosen.get("testset")
            ),
            _has_scores,
        ),
        MetaPicture(
            "correlations",
            "Correlations of metrics, and which agrees better with people",
            lambda report, chosen: correlations_plot(report, chosen.get("testset")),
            _has_tests,
        ),
    )
}
