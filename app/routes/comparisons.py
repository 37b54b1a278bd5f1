"""Comparisons: asked for, followed, read, deleted."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from typing import Annotated

from fastapi import APIRouter, Depends, Header, Path, Query, Request
from fastapi.sse import EventSourceResponse, ServerSentEvent
from pydantic import AfterValidator
from pydantic_core import PydanticCustomError
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from app import answers, contract
from app.auth import Caller
from app.comparison_schemas import PATH, ComparisonBody, ListingBody
from app.dependencies import Cursor, First, Limits, Queue, Second, Values
from app.negotiation import Wait, Wished
from app.problems import stream_error
from app.schemas import DistributionBody
from app.uploads import Submitted
from app.waiting import Watch
from sigtest.errors import SigtestError
from workers.jobs import Record

router = APIRouter(prefix=PATH, tags=["comparisons"], responses=contract.PROBLEMS)

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
        description="The same key always returns the same comparison; 1 to 255 letters, digits "
        "and signs of ASCII, without spaces.",
        json_schema_extra={"pattern": f"^{KEY.pattern}$"},
    ),
]

Id = Annotated[str, Path(alias="id", description="Id of a comparison.")]


async def _found(comparison_id: Id, caller: Caller, jobs: Queue) -> Record:
    return await run_in_threadpool(jobs.find, comparison_id, caller.name)


Found = Annotated[Record, Depends(_found)]


@router.post("", status_code=202, openapi_extra=contract.SUBMISSION, responses=contract.SUBMITTED)
async def submit(
    caller: Caller, jobs: Queue, watch: Watch, asked: Submitted, wait: Wait, key: Key = None
) -> Response:
    """Ask for a comparison, on one test set or on several (`testsets`).

    Equal content and an equal `Idempotency-Key` both return the comparison that exists (200); one
    that failed or was cancelled runs again. `Prefer: wait=N` waits up to N seconds for the end.
    """
    record, created = await run_in_threadpool(jobs.submit, asked, caller.name, key)
    record = await watch.settled(record, caller.name, wait)
    return answers.submitted(record, created, wait)


@router.get("", responses={200: {"model": ListingBody}})
def listing(
    caller: Caller,
    jobs: Queue,
    settings: Limits,
    cursor: Cursor = None,
    limit: Annotated[int, Query(ge=1, description="Comparisons a page.")] = PAGE,
) -> ListingBody:
    """The caller's comparisons, newest first."""
    records, after = jobs.listing(caller.name, cursor, min(limit, settings.max_page))
    return ListingBody(comparisons=[ComparisonBody.of(r) for r in records], next_cursor=after)


@router.get("/{id}", openapi_extra=contract.POLLING, responses=contract.STATUS)
async def status(
    request: Request, caller: Caller, watch: Watch, found: Found, wait: Wait
) -> Response:
    """How far a comparison is. `If-None-Match` and `Prefer: wait=N` save polling."""
    record = await watch.settled(found, caller.name, wait)
    return answers.unless_held(request, answers.comparison(record, wait=wait))


@router.get("/{id}/report", openapi_extra=contract.CACHING, responses=contract.REPORT)
def report(
    request: Request,
    caller: Caller,
    jobs: Queue,
    found: Found,
    wish: Wished,
) -> Response:
    """The report, in the format that `Accept` or `?format=` asks for.

    Over several test sets it is JSON or text.
    """
    stored = jobs.report(found.id, caller.name)
    return answers.unless_held(request, answers.report(stored, found, wish))


@router.get("/{id}/distribution", responses={200: {"model": DistributionBody}})
async def distribution(
    caller: Caller,
    watch: Watch,
    found: Found,
    a: First,
    b: Second,
    metric: Annotated[str, Query(description="What the report calls the metric.")],
    test: Annotated[str, Query(description="Significance test.")],
    values: Values = False,
) -> Response:
    """The pseudo-statistics that one pair's observed difference is held against."""
    drawn = await watch.distribution(found, caller.name, a, b, metric, test)
    return await run_in_threadpool(answers.distribution, drawn, values)


@router.get("/{id}/events", response_class=EventSourceResponse)
async def events(
    caller: Caller, watch: Watch, settings: Limits, found: Found
) -> AsyncIterator[ServerSentEvent]:
    """Progress as Server-Sent Events: `progress` at every change, at last `finished`."""
    try:
        async for record in watch.changes(found, caller.name, settings.max_event_seconds):
            kind = "finished" if record.status.finished else "progress"
            data = ComparisonBody.of(record).model_dump_json()
            yield ServerSentEvent(event=kind, id=record.etag, raw_data=data)
    except SigtestError as error:  # the status code has been sent already
        yield ServerSentEvent(event="error", raw_data=stream_error(error))


@router.delete("/{id}", responses=contract.REMOVAL)
def remove(comparison_id: Id, caller: Caller, jobs: Queue) -> Response:
    """Cancel a comparison, or delete a finished one with the texts that were uploaded."""
    cancelled = jobs.remove(comparison_id, caller.name)
    return answers.comparison(cancelled) if cancelled else Response(status_code=204)
