"""The pictures of accuracy of tests: the only place that knows which there are."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from sigtest.questions.accuracy.plots import bars_plot, grid_plot
from sigtest.questions.accuracy.report import AccuracyReport


@dataclass(frozen=True)
class AccuracyPicture:
    """One way to draw accuracy of tests.

    Attributes:
        name: What addresses and the command line call it.
        title: What it shows.
        draw: Makes the SVG; what was chosen has `alpha`, where named.
        fits: Whether it can be drawn of a report.
        others: What else it can show than what it shows where nothing is chosen.
    """

    name: str
    title: str
    draw: Callable[[AccuracyReport, Mapping[str, str]], str]
    fits: Callable[[AccuracyReport], bool] = lambda report: bool(report.rows)
    others: Callable[[AccuracyReport], Sequence[Mapping[str, str]]] = lambda report: [
        {"alpha": f"{alpha:g}"} for alpha in report.alphas[1:]
    ]

    @property
    def needs(self) -> Literal["report", "distribution"]:
        """The report alone."""
        return "report"


PICTURES: dict[str, AccuracyPicture] = {
    picture.name: picture
    for picture in (
        AccuracyPicture(
            "accuracy",
            "How often tests conclude what people conclude",
            lambda report, chosen: bars_plot(report, chosen.get("alpha")),
        ),
        AccuracyPicture(
            "grid",
            "Conclusions of every metric and test, and of people",
            lambda report, chosen: grid_plot(report, chosen.get("alpha")),
        ),
    )
}
