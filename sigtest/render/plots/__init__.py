"""Pictures of a report as SVG, each a function of the report alone or with one distribution."""

from sigtest.render.plots import distribution, intervals, matrix

distribution_plot = distribution.plot
intervals_plot = intervals.plot
matrix_plot = matrix.plot

__all__ = ["distribution_plot", "intervals_plot", "matrix_plot"]
