"""The pictures of a human evaluation: the only place that knows which there are."""

from __future__ import annotations

from sigtest.people.plots.annotators import annotators_plot, shows_annotators
from sigtest.people.plots.boxes import boxes_plot
from sigtest.people.plots.gains import gain_plot
from sigtest.people.plots.heatmap import heatmap_plot, panels_plot
from sigtest.people.report import HumanReport
from sigtest.render.picture import Picture, where


def _conclusions(report: HumanReport) -> list[dict[str, str]]:
    """The report's own conclusions, which are by the last criterion; and those by the others."""
    known = list(dict.fromkeys(pair.criterion for pair in report.pairs))
    return [{}, *({"criterion": criterion} for criterion in known[:-1])]


def _scores(report: HumanReport) -> list[dict[str, str]]:
    """Every criterion, where there are scores."""
    scored = any(system.criteria for system in report.systems) and report.tested in {"raw", "z"}
    others = [{"criterion": criterion} for criterion in report.criteria[1:]]
    return [{}, *others] if scored else []


PICTURES: dict[str, Picture] = {
    picture.name: picture
    for picture in (
        Picture(
            "heatmap",
            "Which system people find better than which",
            heatmap_plot,
            _conclusions,
            takes=("criterion",),
        ),
        Picture(
            "criteria",
            "The same for every criterion and for all combined",
            panels_plot,
            where(lambda report: len(report.criteria) > 1),
        ),
        Picture("boxes", "Scores of segments by system", boxes_plot, _scores, takes=("criterion",)),
        Picture(
            "annotators",
            "Each annotator's p-value and time for a judgement",
            annotators_plot,
            where(shows_annotators),
        ),
        Picture(
            "gain",
            "Gain over the years, with its interval",
            gain_plot,
            where(lambda report: bool(report.gain)),
        ),
    )
}
