"""Fragments of the OpenAPI document that several modules write."""

from __future__ import annotations

from typing import Any

from pydantic import Field

REF = "#/components/schemas/{model}"


def absent(value: object) -> bool:
    """Whether a field that only some resources have is left out."""
    return value is None


def ref(model: type) -> dict[str, str]:
    """Where the schema of a model is."""
    return {"$ref": REF.format(model=model.__name__)}


def header(name: str, description: str, **more: Any) -> dict[str, Any]:
    """A header of a request."""
    told = {"description": description, "schema": {"type": "string"}}
    return {"name": name, "in": "header", **more, **told}


def file_field(description: str) -> Any:
    """A field of a form: one file, which may be missing."""
    return Field(default=None, description=description, json_schema_extra={"format": "binary"})


def files_field(description: str) -> Any:
    """A field of a form: any number of files."""
    items: dict[str, Any] = {"items": {"type": "string", "format": "binary"}}
    return Field(default=[], description=description, json_schema_extra=items)
