"""The registry of kinds of questions, by the name that their path has."""

from typing import Any

from sigtest.kinds.base import About, Finished, FormFile, Kind, Question, QuestionReference
from sigtest.late import Registry

__all__ = ["KINDS", "About", "Finished", "FormFile", "Kind", "Question", "QuestionReference"]

KINDS: Registry[Kind[Any]] = Registry(  # each brings its statistics along
    {
        "comparisons": "sigtest.kinds.comparisons:KIND",
        "human-evaluations": "sigtest.people.kind:KIND",
        "metric-evaluations": "sigtest.meta_evaluation.kind:KIND",
        "test-accuracy": "sigtest.accuracy_of_tests.kind:KIND",
        "plans": "sigtest.plans.kind:KIND",
        "sequential-comparisons": "sigtest.race.kind:KIND",
    }
)
