"""Accuracy of tests: how often metrics and significance tests conclude what people conclude."""

import sys

from sigtest.accuracy.asked import Asked
from sigtest.accuracy.compute import compute
from sigtest.accuracy.parse import parse
from sigtest.accuracy.report import AccuracyReport
from sigtest.callable import CallablePackage

sys.modules[__name__].__class__ = CallablePackage

__all__ = ["AccuracyReport", "Asked", "compute", "parse"]
