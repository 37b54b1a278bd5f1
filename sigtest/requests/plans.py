"""Requests for plans."""

from __future__ import annotations

from typing import Annotated, Any

from annotated_types import Len
from pydantic import Field, WithJsonSchema

from sigtest.errors import InputError
from sigtest.requests.comparisons import COMPARED, NAMED
from sigtest.requests.model import Between, Flag, Must, Name, Request, WholeNumber

PilotBody = Annotated[
    dict[str, Any],
    Len(1),
    Must(
        'an object: the pilot\'s references and outputs, or {"id": ID} of a finished comparison',
        InputError,
    ),
    WithJsonSchema({"anyOf": [COMPARED, NAMED]}),
]
LARGEST = 1_000_000_000  # units that a plan may be about


class PlanRequest(Request):
    """A pilot, and what to plan from it."""

    comparison: PilotBody = Field(
        description="The pilot: a request of /v1/comparisons on one test set, or the id of one."
    )
    metric: Name | None = Field(
        default=None, description="label of the metric to plan for; the pilot's first by default"
    )
    a: Name | None = Field(
        default=None, description="first system of the one pair to plan for; all pairs by default"
    )
    b: Name | None = Field(default=None, description="second system of that pair")
    difference: Annotated[float, Between(0.0, 1e9)] | None = Field(
        default=None,
        description="true difference that is to show, in points of the metric; the plan says how "
        "many segments or documents it takes",
    )
    units: Annotated[int, WholeNumber(2, LARGEST)] | None = Field(
        default=None,
        description="a number of segments, or of documents where these are resampled, to plan for "
        "besides the usual ones",
    )
    corrected: Flag = Field(
        default=False,
        description="plan for the strictest level of the pilot's correction instead of alpha",
    )
