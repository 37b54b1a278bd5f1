"""From the JSON of a request to the JSON of its report, in this process."""

from __future__ import annotations

from typing import Any

from sigtest.comparison.parse import parse_comparison
from sigtest.engine import compare


def report_of(body: dict[str, Any]) -> dict[str, Any]:
    """What a request for one test set, or for several, gets."""
    return compare(parse_comparison(body)).as_json()
