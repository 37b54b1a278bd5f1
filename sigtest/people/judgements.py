"""People's judgements as columns: names as numbers, scores and ranks as arrays.

What follows the readers looks at these columns only; no judgement is an object.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from functools import reduce
from typing import Any, Self, cast

import numpy as np

from sigtest.arrays import Array, Counts, Flags
from sigtest.files.judgements import Ranked

KINDS = ("SYSTEM", "REPEAT", "BAD_REF", "REF", "DUPLICATE")
SYSTEM, REPEAT, BAD_REF, REF, DUPLICATE = range(len(KINDS))

UNKNOWN = -1
MOST_PAIRS = 2_000_000


@dataclass(frozen=True)
class Names:
    """A column of names.

    Attributes:
        names: Each once, in order of first appearance.
        codes: (n,) index into `names`; -1 where there is none.
    """

    names: tuple[str, ...]
    codes: Counts

    @classmethod
    def of(cls, values: Iterable[str | None]) -> Names:
        """A column of names as they stand in a file; None is an unknown one."""
        column = values if isinstance(values, list) else list(values)
        index: dict[str | None, int] = {}
        for name in dict.fromkeys(column):
            if name is not None:
                index[name] = len(index)
        numbers: dict[str | None, int] = {**index, None: UNKNOWN}
        codes = np.fromiter(map(numbers.__getitem__, column), dtype=np.int64, count=len(column))
        return cls(tuple(cast("dict[str, int]", index)), codes)

    @classmethod
    def unknown(cls, size: int) -> Names:
        """So many unknown names."""
        return cls((), np.full(size, UNKNOWN, dtype=np.int64))

    @classmethod
    def concatenate(cls, columns: Sequence[Names]) -> Names:
        """One column below the other, under common names."""
        index: dict[str, int] = {}
        for column in columns:
            for name in column.names:
                index.setdefault(name, len(index))
        parts = []
        for column in columns:
            # the last place serves the code -1
            places = np.array([index[name] for name in column.names] + [UNKNOWN], dtype=np.int64)
            parts.append(places[column.codes])
        return cls(tuple(index), np.concatenate(parts))

    @property
    def known(self) -> bool:
        """Whether any name is known."""
        return bool(self.names)

    def take(self, rows: Flags) -> Names:
        """Some rows, with the names that still occur."""
        codes = self.codes[rows]
        used = np.bincount(codes[codes >= 0], minlength=len(self.names)) > 0
        if used.all():
            return Names(self.names, codes)
        places = np.append(np.cumsum(used) - 1, UNKNOWN)
        left = tuple(name for name, stays in zip(self.names, used.tolist(), strict=True) if stays)
        return Names(left, places[codes])

    def at(self, row: int) -> str | None:
        """The name in one row."""
        code = int(self.codes[row])
        return None if code == UNKNOWN else self.names[code]


@dataclass(frozen=True)
class Columns:
    """Columns of equal length; a tuple is none of them."""

    def take(self, rows: Flags) -> Self:
        """Some of the rows."""
        columns = {field.name: getattr(self, field.name) for field in fields(self)}
        return replace(self, **{
            name: column.take(rows) if isinstance(column, Names) else column[rows]
            for name, column in columns.items()
            if not isinstance(column, tuple)
        })  # fmt: skip


@dataclass(frozen=True)
class Judgements(Columns):
    """Judgements, one a row. All columns have the same length, n.

    Attributes:
        system: Whose output was judged.
        segment: Which segment of the test set.
        annotator: Who judged; unknown where a file holds means.
        criterion: What was judged, such as adequacy.
        hit: The batch in which it was judged.
        document: Of the segment.
        languages: Language pair.
        kind: (n,) index into KINDS: SYSTEM and REPEAT (the same output again, averaged with the
            first), BAD_REF (a degraded output), REF (a reference), DUPLICATE (the same output
            again, for control only).
        raw: (n,) scores as given, NaN where only standardised ones are known.
        z: (n,) scores that were standardised before they came here, NaN where they were not.
        seconds: (n,) time that a judgement took, NaN where unknown.
        judged: (n,) judgements that a row stands for: 1, or more where a file holds means.
        rows: (n,) rows of its file that a judgement was made from.
        source: (n,) number of its file, from 0.
    """

    system: Names
    segment: Names
    annotator: Names
    criterion: Names
    hit: Names
    document: Names
    languages: Names
    kind: Counts
    raw: Array
    z: Array
    seconds: Array
    judged: Counts
    rows: Counts
    source: Counts

    def __len__(self) -> int:
        return len(self.kind)

    @property
    def standardised(self) -> bool:
        """Whether the scores came standardised."""
        return bool(np.isfinite(self.z).any())

    @property
    def scores(self) -> Array:
        """(n,) scores as given; standardised ones where only those are known."""
        return self.z if np.isnan(self.raw).all() else self.raw

    @property
    def scored(self) -> Flags:
        """(n,) which rows say how good a system is."""
        return (self.kind == SYSTEM) | (self.kind == REPEAT)

    @classmethod
    def concatenate(cls, parts: Sequence[Judgements]) -> Judgements:
        """All judgements of several files."""
        if len(parts) == 1:
            return parts[0]
        joined: dict[str, Any] = {}
        for field in fields(cls):
            columns = [getattr(part, field.name) for part in parts]
            named = isinstance(columns[0], Names)
            joined[field.name] = Names.concatenate(columns) if named else np.concatenate(columns)
        return cls(**joined)


@dataclass(frozen=True)
class Rankings(Columns):
    """Rankings, one a row; n rankings of at most m outputs.

    Attributes:
        annotator: Who ranked.
        segment: Which segment.
        languages: Language pair.
        names: Of the systems; all keep their numbers where some rankings are taken.
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

    @classmethod
    def of(cls, ranked: Ranked) -> Rankings:
        """The rankings of one file, whose rows may be unequally long."""
        rows, width = ranked.outputs, max(map(len, ranked.outputs), default=0)
        padded = [[*own, *[(None, UNKNOWN)] * (width - len(own))] for own in rows]
        system = Names.of([name for own in padded for name, _ in own])
        rank = np.array([rank for own in padded for _, rank in own], dtype=np.int64)
        pairs = ranked.languages
        return cls(
            annotator=Names.of(ranked.annotator),
            segment=Names.of(ranked.segment),
            languages=Names.unknown(len(rows)) if pairs is None else Names.of(pairs),
            names=system.names,
            system=system.codes.reshape(len(rows), width),
            rank=rank.reshape(len(rows), width),
            source=np.zeros(len(rows), dtype=np.int64),
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


def groups(*codes: Counts) -> tuple[Counts, Counts]:
    """Number the distinct combinations of several columns, in increasing order.

    Args:
        *codes: (n,) columns of numbers from -1.

    Returns:
        (n,) number of each row's combination, and (g,) first row of each combination.
    """

    def join(left: Counts, right: Counts) -> Counts:
        wide = int(right.max(initial=0)) + 2
        if int(left.max(initial=0)) >= 2**62 // wide:  # would overflow: number them anew
            left = np.unique(left, return_inverse=True)[1].astype(np.int64)
        return left * wide + right + 1

    key = reduce(join, codes, np.zeros(len(codes[0]), dtype=np.int64))
    _, first, inverse = np.unique(key, return_index=True, return_inverse=True)
    return inverse.astype(np.int64), first.astype(np.int64)


@dataclass(frozen=True)
class Pairs:
    """Pairs of judgements of one thing.

    Attributes:
        first: (p,) row of one judgement.
        second: (p,) row of the other.
    """

    first: Counts
    second: Counts

    def __len__(self) -> int:
        return len(self.first)

    def take(self, chosen: Flags) -> Pairs:
        """Some of the pairs."""
        return Pairs(self.first[chosen], self.second[chosen])


def pairs_within(items: Counts) -> Pairs | None:
    """All pairs of rows that are about the same item; nothing where there are too many.

    Args:
        items: (n,) number of each row's item.
    """
    sizes = np.bincount(items, minlength=1)
    if float((sizes.astype(np.float64) * (sizes - 1)).sum()) / 2 > MOST_PAIRS:
        return None
    order = np.argsort(items, kind="stable")
    ends = np.cumsum(sizes)[items[order]]
    later = ends - 1 - np.arange(len(items))  # members of the same item that follow
    first = np.repeat(np.arange(len(items)), later)
    steps = np.arange(len(first)) - np.repeat(np.cumsum(later) - later, later)
    return Pairs(order[first], order[first + 1 + steps])


def mates(judgements: Judgements, kinds: tuple[int, ...]) -> Pairs:
    """Pair the first judgement of a thing, of kind SYSTEM, with those of some kinds.

    Both are by the same annotator, of the same batch, system, segment and criterion.
    """
    j = judgements
    item, _ = groups(
        j.annotator.codes, j.hit.codes, j.system.codes, j.segment.codes, j.criterion.codes
    )
    firsts = np.full(int(item.max(initial=0)) + 1, UNKNOWN, dtype=np.int64)
    outputs = np.flatnonzero(j.kind == SYSTEM)
    firsts[item[outputs[::-1]]] = outputs[::-1]  # the first of several stays
    rows = np.flatnonzero(np.isin(j.kind, kinds))
    first = firsts[item[rows]]
    known = (first != UNKNOWN) & (j.annotator.codes[rows] != UNKNOWN)
    return Pairs(first[known], rows[known])
