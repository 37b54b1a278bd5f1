"""Pictures of a human evaluation as SVG, each a function of the report."""

from sigtest.human.plots.annotators import annotators_plot, shows_annotators
from sigtest.human.plots.boxes import boxes_plot
from sigtest.human.plots.gains import gain_plot
from sigtest.human.plots.heatmap import heatmap_plot, panels_plot

__all__ = [
    "annotators_plot",
    "boxes_plot",
    "gain_plot",
    "heatmap_plot",
    "panels_plot",
    "shows_annotators",
]
