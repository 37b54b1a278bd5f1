"""Pictures of plans as SVG."""

from sigtest.questions.plans.plots.curve import curve_plot

__all__ = ["curve_plot"]
