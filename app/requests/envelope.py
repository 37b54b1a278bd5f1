"""What a request writes on something that exists."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Generic, TypeVar

from fastapi import Depends, Query, Request

from app.http.state import LeftEmpty
from app.requests.json import JSON, kind_of, parse_json, refuse_encoding, unread
from app.requests.parsing import Parse, Parser
from sigtest.data.choices import choose
from sigtest.requests.notes import PARTS, Noted, apart
from workers.questions import Status
from workers.store.listings import Filter

T = TypeVar("T")


@dataclass(frozen=True)
class Brought(Generic[T]):
    """What a body brings, and what is written on it.

    Attributes:
        asked: A question, test set or system, checked.
        notes: What is written on it.
    """

    asked: T
    notes: Noted


async def read_object(request: Request, parser: Parser) -> dict[str, Any]:
    """The JSON of a request that may be of no other kind."""
    kind = kind_of(request)
    if kind != JSON:
        raise unread(kind, JSON)
    refuse_encoding(request)
    async with parser.body(request) as data:
        return await parser.run(len(data), parse_json, data, "body")


async def read_envelope(request: Request, parser: Parse) -> Noted:
    """Dependency: what the body writes."""
    notes, rest = apart(await read_object(request, parser))
    refuse_further(rest)
    return notes


def refuse_further(rest: Mapping[str, Any]) -> None:
    """Check that a change is of nothing but an envelope.

    Raises:
        RecipeError: It is.
    """
    for field in rest:
        choose(field, PARTS, field[:60], "field")


Written = Annotated[Noted, Depends(read_envelope)]
Title = Annotated[str, Query(max_length=200, description="Stands in the title.")]
Tags = Annotated[list[str] | None, Query(description="It has this tag; repeat it for several.")]


def _tags(given: list[str] | None) -> tuple[str, ...]:
    return tuple(filter(None, given or ()))


async def _filter(
    title: Title = "",
    tag: Tags = None,
    status: Annotated[Status | None, LeftEmpty, Query(description="Where it stands.")] = None,
) -> Filter:
    return Filter(title, _tags(tag), () if status is None else (status,))


WantedQuestions = Annotated[Filter, Depends(_filter)]


async def _written_filter(title: Title = "", tag: Tags = None) -> Filter:
    return Filter(title, _tags(tag))


WantedTestSets = Annotated[Filter, Depends(_written_filter)]
