"""Requests about evaluations that are looked at while they run."""

from __future__ import annotations

from typing import Annotated, Any

from annotated_types import Len
from pydantic import Field, WithJsonSchema

from sigtest.files.judgements import JUDGEMENTS
from sigtest.requests.comparisons import Label, PilotBody
from sigtest.requests.model import Between, Flag, Must, Name, Names, Request, Span, WholeNumber
from sigtest.requests.notes import PlainNotes
from sigtest.requests.people import BySegment, people_schema

MAX_RACING, MAX_ITEMS = 300, 1_000_000
SOURCES = ("scores", "comparison", "human")
People = Annotated[dict[str, Any], WithJsonSchema(people_schema("", JUDGEMENTS, {}))]


class RaceChoices(Request):
    """How a race is decided."""

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


class SequentialRequest(RaceChoices):
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


class RaceRequest(PlainNotes, RaceChoices):
    """A race whose scores arrive in batches."""

    name: Label = Field(description="what to call it")
    systems: Annotated[Names, Len(2, MAX_RACING), Must(f"a list of 2 to {MAX_RACING} names")] = (
        Field(description="all that race, also those that join late: their pairs are corrected for")
    )


class ObservationsRequest(Request):
    """A batch of scores."""

    scores: Annotated[BySegment, Must("an object with the scores of each system")] = Field(
        description="by system, an object by name of the item; the same score again changes nothing"
    )
