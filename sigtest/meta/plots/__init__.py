"""Pictures of metric evaluations as SVG, each a function of the report and what of it to show."""

from sigtest.meta.plots.correlations import correlations_plot
from sigtest.meta.plots.scatter import scatter_plot, scattered
from sigtest.meta.plots.shown import shown

__all__ = ["correlations_plot", "scatter_plot", "scattered", "shown"]
