"""The registry of kinds of questions, by the name that their path has."""

from typing import Any

from sigtest.kinds.base import About, Finished, Kind, Question
from sigtest.kinds.comparisons import ComparisonQuestion, Comparisons

KINDS: dict[str, Kind[Any]] = {kind.path: kind for kind in (Comparisons(),)}

__all__ = ["KINDS", "About", "ComparisonQuestion", "Comparisons", "Finished", "Kind", "Question"]
