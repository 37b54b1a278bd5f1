"""The finished answer, and how JSON has it."""

from sigtest.report.report import (
    MetricReport,
    PairReport,
    Report,
    ScoreReport,
    SystemReport,
    TestSetReport,
    pair_as_json,
    system_as_json,
)

__all__ = [
    "MetricReport",
    "PairReport",
    "Report",
    "ScoreReport",
    "SystemReport",
    "TestSetReport",
    "pair_as_json",
    "system_as_json",
]
