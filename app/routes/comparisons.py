"""Comparisons: asked for, followed, read, deleted."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Annotated

from fastapi import APIRouter, Depends, Header, Path, Query, Request
from fastapi.sse import EventSourceResponse, ServerSentEvent
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from app import answers, contract
from app.auth import Caller
from app.comparison_schemas import PATH, ComparisonBody, ListingBody
from app.dependencies import Limits, Queue
from app.negotiation import Wait, Wished
from app.problems import stream_error
from app.schemas import DistributionBody
from app.uploads import Submitted
from app.waiting import Watch
from sigtest.errors import SigtestError
from workers.jobs import Record

router = APIRouter(prefix=PATH, tags=["comparisons"], responses=contract.PROBLEMS)

DISTRIBUTION_SECONDS = 10
PAGE = 20

Key = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        min_length=1,
        max_length=255,
        pattern=r"^[\x21-\x7e]+$",
        description="The same key always returns the same comparison.",
    ),
]


Id = Annotated[str, Path(alias="id", description="Id of a comparison.")]


async def _found(comparison_id: Id, caller: Caller, jobs: Queue) -> Record:
    return await run_in_threadpool(jobs.find, comparison_id, caller.name)


Found = Annotated[Record, Depends(_found)]


@router.post("", status_code=202, openapi_extra=contract.SUBMISSION, responses=contract.SUBMITTED)
async def submit(
    caller: Caller, jobs: Queue, watch: Watch, comparison: Submitted, wait: Wait, key: Key = None
) -> Response:
    """Ask for a comparison, on one test set or on several (`testsets`).

    Equal content and an equal `Idempotency-Key` both return the comparison that exists (200); one
    that failed or was cancelled runs again. `Prefer: wait=N` waits up to N seconds for the end.
    """
    asked, created = await run_in_threadpool(jobs.submit, comparison, caller.name, key)
    record = await watch.settled(asked, caller.name, wait)
    return answers.submitted(record, created, wait)


@router.get("", responses={200: {"model": ListingBody}})
def listing(
    caller: Caller,
    jobs: Queue,
    settings: Limits,
    cursor: Annotated[str | None, Query(max_length=200, description="Where to go on.")] = None,
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
def distribution(
    comparison_id: Id,
    caller: Caller,
    jobs: Queue,
    a: Annotated[str, Query(description="First system of the pair.")],
    b: Annotated[str, Query(description="Second system.")],
    metric: Annotated[str, Query(description="What the report calls the metric.")],
    test: Annotated[str, Query(description="Significance test.")],
    values: Annotated[bool, Query(description="Every pseudo-statistic as well.")] = False,
) -> Response:
    """The pseudo-statistics that one pair's observed difference is held against."""
    drawn = jobs.distribution(comparison_id, caller.name, a, b, metric, test, DISTRIBUTION_SECONDS)
    body = DistributionBody.of(drawn, values).model_dump_json(exclude_none=True)
    return Response(body, media_type="application/json")


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
