"""The engine from a notebook: data of Python in, a report that shows itself out."""

from sigtest.notebook.asking import compare, gate, suite
from sigtest.notebook.report import NotebookReport

__all__ = ["NotebookReport", "compare", "gate", "suite"]
