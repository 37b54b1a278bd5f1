"""What a report of any kind warns of, in sentences, whether it is an object or JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def sentences(report: Any) -> list[str]:
    """The sentences of a report's warnings, in their order."""
    if isinstance(report, Mapping):
        return [warning["message"] for warning in report["warnings"]]
    return [str(warning) for warning in report.warnings]
