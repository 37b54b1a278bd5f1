"""Rankings of several outputs of one segment, as columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sigtest.arrays import Counts, Flags
from sigtest.questions.human.judgements import Names, groups


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
        return Rankings(
            self.annotator.take(rows),
            self.segment.take(rows),
            self.languages.take(rows),
            self.names,
            self.system[rows],
            self.rank[rows],
            self.source[rows],
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
        names: dict[str, int] = {}
        systems, ranks = [], []
        for part in parts:
            for name in part.names:
                names.setdefault(name, len(names))
            places = np.array([names[name] for name in part.names] + [-1], dtype=np.int64)
            missing = ((0, 0), (0, wide - part.system.shape[1]))
            systems.append(np.pad(places[part.system], missing, constant_values=-1))
            ranks.append(np.pad(part.rank, missing, constant_values=-1))
        return cls(
            Names.concatenate([part.annotator for part in parts]),
            Names.concatenate([part.segment for part in parts]),
            Names.concatenate([part.languages for part in parts]),
            tuple(names),
            np.concatenate(systems),
            np.concatenate(ranks),
            np.concatenate([part.source for part in parts]),
        )
