"""Plans: which differences a test set of another size would show, from a pilot."""

from sigtest.questions.plans.asked import Asked
from sigtest.questions.plans.compute import compute
from sigtest.questions.plans.parse import parse
from sigtest.questions.plans.report import PlanReport

__all__ = ["Asked", "PlanReport", "compute", "parse"]
