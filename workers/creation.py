"""A test set that is asked for, checked: its settings, and how many systems it may take."""

from __future__ import annotations

from dataclasses import dataclass

from sigtest.comparison.comparison import part_of, require_units
from sigtest.comparison.plan import Part
from sigtest.data.names import check_name
from sigtest.data.testset import System, TestSet
from sigtest.errors import InputError, RecipeError
from sigtest.metrics.scores import Supplied
from sigtest.requests.recipe import Recipe
from sigtest.requests.testsets import CAPACITY
from sigtest.significance import own_tests
from workers.store.boards import Choice
from workers.tasks import boards


@dataclass(frozen=True)
class NewTestSet:
    """A test set that is asked for, checked.

    Attributes:
        name: What its caller calls it.
        testset: References, documents, labels.
        part: The settings, without systems; its `replicas` are those of every system to come.
        capacity: How many systems may be submitted; the size of its family.
    """

    name: str
    testset: TestSet
    part: Part
    capacity: int

    @classmethod
    def of(
        cls,
        name: str,
        testset: TestSet,
        recipe: Recipe,
        replicas: int = 1,
        capacity: int = CAPACITY,
    ) -> NewTestSet:
        """Check that test set and settings fit each other.

        Args:
            name: What to call it.
            testset: References, documents, labels.
            recipe: What to compute.
            replicas: Training replicas that every system brings; 1 for plain hypotheses.
            capacity: How many systems may be submitted, from first to last.

        Raises:
            SigtestError: A bad name, or settings that a leaderboard cannot work with.
        """
        check_name(name, "test set")
        if recipe.baseline is not None:
            raise RecipeError("A leaderboard compares all pairs; leave pairs out.", field="pairs")
        if recipe.studentised:
            raise RecipeError(
                "A leaderboard keeps no standard errors of resamples; take the bootstrap with "
                "percentile intervals here, and for bootstrap_t a comparison whose family is the "
                f"capacity ({capacity}).",
                field="interval" if recipe.interval == "bootstrap_t" else "tests",
            )
        for test in own_tests(recipe.tests):
            raise RecipeError(
                f"A leaderboard keeps no statistics that {test} could look at; take "
                "approximate_randomization or another test that draws.",
                field="tests",
            )
        _require_measurable(testset, recipe, replicas)
        require_units(testset, recipe)
        full = boards.decided(recipe, Choice(), capacity)
        fixed = full.fitted([testset]).but(resamples=full.resolved(1))
        return cls(name, testset, part_of(testset, fixed, (), (), replicas), capacity)


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
        if supplied:
            continue
        if not testset.references:
            raise InputError(f"{label} needs references; none are given.", field="references")
        # what says the same as the references can be measured, or nothing can
        metric.check(testset, System("reference", testset.references[0]))
