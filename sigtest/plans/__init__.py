"""Plans: which differences a test set of another size would show, from a pilot."""

from sigtest.plans.asked import Asked
from sigtest.plans.compute import compute
from sigtest.plans.parse import parse
from sigtest.plans.report import PlanReport

__all__ = ["Asked", "PlanReport", "compute", "parse"]
