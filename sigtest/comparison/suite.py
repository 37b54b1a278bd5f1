"""Several test sets on which the same systems are compared by the same recipe."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from sigtest.comparison.comparison import CHOICES, CONTENT, Comparison
from sigtest.comparison.plan import Plan
from sigtest.comparison.recipe import Recipe
from sigtest.comparison.suite_plan import SuitePlan
from sigtest.data.choices import choose
from sigtest.data.names import check_name
from sigtest.data.text import check_list
from sigtest.errors import InputError, RecipeError, SigtestError
from sigtest.significance import own_tests
from sigtest.significance.corrections import CORRECTIONS


@dataclass(frozen=True)
class Suite:
    """Validated when made; everything that follows may trust it.

    Attributes:
        names: Of the test sets.
        comparisons: One a test set: the same systems, in the same order, and the same recipe.
        pooled: Whether the test sets share a language and everything else that makes sums over
            them meaningful; scores of all together are means over test sets otherwise.
    """

    names: tuple[str, ...]
    comparisons: tuple[Comparison, ...]
    pooled: bool = False

    def __post_init__(self) -> None:
        """Check that the test sets fit each other.

        Raises:
            InputError: Fewer than two test sets, a name used twice, other systems or other
                numbers of replicas than the first test set has, pooled ones with other numbers of
                reference sets.
            RecipeError: Another recipe, or a correction or test that cannot span test sets.
        """
        if len(self.names) < 2:
            raise InputError(
                f"A suite needs at least two test sets; {len(self.names)} given.", field="testsets"
            )
        for name, count in Counter(check_name(name, "test set") for name in self.names).items():
            if count > 1:
                raise InputError(f"Two test sets are named {name!r}.", field="testsets")
        correction = self.comparisons[0].recipe.correction
        if CORRECTIONS[correction].joint:
            raise RecipeError(
                f"correction {correction} counts in the draws of one test set; for several take "
                "holm or another one that needs p-values only.",
                field="correction",
            )
        for test in own_tests(self.comparisons[0].recipe.tests):
            raise RecipeError(
                f"{test} compares the units of one test set; for several take "
                "approximate_randomization or another test that draws.",
                field="tests",
            )
        for name, comparison in zip(self.names, self.comparisons, strict=True):
            self._check_fit(name, comparison)

    def _check_fit(self, name: str, comparison: Comparison) -> None:
        """Compare one test set with the first."""
        first, plan = self.comparisons[0].plan, comparison.plan
        if plan.systems != first.systems:
            raise _other_systems((name, plan.systems), (self.names[0], first.systems))
        if plan.recipe != first.recipe:
            raise RecipeError(f"Test set {name!r} has a recipe of its own.", field="testsets")
        if plan.replicas != first.replicas:
            raise InputError(
                f"Systems have {plan.replicas} replicas on test set {name!r} and {first.replicas} "
                f"on {self.names[0]!r}; every test set needs equally many.",
                field="testsets",
            )
        if self.pooled and plan.references != first.references:
            raise InputError(
                f"Test set {name!r} has {plan.references} reference sets and {self.names[0]!r} has "
                f"{first.references}; pooled test sets need equally many.",
                field="pooled",
            )

    @cached_property
    def plans(self) -> tuple[Plan, ...]:
        """What is computed on each test set: as many resamples, from random streams of its own."""
        size = (len(self.names) + 1) * len(self.comparisons[0].plan.pairs)
        plans: list[Plan] = []
        stream = 1
        for comparison in self.comparisons:
            recipe = comparison.recipe
            resolved = replace(recipe, resamples=recipe.resolved(size))
            plan = replace(comparison.plan, recipe=resolved, stream=stream)
            plans.append(plan)
            stream += plan.streams
        return tuple(plans)

    @cached_property
    def plan(self) -> SuitePlan:
        """What is left of the suite once its texts are measured."""
        return SuitePlan(self.names, self.plans, self.pooled)

    @property
    def whole(self) -> Plan:
        """What is computed on all test sets as one."""
        return self.plan.whole

    def as_json(self) -> dict[str, Any]:
        """The JSON request that `of` turns into this suite."""
        bodies = [comparison.as_json() for comparison in self.comparisons]
        testsets = [
            {"name": name, **{field: body[field] for field in CONTENT if field in body}}
            for name, body in zip(self.names, bodies, strict=True)
        ]
        choices = self.comparisons[0].recipe.as_json()
        return {"testsets": testsets, "pooled": self.pooled, **choices}

    @classmethod
    def of(cls, request: Mapping[str, Any]) -> Suite:
        """Build a suite from a JSON request.

        Args:
            request: `testsets`, a list of objects with `name` and what a comparison has of content
                (`references`, `systems`, `documents`, `labels`, `segments`); `pooled`; and the
                choices of a recipe.

        Raises:
            SigtestError: See the parts; messages name the test set.
        """
        if not isinstance(request, Mapping):
            raise RecipeError("A suite is asked for with an object.", field="testsets")
        for name in request:
            choose(name, ("testsets", "pooled", *CHOICES), name, "field")
        pooled = request.get("pooled", False)
        if not isinstance(pooled, bool):
            raise RecipeError("pooled must be true or false.", field="pooled")
        recipe = Recipe.of({name: request[name] for name in CHOICES if name in request})
        bodies = check_list(request.get("testsets", []), "testsets")
        named = [_named(body, f"testsets[{i}]", recipe) for i, body in enumerate(bodies)]
        return cls(tuple(name for name, _ in named), tuple(made for _, made in named), pooled)


def _other_systems(
    found: tuple[str, tuple[str, ...]], wanted: tuple[str, tuple[str, ...]]
) -> InputError:
    """The error of a test set whose systems are not those of the first; each with its name."""
    (name, systems), (first, expected) = found, wanted
    if missing := [system for system in expected if system not in systems]:
        odd = missing[0]
        differs = f"lacks {', '.join(missing)}, which test set {first!r} has"
    elif further := [system for system in systems if system not in expected]:
        odd = further[0]
        differs = f"has {', '.join(further)}, which test set {first!r} lacks"
    else:
        place = next(i for i, system in enumerate(systems) if system != expected[i])
        odd = systems[place]
        differs = f"has {odd} where test set {first!r} has {expected[place]}"
    return InputError(
        f"Test set {name!r} {differs}; every test set needs the same systems, in the same order.",
        field="testsets",
        system=odd,
    )


def _named(body: object, path: str, recipe: Recipe) -> tuple[str, Comparison]:
    """One entry of `testsets`; errors carry its place in the request."""
    if not isinstance(body, Mapping):
        raise InputError(f"{path} must be an object with name, references and systems.", field=path)
    for name in body:
        choose(name, ("name", *CONTENT), f"{path}.{name}", "field of a test set")
    if "name" not in body:
        raise InputError(f"{path} has no name.", field=f"{path}.name")
    try:
        name = check_name(body["name"], "test set")
    except InputError as error:
        error.field = f"{path}.name"
        raise
    content = {key: value for key, value in body.items() if key != "name"}
    try:
        made = Comparison.of({**content, **recipe.as_json()})
    except SigtestError as error:
        if error.field not in CHOICES:  # which are not the test set's
            error.field = f"{path}.{error.field}" if error.field else path
        error.message = f"Test set {name!r}: {error.message}"
        error.args = (error.message,)
        raise
    return name, made
