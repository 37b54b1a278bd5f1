"""From judgements to scores: quality control, standardisation, means of segments and documents."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from sigtest.arrays import Array, Counts, Flags
from sigtest.errors import InputError
from sigtest.people.annotators import control
from sigtest.people.judgements import BAD_REF, REF, Judgements, Names, groups
from sigtest.people.report import AnnotatorsReport
from sigtest.requests.people import HumanRequest
from sigtest.significance.ties import as_printed, with_ties

PAIRED = ("signed_rank", "approximate_randomization")


@dataclass(frozen=True)
class Units:
    """Scores of (system, unit), a unit being a segment or a document, sorted by system and unit.

    Attributes:
        system: (u,) number of the system.
        unit: (u,) number of the unit.
        raw: (u,) mean score as given; NaN where unknown.
        z: (u,) mean standardised score; NaN where there is none.
        judged: (u,) judgements in it.
    """

    system: Counts
    unit: Counts
    raw: Array
    z: Array
    judged: Counts

    def of(self, system: int) -> slice:
        """Where the units of one system lie."""
        first, last = np.searchsorted(self.system, [system, system + 1]).tolist()
        return slice(first, last)

    def size(self, system: int) -> int:
        """How many units one system has."""
        return int(np.count_nonzero(self.system == system))

    @property
    def standardised(self) -> bool:
        """Whether all scores are."""
        return len(self.z) > 0 and bool(np.isfinite(self.z).all())

    @property
    def tested(self) -> Array:
        """(u,) what tests are run on: standardised scores where there are any."""
        return self.z if self.standardised else self.raw

    def tied(self, *, as_given: bool = False) -> Array:
        """(u,) the same, those made equal that only rounding tells apart.

        Args:
            as_given: Whether scores are not standardised here; where they came so they have as many
                digits as R prints, on which published p-values rest.
        """
        tested = self.tested
        if as_given and tested is self.z:
            return as_printed(tested)
        return with_ties(tested, float(np.abs(tested).max(initial=0.0)))


@dataclass(frozen=True)
class Observations:
    """Tested scores of every system, ties made equal.

    Attributes:
        units: For each system, (n_s,) numbers of its units, sorted.
        scores: For each system, (n_s,) their scores.
        size: Number of units in all.
    """

    units: tuple[Counts, ...]
    scores: tuple[Array, ...]
    size: int

    @classmethod
    def of(cls, units: Units, scores: Array, systems: int, size: int) -> Observations:
        """The (u,) scores of so many systems on so many units."""
        places = [units.of(s) for s in range(systems)]
        return cls(
            tuple(units.unit[place] for place in places),
            tuple(scores[place] for place in places),
            size,
        )

    @property
    def means(self) -> Array:
        """(S,) mean score of each system; NaN for one without."""
        return np.array([s.mean() if len(s) else np.nan for s in self.scores])

    def differences(self, a: int, b: int) -> tuple[Counts, Array]:
        """Units that two systems have, and a - b there."""
        units, first, second = np.intersect1d(
            self.units[a], self.units[b], assume_unique=True, return_indices=True
        )
        return units, self.scores[a][first] - self.scores[b][second]


def standardised(judgements: Judgements, rule: str) -> tuple[Array, Flags]:
    """Scores in units of their annotator's mean and standard deviation.

    z = (x - mean) / sd over all of an annotator's judgements by one criterion, sd with n - 1;
    `annotator_no_refs` takes mean and sd without degraded outputs and references (EACL 2014,
    footnote 4).

    Returns:
        (n,) z, and (n,) flags of judgements that have none: sd 0 or a single judgement.
    """
    j = judgements
    who, _ = groups(j.annotator.codes, j.criterion.codes)
    counted = np.ones(len(j), dtype=bool)
    if rule == "annotator_no_refs":
        counted = (j.kind != BAD_REF) & (j.kind != REF)
    size = int(who.max(initial=0)) + 1
    n = np.bincount(who[counted], minlength=size).astype(np.float64)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.bincount(who[counted], j.raw[counted], minlength=size) / n
        off = j.raw - mean[who]
        squares = np.bincount(who[counted], off[counted] ** 2, minlength=size)
        sd = np.sqrt(squares / (n - 1))
        # scores that are all alike have an sd of rounding errors
        alike = ~(sd > 1e-12 * np.maximum(np.abs(mean), 1e-300)) | (n < 2)
        z = off / sd[who]
    return z, alike[who]


def segment_scores(judgements: Judgements, criterion: int | None = None) -> Units:
    """Mean over SYSTEM and REPEAT judgements of every (system, segment).

    Args:
        judgements: With their z-scores.
        criterion: Number of the criterion; all together where none is given.
    """
    rows = judgements.scored
    if criterion is not None:
        rows = rows & (judgements.criterion.codes == criterion)
    return _means(
        judgements.system.codes[rows],
        judgements.segment.codes[rows],
        judgements.raw[rows],
        judgements.z[rows],
        judgements.judged[rows],
        judgements.judged[rows].astype(np.float64),
    )


def document_scores(segments: Units, document_of: Counts) -> Units:
    """Mean over the segments of every (system, document).

    Args:
        segments: Of one criterion.
        document_of: Number of the document of each segment.
    """
    return _means(
        segments.system,
        document_of[segments.unit],
        segments.raw,
        segments.z,
        segments.judged,
        np.ones(len(segments.raw)),
    )


def documents(judgements: Judgements) -> Counts:
    """Number of the document of each segment; of its first judgement where they differ."""
    found = np.zeros(len(judgements.segment.names), dtype=np.int64)
    found[judgements.segment.codes[::-1]] = judgements.document.codes[::-1]
    return found


def _means(
    system: Counts, unit: Counts, raw: Array, z: Array, judged: Counts, weights: Array
) -> Units:
    """Means by (system, unit); a row of several judgements counts as often."""
    place, first = groups(system, unit)
    total = np.bincount(place, weights)
    return Units(
        system=system[first],
        unit=unit[first],
        raw=np.bincount(place, raw * weights) / total,
        z=np.bincount(place, z * weights) / total,
        judged=np.bincount(place, judged).astype(np.int64),
    )


def by_name(units: Units, systems: Sequence[str], segments: Names) -> dict[str, dict[str, float]]:
    """Tested scores by name of the system and of the segment."""
    found: dict[str, dict[str, float]] = {name: {} for name in systems}
    rows = zip(units.system.tolist(), units.unit.tolist(), units.tested.tolist(), strict=True)
    for system, unit, score in rows:
        found[systems[system]][segments.names[unit]] = score
    return found


@dataclass(frozen=True)
class Prepared:
    """Judgements that count, and their scores.

    Attributes:
        judgements: Of annotators who stay, standardised if that was chosen.
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
        judgements: All that were read.
        sources: How many files they come from.
        choices: Decided.

    Raises:
        InputError: A score to be standardised is nobody's, a system or criterion has no judgement
            left, or a paired test has no pairs.
    """
    systems = judgements.system.take(judgements.scored).names
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
    _require_left(judgements, systems, choices, dropped)
    outputs = np.unique(judgements.system.codes[judgements.scored])  # others name a reference only
    judgements = judgements.take(np.isin(judgements.system.codes, outputs))
    names = judgements.system.names
    places = {name: judgements.criterion.names.index(name) for name in choices.criteria}
    segments = {name: segment_scores(judgements, place) for name, place in places.items()}
    pooled = segment_scores(judgements)
    units, averaged, column = segments, pooled, judgements.segment
    if choices.aggregate == "document":
        of, column = documents(judgements), judgements.document
        units = {name: document_scores(scores, of) for name, scores in segments.items()}
        averaged = document_scores(pooled, of)
    as_given = choices.aggregate == "segment" and choices.standardise == "none"
    observed = {
        name: Observations.of(scores, scores.tied(as_given=as_given), len(names), len(column.names))
        for name, scores in units.items()
    }
    for scores in observed.values() if choices.test in PAIRED else ():
        _require_shared(scores, names, str(choices.test))
    return Prepared(
        judgements, annotators, tuple(dropped), names, segments, pooled, units, averaged, observed
    )


def count_rows(
    dropped: Sequence[dict[str, int]], judgements: Judgements, lost: Flags, why: str
) -> None:
    """Add the rows behind judgements that are left out to the reasons of their files."""
    rows = np.bincount(judgements.source[lost], judgements.rows[lost], minlength=len(dropped))
    for reasons, n in zip(dropped, rows.astype(int).tolist(), strict=True):
        if n:
            reasons[why] = reasons.get(why, 0) + n


def _require_annotators(judgements: Judgements) -> None:
    """Every score is somebody's, whose mean it is held against."""
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
    systems: Sequence[str],
    choices: HumanRequest,
    dropped: Sequence[Mapping[str, int]],
) -> None:
    """Every system that was judged still has a judgement of each criterion."""
    for criterion in choices.criteria:
        names = judgements.criterion.names
        place = names.index(criterion) if criterion in names else len(names)
        rows = judgements.scored & (judgements.criterion.codes == place)
        left = judgements.system.take(rows).names
        if missing := [name for name in systems if name not in left]:
            reasons = sum(map(Counter, dropped), Counter[str]())
            lost = ", ".join(f"{reason} {n:,}" for reason, n in reasons.items())
            raise InputError(
                f"No judgement of {criterion} is left of {', '.join(missing[:12])}; every system "
                "needs some of each criterion by an annotator who is not left out."
                f"{f' Rows left out: {lost}.' if lost else ''}",
                field="judgements",
                system=missing[0],
            )


def _require_shared(observed: Observations, names: Sequence[str], test: str) -> None:
    """Every two systems have a unit in common."""
    for a, b in combinations(range(len(names)), 2):
        if not len(observed.differences(a, b)[0]):
            raise InputError(
                f"{names[a]!r} and {names[b]!r} were judged on no unit in common, so {test} cannot "
                "pair their scores; rank_sum needs no pairs.",
                field="test",
                system=names[b],
            )
