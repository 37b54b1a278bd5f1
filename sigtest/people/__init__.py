"""Human evaluations: from people's judgements of systems to conclusions about them."""

from sigtest.people.compute import compute
from sigtest.people.files import INPUTS, is_judged
from sigtest.people.question import HumanQuestion, evaluation_in, parse
from sigtest.people.report import HumanReport

__all__ = [
    "INPUTS",
    "HumanQuestion",
    "HumanReport",
    "compute",
    "evaluation_in",
    "is_judged",
    "parse",
]
