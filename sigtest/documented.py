"""What docstrings say of the attributes of a class, for lists and schemas that people read."""

import inspect
import re

from pydantic import BaseModel, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core.core_schema import CoreSchema

_ATTRIBUTE = re.compile(r"^ {4}([a-zA-Z]\w*): (.*)$")


def described(kind: type) -> dict[str, str]:
    """What a class, or a base that it has, says of each of its attributes, under `Attributes:`."""
    words: dict[str, str] = {}
    for own in reversed(kind.__mro__):
        name = ""
        for line in _parts(own)[1].splitlines():
            if match := _ATTRIBUTE.match(line):
                name, words[match[1]] = match[1], match[2]
            elif name and line.startswith(" " * 8):
                words[name] += " " + line.strip()
    return words


def _parts(kind: type) -> tuple[str, str]:
    """What a class says of itself, and of its attributes."""
    about, _, attributes = inspect.cleandoc(kind.__doc__ or "").partition("\n\nAttributes:\n")
    return about, attributes


class Documented(BaseModel):
    """A model whose schema says what the docstrings say."""

    @classmethod
    def __get_pydantic_json_schema__(
        cls, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        made = handler(schema)
        own = handler.resolve_ref_schema(made)
        own["description"] = _parts(cls)[0]
        words, fields = described(cls), own.get("properties", {})
        for name in words.keys() & fields.keys():
            fields[name]["description"] = words[name]
        return made
