"""Rankings of several outputs of one segment, as columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from sigtest.arrays import Counts, Flags
from sigtest.people.judgements import UNKNOWN, Names, groups


@dataclass(frozen=True)
class Rankings:
    """Rankings, one a row; n rankings of at most m outputs.

    Attributes:
        annotator: Who ranked.
        segment: Which segment.
        languages: Language pair.
        names: Of the systems.
        system: (n, m) index into `names`, -1 for an empty place.
        rank: (n, m) 1 the best; -1 where the output was not ranked.
        source: (n,) number of its file, from 0.
    """

    annotator: Names
    segment: Names
    languages: Names
    names: tuple[str, ...]
    system: Counts
    rank: Counts
    source: Counts

    def __len__(self) -> int:
        return len(self.system)

    def take(self, rows: Flags) -> Rankings:
        """Some of the rankings; all systems keep their numbers."""
        return replace(
            self,
            annotator=self.annotator.take(rows),
            segment=self.segment.take(rows),
            languages=self.languages.take(rows),
            system=self.system[rows],
            rank=self.rank[rows],
            source=self.source[rows],
        )

    def without_copies(self) -> Rankings:
        """All but rows that an earlier file has as often: files may overlap.

        A row that one file has twice stays, since annotators may rank the same outputs again.
        """
        columns = (self.annotator.codes, self.segment.codes, self.languages.codes,
                   *self.system.T, *self.rank.T)  # fmt: skip
        place, _ = groups(*columns, self.source)
        order, often = np.argsort(place, kind="stable"), np.bincount(place)
        occurrence = np.empty_like(place)  # how many alike stand above a row in its file
        occurrence[order] = np.arange(len(self)) - np.repeat(np.cumsum(often) - often, often)
        keeps = np.zeros(len(self), dtype=np.bool_)
        keeps[groups(*columns, occurrence)[1]] = True
        return self.take(keeps)

    @classmethod
    def concatenate(cls, parts: Sequence[Rankings]) -> Rankings:
        """All rankings of several files."""
        wide = max(part.system.shape[1] for part in parts)

        def padded(places: Counts) -> Counts:
            missing = ((0, 0), (0, wide - places.shape[1]))
            return np.pad(places, missing, constant_values=UNKNOWN)

        system = Names.concatenate([Names(part.names, padded(part.system)) for part in parts])
        return cls(
            Names.concatenate([part.annotator for part in parts]),
            Names.concatenate([part.segment for part in parts]),
            Names.concatenate([part.languages for part in parts]),
            system.names,
            system.codes,
            np.concatenate([padded(part.rank) for part in parts]),
            np.concatenate([part.source for part in parts]),
        )
