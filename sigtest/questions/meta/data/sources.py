"""A finished comparison as a part of a request: its metrics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sigtest.errors import InputError


def from_comparison(report: Mapping[str, Any]) -> dict[str, Any]:
    """The `metrics` part of a request, from the JSON of a comparison's report.

    Soft accuracy takes the one-sided p-values of approximate randomization of the corpus scores,
    where the comparison has them; from a two-sided one, half of it is on the side of the better
    system.

    Args:
        report: With `systems`, `metrics` and `pairs`.
    """
    systems = _listed(report, "systems", "metrics.comparison")
    found: dict[str, Any] = {}
    for label, about in report["metrics"].items():
        higher = bool(about["higher_is_better"])
        pairs = [
            _one_sided(pair, higher)
            for pair in report["pairs"]
            if pair["metric"] == label and pair["test"] == "approximate_randomization"
        ]
        found[label] = {
            "higher": higher,
            "system": {own["name"]: own["scores"][label]["score"] for own in systems},
            **({"pairs": pairs} if pairs else {}),
        }
    return found


def _one_sided(pair: Mapping[str, Any], higher: bool) -> dict[str, Any]:
    """A pair's p-value for a being better, and for b where the two do not differ at all."""
    p = float(pair["p_value"])
    if pair["difference"] == 0:
        return {"a": pair["a"], "b": pair["b"], "p_greater": p, "p_less": p}
    if pair["alternative"] == "two-sided":
        ahead = (pair["difference"] > 0) == higher
        greater = p / 2 if ahead else 1 - p / 2
    else:
        greater = p if pair["alternative"] == "greater" else 1 - p
    return {"a": pair["a"], "b": pair["b"], "p_greater": greater}


def _listed(report: Mapping[str, Any], field: str, path: str) -> Sequence[Mapping[str, Any]]:
    found = report.get(field)
    if "testsets" in report:
        raise InputError(f"{path} must be about one test set; this is about several.", field=path)
    if not isinstance(found, list):
        raise InputError(f"{path}: the report has no {field}.", field=path)
    return found
