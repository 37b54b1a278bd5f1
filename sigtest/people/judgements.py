"""People's judgements as columns: names as numbers, scores and ranks as arrays.

`collect` makes them of the tables of several files and does every check that needs a line. What
follows looks at these columns only; no judgement is an object.
"""

from __future__ import annotations

import contextlib
import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, fields, replace
from enum import IntEnum
from functools import reduce
from itertools import chain
from typing import Any, Self

import numpy as np

from sigtest.arrays import Array, Counts, Flags
from sigtest.data.names import MEANS, check_name, choose, without_slash
from sigtest.data.text import in_digits
from sigtest.errors import InputError, SigtestError, quoted
from sigtest.files.judgements import (
    COMPARED_LABELS,
    NEEDED,
    JudgedFile,
    compared_records,
    ranked_pairs,
)
from sigtest.files.material import SUMMARIES
from sigtest.files.tables import NUMBER, advice, blank

Kind = IntEnum("Kind", "SYSTEM REPEAT BAD_REF REF DUPLICATE", start=0)  # of judgements

UNKNOWN = -1
MOST_PAIRS = 2_000_000
LONGEST = 200
LABELS = ("segment", "annotator", "criterion", "hit", "document", "languages")
LARGEST = 1e12  # of a score, a time or a number: sums of their squares stay far from infinity
KEYED = ("item", "judge", "a", "b", "share", "criterion", "languages", "ranking")  # of comparisons
SUMMING = {"segment": SUMMARIES, "annotator": MEANS}  # names that rows of sums have
NO_SCORE = "leave rows without a score out"
FINITE = f"a score is one number of at most {LARGEST:g}"
PLAIN = {str, float, int, type(None)}
SPELLINGS = {"TGT": "SYSTEM", "CHK": "REPEAT", "BAD": "BAD_REF", "BADREF": "BAD_REF"}


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
        names = tuple(name for name in dict.fromkeys(column) if name is not None)
        numbers = {name: code for code, name in enumerate((None, *names), UNKNOWN)}
        codes = np.fromiter(map(numbers.__getitem__, column), int, count=len(column))
        return cls(names, codes)

    @classmethod
    def unknown(cls, size: int) -> Names:
        """So many unknown names."""
        return cls((), np.full(size, UNKNOWN, int))

    @property
    def known(self) -> bool:
        """Whether any name is known."""
        return bool(self.names)

    def __getitem__(self, rows: Flags | Counts) -> Names:
        """Some rows, with the names that still occur."""
        codes = self.codes[rows]
        used = np.unique(codes[codes >= 0])
        left = tuple(self.names[code] for code in used.tolist())
        return Names(left, np.where(codes < 0, UNKNOWN, np.searchsorted(used, codes)))

    def among(self, names: Collection[str | None]) -> Flags:
        """(n,) which rows have one of some names."""
        return np.array([*(name in names for name in self.names), None in names])[self.codes]

    def at(self, row: int) -> str | None:
        """The name in one row."""
        code = int(self.codes[row])
        return None if code == UNKNOWN else self.names[code]


class FileRows:
    """The rows of several files, below each other.

    Attributes:
        files: In the order of the rows.
        source: (n,) number of the file of each row, from 0.
    """

    def __init__(self, files: Sequence[JudgedFile]) -> None:
        sizes = [len(file.line) for file in files]
        self.files, self._starts = files, np.cumsum([0, *sizes]).tolist()
        self.source = np.repeat(np.arange(len(files)), sizes)

    def cells(self, role: str) -> list[Any]:
        """(n,) what stands in a column; None where a file has none."""
        return [cell for f in self.files for cell in f.columns.get(role) or [None] * len(f.line)]

    def names(self, role: str, check: Callable[[str], object]) -> Names:
        """The names in a column, all of which pass a check.

        Raises:
            InputError: What the check raises, with the place where the name first stands.
        """
        column = Names.of(self.cells(role))
        for code, name in enumerate(column.names):
            try:
                check(name)
                # as spreadsheets have them below others
                if len(column.names) > 1 and name.lower() in SUMMING.get(role, ()):
                    why = f"{role} {name!r} sums others up by its name; take such rows out."
                    raise InputError(why)
            except SigtestError as error:
                row = int(np.argmax(column.codes == code))
                why = error.message[0].lower() + error.message[1:].rstrip(".")
                raise self.refused(row, why, role) from None
        return column

    def numbers(self, role: str, what: str, least: float = -LARGEST) -> Array:
        """(n,) numbers; NaN where a file has no such column or leaves a time empty."""
        return np.concatenate([_numbers(file, role, what, least) for file in self.files])

    def at(self, row: int) -> tuple[JudgedFile, int]:
        """The file of a row, and the row in it."""
        source = int(self.source[row])
        return self.files[source], row - self._starts[source]

    def refused(self, row: int, why: str, role: str) -> InputError:
        """A row that cannot be used: what, where, and why."""
        file, own = self.at(row)
        return file.refused(own, why, role)


@dataclass(frozen=True)
class Columns:
    """Columns of equal length, n, of judgements of any sort.

    Attributes:
        system: (n,) whose output was judged; (n, 2) of comparisons both, as the file has them.
        segment: Which segment of the test set; what else outputs are of: the item.
        annotator: Who judged; unknown where a file holds means.
        criterion: What was judged, such as adequacy.
        languages: Language pair.
        source: (n,) number of its file, from 0.
    """

    system: Names
    segment: Names
    annotator: Names
    criterion: Names
    languages: Names
    source: Counts

    def __len__(self) -> int:
        return len(self.source)

    def rows_of(self, files: int) -> Counts:
        """(files,) rows of each file that they come from."""
        raise NotImplementedError

    def take(self, rows: Flags) -> Self:
        """Some of the rows."""
        columns = {field.name: getattr(self, field.name)[rows] for field in fields(self)}
        return replace(self, **columns)

    def without(self, lost: Flags, why: str, dropped: Sequence[dict[str, int]]) -> Self:
        """All but some, whose rows are counted among what was left out of each file, by reason."""
        left = self.take(~lost)
        fewer = self.rows_of(len(dropped)) - left.rows_of(len(dropped))
        for reasons, n in zip(dropped, fewer.tolist(), strict=True):
            if n:
                reasons[why] = reasons.get(why, 0) + n
        return left


@dataclass(frozen=True)
class Judgements(Columns):
    """Judgements, one a row.

    Attributes:
        hit: The batch in which it was judged.
        document: Of the segment.
        kind: (n,) number of a Kind: SYSTEM and REPEAT (the same output again, averaged with the
            first), BAD_REF (a degraded output), REF (a reference), DUPLICATE (the same output
            again, for control only).
        raw: (n,) scores as given, NaN where only standardised ones are known.
        z: (n,) scores that were standardised before they came here, NaN where they were not.
        seconds: (n,) time that a judgement took, NaN where unknown.
        judged: (n,) judgements that a row stands for: 1, or more where a file holds means.
        rows: (n,) rows of its file that a judgement was made from.
    """

    hit: Names
    document: Names
    kind: Counts
    raw: Array
    z: Array
    seconds: Array
    judged: Counts
    rows: Counts

    def rows_of(self, files: int) -> Counts:
        return np.bincount(self.source, self.rows, files).astype(int)

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
        return (self.kind == Kind.SYSTEM) | (self.kind == Kind.REPEAT)


@dataclass(frozen=True)
class Comparisons(Columns):
    """Comparisons of two systems, one a row.

    Attributes:
        share: (n,) how far the first is preferred, from 0 to 1; 1/2 is a tie.
        weight: (n,) how often each counts.
        cluster: What else belongs together, such as a ranking.
        shown: (n,) 1 where the first system was shown first, 0 where that is not known.
        row: (n,) number of the row of its file, over all files; a ranking is one.
    """

    share: Array
    weight: Array
    cluster: Names
    shown: Counts
    row: Counts

    def rows_of(self, files: int) -> Counts:
        return np.bincount(self.source[np.unique(self.row, return_index=True)[1]], None, files)

    @property
    def ties(self) -> Array:
        """(n,) weights of ties, 0 of what is none."""
        return np.where(self.share == 0.5, self.weight, 0.0)

    @property
    def cells(self) -> tuple[Counts, Array]:
        """(2 n,) places in an (S, S) table of wins, and what each is increased by."""
        size, (first, second) = len(self.system.names), self.system.codes.T
        places = [first * size + second, second * size + first]
        wins = [self.share * self.weight, (1 - self.share) * self.weight]
        return np.concatenate(places), np.concatenate(wins)

    @property
    def won(self) -> Array:
        """(S, S) how often the row's system was preferred to the column's; ties are half a win."""
        size = len(self.system.names)
        return added(*self.cells, size**2).reshape(size, -1)

    @property
    def tied(self) -> Array:
        """(S, S) ties of the two systems."""
        return 2 * replace(self, weight=self.ties).won

    @classmethod
    def of(cls, files: Sequence[JudgedFile], dropped: Sequence[dict[str, int]] = ()) -> Comparisons:
        """Those of some files, without rows that an earlier file has as often: files may overlap.

        A row that one file has twice stays, since judges may judge again; and so do rows that do
        not say who judged what.

        Raises:
            InputError: A name that cannot be used.
        """
        rows = FileRows(files)
        cells = {side: rows.names(side, check_name) and rows.cells(side) for side in "ab"}
        named = Names.of(chain.from_iterable(zip(*cells.values(), strict=True)))
        labels = {role: rows.names(role, _check_label) for role in COMPARED_LABELS}
        place = np.array([line for file in files for line in file.line], int)
        found = cls(
            system=Names(named.names, named.codes.reshape(-1, 2)),
            share=np.array(rows.cells("share"), float),
            weight=np.array(rows.cells("weight"), float),
            segment=labels.pop("item"),
            annotator=labels.pop("judge"),
            **labels,
            shown=np.array([file.placed for file in files], int)[rows.source],
            row=groups(rows.source, place)[0],
            source=rows.source,
        )
        known, again = Counter[tuple[Any, ...]](), list[bool]()
        for file in files:
            own = Counter[tuple[Any, ...]]()
            for key in zip(*map(file.columns.__getitem__, KEYED), strict=True):
                own[key] += 1
                again.append(None not in key[:2] and own[key] <= known[key])
            known |= own
        return found.without(np.array(again, bool), "repeated row", dropped or [{} for _ in files])


def added(places: Counts, values: Array, size: int) -> Array:
    """(size,) sums of the values at each place."""
    return np.bincount(places, values, size).astype(np.float64, copy=False)


@dataclass(frozen=True)
class Rankings:
    """Rankings of at most m outputs, one a row, as 0.2.0 stored them.

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

    def compared(self) -> Comparisons:
        """Every two outputs of a ranking, which is a cluster.

        Raises:
            InputError: There are none.
        """
        records, lines = list[tuple[Any, ...]](), list[int]()
        for row, places in enumerate(zip(self.system.tolist(), self.rank.tolist(), strict=True)):
            both = zip(*places, strict=True)
            ranked = [(self.names[system], rank) for system, rank in both if rank > 0]
            columns = {"item": self.segment, "judge": self.annotator, "languages": self.languages}
            about = {role: column.at(row) for role, column in columns.items()}
            records += ranked_pairs(ranked, **about, cluster=str(row))
            lines += [row] * (len(records) - len(lines))
        if not records:
            raise InputError("These rankings compare no two outputs.")
        found = Comparisons.of([compared_records(records, lines, "rankings", placed=False)])
        return replace(found, source=self.source[lines])


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
            left = np.unique(left, return_inverse=True)[1].astype(int)
        return left * wide + right + 1

    key = reduce(join, codes, np.zeros(len(codes[0]), int))
    _, first, inverse = np.unique(key, return_index=True, return_inverse=True)
    return inverse.astype(int), first.astype(int)


def pairs_within(items: Counts) -> Counts | None:
    """(p, 2) all pairs of rows that are about the same item; nothing where there are too many.

    Args:
        items: (n,) number of each row's item.
    """
    sizes = np.bincount(items, minlength=1)
    if float((sizes.astype(float) * (sizes - 1)).sum()) / 2 > MOST_PAIRS:
        return None
    order = np.argsort(items, kind="stable")
    ends = np.cumsum(sizes)[items[order]]
    later = ends - 1 - np.arange(len(items))  # members of the same item that follow
    first = np.repeat(np.arange(len(items)), later)
    steps = np.arange(len(first)) - np.repeat(np.cumsum(later) - later, later)
    return np.stack([order[first], order[first + 1 + steps]], axis=1)


def mates(judgements: Judgements, kinds: tuple[int, ...]) -> Counts:
    """(p, 2) rows: the first judgement of a thing, of kind SYSTEM, and those of some kinds.

    Both are by the same annotator, of the same batch, system, segment and criterion.
    """
    j = judgements
    item, _ = groups(
        j.annotator.codes, j.hit.codes, j.system.codes, j.segment.codes, j.criterion.codes
    )
    firsts = np.full(int(item.max(initial=0)) + 1, UNKNOWN, int)
    outputs = np.flatnonzero(j.kind == Kind.SYSTEM)
    firsts[item[outputs[::-1]]] = outputs[::-1]  # the first of several stays
    rows = np.flatnonzero(np.isin(j.kind, kinds))
    first = firsts[item[rows]]
    known = (first != UNKNOWN) & (j.annotator.codes[rows] != UNKNOWN)
    return np.stack([first[known], rows[known]], axis=1)


def collect(
    tables: Sequence[JudgedFile],
    scale: tuple[float, float] | None,
    dropped: Sequence[dict[str, int]],
) -> tuple[Judgements, frozenset[str]]:
    """Check all rows and put them below each other.

    Args:
        tables: One a file.
        scale: Lowest and highest score that was asked for; that of each format where none was.
        dropped: For each file, rows that were left out by reason, which grow.

    Returns:
        The judgements; the criteria of which less is better, as a file says.

    Raises:
        InputError: A score that is no number or outside the scale, an unknown kind, a name that
            cannot be used, the same judgement twice with other scores, raw and standardised
            scores together, no judgement at all.
    """
    for table in tables:
        if not any(table.columns.get("criterion", ())):
            table.columns = {**table.columns, "criterion": [table.named] * len(table.line)}
    rows = FileRows(tables)
    raw, z = (rows.numbers(role, "score") for role in ("score", "z"))
    scales = [scale or table.scale or (-math.inf, math.inf) for table in tables]
    low, high = np.array(scales)[rows.source].T
    outside = (raw < low) | (raw > high)
    if outside.any():
        row = int(np.argmax(outside))
        beyond = f"outside the scale from {low[row]:g} to {high[row]:g}"
        why = f"the score {raw[row]:g} lies {beyond}; another scale can be named (scale)"
        raise rows.refused(row, why, "score")
    seconds = rows.numbers("seconds", "number of seconds", 0.0)
    judged = rows.numbers("judged", "number of judgements", 1.0)
    for role in NEEDED:
        if None in (cells := rows.cells(role)):
            raise rows.refused(cells.index(None), f"the {role} is empty", role)
    kind = rows.names("kind", _kind)
    system = rows.names("system", lambda name: check_name(without_slash(name)))
    plain = Names.of(map(without_slash, system.names))
    whole = Judgements(
        system=Names(plain.names, plain.codes[system.codes]),
        **{role: rows.names(role, _check_label) for role in LABELS},
        kind=np.array([*map(_kind, kind.names), Kind.SYSTEM], int)[kind.codes],
        raw=raw,
        z=z,
        seconds=np.where(seconds > 0, seconds, math.nan),
        judged=np.where(np.isnan(judged), 1, judged).astype(int),
        rows=np.array([made or 1 for made in rows.cells("made_from")], int),
        source=rows.source,
    )
    sorts = [{"score", "z"} & table.columns.keys() for table in tables]
    for other, sort in zip(tables, sorts, strict=True):
        if sort != sorts[0]:
            raise InputError(
                f"{tables[0].name} and {other.name} differ: one brings raw scores and the other "
                "standardised ones; give files of one sort.",
                field=other.name,
            )
    if not len(whole):
        raise InputError(f"{tables[0].name} holds no judgement.", field=tables[0].name)
    _require_ids_alike(whole.segment, tables[-1])
    return _without_copies(whole, rows, dropped), _lower(whole.criterion, rows)


def _lower(criterion: Names, rows: FileRows) -> frozenset[str]:
    """Criteria of which less is better; all judgements of one say the same."""
    known: dict[str | None, bool] = {}
    for row, higher in enumerate(rows.cells("higher_is_better")):
        if higher is not None and known.setdefault(name := criterion.at(row), higher) != higher:
            raise rows.refused(row, f"another direction of {name} than above", "higher_is_better")
    return frozenset(name for name, higher in known.items() if name and not higher)


def _kind(name: str) -> int:
    """The number of a kind, whatever a file calls it."""
    plain = name.strip().upper().replace("-", "_")
    return Kind[choose(SPELLINGS.get(plain, plain), Kind.__members__, "kind", "kind of judgement")]


def _numbers(table: JudgedFile, role: str, what: str, least: float) -> Array:
    cells = table.columns.get(role)
    if cells is None:
        return np.full(len(table.line), math.nan)
    values = _floats(cells)
    fits = (values >= least) & (values <= LARGEST)
    if role == "seconds":
        fits |= np.isnan(values) & [cell in (None, "", "NA") for cell in cells]
    if role == "judged":
        fits &= values == np.rint(values)
    if not fits.all():
        row = int(np.argmin(fits))
        text = "" if cells[row] is None else str(cells[row]).strip()
        why = f"{quoted(cells[row], 40) if text else 'nothing'} is no {what}"
        if what == "score":
            why += f"; {NO_SCORE if blank(cells[row]) else advice(text) or FINITE}"
        raise table.refused(row, why, role)
    return values


def _floats(cells: Sequence[object]) -> Array:
    """(n,) numbers in cells; NaN where there is none: 1_000 and true are numbers of Python."""
    if set(map(type, cells)) <= PLAIN and not any("_" in v for v in cells if type(v) is str):
        with contextlib.suppress(ValueError, OverflowError):  # tried again below, one by one
            return np.array(cells, float)
    texts = ["" if isinstance(cell, bool) else str(cell).strip() for cell in cells]
    return np.array([float(text) if NUMBER.fullmatch(text) else math.nan for text in texts])


def _without_copies(
    whole: Judgements, rows: FileRows, dropped: Sequence[dict[str, int]]
) -> Judgements:
    """Judgements without those that occur twice; twice with other scores is an error.

    Files may overlap: an export may have all that the one before it had.
    """
    named = np.array(["annotator" in file.columns for file in rows.files])[whole.source]
    keyed = np.array([file.keyed for file in rows.files])[whole.source]
    keyed &= ~named | (whole.annotator.codes >= 0)  # nobody is not the same annotator twice
    place, first = groups(
        whole.system.codes, whole.segment.codes, whole.kind, whole.criterion.codes,
        whole.annotator.codes, whole.hit.codes, whole.languages.codes,
        np.where(keyed, -1, np.arange(len(whole))),
    )  # fmt: skip
    if len(first) == len(whole):
        return whole
    mate = first[place]
    for scores in (whole.raw, whole.z):
        other = (scores != scores[mate]) & np.isfinite(scores)
        if other.any():
            row = int(np.argmax(other))
            (file, _), (origin, above) = rows.at(row), rows.at(int(mate[row]))
            elsewhere = f"{f'{origin.name}, ' * (origin is not file)}{origin.place(above)}"
            why = f"the score {scores[row]:g} contradicts {elsewhere}, which has"
            same = "the same annotator, batch, system, segment and kind"
            raise rows.refused(row, f"{why} {scores[mate[row]]:g} for {same}", "score")
    again = np.ones(len(whole), bool)
    again[first] = False
    return whole.without(again, "repeated row", dropped)


def _require_ids_alike(segment: Names, table: JudgedFile) -> None:
    """No segment has two ids, one number as programs write it in two ways."""
    known: dict[int, str] = {}
    for name in segment.names:
        number = name.removesuffix(".0")
        if in_digits(number) and (other := known.setdefault(int(number), name)) != name:
            raise InputError(
                f"{table.name}: segments are called {other!r} and {name!r}, which is one number "
                "written in two ways; write ids alike.",
                field=table.name,
            )


def _check_label(name: str) -> None:
    if not 0 < len(name) <= LONGEST or any(c == "\0" or "\ud800" <= c <= "\udfff" for c in name):
        raise InputError(
            f"A name or id must have 1 to {LONGEST} characters of UTF-8 text; "
            f"{quoted(name)} has not."
        )
