"""From tables of several files to one set of judgements: every check that needs a line."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sigtest.arrays import Array, Counts
from sigtest.data.choices import choose
from sigtest.data.names import MEANS, check_name, without_slash
from sigtest.data.numbers import in_digits
from sigtest.errors import InputError, RecipeError, SigtestError, quoted
from sigtest.files.assembly import SUMMARIES
from sigtest.files.cells import advice, blank
from sigtest.files.judgements import Column, JudgedFile, Numbers
from sigtest.people.judgements import KINDS, SYSTEM, Judgements, Names, groups

LONGEST = 200
LABELS = ("segment", "annotator", "criterion", "hit", "document", "languages")
LARGEST = 1e12  # of a score, a time or a number: sums of their squares stay far from infinity
NO_SCORE = "leave rows without a score out"
PLAIN = {str, float, int, type(None)}
SPELLINGS = {"TGT": "SYSTEM", "BAD": "BAD_REF", "BADREF": "BAD_REF", "BAD-REF": "BAD_REF"}


@dataclass(frozen=True)
class Collected:
    """Judgements and what was left out of each file.

    Attributes:
        judgements: Of all files.
        dropped: For each file, rows by reason.
        lower: Criteria of which less is better, as a file says.
    """

    judgements: Judgements
    dropped: tuple[Mapping[str, int], ...]
    lower: frozenset[str]


def collect(tables: Sequence[JudgedFile], scale: tuple[float, float] | None) -> Collected:
    """Check all rows and put them below each other.

    Args:
        tables: One a file.
        scale: Lowest and highest score that was asked for; that of each format where none was.

    Raises:
        InputError: A score that is no number or outside the scale, an unknown kind, a name that
            cannot be used, the same judgement twice with other scores, raw and standardised
            scores together, no judgement at all.
    """
    parts = [_part(table, i, scale) for i, table in enumerate(tables)]
    for part, table in zip(parts, tables, strict=True):
        _check_names(part, table)
        _require_no_summary(part, table)
    _require_one_sort(tables)
    whole = Judgements.concatenate(parts)
    if not len(whole):
        raise InputError(f"{tables[0].name} holds no judgement.", field=tables[0].name)
    _require_ids_alike(whole.segment, tables[-1])
    kept = _without_copies(whole, tables)
    counts = [np.bincount(own.source, minlength=len(tables)) for own in (whole, kept)]
    repeated = (counts[0] - counts[1]).tolist()
    dropped = [
        {**table.dropped, "repeated row": copies}
        for table, copies in zip(tables, repeated, strict=True)
    ]
    return Collected(
        kept,
        tuple({why: n for why, n in reasons.items() if n} for reasons in dropped),
        _lower(parts, tables),
    )


def _lower(parts: Sequence[Judgements], tables: Sequence[JudgedFile]) -> frozenset[str]:
    """Criteria of which less is better; all judgements of one say the same."""
    known: dict[str | None, bool] = {}
    for part, table in zip(parts, tables, strict=True):
        for row, higher in enumerate(table.higher or ()):
            name = part.criterion.at(row)
            if higher is not None and known.setdefault(name, higher) != higher:
                raise table.refused(
                    row, f"another direction of {name} than above", "higher_is_better"
                )
    return frozenset(name for name, higher in known.items() if name and not higher)


def _part(table: JudgedFile, source: int, scale: tuple[float, float] | None) -> Judgements:
    """The judgements of one file, each value checked."""
    size = len(table.line)
    raw, z = _numbers(table.raw, table, "score"), _numbers(table.z, table, "score")
    _require_scores(raw, z, table)
    bounds = scale if table.raw is not None and scale is not None else table.scale
    if bounds is not None:
        _require_scale(raw, bounds, table)
    criterion = _names(table.criterion, size)
    if not criterion.known:
        criterion = Names((table.named,), np.zeros(size, dtype=np.int64))
    ones = np.ones(size, dtype=np.int64)
    judged = _numbers(table.judged, table, "n")
    made_from = ones if table.made_from is None else np.array(table.made_from, dtype=np.int64)
    systems = _complete(table.system, table, "system")
    slashes = any("/" in name for name in systems.names)
    names = [name or "" for name in table.system]
    return Judgements(
        system=Names.of([without_slash(name) for name in names]) if slashes else systems,
        segment=_complete(table.segment, table, "segment"),
        annotator=_names(table.annotator, size),
        criterion=criterion,
        hit=_names(table.hit, size),
        document=_names(table.document, size),
        languages=_names(table.languages, size),
        kind=_kinds(table, size),
        raw=raw,
        z=z,
        seconds=_seconds(_numbers(table.seconds, table, "seconds"), table),
        judged=ones if table.judged is None else _whole(judged, table),
        rows=made_from,
        source=np.full(size, source, dtype=np.int64),
    )


def _names(column: Column | None, size: int) -> Names:
    return Names.unknown(size) if column is None else Names.of(column)


def _complete(column: Column, table: JudgedFile, what: str) -> Names:
    names = Names.of(column)
    if len(names.codes) and names.codes.min() < 0:
        raise table.refused(int(np.argmin(names.codes)), f"the {what} is empty", what)
    return names


def _kinds(table: JudgedFile, size: int) -> Counts:
    """Numbers of the kinds, whatever a file calls them."""
    if table.kind is None:
        return np.full(size, SYSTEM, dtype=np.int64)
    given = Names.of(table.kind)
    numbers = []
    for name in given.names:
        plain = name.strip().upper()
        plain = SPELLINGS.get(plain, plain)
        try:
            numbers.append(KINDS.index(choose(plain, KINDS, "kind", "kind of judgement")))
        except RecipeError as error:
            row = int(np.argmax(given.codes == len(numbers)))
            raise table.refused(row, _why(error), "kind") from None
    return np.array([*numbers, SYSTEM], dtype=np.int64)[given.codes]


def _numbers(column: Numbers | None, table: JudgedFile, what: str) -> Array:
    """(n,) numbers; NaN where the file has no such column or leaves a time or count empty."""
    if column is None:
        return np.full(len(table.line), math.nan)
    if set(map(type, column)) <= PLAIN and not any("_" in v for v in column if type(v) is str):
        with contextlib.suppress(ValueError, OverflowError):  # found again below, with its line
            return np.array(column, dtype=np.float64)
    needed = what == "score"
    found = np.empty(len(column))
    for row, value in enumerate(column):
        if not needed and value in (None, "", "NA"):
            found[row] = math.nan
            continue
        try:
            found[row] = _number(value)
        except (TypeError, ValueError, OverflowError):
            shown = "nothing" if value in (None, "") else quoted(value, 40)
            fix = advice(value.strip()) if isinstance(value, str) else None
            fix = NO_SCORE if needed and blank(value) else fix
            why = f"{shown} is no {what}{f'; {fix}' if fix else ''}"
            raise table.refused(row, why, what) from None
    return found


def _number(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise TypeError
    if isinstance(value, str) and "_" in value:  # 1_000 is a number in Python
        raise ValueError
    return float(value)


def _require_scores(raw: Array, z: Array, table: JudgedFile) -> None:
    for column, given in ((raw, table.raw), (z, table.z)):
        if given is None:
            continue
        wrong = ~(np.abs(column) <= LARGEST)
        if wrong.any():
            row = int(np.argmax(wrong))
            if np.isfinite(column[row]):
                raise table.refused(row, f"the score {column[row]:g} is too large", "score")
            shown = "nothing" if given[row] in (None, "") else quoted(given[row], 40)
            fix = f"; {NO_SCORE}" if blank(given[row]) else ""
            raise table.refused(row, f"a score must be a finite number, not {shown}{fix}", "score")


def _require_scale(raw: Array, bounds: tuple[float, float], table: JudgedFile) -> None:
    low, high = bounds
    outside = (raw < low) | (raw > high)
    if outside.any():
        row = int(np.argmax(outside))
        raise table.refused(
            row,
            f"the score {raw[row]:g} lies outside the scale from {low:g} to {high:g}; another "
            "scale can be named (scale)",
            "score",
        )


def _seconds(seconds: Array, table: JudgedFile) -> Array:
    wrong = (seconds < 0) | (seconds > LARGEST)
    if wrong.any():
        row = int(np.argmax(wrong))
        raise table.refused(row, f"{seconds[row]:g} is no number of seconds", "seconds")
    return np.where(seconds > 0, seconds, math.nan)


def _whole(numbers: Array, table: JudgedFile) -> Counts:
    wrong = ~((numbers >= 1) & (numbers <= LARGEST) & (numbers == np.rint(numbers)))
    if wrong.any():
        row = int(np.argmax(wrong))
        raise table.refused(row, f"{numbers[row]:g} is no number of judgements")
    return numbers.astype(np.int64)


def _require_one_sort(tables: Sequence[JudgedFile]) -> None:
    """All files bring raw scores, or all bring standardised ones."""
    sorts = {(table.raw is not None, table.z is not None) for table in tables}
    if len(sorts) > 1:
        first = tables[0]
        other = next(t for t in tables if (t.raw is None) != (first.raw is None)
                     or (t.z is None) != (first.z is None))  # fmt: skip
        raise InputError(
            f"{first.name} and {other.name} differ: one brings raw scores and the other "
            "standardised ones; give files of one sort.",
            field=other.name,
        )


def _without_copies(whole: Judgements, tables: Sequence[JudgedFile]) -> Judgements:
    """Judgements without those that occur twice; twice with other scores is an error.

    Files may overlap: an export may have all that the one before it had.
    """
    named = np.array([table.annotator is not None for table in tables])[whole.source]
    keyed = np.array([table.keyed for table in tables])[whole.source]
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
            raise _contradiction(whole, tables, scores, int(np.argmax(other)), mate)
    keeps = np.zeros(len(whole), dtype=bool)
    keeps[first] = True
    return whole.take(keeps)


def _contradiction(
    whole: Judgements, tables: Sequence[JudgedFile], scores: Array, row: int, mates: Counts
) -> InputError:
    """One judgement with two scores: where both stand."""
    starts = np.cumsum([0, *(len(table.line) for table in tables)]).tolist()
    source, origin = int(whole.source[row]), int(whole.source[mates[row]])
    elsewhere = tables[origin].place(int(mates[row]) - starts[origin])
    return tables[source].refused(
        row - starts[source],
        f"the score {scores[row]:g} contradicts "
        f"{elsewhere if origin == source else f'{tables[origin].name}, {elsewhere}'}, which has "
        f"{scores[mates[row]]:g} for the same annotator, batch, system, segment and kind",
        "score",
    )


def _check_names(part: Judgements, table: JudgedFile) -> None:
    for column in ("system", *LABELS):
        check = check_name if column == "system" else _check_label
        names: Names = getattr(part, column)
        for code, name in enumerate(names.names):
            try:
                check(name)
            except InputError as error:
                row = int(np.argmax(names.codes == code))
                raise table.refused(row, _why(error), column) from None


def _require_no_summary(part: Judgements, table: JudgedFile) -> None:
    """No row of a mean or a sum stands among judgements, as spreadsheets have it below them."""
    for column, summing in (("segment", SUMMARIES), ("annotator", MEANS)):
        names: Names = getattr(part, column)
        code = next((i for i, name in enumerate(names.names) if name.lower() in summing), None)
        if code is not None and len(names.names) > 1:
            why = f"{column} {names.names[code]!r} sums others up by its name; take such rows out"
            raise table.refused(int(np.argmax(names.codes == code)), why, column)


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


def _why(error: SigtestError) -> str:
    """What is wrong, as the end of a sentence that says where."""
    return error.message[0].lower() + error.message[1:].rstrip(".")


def _check_label(name: str) -> None:
    if not 0 < len(name) <= LONGEST or any(c == "\0" or "\ud800" <= c <= "\udfff" for c in name):
        raise InputError(
            f"A name or id must have 1 to {LONGEST} characters of UTF-8 text; "
            f"{quoted(name)} has not."
        )
