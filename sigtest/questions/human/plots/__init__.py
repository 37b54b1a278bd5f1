"""Pictures of a human evaluation as SVG, each a function of the report."""

from sigtest.questions.human.plots.annotators import annotators_plot, shows_annotators
from sigtest.questions.human.plots.boxes import boxes_plot
from sigtest.questions.human.plots.gains import gain_plot
from sigtest.questions.human.plots.heatmap import heatmap_plot, panels_plot

__all__ = [
    "annotators_plot",
    "boxes_plot",
    "gain_plot",
    "heatmap_plot",
    "panels_plot",
    "shows_annotators",
]
