"""Reports and questions to JSON and back, from the annotations of their dataclasses.

Names of fields are names in JSON; a field that equals its default is left out.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cache
from typing import Any, TypeVar, get_args

from pydantic import GetCoreSchemaHandler, TypeAdapter, ValidationError
from pydantic_core import core_schema

from sigtest.errors import InputError
from sigtest.version import __version__

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class ByClass:
    """Mark of a union of classes: JSON has a value under the name of its class.

    Attributes:
        former: Classes by the names that they had when 0.2.0 stored them.
    """

    former: Mapping[str, type] = field(default_factory=dict)

    def __get_pydantic_core_schema__(
        self, union: Any, handler: GetCoreSchemaHandler
    ) -> core_schema.CoreSchema:
        kinds = {getattr(kind, "__origin__", kind).__name__: kind for kind in get_args(union)}

        def write(value: object) -> dict[str, Any]:
            name = type(value).__name__
            return {name: _written(kinds[name], value)}

        def read(body: Mapping[str, Any]) -> Any:
            ((name, value),) = body.items()
            kind = kinds.get(name) or self.former.get(name)
            if kind is None:
                raise InputError(
                    f"This is no {' or '.join(kinds)} of sigtest {__version__}: {name}."
                )
            return adapter(kind).validate_python(value, extra="forbid")

        writing = core_schema.plain_serializer_function_ser_schema(write)
        return core_schema.no_info_plain_validator_function(read, serialization=writing)


def together(records: Sequence[T], names: Sequence[str]) -> tuple[T, ...]:
    """The same records, those with equal fields together, each group where its first one was."""
    groups: dict[tuple[Any, ...], list[T]] = {}
    for record in records:
        groups.setdefault(tuple(getattr(record, name) for name in names), []).append(record)
    return tuple(record for group in groups.values() for record in group)


@cache
def adapter(kind: Any) -> TypeAdapter[Any]:
    """What writes and reads values of a type, and describes them."""
    return TypeAdapter(kind)


def encode(value: Any) -> Any:
    """What JSON has of a report, or of a part of it."""
    return _written(type(value), value)


def _written(kind: Any, value: object) -> Any:
    return adapter(kind).dump_python(value, mode="json", exclude_defaults=True)


def decode(kind: type[T], body: object) -> T:
    """The value that `encode` wrote.

    Raises:
        InputError: A field is missing, unknown, or of another kind.
    """
    try:
        made: T = adapter(kind).validate_python(body, extra="forbid")  # type: ignore[arg-type]
    except ValidationError as error:
        names = ", ".join(field.name for field in fields(kind))  # type: ignore[arg-type]
        place = ".".join(map(str, error.errors()[0]["loc"]))
        raise InputError(
            f"This is no {kind.__name__} of sigtest {__version__}: its fields are {names}."
            + (f" The first that is wrong is {place}." if place else "")
        ) from error
    return made


def digest(content: Any) -> str:
    """Hash of a value as JSON has it."""
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
