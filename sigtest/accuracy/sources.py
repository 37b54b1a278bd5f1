"""Finished human evaluations as parts of a request."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def from_human(report: Mapping[str, Any]) -> dict[str, Any]:
    """The `human` part of a request, from the JSON of a human evaluation's report."""
    fields = ("a", "b", "criterion", "p_greater", "p_less")
    pairs = [{name: pair[name] for name in fields} for pair in report["pairs"]]
    return {"criteria": list(report["criteria"]), "pairs": pairs}
