"""Gates: whether a change may pass, given how much worse it may be."""

from sigtest.gates.checks import check_choices
from sigtest.gates.decide import gate
from sigtest.gates.report import GateReport

__all__ = ["GateReport", "check_choices", "gate"]
