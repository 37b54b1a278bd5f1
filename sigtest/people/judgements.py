"""People's judgements as columns: names as numbers, scores as arrays.

What follows the readers looks at these columns only; no judgement is an object of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from functools import reduce
from typing import Any, cast

import numpy as np

from sigtest.arrays import Array, Counts, Flags

KINDS = ("SYSTEM", "REPEAT", "BAD_REF", "REF", "DUPLICATE")
SYSTEM, REPEAT, BAD_REF, REF, DUPLICATE = range(len(KINDS))

UNKNOWN = -1


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
        kept = tuple(name for name, stays in zip(self.names, used.tolist(), strict=True) if stays)
        return Names(kept, places[codes])

    def at(self, row: int) -> str | None:
        """The name in one row."""
        code = int(self.codes[row])
        return None if code == UNKNOWN else self.names[code]


@dataclass(frozen=True)
class Judgements:
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
    def scored(self) -> Flags:
        """(n,) which rows say how good a system is."""
        return (self.kind == SYSTEM) | (self.kind == REPEAT)

    def take(self, rows: Flags) -> Judgements:
        """Some of the judgements."""
        return Judgements(
            **{field.name: _take(getattr(self, field.name), rows) for field in fields(self)}
        )

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


def _take(column: Any, rows: Flags) -> Any:
    return column.take(rows) if isinstance(column, Names) else column[rows]
