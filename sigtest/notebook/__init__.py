"""The engine from a notebook: data of Python in, a report that shows itself out."""

from sigtest.kinds.comparisons import ShownReport
from sigtest.notebook.asking import compare, gate, suite

__all__ = ["ShownReport", "compare", "gate", "suite"]
