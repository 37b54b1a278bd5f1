"""Fields of forms that are files, as OpenAPI describes them."""

from __future__ import annotations

from typing import Any

from pydantic import Field


def file_field(description: str) -> Any:
    """One file, which may be missing."""
    return Field(default=None, description=description, json_schema_extra={"format": "binary"})


def files_field(description: str) -> Any:
    """Any number of files."""
    items: dict[str, Any] = {"items": {"type": "string", "format": "binary"}}
    return Field(default=[], description=description, json_schema_extra=items)
