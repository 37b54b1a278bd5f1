"""People's judgements as the human scores of a set: standardised means of systems and segments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sigtest.people import HumanQuestion, compute
from sigtest.people.judgements import Rankings
from sigtest.people.matching import match_systems, spellings
from sigtest.people.scores import by_name


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
