"""The routes of one kind of question; every kind has the same."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Header, Path, Query, Request
from fastapi.sse import EventSourceResponse, ServerSentEvent
from pydantic import AfterValidator
from pydantic_core import PydanticCustomError
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from app.http.auth import Caller
from app.http.negotiation import Wait, Wished, require_match
from app.http.problems import stream_error
from app.http.state import Asked, Cursor, Limit, Limits, OfKind, in_turn, routing
from app.http.waiting import Stream, Watch
from app.questions import answers
from app.questions.answers import answer as shared_out
from app.questions.answers import (
    behind,
    distribution_of,
    draw,
)
from app.questions.options import (
    Decided,
    PairNamed,
    PartWanted,
    PictureNamed,
    SegmentsWanted,
)
from app.requests.bodies import WantedQuestions, Written
from app.requests.questions import Read
from app.schema import document
from app.schema.models import DistributionBody, QuestionBody, SegmentsBody, listing_model
from sigtest.errors import SigtestError
from sigtest.kinds import Kind
from sigtest.kinds.comparisons import Comparisons
from workers.questions import Record

PAGE = 20

KEY = re.compile("[!-~]{1,255}")


def _plain(key: str | None) -> str | None:
    """A key that fits into a header; the error of another one says in words what it may be."""
    if key is not None and not KEY.fullmatch(key):
        raise PydanticCustomError(
            "key", "A key is 1 to 255 letters, digits and signs of ASCII, without spaces."
        )
    return key


Key = Annotated[
    str | None,
    AfterValidator(_plain),
    Header(
        alias="Idempotency-Key",
        description="The same key always returns the same question, as long as that is kept; "
        "with other content it is refused. 1 to 255 letters, digits and signs of ASCII, without "
        "spaces.",
        json_schema_extra={"pattern": f"^{KEY.pattern}$"},
    ),
]

Id = Annotated[str, Path(alias="id", description="Id that the submission was answered with.")]


async def _found(question_id: Id, kind: OfKind, caller: Caller, asked: Asked) -> Record:
    return await run_in_threadpool(asked.find, question_id, caller.name, kind.path)


Found = Annotated[Record, Depends(_found)]


async def submit(
    kind: OfKind,
    caller: Caller,
    asked: Asked,
    watch: Watch,
    question: Read,
    wait: Wait,
    key: Key = None,
) -> Response:
    """Ask a question.

    Equal content and an equal `Idempotency-Key` both return the question that exists; one that
    failed or was cancelled runs again. 200 says that the report is there, 202 that it is not yet.
    `Prefer: wait=N` waits up to N seconds for the end.
    """
    brought = question.pop()
    record, _ = await run_in_threadpool(
        asked.submit,
        kind.path,
        brought.asked,
        caller.name,
        key,
        caller.budget,
        brought.notes,
    )
    del brought  # its texts are not held while the request waits
    record = await watch.settled(record, caller.name, wait)
    return answers.submitted(record, wait)


def listing(
    kind: OfKind,
    caller: Caller,
    asked: Asked,
    settings: Limits,
    wanted: WantedQuestions,
    cursor: Cursor = None,
    limit: Limit = PAGE,
) -> Response:
    """The caller's questions of this kind, newest first.

    A page of a listing that is filtered may have fewer entries than its limit before the last.
    """
    most = min(limit, settings.max_page)
    records, after = asked.listing(caller.name, kind.path, cursor, most, wanted)
    return answers.listing(kind, records, after)


async def status(
    request: Request, caller: Caller, watch: Watch, found: Found, wait: Wait
) -> Response:
    """How far it is. `If-None-Match` and `Prefer: wait=N` save polling."""
    record = await watch.settled(found, caller.name, wait)
    return answers.unless_held(request, answers.question(record, wait=wait))


async def report(
    request: Request, caller: Caller, asked: Asked, found: Found, wish: Wished
) -> Response:
    """The report, in the format that `Accept` or `?format=` asks for."""
    stored = await run_in_threadpool(asked.report, found.id, caller.name)
    return answers.unless_held(request, await in_turn(answers.report, stored, found, wish))


async def decided_report(
    request: Request,
    caller: Caller,
    asked: Asked,
    found: Found,
    wish: Wished,
    choice: Decided,
    part: PartWanted,
) -> Response:
    """The report, in the format that `Accept` or `?format=` asks for.

    `alpha` and `correction` decide it anew from what was counted; nothing is drawn, so intervals
    keep their level. `metric`, `test` and `system` show a part of it, in which every number and
    decision is that of the whole.
    """
    stored = await run_in_threadpool(asked.report, found.id, caller.name)
    made = await in_turn(answers.report, stored, found, wish, choice.choice, part)
    return answers.unless_held(request, made)


async def picture(
    request: Request,
    caller: Caller,
    watch: Watch,
    found: Found,
    name: Annotated[str, Path(alias="picture", description="Which picture.")],
    options: PictureNamed,
) -> Response:
    """A picture of the report, as SVG.

    A worker draws distributions when they are first asked for; 409 with `Retry-After` where that
    takes longer than this request.
    """
    svg = await draw(name, found, caller.name, watch, options)
    return answers.picture(request, svg)


async def distribution(
    caller: Caller,
    watch: Watch,
    found: Found,
    options: PairNamed,
    values: Annotated[bool, Query(description="Every pseudo-statistic as well.")] = False,
) -> Response:
    """The pseudo-statistics that one pair's observed difference is held against."""
    drawn = await distribution_of(found, caller.name, watch, options)
    return await in_turn(answers.distribution, drawn, values)


async def segments(
    caller: Caller, watch: Watch, found: Found, options: PairNamed, wanted: SegmentsWanted
) -> Response:
    """The segments that made the difference between two systems, each with its share of it.

    Shares sum to the difference: plain differences over n where scores are means, and otherwise the
    mean effect of a segment on the way from the sums of b to those of a (Aumann & Shapley 1974).
    """
    shown = await behind(found, caller.name, watch, options, wanted)
    return await in_turn(shared_out, shown, wanted)


async def events(
    caller: Caller, watch: Watch, settings: Limits, found: Found, stream: Stream
) -> AsyncIterator[ServerSentEvent]:
    """Progress as Server-Sent Events: `progress` at every change, at last `finished`."""
    try:
        async for record in watch.changes(found, caller.name, settings.max_event_seconds):
            told = "finished" if record.status.finished else "progress"
            data = QuestionBody.of(record).model_dump_json()
            yield ServerSentEvent(event=told, id=record.etag, raw_data=data)
    except SigtestError as error:  # the status code has been sent already
        yield ServerSentEvent(event="error", raw_data=stream_error(error))


def describe(
    request: Request, caller: Caller, asked: Asked, found: Found, written: Written
) -> Response:
    """Write title, tags or metadata on it; what is left out stays as it is."""
    check = partial(require_match, request)
    return answers.question(asked.describe(found.id, caller.name, written, check))


def remove(request: Request, caller: Caller, asked: Asked, found: Found) -> Response:
    """Cancel it, or delete it with what was uploaded where it has finished."""
    cancelled = asked.remove(found.id, caller.name, partial(require_match, request))
    return answers.question(cancelled) if cancelled else Response(status_code=204)


def router_of(kind: Kind[Any]) -> APIRouter:
    """All routes of a kind."""
    router = routing(prefix=f"/v1/{kind.path}", tags=[kind.path], responses=document.PROBLEMS)
    name = kind.name.replace(" ", "_")
    add = router.add_api_route
    listed: document.Described = {200: {"model": listing_model(kind)}}
    held, drawn = document.CACHING, document.pictures(kind)
    add("", submit, methods=["POST"], status_code=202, name=f"submit_{name}",
        openapi_extra=document.submission(kind), responses=document.SUBMITTED)  # fmt: skip
    add("", listing, name=f"list_{kind.path.replace('-', '_')}", responses=listed)
    add("/{id}", status, name=f"get_{name}", openapi_extra=document.POLLING,
        responses=document.STATUS)  # fmt: skip
    add("/{id}", describe, methods=["PATCH"], name=f"describe_{name}",
        openapi_extra=document.DESCRIBE, responses=document.DESCRIBED)  # fmt: skip
    add("/{id}", remove, methods=["DELETE"], name=f"delete_{name}",
        openapi_extra=document.MATCHED, responses=document.REMOVAL)  # fmt: skip
    add("/{id}/report", decided_report if kind.decides else report, name=f"get_{name}_report",
        openapi_extra=held, responses=document.report(kind))  # fmt: skip
    add("/{id}/plots/{picture}.svg", picture, name=f"draw_{name}", openapi_extra=drawn,
        response_class=Response, responses=document.PICTURE)  # fmt: skip
    add("/{id}/events", events, name=f"follow_{name}", response_class=EventSourceResponse,
        responses=document.EVENTS)  # fmt: skip
    if isinstance(kind, Comparisons):
        add("/{id}/segments", segments, name=f"get_{name}_segments",
            responses={200: {"model": SegmentsBody}})  # fmt: skip
        add("/{id}/distribution", distribution, name=f"get_{name}_distribution",
            responses={200: {"model": DistributionBody}})  # fmt: skip
    return router
