"""What a request of a plan says besides the pilot."""

from __future__ import annotations

from typing import Any

from sigtest.comparison.parse import NAMED
from sigtest.data.compound import object_schema
from sigtest.data.fields import Field, Flag, Number, Text, Whole

LARGEST = 1_000_000_000  # units that a plan may be about

METRIC = Text("metric", "label of the metric to plan for; the pilot's first by default")
A = Text("a", "first system of the one pair to plan for; all pairs by default")
B = Text("b", "second system of that pair")
DIFFERENCE = Number(
    "difference", "true difference that is to show, in points of the metric; the plan says how "
    "many segments or documents it takes", high=1e9,
)  # fmt: skip
UNITS = Whole(
    "units", "a number of segments, or of documents where these are resampled, to plan for "
    "besides the usual ones", low=2, high=LARGEST,
)  # fmt: skip
CORRECTED = Flag(
    "corrected", "plan for the strictest level of the pilot's correction instead of alpha"
)
FIELDS: tuple[Field, ...] = (METRIC, A, B, DIFFERENCE, UNITS, CORRECTED)


def schema() -> dict[str, Any]:
    """JSON schema of a request."""
    comparison = {
        "description": "The pilot: a request of /v1/comparisons on one test set, or the id of one.",
        "anyOf": [{"$ref": "#/components/schemas/ComparedRequest"}, NAMED],
    }
    return object_schema(FIELDS, {"comparison": comparison})
