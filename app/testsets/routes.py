"""The routes of test sets, their systems and their leaderboards."""

from __future__ import annotations

from functools import partial
from typing import Annotated

from fastapi import Path, Query, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from app.http.auth import Caller
from app.http.negotiation import Wait, Wished, require_match
from app.http.state import Boards, Cursor, Limit, Limits, in_turn, routing
from app.http.waiting import Watch
from app.questions import answers as questions
from app.questions.answers import distribution_of, draw
from app.questions.options import PairNamed, PictureNamed
from app.requests.bodies import WantedTestSets
from app.requests.limits import check_scores, room
from app.requests.testsets import Changed, Drafted, Put
from app.schema import document
from app.schema.models import (
    TESTSETS,
    DistributionBody,
    SystemListing,
    SystemResource,
    TestSetListing,
    TestSetResource,
)
from app.testsets import boards as answers
from app.testsets.boards import Shown
from sigtest.kinds import KINDS
from workers.store.boards import Standing

router = routing(prefix=TESTSETS, tags=["leaderboards"], responses=document.PROBLEMS)

PAGE = 100
DRAWN = document.pictures(KINDS["comparisons"])

Id = Annotated[str, Path(alias="id", description="Id of a test set.")]
Name = Annotated[str, Path(alias="name", description="Name of the system.")]


@router.post("", status_code=201, openapi_extra=document.CREATION, responses=document.CREATED)
def create_testset(caller: Caller, boards: Boards, asked: Drafted) -> Response:
    """Make a test set; equal content and settings are the same test set (200)."""
    record, created = boards.create(asked.asked, caller.name, asked.notes)
    return answers.made(record, created)


@router.get("", responses={200: {"model": TestSetListing}})
def list_testsets(
    caller: Caller,
    boards: Boards,
    settings: Limits,
    wanted: WantedTestSets,
    cursor: Cursor = None,
    limit: Limit = PAGE,
) -> TestSetListing:
    """The caller's test sets, newest first; `title` finds their names, too."""
    records, after = boards.listing(caller.name, cursor, min(limit, settings.max_page), wanted)
    return TestSetListing(testsets=[TestSetResource.of(r) for r in records], next_cursor=after)


@router.get("/{id}", openapi_extra=document.CACHING, responses=document.TESTSET)
def get_testset(request: Request, testset_id: Id, caller: Caller, boards: Boards) -> Response:
    """A test set, its settings and how many systems it has."""
    record = boards.find(testset_id, caller.name)
    return questions.unless_held(request, answers.found(record))


@router.patch("/{id}", openapi_extra=document.RAISE, responses=document.RAISED)
def change_testset(
    request: Request,
    testset_id: Id,
    caller: Caller,
    boards: Boards,
    settings: Limits,
    change: Changed,
) -> Response:
    """Write title, tags or metadata, or draw more resamples.

    Every system is pending until it is measured with these. All other settings are fixed when a
    test set is made.
    """
    check = partial(require_match, request)
    if change.resamples is None:
        return answers.found(boards.describe(testset_id, caller.name, change.notes, check))
    found = boards.find(testset_id, caller.name)
    check(found.etag)
    check_scores(max(1, found.systems), len(found.metrics), change.resamples, settings)
    boards.raise_resamples(testset_id, caller.name, change.resamples, check)
    return answers.found(boards.describe(testset_id, caller.name, change.notes))


@router.delete("/{id}", status_code=204, openapi_extra=document.MATCHED)
def delete_testset(request: Request, testset_id: Id, caller: Caller, boards: Boards) -> Response:
    """Delete a test set with its systems and everything that was computed."""
    boards.delete(testset_id, caller.name, partial(require_match, request))
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


@router.put("/{id}/systems/{name:path}", status_code=202, openapi_extra=document.PUT,
            responses=document.SYSTEM_PUT)  # fmt: skip
async def put_system(
    request: Request,
    testset_id: Id,
    caller: Caller,
    boards: Boards,
    settings: Limits,
    watch: Watch,
    brought: Put,
    wait: Wait,
    replace: Annotated[bool, Query(description="Whether other content may be replaced.")] = False,
) -> Response:
    """Submit a system, which is measured and compared with all others of its test set.

    The same content again changes nothing (200). `Prefer: wait=N` waits up to N seconds until it is
    measured. `If-Match` is about the system of this name: 404 where there is none.
    """
    check = partial(require_match, request) if "if-match" in request.headers else None
    found = await run_in_threadpool(boards.check, testset_id, caller.name, brought.asked)
    most, limit = room(found, settings)
    record, verdict = await run_in_threadpool(
        boards.put,
        testset_id,
        caller.name,
        brought.asked,
        replace,
        most,
        limit,
        brought.notes,
        check,
    )
    if wait and record.standing is Standing.PENDING:
        record = await watch.until(
            testset_id,
            lambda: boards.system(testset_id, caller.name, record.name),
            lambda now: now.standing is not Standing.PENDING or now.digest != record.digest,
            wait,
        )
    return answers.submitted(testset_id, record, verdict, wait)


@router.get("/{id}/systems/{name:path}", openapi_extra=document.CACHING,
            responses=document.SYSTEM)  # fmt: skip
def get_system(
    request: Request, testset_id: Id, name: Name, caller: Caller, boards: Boards
) -> Response:
    """A system: pending, measured or failed, and its scores."""
    made = answers.system(testset_id, boards.system(testset_id, caller.name, name))
    return questions.unless_held(request, made)


@router.delete("/{id}/systems/{name:path}", status_code=204, openapi_extra=document.MATCHED)
def delete_system(
    request: Request, testset_id: Id, name: Name, caller: Caller, boards: Boards
) -> Response:
    """Delete a system; the others stay as they are."""
    boards.remove(testset_id, caller.name, name, partial(require_match, request))
    return Response(status_code=204)


@router.get("/{id}/leaderboard", openapi_extra=document.CACHING, responses=document.leaderboard())
async def leaderboard(request: Request, shown: Shown, wish: Wished, wait: Wait) -> Response:
    """Systems by name with scores, clusters and rank ranges, and all pairs; one metric and test.

    It shows the comparison of the systems that are measured; `comparison` says where that has all
    metrics and tests. `alpha` and `correction` change what is shown and nothing else. Systems that
    are not in it yet are `pending`. `Prefer: wait=N` waits up to N seconds, instead of two, until
    all that are measured are in it: another `alpha` is computed when it is asked for.
    """
    made = await in_turn(answers.leaderboard, shown, wish, wait)
    return questions.unless_held(request, made)


@router.get("/{id}/leaderboard/plots/{picture}.svg", openapi_extra=DRAWN,
            responses=document.PICTURE, response_class=Response)  # fmt: skip
async def leaderboard_picture(
    request: Request,
    caller: Caller,
    watch: Watch,
    shown: Shown,
    picture: Annotated[str, Path(description="Which picture.")],
    options: PictureNamed,
) -> Response:
    """A picture of what the leaderboard shows, as SVG."""
    record = shown.require_record(options)
    svg = await draw(picture, record, caller.name, watch, options)
    return questions.picture(request, svg)


@router.get("/{id}/leaderboard/distribution", responses={200: {"model": DistributionBody}})
async def leaderboard_distribution(
    caller: Caller,
    watch: Watch,
    shown: Shown,
    options: PairNamed,
    values: Annotated[bool, Query(description="Every pseudo-statistic as well.")] = False,
) -> Response:
    """The pseudo-statistics that one pair's observed difference is held against."""
    record = shown.require_record(options)
    drawn = await distribution_of(record, caller.name, watch, options)
    return await in_turn(questions.distribution, drawn, values)
