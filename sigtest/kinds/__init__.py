"""The registry of kinds of questions, by the name that their path has."""

from typing import Any

from sigtest.kinds.accuracy import AccuracyOfTests
from sigtest.kinds.base import About, File, Finished, Kind, Question, Reference
from sigtest.kinds.comparisons import ComparisonQuestion, Comparisons
from sigtest.kinds.human import HumanEvaluations
from sigtest.kinds.meta import MetricEvaluations

KINDS: dict[str, Kind[Any]] = {
    kind.path: kind
    for kind in (Comparisons(), HumanEvaluations(), MetricEvaluations(), AccuracyOfTests())
}

__all__ = [
    "KINDS",
    "About",
    "ComparisonQuestion",
    "Comparisons",
    "File",
    "Finished",
    "Kind",
    "Question",
    "Reference",
]
