"""Pictures of metric evaluations as SVG, each a function of the report and what of it to show."""

from sigtest.questions.meta.plots.correlations import correlations_plot
from sigtest.questions.meta.plots.scatter import scatter_plot, scattered
from sigtest.questions.meta.plots.shown import shown

__all__ = ["correlations_plot", "scatter_plot", "scattered", "shown"]
