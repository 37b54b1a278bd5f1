"""JSON schema of what a request of a metric evaluation brings besides its choices."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sigtest.files.judgements import JUDGEMENTS
from sigtest.requests.people import people_schema

NUMBER = {"type": ["number", "null"]}
SYSTEM = {
    "type": "object",
    "minProperties": 1,
    "additionalProperties": NUMBER,
    "description": "A score by name of the system.",
}
SEGMENT = {
    "type": "object",
    "minProperties": 1,
    "additionalProperties": {
        "anyOf": [
            {"type": "array", "items": NUMBER},
            {"type": "object", "additionalProperties": NUMBER},
        ]
    },
    "description": "Scores of segments by name of the system: a list, or an object by the number "
    "of the segment, from 1; null is a missing score.",
}
PAIR: dict[str, Any] = {
    "type": "object",
    "properties": {
        "a": {"type": "string"},
        "b": {"type": "string"},
        "p_greater": {"type": "number", "minimum": 0, "maximum": 1},
        "p_less": {"type": "number", "minimum": 0, "maximum": 1},
    },
    "required": ["a", "b", "p_greater"],
    "additionalProperties": False,
}
METRIC: dict[str, Any] = {
    "type": "object",
    "properties": {
        "system": SYSTEM,
        "segment": SEGMENT,
        "higher": {
            "type": "boolean",
            "default": True,
            "description": "False for error rates.",
        },
        "pairs": {
            "type": "array",
            "items": PAIR,
            "description": "One-sided p-values of a significance test of corpus scores, for "
            "soft_accuracy; otherwise they come from means of segment scores.",
        },
    },
    "additionalProperties": False,
}
LEVELLED: dict[str, Any] = {
    "type": "object",
    "properties": {"system": SYSTEM, "segment": SEGMENT},
    "additionalProperties": False,
    "minProperties": 1,
}
HUMAN = people_schema(
    "`scores` of systems, of segments, or both; or `judgements` and whatever else a request of "
    "/v1/human-evaluations has; or the id of one, as `evaluation`.",
    JUDGEMENTS,
    {"scores": {"anyOf": [LEVELLED, SYSTEM, SEGMENT]}},
)
METRICS = {
    "type": "object",
    "properties": {"comparison": {"anyOf": [{"type": "string"}, METRIC]}},
    "additionalProperties": METRIC,
    "minProperties": 1,
    "description": "Scores by label of the metric; or the id of a finished comparison, as "
    "`comparison`, for those of its metrics.",
}


def schema(choices: Mapping[str, Any]) -> dict[str, Any]:
    """JSON schema of a request, whose choices have this schema."""
    content = {"human": HUMAN, "metrics": METRICS}
    excluded = {"exclude_systems": choices["properties"]["exclude_systems"]}
    sets = {
        "type": "object",
        "additionalProperties": {
            "type": "object",
            "properties": {**content, **excluded},
            "required": list(content),
            "additionalProperties": False,
        },
        "minProperties": 1,
        "description": "Instead of human and metrics: both by name of the set, such as en-de.",
    }
    return {**choices, "properties": {**content, "sets": sets, **choices["properties"]}}
