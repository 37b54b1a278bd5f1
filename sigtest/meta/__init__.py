"""Metric evaluation: how well metrics agree with people, and which agree better than others."""

from sigtest.meta.asked import Asked
from sigtest.meta.compute import compute
from sigtest.meta.parse import parse
from sigtest.meta.report import MetaReport

__all__ = ["Asked", "MetaReport", "compute", "parse"]
