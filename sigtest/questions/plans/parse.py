"""From the JSON body of POST /v1/plans to what is asked; every field is checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from sigtest.comparison.comparison import Comparison
from sigtest.comparison.parse import parse_named
from sigtest.data.choices import choose
from sigtest.data.compound import checked
from sigtest.errors import InputError, RecipeError
from sigtest.questions.plans.asked import Asked
from sigtest.questions.plans.compute import LEAST_UNITS
from sigtest.questions.plans.fields import CORRECTED, DIFFERENCE, FIELDS, METRIC, UNITS, A, B


def parse(request: Mapping[str, Any]) -> Asked:
    """Validate a request completely.

    Args:
        request: `comparison`, a request of /comparisons on one test set, or one that was parsed, as
            its `id`; and what `FIELDS` says.

    Raises:
        SigtestError: Something is missing, unknown, out of range, or does not fit the rest.
    """
    given = checked(FIELDS, request, ("comparison",))
    comparison = _comparison(request.get("comparison"))
    labels = comparison.recipe.labels
    metric = choose(given.get(METRIC.name, labels[0]), labels, METRIC.name, "metric of the pilot")
    recipe = replace(
        comparison.recipe,
        metrics=(comparison.recipe.metrics[labels.index(metric)],),
        resamples=comparison.plan.resamples,
    )
    return Asked(
        pilot=replace(comparison, recipe=recipe),
        pair=_pair(comparison, given),
        difference=given.get(DIFFERENCE.name),
        units=given.get(UNITS.name),
        corrected=given.get(CORRECTED.name, False),
    )


def _comparison(body: object) -> Comparison:
    """A comparison that can be a pilot."""
    if not isinstance(body, Mapping) or not body:
        needed = 'the pilot\'s references and outputs, or {"id": ID} of a finished comparison'
        raise InputError(f"comparison must be an object: {needed}.", field="comparison")
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


def _pair(comparison: Comparison, given: Mapping[str, Any]) -> tuple[str, str] | None:
    """The pair that is named, in the order in which the pilot compares it."""
    if A.name not in given and B.name not in given:
        return None
    for field in (A.name, B.name):
        if field not in given:
            raise RecipeError(f"{field} is missing: the name of a system.", field=field)
        choose(given[field], comparison.plan.systems, field, "system of the pilot")
    systems, wanted = comparison.plan.systems, {given[A.name], given[B.name]}
    for a, b in comparison.plan.pairs.tolist():
        if {systems[a], systems[b]} == wanted:
            return systems[a], systems[b]
    raise RecipeError(
        f"The pilot does not compare {given[A.name]} with {given[B.name]}.", field=B.name
    )
