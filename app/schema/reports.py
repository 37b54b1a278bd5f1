"""JSON schemas of reports, with the words of the docstrings that document their dataclasses."""

from __future__ import annotations

import inspect
from typing import Any, Literal

from pydantic import TypeAdapter
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core.core_schema import DataclassSchema, TupleSchema

from app.schema.models import REF
from sigtest.documented import described
from sigtest.report.codec import adapter


class ReportSchema(GenerateJsonSchema):
    """Of JSON that leaves out what has its default: such a field is never null."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False

    def dataclass_schema(self, schema: DataclassSchema) -> JsonSchemaValue:
        made, kind = super().dataclass_schema(schema), schema["cls"]
        made["description"] = inspect.cleandoc(kind.__doc__ or "").partition("\n")[0]
        made["additionalProperties"] = False
        words, needed = described(kind), made.get("required", ())
        made["properties"] = {
            name: _described(about if name in needed else _present(about), words.get(name))
            for name, about in made["properties"].items()
        }
        return made

    def tuple_schema(self, schema: TupleSchema) -> JsonSchemaValue:
        made = super().tuple_schema(schema)
        if "prefixItems" in made:  # which generators of clients do not know; all are alike
            made["items"] = made.pop("prefixItems")[0]
        return made


def _present(schema: JsonSchemaValue) -> JsonSchemaValue:
    """What is left of a field where it is not left out."""
    parts = [part for part in schema.get("anyOf", ()) if part != {"type": "null"}]
    bare = {name: value for name, value in schema.items() if name != "default"}
    return parts[0] if len(parts) == 1 else bare


def _described(schema: JsonSchemaValue, words: str | None) -> JsonSchemaValue:
    if words is None:
        return schema
    return {**({"allOf": [schema]} if "$ref" in schema else schema), "description": words}


def components(*kinds: type) -> dict[str, Any]:
    """Schemas of these records and of all that they hold, by name."""
    mode: Literal["serialization"] = "serialization"
    inputs = [(kind.__name__, mode, adapter(kind)) for kind in kinds]
    _, made = TypeAdapter.json_schemas(inputs, ref_template=REF, schema_generator=ReportSchema)
    return made["$defs"]
