"""Metric evaluation: how well metrics agree with people, and which agree better than others."""

from sigtest.meta_evaluation.compute import compute
from sigtest.meta_evaluation.question import MetricQuestion, parse
from sigtest.meta_evaluation.report import MetaReport

__all__ = ["MetaReport", "MetricQuestion", "compute", "parse"]
