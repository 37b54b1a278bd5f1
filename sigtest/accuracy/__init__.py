"""Accuracy of tests: how often metrics and significance tests conclude what people conclude."""

from sigtest.accuracy.asked import Asked
from sigtest.accuracy.compute import compute
from sigtest.accuracy.parse import parse
from sigtest.accuracy.report import AccuracyReport

__all__ = ["AccuracyReport", "Asked", "compute", "parse"]
