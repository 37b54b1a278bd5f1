"""The pictures of plans: the only place that knows which there are."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from sigtest.questions.plans.plots import curve_plot
from sigtest.questions.plans.report import PlanReport


@dataclass(frozen=True)
class PlanPicture:
    """One way to draw a plan.

    Attributes:
        name: What addresses and the command line call it.
        title: What it shows.
        draw: Makes the SVG; what was chosen has `a` and `b`, where a pair is named.
        fits: Whether it can be drawn of a report.
    """

    name: str
    title: str
    draw: Callable[[PlanReport, Mapping[str, str]], str]
    fits: Callable[[PlanReport], bool] = lambda report: any(p.stderr > 0 for p in report.pairs)

    @property
    def needs(self) -> Literal["report", "distribution"]:
        """The report alone."""
        return "report"


PICTURES: dict[str, PlanPicture] = {
    "plan": PlanPicture(
        "plan",
        "Smallest difference that shows, against the size of the test set",
        lambda report, chosen: curve_plot(report, chosen.get("a"), chosen.get("b")),
    ),
}
