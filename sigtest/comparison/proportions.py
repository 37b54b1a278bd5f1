"""What reports say of scores that are 0 or 1 for every item: they are proportions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sigtest.comparison.recipe import Recipe
from sigtest.data.testset import System
from sigtest.metrics.labels import Accuracy
from sigtest.metrics.scores import Scores
from sigtest.significance.intervals import wilson_interval

NEAR = 10  # items right, or wrong, below which a bootstrap interval of a proportion is too narrow


def labels_of(systems: Sequence[System], recipe: Recipe) -> tuple[str, ...]:
    """Labels of the metrics whose scores are proportions: one run, each segment 0 or 1."""
    if recipe.unit != "segment" or any(len(system.runs) > 1 for system in systems):
        return ()
    return tuple(
        label
        for label, metric in zip(recipe.labels, recipe.metrics, strict=True)
        if isinstance(metric, Accuracy)
        or (isinstance(metric, Scores) and all(_binary(metric, own.runs[0]) for own in systems))
    )


def _binary(metric: Scores, run: System) -> bool:
    rows = metric.rows(run)
    return rows.shape[1] == 1 and bool(np.isin(rows, (0, 1)).all())


def notes_of(systems: Sequence[System], recipe: Recipe, labels: Sequence[str]) -> list[str]:
    """Sentences about proportions: which test an exact p-value is, and intervals near 0 and 1.

    Args:
        systems: What is compared.
        recipe: How.
        labels: As `labels_of` has them.
    """
    said: list[str] = []
    for label, metric in zip(recipe.labels, recipe.metrics, strict=True):
        if label not in labels or not isinstance(metric, Scores):
            continue
        said += _exact(label, recipe) if len(systems) > 1 else []
        for system in systems:
            rows = metric.rows(system.runs[0])
            said += _extreme(system.name, label, int(rows.sum()), len(rows), recipe.alpha)
    return said


def _exact(label: str, recipe: Recipe) -> list[str]:
    if "approximate_randomization" not in recipe.tests or recipe.exact == "never":
        return []
    return [
        f"{label} is 0 or 1 for every item: an exact p-value of approximate_randomization is that "
        "of McNemar's exact test."
    ]


def _extreme(name: str, label: str, right: int, items: int, alpha: float) -> list[str]:
    if min(right, items - right) >= NEAR:
        return []
    low, high = wilson_interval(right, items, alpha)
    return [
        f"{name}: {label} is 1 for {right:,} of {items:,} items, too near 0 or 1 for an interval "
        f"from the bootstrap; Wilson's {100 * (1 - alpha):g} % interval is "
        f"[{low:.4f}, {high:.4f}]."
    ]
