"""Plans: which differences a test set of another size would show, from a pilot."""

from sigtest.plans.compute import compute
from sigtest.plans.parse import parse
from sigtest.plans.question import PlanQuestion
from sigtest.plans.report import PlanReport

__all__ = ["PlanQuestion", "PlanReport", "compute", "parse"]
