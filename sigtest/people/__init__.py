"""Human evaluations: from people's judgements of systems to conclusions about them."""

from sigtest.files.registry import is_judged
from sigtest.people.compute import compute
from sigtest.people.question import HumanQuestion, evaluation_in, parse
from sigtest.people.report import HumanReport

__all__ = [
    "HumanQuestion",
    "HumanReport",
    "compute",
    "evaluation_in",
    "is_judged",
    "parse",
]
