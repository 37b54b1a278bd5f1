"""The report as canonical JSON: the bytes that the service stores and the command line prints."""

from __future__ import annotations

import json

from sigtest.report import Report


def render(report: Report) -> str:
    """Every number unrounded; the text is a function of the report alone.

    Raises:
        ValueError: A number is not finite, which JSON cannot say.
    """
    return json.dumps(report.as_json(), ensure_ascii=False, allow_nan=False, indent=1) + "\n"
