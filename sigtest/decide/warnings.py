"""The sentences a report says about how far it can be trusted."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from sigtest.comparison.plan import Plan
from sigtest.decide.facts import Facts
from sigtest.significance import TESTS
from sigtest.significance.corrections import CORRECTIONS

FEW_UNITS = 300
SMALL_STRATUM = 20  # below, a stratum hides more than 5 % of its variance
UNEQUAL = 2.0  # largest standard error of a difference over the median one


def cautions(plan: Plan, facts: Sequence[Facts], comparisons: int) -> tuple[str, ...]:
    """Warnings for a comparison with these facts, in families of so many comparisons."""
    recipe = plan.recipe
    said = [_too_few_resamples(plan, facts, comparisons), _few_units(plan), _small_strata(plan)]
    said += [TESTS[test].caution for test in recipe.tests]
    if recipe.unit == "segment" and plan.documents is not None:
        said.append(
            "Segments of one document are not independent, which makes segment-level p-values too "
            'small; the documents are known, so "unit": "document" (--unit document) is available.'
        )
    if plan.replicas > 1:
        said.append(
            f"p-values and intervals are about these {plan.replicas} replicas of each system; "
            "training_stderr (training sd in tables) says how far the score of another training "
            "run may lie."
        )
    said += _joint_correction(plan, facts)
    said += _identical_systems(plan)
    return tuple(sentence for sentence in said if sentence)


def _too_few_resamples(plan: Plan, facts: Sequence[Facts], comparisons: int) -> str | None:
    needed = plan.recipe.needed(comparisons)
    if plan.resamples >= needed or _all_exact(plan, facts):
        return None
    return (
        f"{plan.resamples:,} resamples are few for {comparisons} comparisons at "
        f"alpha {plan.recipe.alpha} with {plan.recipe.correction}: "
        f"use {needed:,} for corrected p-values that can fall well below alpha."
    )


def _all_exact(plan: Plan, facts: Sequence[Facts]) -> bool:
    """Whether no p-value, corrected or not, depends on the number of resamples."""
    drawn = {TESTS[test].draws for test in plan.recipe.tests}
    return (
        "counts" not in drawn
        and CORRECTIONS[plan.recipe.correction].joint is None
        and ("swaps" not in drawn or all(p is not None for known in facts for p in known.exact))
    )


def _few_units(plan: Plan) -> str | None:
    units = plan.units
    bootstraps = [test for test in plan.recipe.tests if TESTS[test].draws == "counts"]
    if units >= FEW_UNITS or not bootstraps:
        return None
    return (
        f"With only {units} {plan.recipe.unit}s, {' and '.join(bootstraps)} "
        f"{'reject' if len(bootstraps) > 1 else 'rejects'} true null hypotheses too often (below "
        f"about {FEW_UNITS}); approximate_randomization keeps its level at any size."
    )


def _small_strata(plan: Plan) -> str | None:
    """A stratum of u units shows (u - 1) / u of its variance."""
    if plan.labels is None:
        return None
    smallest = int(np.bincount(plan.strata).min())
    if smallest >= SMALL_STRATUM:
        return None
    unit = plan.recipe.unit
    return (
        f"The smallest stratum has {smallest} {unit}{'' if smallest == 1 else 's'}; where strata "
        f"have fewer than about {SMALL_STRATUM}, bootstrap intervals are too narrow and bootstrap "
        "p-values too small. approximate_randomization does not suffer from that."
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


def _joint_correction(plan: Plan, facts: Sequence[Facts]) -> list[str]:
    """What the two corrections that look at all pairs together cannot do."""
    if plan.recipe.correction == "tukey":
        return [
            "tukey holds its level only while all systems are exchangeable; as soon as some "
            "differ, the p-values of the others are not those of a valid test. holm needs no such "
            "assumption."
        ]
    if plan.recipe.correction != "max_t":
        return []
    said = []
    for label, known in zip(plan.recipe.labels, facts, strict=True):
        errors = known.difference_spread.stderr
        errors = errors[errors > 0]
        if len(errors) and errors.max() > UNEQUAL * np.median(errors):
            said.append(
                f"max_t compares unstudentised differences, and those of {label} vary very "
                f"unequally (standard errors from {errors.min():.3g} to {errors.max():.3g}): "
                "similar systems lose power; holm does not suffer from that."
            )
    return said
