"""Human evaluations: from people's judgements of systems to conclusions about them."""

from sigtest.questions.human.evaluate import compute
from sigtest.questions.human.files import INPUTS, is_judged
from sigtest.questions.human.report import HumanReport
from sigtest.questions.human.request.asked import Asked
from sigtest.questions.human.request.parse import evaluation_in, parse

__all__ = ["INPUTS", "Asked", "HumanReport", "compute", "evaluation_in", "is_judged", "parse"]
