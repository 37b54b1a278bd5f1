"""The engine from a notebook: data of Python in, a report that shows itself out."""

from sigtest.kinds.comparisons import NotebookReport
from sigtest.notebook.asking import compare, gate, suite

__all__ = ["NotebookReport", "compare", "gate", "suite"]
