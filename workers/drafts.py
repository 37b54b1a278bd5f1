"""A test set before it is made."""

from __future__ import annotations

from dataclasses import dataclass

from sigtest.comparison.comparison import require_units
from sigtest.comparison.plan import Plan
from sigtest.comparison.recipe import Recipe
from sigtest.data.names import check_name
from sigtest.data.testset import TestSet
from sigtest.decide.rows import settings_of
from sigtest.errors import InputError, RecipeError
from sigtest.metrics.scores import Supplied


@dataclass(frozen=True)
class Draft:
    """A test set that was asked for, checked.

    Attributes:
        name: What its caller calls it.
        testset: References, documents, labels.
        plan: The settings, without systems; its `replicas` are those of every system to come.
    """

    name: str
    testset: TestSet
    plan: Plan

    @classmethod
    def of(cls, name: str, testset: TestSet, recipe: Recipe, replicas: int = 1) -> Draft:
        """Check that test set and settings fit each other.

        Args:
            name: What to call it.
            testset: References, documents, labels.
            recipe: What to compute.
            replicas: Training replicas that every system brings; 1 for plain hypotheses.

        Raises:
            SigtestError: A bad name, or settings that a leaderboard cannot work with.
        """
        check_name(name, "test set")
        if not isinstance(replicas, int) or isinstance(replicas, bool) or replicas < 1:
            raise RecipeError(
                "replicas must be a whole number, 1 or more: how many outputs every system brings.",
                field="replicas",
            )
        _require_measurable(testset, recipe, replicas)
        require_units(testset, recipe)
        plan = Plan(
            systems=(),
            digests=(),
            segments=testset.segments,
            references=len(testset.references),
            documents=testset.documents,
            labels=testset.labels if recipe.stratified else None,
            replicas=replicas,
            testset=testset.sha256,
            recipe=recipe,
        )
        return cls(name, testset, settings_of(plan))


def _require_measurable(testset: TestSet, recipe: Recipe, replicas: int) -> None:
    """Check that there can be systems which bring what the metrics measure."""
    for label, metric in zip(recipe.labels, recipe.metrics, strict=True):
        supplied = isinstance(metric, Supplied)
        if supplied and replicas > 1:
            raise RecipeError(
                f"{label} is about scores computed elsewhere, which systems with replicas do not "
                "bring; leave out one of the two.",
                field="metrics",
            )
        if not supplied and not testset.references:
            raise InputError(f"{label} needs references; none are given.", field="references")
