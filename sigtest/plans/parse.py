"""From the JSON body of POST /v1/plans to what is asked; every field is checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from sigtest.comparison.comparison import Comparison
from sigtest.comparison.parse import parse_named
from sigtest.data.choices import choose
from sigtest.errors import InputError, RecipeError
from sigtest.plans.compute import LEAST_UNITS
from sigtest.plans.question import PlanQuestion
from sigtest.requests.plans import PlanRequest


def parse(request: Mapping[str, Any]) -> PlanQuestion:
    """Validate a request completely.

    Args:
        request: See `PlanRequest`; the comparison may be one that was parsed, as its `id`.

    Raises:
        SigtestError: Something is missing, unknown, out of range, or does not fit the rest.
    """
    wanted = PlanRequest.of(request)
    comparison = _comparison(wanted.comparison)
    labels = comparison.recipe.labels
    metric = choose(wanted.metric or labels[0], labels, "metric", "metric of the pilot")
    recipe = comparison.recipe.but(
        metrics=(comparison.recipe.metrics[labels.index(metric)],),
        resamples=comparison.plan.resamples,
    )
    return PlanQuestion(
        pilot=replace(comparison, recipe=recipe),
        pair=_pair(comparison, wanted),
        difference=wanted.difference,
        units=wanted.units,
        corrected=wanted.corrected,
    )


def _comparison(body: Mapping[str, Any]) -> Comparison:
    """A comparison that can be a pilot."""
    made = parse_named(body)
    if len(made.entries) > 1:
        raise RecipeError("A plan is about one test set.", field="comparison")
    if len(made.plan.pairs) < 1:
        raise InputError("The pilot has no pairs of systems.", field="comparison.systems")
    (part,) = made.plan.parts
    if part.units < LEAST_UNITS:
        raise InputError(
            f"A pilot needs at least {LEAST_UNITS} {part.recipe.unit}s to say how far scores "
            f"vary; {part.units} given.",
            field="comparison",
        )
    if not part.spread_known:
        raise InputError(
            f"A pilot needs two {part.recipe.unit}s of one label at least; otherwise nothing says "
            "how scores vary within strata.",
            field="comparison",
        )
    return made


def _pair(comparison: Comparison, wanted: PlanRequest) -> tuple[str, str] | None:
    """The pair that is named, in the order in which the pilot compares it."""
    named = {"a": wanted.a, "b": wanted.b}
    if not any(named.values()):
        return None
    for field, name in named.items():
        if name is None:
            raise RecipeError(f"{field} is missing: the name of a system.", field=field)
        choose(name, comparison.plan.systems, field, "system of the pilot")
    systems = comparison.plan.systems
    for a, b in comparison.plan.pairs.tolist():
        if {systems[a], systems[b]} == {wanted.a, wanted.b}:
            return systems[a], systems[b]
    raise RecipeError(f"The pilot does not compare {wanted.a} with {wanted.b}.", field="b")
