"""Human evaluations: from people's judgements of systems to conclusions about them."""

from sigtest.human.evaluate import compute
from sigtest.human.files import INPUTS
from sigtest.human.report import HumanReport
from sigtest.human.request.asked import Asked
from sigtest.human.request.parse import parse

__all__ = ["INPUTS", "Asked", "HumanReport", "compute", "parse"]
