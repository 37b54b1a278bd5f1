"""Pictures as SVG: of a report, or of a report and the distribution of one of its pairs."""

from sigtest.render.plots.pictures import PICTURES
from sigtest.render.plots.style import Style
from sigtest.render.plots.view import View, find_pair, view

__all__ = ["PICTURES", "Style", "View", "find_pair", "view"]
