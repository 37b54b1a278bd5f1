"""Pictures of the accuracy of tests as SVG."""

from sigtest.questions.accuracy.plots.bars import bars_plot
from sigtest.questions.accuracy.plots.grid import grid_plot

__all__ = ["bars_plot", "grid_plot"]
