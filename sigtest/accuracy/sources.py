"""Finished evaluations and stored requests as parts of a request; metrics' discriminative power."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sigtest.report import Report


def from_human(report: Mapping[str, Any]) -> dict[str, Any]:
    """The `human` part of a request, from the JSON of a human evaluation's report."""
    fields = ("a", "b", "criterion", "p_greater", "p_less")
    pairs = [{name: pair[name] for name in fields} for pair in report["pairs"]]
    return {"criteria": list(report["criteria"]), "pairs": pairs}


@dataclass(frozen=True)
class Power:
    """How much of a comparison one metric separates under one test.

    Attributes:
        metric: Label of the metric.
        test: Name of the significance test.
        separated: Pairs found significantly different after correction.
        n: Pairs.
        power: separated / n.
    """

    metric: str
    test: str
    separated: int
    n: int
    power: float


def discriminative_power(report: Report) -> list[Power]:
    """Each metric's share of separated pairs, by metric and test in the report's order.

    Riezler & Maxwell (2005), Table 1: a metric that separates more systems is more sensitive.
    """
    counts: dict[tuple[str, str], list[bool]] = {}
    for pair in report.pairs:
        counts.setdefault((pair.metric, pair.test), []).append(pair.significant)
    return [
        Power(metric, test, sum(found), len(found), sum(found) / len(found))
        for (metric, test), found in counts.items()
    ]
