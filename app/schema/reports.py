"""JSON schemas of reports, read off their dataclasses and the docstrings that document them."""

from __future__ import annotations

import inspect
import types
from collections.abc import Mapping, Sequence
from typing import Any, Literal, Union, get_args, get_origin

from app.schema.models import ref
from sigtest.documented import described
from sigtest.report.codec import FieldType, fields_of, is_record, is_required
from sigtest.report.parts import Ends

_PLAIN: dict[Any, str] = {str: "string", int: "integer", float: "number", bool: "boolean"}
Records = dict[str, tuple[type, dict[str, Any]]]  # the record and its schema, by name


def components(*kinds: type) -> dict[str, Any]:
    """Schemas of these records and of all that they hold, by name.

    Raises:
        TypeError: Two records of one name.
    """
    found: Records = {}
    for kind in kinds:
        _add(kind, found)
    return {name: schema for name, (_, schema) in found.items()}


def _add(kind: type, found: Records) -> None:
    known, schema = found.setdefault(kind.__name__, (kind, {}))
    if known is not kind:
        raise TypeError(f"{known!r} and {kind!r} have one name, and so one schema")
    if schema:
        return
    schema["title"] = kind.__name__  # a record may hold records of its own kind
    words = described(kind)
    fields = fields_of(kind)
    schema |= {
        "type": "object",
        "description": inspect.cleandoc(kind.__doc__ or "").partition("\n")[0],
        "properties": {field.name: _property(field, words, found) for field in fields},
        "required": [field.name for field in fields if is_required(field)],
        "additionalProperties": False,
    }


def _property(field: FieldType, words: Mapping[str, str], found: Records) -> dict[str, Any]:
    kind = field.annotation
    if not is_required(field) and type(None) in get_args(kind):
        (kind,) = (part for part in get_args(kind) if part is not type(None))  # absent, never null
    schema = _schema(kind, found)
    if field.name not in words:
        return schema
    told = {"description": words[field.name]}
    return {"allOf": [schema], **told} if "$ref" in schema else {**schema, **told}


def _schema(kind: Any, found: Records) -> dict[str, Any]:
    kind = tuple[float | None, float | None] if kind == Ends else kind
    origin, inner = get_origin(kind), get_args(kind)
    if kind in _PLAIN:
        return {"type": _PLAIN[kind]}
    if origin is Literal:
        return {"type": "string", "enum": list(inner)}
    if origin in (Union, types.UnionType):
        return {"anyOf": [_schema(part, found) for part in inner]}
    if kind is type(None):
        return {"type": "null"}
    if is_record(kind):
        _add(kind, found)
        return ref(kind)
    if origin is not None and issubclass(origin, Mapping):
        return {"type": "object", "additionalProperties": _schema(inner[1], found)}
    if origin is not None and issubclass(origin, Sequence):
        items = _schema(inner[0], found)
        if len(inner) == 2 and inner[1] is not Ellipsis:
            return {"type": "array", "items": items, "minItems": 2, "maxItems": 2}
        return {"type": "array", "items": items}
    raise TypeError(f"{kind!r} has no JSON schema")
