"""Pictures of the accuracy of tests as SVG."""

from sigtest.accuracy.plots.bars import bars_plot
from sigtest.accuracy.plots.grid import grid_plot

__all__ = ["bars_plot", "grid_plot"]
