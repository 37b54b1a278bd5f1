"""Parts of a request that other questions answer: a comparison's metrics, people's judgements."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sigtest.errors import InputError
from sigtest.people import HumanQuestion, compute
from sigtest.people.judgements import Rankings
from sigtest.people.matching import match_systems, spellings
from sigtest.people.scores import by_name


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


@dataclass(frozen=True)
class FromJudgements:
    """Human scores that came from judgements.

    Attributes:
        scores: As `human.scores` of a request has them.
        signature: How they came about.
        notes: What the report should warn of.
    """

    scores: Mapping[str, Any]
    signature: str
    notes: tuple[str, ...]


def scores_of(
    asked: HumanQuestion, given: Sequence[str], exclude: Sequence[str] = ()
) -> FromJudgements:
    """Evaluate judgements, and call systems by the names that metrics have for them.

    Args:
        asked: A human evaluation.
        given: Names of systems among the metrics, without those to be left out.
        exclude: Names of those.

    Raises:
        InputError: A system that only one side has.
    """
    aliases = asked.choices.aliases
    judged = [s for s in asked.systems if not set(spellings(s, aliases)) & set(exclude)]
    matched = match_systems(judged, given, aliases)
    names = {name: matched.given[name] for name in judged if name in matched.given}
    if isinstance(asked.judgements, Rankings):
        report = compute(asked)
        shares = {names[own.name]: own.raw for own in report.systems if own.name in names}
        return FromJudgements({"system": shares}, asked.signature, _left_out(matched.references))
    prepared = asked.prepared
    columns = prepared.judgements
    found = by_name(prepared.pooled, prepared.systems, columns.segment)
    segments = {names[system]: own for system, own in found.items() if system in names}
    averaged = prepared.averaged
    systems = {
        names[name]: float(averaged.tested[averaged.of(s)].mean())
        for s, name in enumerate(prepared.systems)
        if name in names
    }
    notes = (*asked.notes, *_left_out(matched.references))
    scores: dict[str, Any] = {"system": systems}
    if all(name.isdecimal() for name in columns.segment.names):
        scores["segment"] = segments
    else:
        notes += (
            "Judged segments are not numbered, so that they cannot be matched with segments of "
            "metrics: only scores of systems are used.",
        )
    return FromJudgements(scores, asked.signature, notes)


def _left_out(references: Sequence[str]) -> tuple[str, ...]:
    if not references:
        return ()
    return (
        f"Judged human translations without metric scores are left out: {', '.join(references)}.",
    )
