"""What generators of clients need that FastAPI and pydantic write otherwise."""

from __future__ import annotations

import json
from typing import Any


def suit_generators(document: dict[str, Any]) -> None:
    """Change an OpenAPI document so that clients that are generated from it are right.

    A field with a default is left out of most requests, but generators read its presence as a
    promise that it is always there, and make it required: defaults are said in words. A parameter
    that is described by hand and by FastAPI is described once, by hand, and is left out or given,
    never null: orval sends the word. A constant is written as an enumeration of one:
    openapi-python-client takes a constant beside a number for all there is. A stream of events is a
    string: `itemSchema` is of OpenAPI 3.2, and no document of 3.1 may have it.
    """
    for schema in document["components"]["schemas"].values():
        _say_defaults(schema)
        _enumerate(schema)
    for methods in document["paths"].values():
        for operation in methods.values():
            if "parameters" in operation:
                once = {(told["name"], told["in"]): told for told in operation["parameters"]}
                operation["parameters"] = [*once.values()]
                for told in operation["parameters"]:
                    _never_null(told["schema"])
            for answer in operation["responses"].values():
                for content in answer.get("content", {}).values():
                    if content.pop("itemSchema", None):
                        content["schema"] = {"type": "string"}


def _never_null(schema: dict[str, Any]) -> None:
    kinds = schema.get("anyOf", [])
    if {"type": "null"} in kinds:
        (kind,) = (kind for kind in kinds if kind != {"type": "null"})
        del schema["anyOf"]
        schema.update(kind)


def _enumerate(schema: Any) -> None:
    if isinstance(schema, dict) and isinstance(schema.get("const"), str):
        schema["enum"] = [schema.pop("const")]
    for entry in schema.values() if isinstance(schema, dict) else schema:
        if isinstance(entry, dict | list):
            _enumerate(entry)


def _say_defaults(schema: Any) -> None:
    if isinstance(schema, list):
        for entry in schema:
            _say_defaults(entry)
    if not isinstance(schema, dict):
        return
    for name, field in schema.get("properties", {}).items():
        if (
            isinstance(field, dict)
            and "default" in field
            and name not in schema.get("required", ())
        ):
            default = field.pop("default")
            if default not in (None, []):
                said = field.get("description", "").rstrip()
                words = f"Default: {json.dumps(default)}."
                field["description"] = f"{said} {words}" if said else words
    for entry in schema.values():
        _say_defaults(entry)
