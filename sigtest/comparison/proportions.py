"""What reports say of scores that are 0 or 1 for every item, or two counts: proportions, ratios."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from sigtest.data.names import is_error
from sigtest.data.testset import System
from sigtest.metrics.labels import Accuracy
from sigtest.metrics.scores import Scores
from sigtest.requests.recipe import Recipe
from sigtest.significance.intervals import wilson_interval

NEAR = 10  # items right, or wrong, below which a bootstrap interval of a proportion is too narrow

TWO_COUNTS = ": every segment has two whole numbers, read as a score and its weight"


def right_of(system: System, recipe: Recipe) -> dict[str, int | None]:
    """Of the metrics that give one run of a system 0 or 1 for each segment, how often 1.

    Nothing in the place of the number where the metric itself counts.
    """
    if recipe.unit != "segment" or len(system.runs) > 1:
        return {}
    right: dict[str, int | None] = {}
    for label, metric in zip(recipe.labels, recipe.metrics, strict=True):
        if isinstance(metric, Accuracy):
            right[label] = None
        elif isinstance(metric, Scores):
            rows = metric.rows(system.runs[0])
            if rows.shape[1] == 1 and np.isin(rows, (0, 1)).all():
                right[label] = int(rows.sum())
    return right


def counted_errors(systems: Sequence[System], recipe: Recipe) -> list[str]:
    """Sentences about scores that have the name of an error rate and may be errors and words."""
    named = zip(recipe.labels, recipe.metrics, strict=True)
    return [
        f"{label}{TWO_COUNTS}. If they are errors and words, the error rate is the ratio of their "
        f"sums, where lower is better: ratio:of={label},higher=false (in JSON, higher is false)."
        for label, metric in named
        if isinstance(metric, Scores) and is_error(label)
        if all(
            (rows := metric.rows(run)).shape[1] == len(metric.columns) and not (rows % 1).any()
            for system in systems
            for run in system.runs
        )
    ]


def labels_of(right: Sequence[Mapping[str, int | None]], recipe: Recipe) -> tuple[str, ...]:
    """Labels of the metrics whose scores are proportions.

    Args:
        right: Of each system, as `right_of` has it.
        recipe: With all metrics.
    """
    return tuple(label for label in recipe.labels if all(label in own for own in right))


def notes_of(
    right: Mapping[str, Mapping[str, int | None]], items: int, recipe: Recipe
) -> list[str]:
    """Sentences about proportions: which test an exact p-value is, and intervals near 0 and 1.

    Args:
        right: Of each system, by name, as `right_of` has it.
        items: How many each system has.
        recipe: How they are compared.
    """
    said: list[str] = []
    for label in labels_of([*right.values()], recipe):
        counts = {name: own[label] for name, own in right.items()}
        if None not in counts.values():
            said += _exact(label, recipe) if len(counts) > 1 else []
        for name, count in counts.items():
            said += [] if count is None else _extreme(name, label, count, items, recipe.alpha)
    return said


def _exact(label: str, recipe: Recipe) -> list[str]:
    if "approximate_randomization" not in recipe.tests or recipe.exact == "never":
        return []
    return [
        f"{label} is 0 or 1 for every item: an exact p-value of approximate randomization is that "
        "of McNemar's exact test."
    ]


def _extreme(name: str, label: str, right: int, items: int, alpha: float) -> list[str]:
    if min(right, items - right) >= NEAR:
        return []
    low, high = wilson_interval(right, items, alpha)
    return [
        f"{name}: {label} is 1 for {right:,} of {items:,} items and 0 for {items - right:,}; fewer "
        f"than {NEAR} of either are too few for an interval from the bootstrap. Wilson's "
        f"{100 * (1 - alpha):g} % interval is [{low:.4f}, {high:.4f}]."
    ]
