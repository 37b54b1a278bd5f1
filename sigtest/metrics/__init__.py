"""The metrics by name, and how they are asked for."""

from __future__ import annotations

import os
from importlib import import_module
from typing import TYPE_CHECKING, Any

from sigtest.late import Registry

if TYPE_CHECKING:
    from sigtest.metrics.base import Fraction, Measurable, Metric


def _of_packages() -> dict[str, str]:
    """Places of metrics that other packages have as entry points, where these are allowed."""
    allowed = os.environ.get("SIGTEST_METRICS")
    if not allowed:
        return {}
    from importlib.metadata import entry_points  # late: it looks at all that is installed

    offered = entry_points(group=__name__)
    return {own.name: own.value for own in offered if own.name in allowed.split(",")}


METRICS: Registry[type[Metric]] = Registry(
    _of_packages()
    | {
        "bleu": "sigtest.metrics.bleu:Bleu",
        "chrf": "sigtest.metrics.chrf:Chrf",
        "chrf++": "sigtest.metrics.chrf:ChrfPlusPlus",
        "ter": "sigtest.metrics.ter:Ter",
        "wer": "sigtest.metrics.wer:Wer",
        "cer": "sigtest.metrics.wer:Cer",
        "nist": "sigtest.metrics.nist:Nist",
        "meteor": "sigtest.metrics.meteor:Meteor",
        "scores": "sigtest.metrics.scores:Scores",
        "ratio": "sigtest.metrics.scores:Ratio",
        "fscore": "sigtest.metrics.scores:Fscore",
        "perplexity": "sigtest.metrics.scores:Perplexity",
        "pass@k": "sigtest.metrics.scores:PassAtK",
        "pass^k": "sigtest.metrics.scores:PassHatK",
        "accuracy": "sigtest.metrics.labels:Accuracy",
        "precision": "sigtest.metrics.labels:Precision",
        "recall": "sigtest.metrics.labels:Recall",
        "f1": "sigtest.metrics.labels:F1",
        "macro_f1": "sigtest.metrics.labels:MacroF1",
    }
)


def __getattr__(name: str) -> Any:
    """What metrics are made of, which needs NumPy."""
    return getattr(import_module("sigtest.metrics.base"), name)


__all__ = ["METRICS", "Fraction", "Measurable", "Metric", "only_labels"]


def only_labels(asked: object) -> bool:
    """Whether metrics, as a request names them, count labels, all of them."""
    if not isinstance(asked, list | tuple) or not asked:
        return False
    from sigtest.metrics.labels import LabelMetric  # late: most metrics count no labels

    names = (own.get("name") if isinstance(own, dict) else own for own in asked)
    kinds = (METRICS.get(str(name).partition(":")[0]) for name in names)
    return all(kind is not None and issubclass(kind, LabelMetric) for kind in kinds)
