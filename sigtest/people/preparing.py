"""From judgements as given to scores of segments: quality control, standardisation, means."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sigtest.arrays import Flags
from sigtest.errors import InputError
from sigtest.people.conclusions import PAIRED, require_shared
from sigtest.people.judgements import Judgements
from sigtest.people.quality import control
from sigtest.people.report import AnnotatorsReport
from sigtest.people.scores import (
    Observations,
    Units,
    document_scores,
    documents,
    segment_scores,
    standardised,
)
from sigtest.requests.people import HumanRequest


@dataclass(frozen=True)
class Prepared:
    """Judgements that count, with what was found on the way.

    Attributes:
        judgements: Of annotators who stay, standardised if that was asked for.
        annotators: Quality control; nothing where annotators are unknown.
        dropped: For each source, rows left out here by reason.
        systems: Names of the systems that have judgements.
        segments: Scores of segments by criterion.
        pooled: Scores of segments, criteria together.
        units: Scores of what counts as one observation, segments or documents, by criterion.
        averaged: The same, criteria together.
        observed: Tested scores by criterion.
    """

    judgements: Judgements
    annotators: AnnotatorsReport | None
    dropped: tuple[Mapping[str, int], ...]
    systems: tuple[str, ...]
    segments: Mapping[str, Units]
    pooled: Units
    units: Mapping[str, Units]
    averaged: Units
    observed: Mapping[str, Observations]


def prepare(judgements: Judgements, sources: int, choices: HumanRequest) -> Prepared:
    """Leave out annotators, standardise, and average.

    Args:
        judgements: As given.
        sources: How many files they come from.
        choices: Decided.

    Raises:
        InputError: A score to be standardised is nobody's, a system or criterion has no judgement
            left, or a paired test has no pairs.
    """
    given = judgements.system.take(judgements.scored).names
    dropped: list[dict[str, int]] = [{} for _ in range(sources)]
    annotators = None
    if judgements.annotator.known:
        verdicts = control(judgements, choices.quality, named=choices.show_annotators)
        annotators = verdicts.report
        if choices.quality is not None:
            untestable = verdicts.untestable & (choices.quality.untestable == "drop")
            count_rows(dropped, judgements, verdicts.careless, "careless annotator")
            count_rows(dropped, judgements, untestable, "untestable annotator")
            judgements = judgements.take(~verdicts.careless & ~untestable)
    if choices.standardise != "none":
        _require_annotators(judgements)
        z, alike = standardised(judgements, str(choices.standardise))
        count_rows(dropped, judgements, alike, "annotator without variance")
        judgements = replace(judgements, z=z).take(~alike)
    _require_left(judgements, given, choices, dropped)
    outputs = np.unique(judgements.system.codes[judgements.scored])  # others name a reference only
    judgements = judgements.take(np.isin(judgements.system.codes, outputs))
    names = judgements.system.names
    places = {name: judgements.criterion.names.index(name) for name in choices.criteria}
    segments = {name: segment_scores(judgements, place) for name, place in places.items()}
    pooled = segment_scores(judgements)
    *units, averaged = [_units(judgements, own, choices) for own in (*segments.values(), pooled)]
    by_criterion = dict(zip(segments, units, strict=True))
    observed = _observed(judgements, by_criterion, choices)
    if str(choices.test) in PAIRED:
        for own in observed.values():
            require_shared(own, names, str(choices.test))
    return Prepared(
        judgements, annotators, tuple(dropped), names, segments, pooled, by_criterion, averaged,
        observed,
    )  # fmt: skip


def count_rows(
    dropped: Sequence[dict[str, int]], judgements: Judgements, lost: Flags, why: str
) -> None:
    """Add the rows behind judgements that are left out to the reasons of their files."""
    rows = np.bincount(judgements.source[lost], judgements.rows[lost], minlength=len(dropped))
    for reasons, n in zip(dropped, rows.astype(int).tolist(), strict=True):
        if n:
            reasons[why] = reasons.get(why, 0) + n


def _require_annotators(judgements: Judgements) -> None:
    """Every score is somebody's, whose mean it is held against.

    Raises:
        InputError: One is not.
    """
    nobody = judgements.annotator.codes < 0
    if nobody.any():
        row = int(np.argmax(nobody))
        system, segment = judgements.system.at(row), judgements.segment.at(row)
        raise InputError(
            f"{np.count_nonzero(nobody):,} of {len(judgements):,} judgements do not say who judged "
            f"(the first is of system {system!r}, segment {segment!r}), so that their scores "
            "cannot be standardised. Name every annotator, or leave scores as they are "
            '(standardise "none").',
            field="judgements",
            system=system,
        )


def _require_left(
    judgements: Judgements,
    given: Sequence[str],
    choices: HumanRequest,
    dropped: Sequence[Mapping[str, int]],
) -> None:
    """Every system that was judged still has a judgement of each criterion.

    Raises:
        InputError: One has not.
    """
    for criterion in choices.criteria:
        rows = judgements.scored
        if criterion in judgements.criterion.names:
            rows = rows & (
                judgements.criterion.codes == judgements.criterion.names.index(criterion)
            )
        else:
            rows = np.zeros(len(judgements), dtype=bool)
        left = judgements.system.take(rows).names
        missing = [name for name in given if name not in left]
        if missing:
            raise InputError(
                f"No judgement of {criterion} is left of {', '.join(missing[:12])}; every system "
                "needs some of each criterion by an annotator who is not left out."
                f"{_listed(dropped)}",
                field="judgements",
                system=missing[0],
            )


def _listed(dropped: Sequence[Mapping[str, int]]) -> str:
    """Rows of annotators who were left out, by reason, as a sentence."""
    reasons = sum(map(Counter, dropped), Counter[str]())
    shown = ", ".join(f"{reason} {n:,}" for reason, n in reasons.items())
    return f" Rows left out: {shown}." if shown else ""


def _units(judgements: Judgements, segments: Units, choices: HumanRequest) -> Units:
    """What counts as one observation: segments, or documents."""
    if choices.aggregate == "segment":
        return segments
    return document_scores(segments, documents(judgements))


def _observed(
    judgements: Judgements, units: Mapping[str, Units], choices: HumanRequest
) -> dict[str, Observations]:
    """What is tested."""
    segments = choices.aggregate == "segment"
    size = len((judgements.segment if segments else judgements.document).names)
    as_given = segments and choices.standardise == "none"
    return {
        criterion: Observations.of(
            own, own.tied(as_given=as_given), len(judgements.system.names), size
        )
        for criterion, own in units.items()
    }
