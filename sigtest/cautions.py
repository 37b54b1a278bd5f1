"""The sentences a report says about how far it can be trusted."""

from __future__ import annotations

from collections import defaultdict

from sigtest.plan import Plan
from sigtest.significance import TESTS

FEW_UNITS = 300


def cautions(plan: Plan, units: int) -> tuple[str, ...]:
    """Warnings for a comparison that resamples so many units."""
    recipe = plan.recipe
    said = [_too_few_resamples(plan), _few_units(plan, units)]
    said += [TESTS[test].caution for test in recipe.tests]
    if recipe.unit == "segment" and plan.documents is not None:
        said.append(
            "Segments of one document are not independent, which makes segment-level p-values too "
            'small; the documents are known, so "unit": "document" (--unit document) is available.'
        )
    said += _identical_systems(plan)
    return tuple(sentence for sentence in said if sentence)


def _too_few_resamples(plan: Plan) -> str | None:
    needed = plan.recipe.needed(len(plan.pairs))
    if plan.resamples >= needed:
        return None
    return (
        f"{plan.resamples:,} resamples are few for {len(plan.pairs)} comparisons at "
        f"alpha {plan.recipe.alpha} with {plan.recipe.correction}: "
        f"use {needed:,} for corrected p-values that can fall well below alpha."
    )


def _few_units(plan: Plan, units: int) -> str | None:
    bootstraps = [test for test in plan.recipe.tests if TESTS[test].draws == "counts"]
    if units >= FEW_UNITS or not bootstraps:
        return None
    return (
        f"With only {units} {plan.recipe.unit}s, {' and '.join(bootstraps)} "
        f"{'reject' if len(bootstraps) > 1 else 'rejects'} true null hypotheses too often (below "
        f"about {FEW_UNITS}); approximate_randomization keeps its level at any size."
    )


def _identical_systems(plan: Plan) -> list[str]:
    names = defaultdict(list)
    for name, digest in zip(plan.systems, plan.digests, strict=True):
        names[digest].append(name)
    return [
        f"Systems {', '.join(same)} are identical, segment by segment."
        for same in names.values()
        if len(same) > 1
    ]
