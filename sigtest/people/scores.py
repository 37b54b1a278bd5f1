"""From judgements to scores: standardised judgements, segments, documents, systems."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sigtest.arrays import Array, Counts, Flags
from sigtest.people.judgements import BAD_REF, REF, Judgements, Names, groups
from sigtest.significance.ties import as_printed, with_ties


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
    def of(cls, found: Units, scores: Array, systems: int, size: int) -> Observations:
        """The (u,) scores of so many systems on so many units."""
        places = [found.of(s) for s in range(systems)]
        return cls(
            tuple(found.unit[place] for place in places),
            tuple(scores[place] for place in places),
            size,
        )

    @property
    def means(self) -> Array:
        """(S,) mean score of each system; NaN for one without."""
        return np.array([s.mean() if len(s) else np.nan for s in self.scores])


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
