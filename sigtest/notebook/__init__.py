"""The engine from a notebook: data of Python in, a report that shows itself out."""

from sigtest.kinds.comparisons import ComparisonReport
from sigtest.notebook.asking import compare, gate, suite

__all__ = ["ComparisonReport", "compare", "gate", "suite"]
