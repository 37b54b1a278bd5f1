"""From the JSON of a request to the JSON of its report, in this process."""

from __future__ import annotations

from typing import Any

from sigtest.comparison import Comparison
from sigtest.engine import compare
from sigtest.suite import Suite
from sigtest.suite_engine import compare_suite


def report_of(body: dict[str, Any]) -> dict[str, Any]:
    """What a request for one test set, or for several, gets."""
    if "testsets" in body:
        return compare_suite(Suite.of(body)).as_json()
    return compare(Comparison.of(body)).as_json()
