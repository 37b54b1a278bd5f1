"""What systems are compared on where nobody says it: every door has this rule."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from types import MappingProxyType
from typing import Any

from sigtest.data.testset import LABEL

MetricOptions = Mapping[str, Mapping[str, object]]
NOTHING: MetricOptions = MappingProxyType({})


def inferred_metrics(
    brought: Mapping[str, Collection[str]], texts: bool, told: MetricOptions = NOTHING
) -> list[Any]:
    """Metrics as a recipe has them: BLEU of texts, and the mean of every kind of scores.

    Scores that some systems lack are left out, unless nothing else is there.

    Args:
        brought: Labels of the scores of each system, by its name.
        texts: Whether all systems have texts, and there are references.
        told: What files say of the metric of a label.
    """
    labels = dict.fromkeys(label for own in brought.values() for label in own)
    shared = [label for label in labels if all(label in own for own in brought.values())]
    chosen = shared or ([] if texts else [*labels])
    found: list[Any] = ["bleu"] if texts or not chosen else []
    for label in chosen:
        metric = {"name": "scores", "of": label, **told.get(label, {})}
        if chosen == [LABEL]:
            del metric["of"]
        found.append(metric if len(metric) > 1 else metric["name"])
    return found
