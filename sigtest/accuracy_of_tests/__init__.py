"""Accuracy of tests: how often metrics and significance tests conclude what people conclude."""

from sigtest.accuracy_of_tests.compute import compute
from sigtest.accuracy_of_tests.question import AccuracyQuestion, parse
from sigtest.accuracy_of_tests.report import AccuracyReport

__all__ = ["AccuracyQuestion", "AccuracyReport", "compute", "parse"]
