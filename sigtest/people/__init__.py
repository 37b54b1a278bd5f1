"""Human evaluations: from people's judgements of systems to conclusions about them."""

from sigtest.people.evaluate import compute
from sigtest.people.files import INPUTS, is_judged
from sigtest.people.report import HumanReport
from sigtest.people.request.asked import Asked
from sigtest.people.request.parse import evaluation_in, parse

__all__ = ["INPUTS", "Asked", "HumanReport", "compute", "evaluation_in", "is_judged", "parse"]
