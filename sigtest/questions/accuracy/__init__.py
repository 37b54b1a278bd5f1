"""Accuracy of tests: how often metrics and significance tests conclude what people conclude."""

from sigtest.questions.accuracy.asked import Asked
from sigtest.questions.accuracy.compute import compute
from sigtest.questions.accuracy.parse import parse
from sigtest.questions.accuracy.report import AccuracyReport

__all__ = ["AccuracyReport", "Asked", "compute", "parse"]
