"""The pictures: the only place that knows which there are. Nothing here imports NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from sigtest.late import late
from sigtest.render.picture import Picture, where
from sigtest.render.plots.style import STYLE, Style
from sigtest.render.plots.view import View, view
from sigtest.report import Report

if TYPE_CHECKING:
    from sigtest.draws.distribution import Distribution

_matrix_fits = late("sigtest.render.plots.matrix:fits")


def picture_of_view(
    name: str,
    title: str,
    plot: Callable[[View], str],
    fits: Callable[[Report], bool] = lambda report: bool(report.pairs) and len(report.systems) > 1,
    takes: tuple[str, ...] = (),
    **others: Any,
) -> Picture:
    """A picture of what `view` finds; see `Picture`.

    Args:
        name: What addresses and the command line call it.
        title: What it shows.
        plot: Makes the SVG.
        fits: Whether it can be drawn of a report.
        takes: What can be chosen besides what `view` takes and the look.
        others: `needs` and `whole`.
    """

    def drawn(
        report: Report,
        metric: str | None = None,
        test: str | None = None,
        testset: str | None = None,
        distribution: Distribution | None = None,
        **chosen: str,
    ) -> str:
        return plot(view(report, metric, test, testset, distribution, Style.of(chosen)))

    return Picture(
        name, title, drawn, where(fits), (*takes, "metric", "test", "testset", *STYLE), **others
    )


PICTURES: dict[str, Picture] = {
    entry.name: entry
    for entry in (
        picture_of_view(
            "intervals",
            "Scores and differences with intervals",
            late("sigtest.render.plots.intervals:plot"),
        ),
        picture_of_view(
            "matrix",
            "Adjusted p-values of all pairs",
            late("sigtest.render.plots.matrix:plot"),
            _matrix_fits,
        ),
        picture_of_view(
            "grid",
            "What each metric separates under each test",
            late("sigtest.render.plots.grid:plot"),
            lambda report: len(report.metrics) > 1 and bool(_matrix_fits(report)),
            whole=True,
        ),
        picture_of_view(
            "distribution",
            "Pseudo-statistics of a pair, and the tail that is counted",
            late("sigtest.render.plots.distribution:plot"),
            takes=("a", "b"),
            needs="distribution",
        ),
    )
}
