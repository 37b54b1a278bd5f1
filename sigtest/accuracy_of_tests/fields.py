"""JSON schema of what a request of accuracy of tests brings besides its levels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sigtest.files.judgements import JUDGEMENTS
from sigtest.requests.comparisons import NAMED
from sigtest.requests.people import people_schema

P = {"type": "number", "minimum": 0, "maximum": 1}
NAME = {"type": "string"}
DIRECTIONS: dict[str, Any] = {"a": NAME, "b": NAME, "p_greater": P, "p_less": P}


def schema(levels: Mapping[str, Any]) -> dict[str, Any]:
    """JSON schema of a request, whose levels have this schema."""
    human = people_schema(
        "A request of /v1/human-evaluations, or the id of one, as `evaluation`; or `pairs` with "
        "one-sided p-values of people, each perhaps with its criterion.",
        JUDGEMENTS,
        {"pairs": _pairs({}, {"criterion": {"type": "string", "minLength": 1}})},
    )
    tests = _pairs({"metric": NAME, "test": NAME}, {})
    tests["items"]["additionalProperties"] = False
    tested = {
        "type": "object",
        "properties": {"pairs": tests},
        "required": ["pairs"],
        "additionalProperties": False,
    }
    comparison = {
        "description": "A request of /v1/comparisons on one test set, or the id of one; or `pairs` "
        "with one-sided p-values that were computed elsewhere.",
        "anyOf": [{"$ref": "#/components/schemas/ComparedRequest"}, NAMED, tested],
    }
    content = {"human": human, "comparison": comparison}
    return {
        **levels,
        "properties": {**content, **levels["properties"]},
        "required": [*content],
    }


def _pairs(needed: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    needed = {**DIRECTIONS, **needed}
    return {
        "type": "array",
        "minItems": 1,
        "items": {
            "type": "object",
            "properties": {**needed, **other},
            "required": list(needed),
        },
    }
