"""Reports and questions to JSON and back, from the annotations of their dataclasses.

Names of fields are names in JSON. Tuples and sequences are arrays, mappings by text are objects,
dataclasses and named tuples are objects. A field that equals its default, or is marked OMITTED and
is None, is left out. Arrays are kept bit for bit. What may be one of several classes is an object
with the name of its class.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import types
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import (
    Annotated,
    Any,
    Literal,
    NamedTuple,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from sigtest.errors import InputError
from sigtest.late import late
from sigtest.version import __version__

T = TypeVar("T")
Encode = Callable[[Any], Any]

OMITTED = "left out where there is none"


@dataclasses.dataclass(frozen=True)
class Arranged:
    """Mark of a sequence of records whose order in JSON is another than in memory.

    Records with equal fields stand together, those first whose fields come first.

    Attributes:
        written: The fields that are equal in JSON.
        read: Those in memory.
    """

    written: tuple[str, ...]
    read: tuple[str, ...]


@dataclasses.dataclass(frozen=True)
class Stored:
    """Mark of a class that says itself how JSON has it.

    Attributes:
        write: What JSON has of a value.
        read: The value that `write` wrote.
    """

    write: Encode
    read: Encode


class Ways(NamedTuple):
    """How a value is encoded and decoded; None where JSON has it as it is."""

    write: Encode | None
    read: Encode | None


def together(records: Sequence[T], fields: Sequence[str]) -> list[T]:
    """The same records, those with equal fields together, each group where its first one was."""
    groups: dict[tuple[Any, ...], list[T]] = {}
    for record in records:
        groups.setdefault(tuple(getattr(record, name) for name in fields), []).append(record)
    return [record for group in groups.values() for record in group]


packed, unpacked = late("sigtest.report.arrays:packed"), late("sigtest.report.arrays:unpacked")
_PLAIN = {str, int, float, bool, type(None)}
_NOTHING = object()


@dataclasses.dataclass(frozen=True)
class FieldType:
    """One field of a record.

    Attributes:
        name: In the class and in JSON.
        annotation: Its type, without marks.
        omitted: A value with which it is left out.
        arranged: Where its order in JSON is another.
    """

    name: str
    annotation: Any
    omitted: Any
    arranged: Arranged | None = None


def is_required(field: FieldType) -> bool:
    """Whether JSON always has a field."""
    return field.omitted is _NOTHING


def is_record(kind: Any) -> bool:
    """Whether a type is a dataclass or a named tuple."""
    return dataclasses.is_dataclass(kind) or hasattr(kind, "_field_defaults")


@cache
def fields_of(kind: Any) -> tuple[FieldType, ...]:
    """The fields of a dataclass or named tuple, in order."""
    hints = get_type_hints(kind, include_extras=True)
    if dataclasses.is_dataclass(kind):
        defaults = {field.name: _default(field) for field in dataclasses.fields(kind)}
    else:
        defaults = {name: kind._field_defaults.get(name, _NOTHING) for name in kind._fields}
    found = []
    for name, omitted in defaults.items():
        annotation, arranged = hints[name], None
        marks = getattr(annotation, "__metadata__", ())
        if marks and not isinstance(marks[0], Stored):
            annotation = annotation.__origin__
            omitted = None if OMITTED in marks else omitted
            arranged = next((mark for mark in marks if isinstance(mark, Arranged)), None)
        found.append(FieldType(name, annotation, omitted, arranged))
    return tuple(found)


def encode(value: Any) -> Any:
    """What JSON has of a report, or of a part of it."""
    own = _ways(type(value)).write  # type: ignore[arg-type]  # types can be hashed
    return value if own is None else own(value)


def decode(kind: type[T], body: Any) -> T:
    """The value that `encode` wrote.

    Raises:
        KeyError: A field is missing.
        TypeError: A field is unknown, or of another kind.
    """
    own = _ways(kind).read  # type: ignore[arg-type]  # types can be hashed
    made: T = body if own is None else own(body)
    return made


def digest(content: Any) -> str:
    """Hash of a value as JSON has it."""
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def _default(field: dataclasses.Field[Any]) -> Any:
    if field.default is not dataclasses.MISSING:
        return field.default
    if field.default_factory is not dataclasses.MISSING:
        return field.default_factory()
    return _NOTHING


@cache
def _ways(kind: Any) -> Ways:
    """How a value of a type is encoded and decoded."""
    origin, inner = get_origin(kind), get_args(kind)
    if kind in _PLAIN or origin is Literal or (isinstance(kind, type) and issubclass(kind, str)):
        return Ways(None, None)
    if origin is Annotated:
        return Ways(inner[1].write, inner[1].read)
    if origin in (Union, types.UnionType):
        return _union([part for part in inner if part is not type(None)])
    if is_record(kind):
        return Ways(_record_encoder(kind), _record_decoder(kind))
    if _is_array(origin):
        return Ways(packed, unpacked)
    if origin is not None and issubclass(origin, Mapping):
        return Ways(*map(_mapping, _ways(inner[1])))
    if origin is not None and issubclass(origin, Sequence):
        write, read = _ways(inner[0])
        if len(inner) == 2 and inner[1] is not Ellipsis:
            return Ways(_sequence(list, write), _two_decoder(read, _ways(inner[1]).read))
        return Ways(_sequence(list, write), _sequence(tuple, read))
    raise TypeError(f"{kind!r} has no place in a report")


def _mapping(own: Encode | None) -> Encode:
    return dict if own is None else lambda value: {key: own(held) for key, held in value.items()}


def _sequence(made: Encode, own: Encode | None) -> Encode:
    return made if own is None else lambda value: made(map(own, value))


def _by_name(kinds: Sequence[Any]) -> dict[str, Any]:
    """Classes, marked or not, by their names."""
    return {getattr(kind, "__origin__", kind).__name__: kind for kind in kinds}


def _is_array(origin: Any) -> bool:
    """Whether a type is NumPy's array; NumPy is loaded only where there are any.

    NumPy's `NDArray` is an alias that keeps its own name since NumPy 2.5.
    """
    stands_for = get_origin(getattr(origin, "__value__", None)) or origin
    return getattr(stands_for, "__module__", "") == "numpy"


def _union(kinds: Sequence[Any]) -> Ways:
    """Of one class or nothing, or of one of several classes."""
    if len(kinds) == 1:
        return Ways(*map(_optional, _ways(kinds[0])))
    own: dict[str, Any] = {name: _ways(kind) for name, kind in _by_name(kinds).items()}

    def write(value: Any) -> dict[str, Any]:
        name = type(value).__name__
        return {name: own[name].write(value)}

    def read(body: Any) -> Any:
        ((name, held),) = body.items()
        if name not in own:
            raise InputError(f"This is no {' or '.join(own)} of sigtest {__version__}: {name}.")
        return own[name].read(held)

    return Ways(write, read)


def _optional(own: Encode | None) -> Encode | None:
    return None if own is None else lambda value: None if value is None else own(value)


def _record_encoder(kind: Any) -> Encode:
    @cache  # when first used: a record may hold records of its own kind
    def parts() -> list[tuple[str, Encode | None, Any]]:
        return [(f.name, _ways_of(f).write, f.omitted) for f in fields_of(kind)]

    def record(value: Any) -> dict[str, Any]:
        body = {}
        for name, own, omitted in parts():
            entry = getattr(value, name)
            if entry is omitted or (omitted is not _NOTHING and entry == omitted):
                continue
            body[name] = entry if own is None else own(entry)
        return body

    return record


def _ways_of(field: FieldType) -> Ways:
    """How a field is encoded and decoded."""
    write, read = _ways(field.annotation)
    arranged = field.arranged
    if write is None or read is None or arranged is None:
        return Ways(write, read)
    return Ways(
        lambda records: write(together(records, arranged.written)),
        lambda body: tuple(together(read(body), arranged.read)),
    )


def _two_decoder(first: Encode | None, second: Encode | None) -> Encode:
    def two(body: Any) -> Any:
        a, b = body
        return (a if first is None else first(a), b if second is None else second(b))

    return two


def _record_decoder(kind: Any) -> Encode:
    fields = fields_of(kind)
    known = {f.name for f in fields}
    defaults = {f.name: f.omitted for f in fields if f.omitted is not _NOTHING}
    needed = known - defaults.keys()

    @cache  # when first used: a record may hold records of its own kind
    def readers() -> list[tuple[str, Encode]]:
        return [(f.name, own) for f in fields if (own := _ways_of(f).read) is not None]

    def record(body: Any) -> Any:
        if not isinstance(body, Mapping) or not needed <= body.keys() <= known:
            raise InputError(
                f"This is no {kind.__name__} of sigtest {__version__}: its fields are "
                f"{', '.join(f.name for f in fields)}."
            )
        given = {**defaults, **body}
        for name, own in readers():
            if name in body:
                given[name] = own(body[name])
        return kind(**given)

    return record
