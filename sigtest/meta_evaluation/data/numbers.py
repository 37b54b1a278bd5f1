"""Scores in a JSON request: numbers by system, and by segment as lists or by segment id."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sigtest.arrays import Array
from sigtest.data.names import check_name
from sigtest.data.testset import LARGEST
from sigtest.data.text import check_list
from sigtest.errors import InputError, LengthError, quoted

Rows = Mapping[str, Array] | Mapping[str, Mapping[str, float]]


@dataclass(frozen=True)
class Segments:
    """Segment scores of one source, people or a metric, before they are aligned.

    Attributes:
        what: What to call the source in messages.
        field: Its place in the request.
        lists: (n,) scores by system, NaN where missing.
        named: Scores by segment id, by system.
    """

    what: str
    field: str
    lists: Mapping[str, Array]
    named: Mapping[str, Mapping[str, float]]

    @property
    def systems(self) -> tuple[str, ...]:
        """Those with scores."""
        return (*self.lists, *self.named)

    @property
    def ids(self) -> dict[str, None]:
        """Segment ids in order of first appearance."""
        return {id_: None for row in self.named.values() for id_ in row}


def system_scores(body: object, what: str, field: str) -> dict[str, float]:
    """One number a system; null is a missing one.

    Raises:
        InputError: No object, a bad name, or something that is no finite number.
    """
    rows = _by_system(body, what, field)
    numbers = _numbers(list(rows.values()), list(rows), what, field)
    return dict(zip(rows, numbers.tolist(), strict=True))


def segment_scores(body: object, what: str, field: str) -> Segments:
    """For each system a list with one number a segment, or an object of numbers by segment id.

    Raises:
        InputError: No object, a bad name, or something that is no finite number.
    """
    lists: dict[str, Array] = {}
    named: dict[str, dict[str, float]] = {}
    for name, row in _by_system(body, what, field).items():
        here, place = f"{what}, system {name!r}", f"{field}.{name}"
        if isinstance(row, Mapping):
            ids = [str(id_) for id_ in row]
            numbers = _numbers(list(row.values()), ids, here, place, name)
            named[name] = dict(zip(ids, numbers.tolist(), strict=True))
        else:
            values = check_list(row, place)
            lists[name] = _numbers(values, range(1, len(values) + 1), here, place, name)
    return Segments(what, field, lists, named)


def align(sources: Sequence[Segments]) -> tuple[list[dict[str, Array]], list[str]]:
    """Bring all sources of a set onto the same segments.

    Lists are of segments 1 to n. Where there are no lists, the segments are those that the sources
    after the first (the metrics) name.

    Args:
        sources: People first, then metrics; those that have segment scores.

    Returns:
        For each source (n,) scores by system, and sentences to warn with.

    Raises:
        LengthError: Lists of unequal lengths.
        InputError: Segment ids that are not in the test set.
    """
    length = _length(sources)
    if length is None:
        known = {id_: None for source in sources[1:] or sources for id_ in source.ids}
    else:
        known = {str(i): None for i in range(1, length + 1)}
    places = {id_: i for i, id_ in enumerate(known)}
    aligned, notes = [], []
    for source in sources:
        shift = length is not None and _counts_from_0(source, length)
        if shift:
            notes.append(
                f"{source.what} numbers segments from 0, and lists are of segments from 1: id 0 "
                "is read as segment 1."
            )
        rows = dict(source.lists)
        for name, row in source.named.items():
            rows[name] = np.full(len(places), np.nan)
            for id_, value in row.items():
                rows[name][_place(id_, places, shift, source, name)] = value
        aligned.append(rows)
    return aligned, notes


def _length(sources: Sequence[Segments]) -> int | None:
    """How long all lists are; nothing where there are none."""
    first: tuple[str, int] | None = None
    for source in sources:
        for name, row in source.lists.items():
            first = first or (f"{source.what}, system {name!r}", len(row))
            if len(row) != first[1]:
                raise LengthError(
                    f"{source.what}, system {name!r}: {len(row)} segment scores, where {first[0]} "
                    f"has {first[1]}; give one for each segment, null where there is none.",
                    field=f"{source.field}.{name}",
                    system=name,
                )
    return None if first is None else first[1]


def _counts_from_0(source: Segments, length: int) -> bool:
    """Whether ids can only be numbers from 0, where the lists are of segments from 1."""
    ids = source.ids
    numbered = all(id_.isdecimal() and len(id_) <= len(str(length)) for id_ in ids)
    return numbered and "0" in ids and str(length) not in ids


def _place(id_: str, places: Mapping[str, int], shift: bool, source: Segments, system: str) -> int:
    known = str(int(id_) + 1) if shift else id_
    if known not in places:
        few = ", ".join(list(places)[:5])
        raise InputError(
            f"{source.what}, system {system!r}: segment {id_!r} is not in the test set, whose "
            f"{len(places)} segments are {few}{', ...' if len(places) > 5 else ''}.",
            field=f"{source.field}.{system}",
            system=system,
        )
    return places[known]


def _by_system(body: object, what: str, field: str) -> Mapping[str, object]:
    if not isinstance(body, Mapping) or not body:
        raise InputError(f"{what} must be an object with the scores of each system.", field=field)
    for name in body:
        check_name(name, field=field)
    return body


def _numbers(
    values: Sequence[object],
    places: Sequence[object],
    what: str,
    field: str,
    system: str | None = None,
) -> Array:
    """Numbers with NaN for null; the first that is neither is named by its place."""
    if set(map(type, values)) <= {int, float, type(None)}:
        try:
            numbers = np.array(values, dtype=np.float64)
        except OverflowError:  # an integer beyond the range of float64
            numbers = np.array([_float(value) for value in values])
        known = np.array([value is not None for value in values], dtype=np.bool_)
        with np.errstate(invalid="ignore"):
            bad = known & ~(np.abs(numbers) <= LARGEST)
        if not bad.any():
            return numbers
        first = int(np.argmax(bad))
    else:
        first = next(i for i, v in enumerate(values) if type(v) not in {int, float, type(None)})
    raise InputError(
        f"{what}, {'segment' if system else 'system'} {places[first]!r}: "
        f"{quoted(values[first], 40)} is not a finite number (of at most {LARGEST:g}) or null.",
        field=field,
        system=system or str(places[first]),
        line=first + 1 if system else None,
    )


def _float(value: object) -> float:
    try:
        return float(value) if isinstance(value, int | float) else float("nan")
    except OverflowError:
        return float("inf")
