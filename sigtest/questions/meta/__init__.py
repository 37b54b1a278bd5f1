"""Metric evaluation: how well metrics agree with people, and which agree better than others."""

from sigtest.questions.meta.asked import Asked
from sigtest.questions.meta.compute import compute
from sigtest.questions.meta.parse import parse
from sigtest.questions.meta.report import MetaReport

__all__ = ["Asked", "MetaReport", "compute", "parse"]
