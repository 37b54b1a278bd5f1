"""The pictures: the only place that knows which there are. Nothing here imports NumPy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from sigtest.late import late
from sigtest.render.plots.style import Style
from sigtest.render.plots.view import PLAIN, View, view
from sigtest.report import Report


@dataclass(frozen=True)
class Picture:
    """One way to draw a report.

    Attributes:
        name: What `sigtest plot` and the service's addresses call it.
        title: What it shows.
        needs: Whether it is drawn from the report alone, or also from the distribution of a pair.
        draw: Makes the SVG.
        fits: Whether it can be drawn of a report.
        whole: Whether one picture shows all metrics and tests.
        takes: What can be chosen besides a look, as `ReportPicture` has it.
    """

    name: str
    title: str
    needs: Literal["report", "distribution"]
    draw: Callable[[View], str]
    fits: Callable[[Report], bool] = lambda report: bool(report.pairs) and len(report.systems) > 1
    whole: bool = False
    takes: tuple[str, ...] = ("metric", "test", "testset")

    def of(
        self,
        report: Report,
        metric: str | None = None,
        test: str | None = None,
        testset: str | None = None,
        style: Style = PLAIN,
    ) -> str:
        """The SVG of a picture that needs the report alone; see `view`."""
        return self.draw(view(report, metric, test, testset, style=style))


_matrix_fits = late("sigtest.render.plots.matrix:fits")


PICTURES: dict[str, Picture] = {
    entry.name: entry
    for entry in (
        Picture(
            "intervals",
            "Scores and differences with intervals",
            "report",
            late("sigtest.render.plots.intervals:plot"),
        ),
        Picture(
            "matrix",
            "Adjusted p-values of all pairs",
            "report",
            late("sigtest.render.plots.matrix:plot"),
            _matrix_fits,
        ),
        Picture(
            "grid",
            "What each metric separates under each test",
            "report",
            late("sigtest.render.plots.grid:plot"),
            lambda report: len(report.metrics) > 1 and bool(_matrix_fits(report)),
            whole=True,
        ),
        Picture(
            "distribution",
            "Pseudo-statistics of a pair, and the tail that is counted",
            "distribution",
            late("sigtest.render.plots.distribution:plot"),
            takes=("a", "b", "metric", "test", "testset"),
        ),
    )
}
