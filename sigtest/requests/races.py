"""Requests about evaluations that are looked at while they run."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field, WithJsonSchema

from sigtest.files.judgements import JUDGEMENTS
from sigtest.requests.comparisons import PilotBody
from sigtest.requests.model import Between, Flag, Must, Name, Request, Span, WholeNumber
from sigtest.requests.people import BySegment, people_schema

MAX_RACING, MAX_ITEMS = 300, 1_000_000
SOURCES = ("scores", "comparison", "human")
People = Annotated[dict[str, Any], WithJsonSchema(people_schema("", JUDGEMENTS, {}))]


class SequentialRequest(Request):
    """Scores, from one of three sources, and how a race is decided."""

    scores: BySegment | None = Field(
        default=None,
        description="by system, in the order of arrival: a list, or an object by name of the item",
    )
    comparison: PilotBody | None = Field(
        default=None, description="Instead: a request of /v1/comparisons, or the id of one."
    )
    human: Annotated[People, Must("an object")] | None = Field(
        default=None, description="Instead: a request of /v1/human-evaluations, or the id of one."
    )
    metric: Name | None = Field(
        default=None,
        description="of a comparison, the label of the metric, by default its first; of "
        "scores, what they are called",
    )
    scale: Span | None = Field(
        default=None,
        description="lowest and highest score that there can be, with which decisions hold from "
        "the first item on",
    )
    burn_in: Annotated[int, WholeNumber(10, MAX_ITEMS)] = Field(
        default=100,  # with fewer, skewed differences err too often: docs/VALIDITY.md, part 18
        description="items of a pair that are needed for a decision where there is no scale",
    )
    alpha: Annotated[float, Between(0, 0.5)] = Field(
        default=0.05, description="how often any decision may be false, over all pairs and looks"
    )
    lower: Flag = Field(default=False, description="less is better, as of error rates")
