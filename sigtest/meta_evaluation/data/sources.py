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
        rows = [
            pair
            for pair in report["pairs"]
            if pair["metric"] == label and pair["test"] == "approximate_randomization"
        ]
        claims = {
            (row["a"], row["b"])[:: -1 if row["alternative"] == "less" else 1]: row["p_value"]
            for row in rows
        }
        pairs = [_one_sided(row, higher, claims) for row in rows]
        found[label] = {
            "higher": higher,
            "system": {own["name"]: own["scores"][label]["score"] for own in systems},
            **({"pairs": pairs} if pairs else {}),
        }
    return found


def _one_sided(
    pair: Mapping[str, Any], higher: bool, claims: Mapping[tuple[str, str], float]
) -> dict[str, Any]:
    """A pair's p-value for a being better, and for b where that was tested, or nothing differs.

    Args:
        pair: As a report has it.
        higher: False for error metrics.
        claims: One-sided p-values, by the better and the worse system.
    """
    p = float(pair["p_value"])
    if pair["difference"] == 0:
        return {"a": pair["a"], "b": pair["b"], "p_greater": p, "p_less": p}
    both = {"a": pair["a"], "b": pair["b"]}
    if pair["alternative"] == "two-sided":
        ahead = (pair["difference"] > 0) == higher
        return {**both, "p_greater": p / 2 if ahead else 1 - p / 2}
    p_greater, p_less = claims.get((pair["a"], pair["b"])), claims.get((pair["b"], pair["a"]))
    if p_less is None:  # against a baseline one claim is made
        return {**both, "p_greater": p_greater}
    return {**both, "p_greater": 1 - p_less if p_greater is None else p_greater, "p_less": p_less}


def _listed(report: Mapping[str, Any], field: str, path: str) -> Sequence[Mapping[str, Any]]:
    found = report.get(field)
    if "testsets" in report:
        raise InputError(f"{path} must be about one test set; this is about several.", field=path)
    if not isinstance(found, list):
        raise InputError(f"{path}: the report has no {field}.", field=path)
    return found
