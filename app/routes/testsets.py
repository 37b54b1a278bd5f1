"""Test sets, the systems that arrive over time, and their leaderboards."""

from __future__ import annotations

import asyncio
import time
from typing import Annotated

from fastapi import APIRouter, Path, Query, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from app import answers, contract, testset_answers, testset_contract
from app.auth import Caller
from app.boards import LOOK_SECONDS, Id, Shown
from app.dependencies import Boards, Cursor, Limits
from app.limits import check_scores, room
from app.negotiation import Format, Wait
from app.testset_schemas import (
    PATH,
    SystemListing,
    SystemResource,
    TestSetListing,
    TestSetResource,
)
from app.testset_uploads import Brought, Drafted, Raised
from app.waiting import Watch, Watcher
from workers.leaderboard_records import Standing, SystemRecord
from workers.leaderboards import Leaderboards

router = APIRouter(prefix=PATH, tags=["leaderboards"], responses=contract.PROBLEMS)

PAGE = 100

Name = Annotated[str, Path(alias="name", description="Name of the system.")]
Limit = Annotated[int, Query(ge=1, description="Entries a page.")]


@router.post("", status_code=201, openapi_extra=testset_contract.CREATION,
             responses=testset_contract.CREATED)  # fmt: skip
def create_testset(caller: Caller, boards: Boards, draft: Drafted) -> Response:
    """Make a test set; equal content and settings are the same test set (200)."""
    record, created = boards.create(draft, caller.name)
    return testset_answers.made(record, created)


@router.get("", responses={200: {"model": TestSetListing}})
def list_testsets(
    caller: Caller,
    boards: Boards,
    settings: Limits,
    cursor: Cursor = None,
    limit: Limit = PAGE,
) -> TestSetListing:
    """The caller's test sets, newest first."""
    records, after = boards.listing(caller.name, cursor, min(limit, settings.max_page))
    return TestSetListing(testsets=[TestSetResource.of(r) for r in records], next_cursor=after)


@router.get("/{id}", openapi_extra=contract.CACHING, responses=testset_contract.FOUND)
def get_testset(request: Request, testset_id: Id, caller: Caller, boards: Boards) -> Response:
    """A test set, its settings and how many systems it has."""
    record = boards.find(testset_id, caller.name)
    return answers.unless_held(request, testset_answers.found(record))


@router.patch("/{id}", openapi_extra=testset_contract.RAISE, responses=testset_contract.FOUND)
def raise_resamples(
    testset_id: Id, caller: Caller, boards: Boards, settings: Limits, raised: Raised
) -> Response:
    """Draw more resamples; every system is pending until it is measured with them.

    All other settings are fixed when a test set is made.
    """
    found = boards.find(testset_id, caller.name)
    check_scores(max(1, found.systems), len(found.metrics), raised.resamples, settings)
    record = boards.raise_resamples(testset_id, caller.name, raised.resamples)
    return testset_answers.found(record)


@router.delete("/{id}", status_code=204)
def delete_testset(testset_id: Id, caller: Caller, boards: Boards) -> Response:
    """Delete a test set with its systems and everything that was computed."""
    boards.delete(testset_id, caller.name)
    return Response(status_code=204)


@router.get("/{id}/systems", responses={200: {"model": SystemListing}})
def list_systems(
    testset_id: Id,
    caller: Caller,
    boards: Boards,
    settings: Limits,
    cursor: Cursor = None,
    limit: Limit = PAGE,
) -> SystemListing:
    """The systems of a test set in the order of their names."""
    most = min(limit, settings.max_page)
    records, after = boards.systems(testset_id, caller.name, cursor, most)
    told = [SystemResource.of(testset_id, record) for record in records]
    return SystemListing(systems=told, next_cursor=after)


@router.put("/{id}/systems/{name:path}", status_code=202, openapi_extra=testset_contract.SUBMISSION,
            responses=testset_contract.SUBMITTED)  # fmt: skip
async def put_system(
    testset_id: Id,
    caller: Caller,
    boards: Boards,
    settings: Limits,
    watch: Watch,
    brought: Brought,
    wait: Wait,
    replace: Annotated[bool, Query(description="Whether other content may be replaced.")] = False,
) -> Response:
    """Submit a system, which is measured and compared with all others of its test set.

    The same content again changes nothing (200). `Prefer: wait=N` waits up to N seconds until the
    leaderboard has it.
    """
    await run_in_threadpool(boards.check, testset_id, caller.name, brought)
    found = await run_in_threadpool(boards.find, testset_id, caller.name)
    record, verdict = await run_in_threadpool(
        boards.put, testset_id, caller.name, brought, replace, *room(found, settings)
    )
    if wait and record.standing is Standing.PENDING:
        await _joined(testset_id, boards, watch, record, wait)
        record = await run_in_threadpool(boards.system, testset_id, caller.name, record.name)
    return testset_answers.submitted(testset_id, record, verdict, wait)


@router.get("/{id}/systems/{name:path}", responses=testset_contract.SYSTEM)
def get_system(testset_id: Id, name: Name, caller: Caller, boards: Boards) -> Response:
    """A system: pending, measured or failed, and its scores."""
    return testset_answers.system(testset_id, boards.system(testset_id, caller.name, name))


@router.delete("/{id}/systems/{name:path}", status_code=204)
def delete_system(testset_id: Id, name: Name, caller: Caller, boards: Boards) -> Response:
    """Delete a system; the others stay as they are."""
    boards.remove(testset_id, caller.name, name)
    return Response(status_code=204)


@router.get("/{id}/leaderboard", openapi_extra=contract.CACHING,
            responses=testset_contract.LEADERBOARD)  # fmt: skip
def leaderboard(request: Request, kind: Format, shown: Shown) -> Response:
    """Systems by name with scores, clusters and rank ranges, and all pairs; one metric and test.

    `alpha` and `correction` change what is shown and nothing else. Systems that are still to be
    measured are `pending`.
    """
    return answers.unless_held(request, testset_answers.leaderboard(shown, kind))


async def _joined(
    testset_id: str, boards: Leaderboards, watch: Watcher, record: SystemRecord, seconds: float
) -> None:
    """Wait until a system is measured."""
    deadline = time.monotonic() + seconds
    while not await run_in_threadpool(boards.joined, testset_id, record):
        left = deadline - time.monotonic()
        if left <= 0 or watch.stopping.is_set():
            return
        await asyncio.sleep(min(LOOK_SECONDS, left))
