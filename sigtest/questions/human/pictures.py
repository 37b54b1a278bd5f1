"""The pictures of a human evaluation: the only place that knows which there are."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from sigtest.questions.human.plots import (
    annotators_plot,
    boxes_plot,
    gain_plot,
    heatmap_plot,
    panels_plot,
    shows_annotators,
)
from sigtest.questions.human.report import HumanReport


@dataclass(frozen=True)
class HumanPicture:
    """One way to draw a human evaluation.

    Attributes:
        name: What addresses and the command line call it.
        title: What it shows.
        draw: Makes the SVG, of one criterion where it shows one.
        fits: Whether it can be drawn of a report.
        others: What else it can show than what it shows where nothing is chosen.
    """

    name: str
    title: str
    draw: Callable[[HumanReport, str | None], str]
    fits: Callable[[HumanReport], bool] = lambda report: True
    others: Callable[[HumanReport], Sequence[Mapping[str, str]]] = lambda report: ()

    @property
    def needs(self) -> Literal["report", "distribution"]:
        """The report alone."""
        return "report"


def _scored(report: HumanReport) -> bool:
    return any(system.criteria for system in report.systems) and report.tested in {"raw", "z"}


def _other_conclusions(report: HumanReport) -> list[dict[str, str]]:
    """Criteria beside the one whose conclusions are the report's, the last."""
    known = list(dict.fromkeys(pair.criterion for pair in report.pairs))
    return [{"criterion": criterion} for criterion in known[:-1]]


def _other_scores(report: HumanReport) -> list[dict[str, str]]:
    return [{"criterion": criterion} for criterion in report.criteria[1:]]


PICTURES: dict[str, HumanPicture] = {
    picture.name: picture
    for picture in (
        HumanPicture(
            "heatmap",
            "Which system people find better than which",
            heatmap_plot,
            others=_other_conclusions,
        ),
        HumanPicture(
            "criteria",
            "The same for every criterion and for all combined",
            lambda report, criterion: panels_plot(report),
            lambda report: len(report.criteria) > 1,
        ),
        HumanPicture("boxes", "Scores of segments by system", boxes_plot, _scored, _other_scores),
        HumanPicture(
            "annotators",
            "Each annotator's p-value and time for a judgement",
            lambda report, criterion: annotators_plot(report),
            shows_annotators,
        ),
        HumanPicture(
            "gain",
            "Gain over the years, with its interval",
            lambda report, criterion: gain_plot(report),
            lambda report: bool(report.gain),
        ),
    )
}
