"""The finished answer: its dataclasses, documented here only, and how JSON has them."""

from sigtest.report.codec import ByClass, decode, digest, encode
from sigtest.report.leaderboard import ENVELOPE, LeaderboardReport
from sigtest.report.methods import Methods
from sigtest.report.parts import (
    FamilyReport,
    MetricReport,
    PairReport,
    RankReport,
    RunsReport,
    ScoreReport,
    SystemReport,
)
from sigtest.report.report import (
    NamedReport,
    Report,
    ReportOnSeveral,
    Several,
    SmallTest,
    TestSetReport,
    WinsReport,
)
from sigtest.report.selection import select

__all__ = [
    "ENVELOPE",
    "ByClass",
    "FamilyReport",
    "LeaderboardReport",
    "Methods",
    "MetricReport",
    "NamedReport",
    "PairReport",
    "RankReport",
    "Report",
    "ReportOnSeveral",
    "RunsReport",
    "ScoreReport",
    "Several",
    "SmallTest",
    "SystemReport",
    "TestSetReport",
    "WinsReport",
    "decode",
    "digest",
    "encode",
    "select",
]
