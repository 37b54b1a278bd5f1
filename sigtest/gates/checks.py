"""What a gate can be asked, and with what margin."""

from __future__ import annotations

import math
from collections.abc import Mapping
from contextlib import suppress
from numbers import Real
from typing import Any

from sigtest.comparison.comparison import Comparison
from sigtest.errors import RecipeError
from sigtest.gates.report import Claim
from sigtest.significance import CORRECTIONS
from sigtest.significance.levels import smallest_attainable

# what a gate's claim decides already; given as anything else it would be ignored
DECIDED = {
    "tests": ["bootstrap_t"],
    "interval": "bootstrap_t",
    "alternative": "two-sided",
    "exact": "auto",
}


def check_choices(choices: Mapping[str, Any]) -> None:
    """Check that nothing is chosen that a gate's claim decides already.

    Args:
        choices: Of the recipe, as they were given; defaults left out.

    Raises:
        RecipeError: A test, kind of intervals or alternative that a gate does not have.
    """
    for field, decided in DECIDED.items():
        given = choices.get(field)
        if (list(given) if isinstance(given, tuple) else given) not in (None, decided):
            raise RecipeError(
                "A gate's p-values and intervals are those of the bootstrap-t, and its claim says "
                f"on which side; leave out {field}.",
                field=field,
            )


def check(comparison: Comparison, claim: Claim) -> None:
    """Check that a gate can decide of a comparison.

    Raises:
        RecipeError: It has no baseline, several metrics or test sets, or nothing to decide from.
    """
    recipe = comparison.recipe
    if comparison.names:
        raise RecipeError("A gate is about one test set.", field="testsets")
    if len(recipe.metrics) != 1:
        raise RecipeError(
            "A gate has one metric, as its margin is in that metric's units; "
            f"name one of {', '.join(metric.spelling for metric in recipe.metrics)}.",
            field="metrics",
        )
    if recipe.baseline is None:
        raise RecipeError(
            "A gate needs the baseline that systems are compared with (--baseline NAME in the "
            "shell).",
            field="pairs",
        )
    if len(comparison.entries[0].systems) < 2:
        raise RecipeError("A gate needs a system to compare with the baseline.", field="systems")
    if not comparison.plan.parts[0].spread_known:
        raise RecipeError(
            f"A gate needs two {recipe.unit}s{' of one label' if recipe.stratified else ''} at "
            "least; otherwise nothing says how scores vary.",
            field="stratified" if recipe.stratified else "unit",
        )
    if CORRECTIONS[recipe.correction].joint is not None:
        raise RecipeError(
            f"correction {recipe.correction} does not go with gates; take holm.", field="correction"
        )
    _check_level(comparison, claim)


def _check_level(comparison: Comparison, claim: Claim) -> None:
    """A gate that decides the same of all data, as no p-value could be small enough, is none."""
    recipe, part = comparison.recipe, comparison.plan.parts[0]
    if recipe.alpha >= 0.5 and claim != "same":
        raise RecipeError(
            f"alpha of a one-sided test must be below 0.5, not {recipe.alpha:g}.", field="alpha"
        )
    pairs, sides = len(part.pairs), 2 if claim == "same" else 1
    least = min(1.0, sides / (part.resamples + 1))
    family = recipe.comparisons(pairs)
    if smallest_attainable(recipe.correction, pairs, least, family) > recipe.alpha:
        raise RecipeError(
            f"The smallest p-value of {part.resamples:,} resamples is {least:.2g}, which is not "
            f"significant at {recipe.alpha:g} after {recipe.correction} over {family}; take more.",
            field="resamples",
        )


def margin_of(margin: object, claim: Claim, comparison: Comparison) -> float | None:
    """The margin as a plain number, so that reports do not tell 2 from 2.0 or NumPy's."""
    if claim == "same":
        if margin is not None:
            raise RecipeError("Two runs of one system need no margin.", field="margin")
        return None
    if margin is None:
        raise RecipeError(
            "A gate needs a margin (--margin M in the shell): how much worse a system may be, in "
            "units of the metric.",
            field="margin",
        )
    size = math.nan
    if isinstance(margin, Real) and not isinstance(margin, bool):
        with suppress(OverflowError):
            size = float(margin)
    if not 0 < size < math.inf:
        raise RecipeError(f"margin must be a positive number, not {margin!r}.", field="margin")
    if size >= 1 and comparison.plan.parts[0].proportions:
        raise RecipeError(
            f"margin {size:g} is no difference of two shares, and every system would pass: "
            f"{comparison.recipe.labels[0]} is 0 or 1 for every item; one point is 0.01.",
            field="margin",
        )
    return size
