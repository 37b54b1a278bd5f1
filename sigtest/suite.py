"""Several test sets on which the same systems are compared by the same recipe."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from sigtest.comparison import CHOICES, CONTENT, Comparison
from sigtest.errors import InputError, RecipeError, SigtestError
from sigtest.multiplicity import JOINT
from sigtest.plan import Plan
from sigtest.recipe import Recipe, choose
from sigtest.suite_report import Average
from sigtest.testset import check_name
from sigtest.text import check_list


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
            RecipeError: Another recipe, or a correction that cannot span test sets.
        """
        if len(self.names) < 2:
            raise InputError(
                f"A suite needs at least two test sets; {len(self.names)} given.", field="testsets"
            )
        for name, count in Counter(check_name(name, "test set") for name in self.names).items():
            if count > 1:
                raise InputError(f"Two test sets are named {name!r}.", field="testsets")
        correction = self.comparisons[0].recipe.correction
        if correction in JOINT:
            raise RecipeError(
                f"correction {correction} counts in the draws of one test set; for several take "
                "holm or another one that needs p-values only.",
                field="correction",
            )
        for name, comparison in zip(self.names, self.comparisons, strict=True):
            self._check_fit(name, comparison)

    def _check_fit(self, name: str, comparison: Comparison) -> None:
        """Compare one test set with the first."""
        first, plan = self.comparisons[0].plan, comparison.plan
        if plan.systems != first.systems:
            raise InputError(
                f"Test set {name!r} has the systems {', '.join(plan.systems)}, and test set "
                f"{self.names[0]!r} has {', '.join(first.systems)}; every test set needs the same, "
                "in the same order.",
                field="testsets",
            )
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

    @property
    def average(self) -> Average:
        """How the test sets are put together."""
        return "pooled" if self.pooled else "macro"

    @property
    def size(self) -> int:
        """Comparisons in a family: the pairs of every test set, and of all together."""
        return (len(self.names) + 1) * len(self.comparisons[0].plan.pairs)

    @cached_property
    def plans(self) -> tuple[Plan, ...]:
        """What is computed on each test set: as many resamples, from random streams of its own."""
        plans: list[Plan] = []
        stream = 1
        for comparison in self.comparisons:
            recipe = comparison.recipe
            resolved = replace(recipe, resamples=recipe.resolved(self.size))
            plan = replace(comparison.plan, recipe=resolved, stream=stream)
            plans.append(plan)
            stream += plan.streams
        return tuple(plans)

    @cached_property
    def whole(self) -> Plan:
        """What is computed on all test sets as one, each a stratum or several.

        Strata are numbered as in `plans`, so that the bootstrap of the whole draws exactly what
        the bootstraps of the parts draw.
        """
        first = self.plans[0]
        documents = [name for t, p in enumerate(self.plans) for name in _within(t, p.documents)]
        segments = sum(plan.segments for plan in self.plans)
        labels = [
            label
            for t, plan in enumerate(self.plans)
            for label in _within(t, plan.labels or ("",) * plan.segments)
        ]
        return replace(
            first,
            digests=tuple(
                _joined(plan.digests[s] for plan in self.plans) for s in range(len(first.systems))
            ),
            segments=segments,
            documents=tuple(documents) if len(documents) == segments else None,
            labels=tuple(labels),
            testset=_joined(plan.testset for plan in self.plans),
            recipe=replace(first.recipe, stratified=True),
            stream=0,
        )

    @property
    def signature(self) -> str:
        """The line that reproduces the report."""
        plain = replace(self.plans[0], stream=0)
        return f"suite:{'+'.join(self.names)}|average:{self.average}|{plain.signature}"

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


def _named(body: object, path: str, recipe: Recipe) -> tuple[str, Comparison]:
    """One entry of `testsets`; errors carry its place in the request."""
    if not isinstance(body, Mapping):
        raise InputError(f"{path} must be an object with name, references and systems.", field=path)
    for name in body:
        choose(name, ("name", *CONTENT), f"{path}.{name}", "field of a test set")
    if "name" not in body:
        raise InputError(f"{path} has no name.", field=f"{path}.name")
    name = check_name(body["name"], "test set")
    content = {key: value for key, value in body.items() if key != "name"}
    try:
        made = Comparison.of({**content, **recipe.as_json()})
    except SigtestError as error:
        error.field = f"{path}.{error.field}"
        error.message = f"Test set {name!r}: {error.message}"
        error.args = (error.message,)
        raise
    return name, made


def _within(number: int, names: tuple[str, ...] | None) -> list[str]:
    """Names that may occur in several test sets, told apart."""
    return [f"{number}\n{name}" for name in names or ()]


def _joined(digests: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(digests).encode()).hexdigest()
